// The datagrams of parts outside: what is sent, what is refused, what is counted.
#include "outside/datagram.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "base/internet_address.hpp"
#include "outside/sequence.hpp"

namespace entrain {
namespace datagram_test {

using outside::DatagramHead;
using outside::DatagramKind;
using outside::SequenceCounter;

std::vector<std::byte> bytes_of(const DatagramHead& head, const std::vector<double>& values) {
  std::vector<std::byte> bytes(sizeof(head) + values.size() * sizeof(double));
  outside::write_datagram(head, values, bytes);
  return bytes;
}

DatagramHead head_of(DatagramKind kind) {
  DatagramHead head;
  head.kind = kind;
  head.sequence = 7;
  head.answers = 5;
  head.run = 0x1122334455667788;
  head.time = 0.25;
  head.step = 0.001;
  return head;
}

TEST(Datagram, lies_in_memory_as_documented) {
  const auto bytes = bytes_of(head_of(DatagramKind::Outputs), {1.0, -2.0});
  ASSERT_EQ(bytes.size(), 56U + 16U);
  // "ENTR", version 1, kind 18, sequence 7: little-endian.
  const std::array<unsigned, 16> first{'E', 'N', 'T', 'R', 1, 0, 18, 0, 7, 0, 0, 0, 0, 0, 0, 0};
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), first[i]) << i;
  EXPECT_EQ(std::to_integer<unsigned>(bytes[24]), 0x88U);       // the run
  EXPECT_EQ(std::to_integer<unsigned>(bytes[48]), 2U);          // the number of values
  EXPECT_EQ(std::to_integer<unsigned>(bytes[56 + 15]), 0xc0U);  // the last byte of -2.0
}

TEST(Datagram, reads_back_as_it_was_written) {
  const auto bytes = bytes_of(head_of(DatagramKind::Step), {1.5, -2.5, 1e300});
  const auto read = outside::parse_datagram(bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->head.sequence, 7U);
  EXPECT_EQ(read->head.answers, 5U);
  EXPECT_EQ(read->head.run, 0x1122334455667788U);
  EXPECT_EQ(read->head.time, 0.25);
  EXPECT_EQ(read->head.step, 0.001);
  std::array<double, 3> values{};
  read->read(values);
  EXPECT_EQ(values, (std::array<double, 3>{1.5, -2.5, 1e300}));
}

TEST(Datagram, of_another_form_is_refused) {
  const auto good = bytes_of(head_of(DatagramKind::Step), {1.0});
  const auto changed = [&](std::size_t place, unsigned value) {
    auto bytes = good;
    bytes[place] = std::byte(value);
    return outside::parse_datagram(bytes).has_value();
  };
  ASSERT_TRUE(outside::parse_datagram(good));
  EXPECT_FALSE(changed(0, 'X'));  // magic
  EXPECT_FALSE(changed(4, 2));    // version
  EXPECT_FALSE(changed(6, 4));    // kind
  EXPECT_FALSE(changed(48, 2));   // more values than there are
  EXPECT_FALSE(changed(51, 255));
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(outside::parse_datagram(std::span(good).first(size))) << size;
  }
  auto longer = good;
  longer.push_back(std::byte(0));
  EXPECT_FALSE(outside::parse_datagram(longer));
  EXPECT_FALSE(
      outside::parse_datagram(bytes_of(head_of(DatagramKind::Step), {std::numeric_limits<double>::quiet_NaN()})));
  auto timeless = head_of(DatagramKind::Step);
  timeless.time = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(outside::parse_datagram(bytes_of(timeless, {})));
}

TEST(Sequence, counts_lost_doubled_and_reordered_datagrams) {
  SequenceCounter counter;
  EXPECT_EQ(counter.take(1), SequenceCounter::Arrival::New);
  EXPECT_EQ(counter.take(2), SequenceCounter::Arrival::New);
  EXPECT_EQ(counter.take(2), SequenceCounter::Arrival::Doubled);
  EXPECT_EQ(counter.take(5), SequenceCounter::Arrival::New);
  EXPECT_EQ(counter.missing(), 2U);
  EXPECT_EQ(counter.take(4), SequenceCounter::Arrival::Reordered);
  EXPECT_EQ(counter.missing(), 1U);
  EXPECT_EQ(counter.take(4), SequenceCounter::Arrival::Doubled);
  EXPECT_EQ(counter.take(1000), SequenceCounter::Arrival::New);
  EXPECT_EQ(counter.missing(), 995U);
  EXPECT_EQ(counter.take(3), SequenceCounter::Arrival::Doubled);  // too old to be distinguished from one
  EXPECT_EQ(counter.missing(), 995U);
  EXPECT_EQ(counter.highest(), 1000U);
}

TEST(InternetAddress, is_numeric_and_on_loopback_unless_written_otherwise) {
  const auto text = [](const char* written) {
    std::string why;
    const auto address = base::parse_address(written, why);
    return address ? address->text : "no: " + why;
  };
  EXPECT_EQ(text("9001"), "127.0.0.1:9001");
  EXPECT_EQ(text(":9001"), "127.0.0.1:9001");
  EXPECT_EQ(text("10.0.0.7:1"), "10.0.0.7:1");
  EXPECT_EQ(text("[::1]:65535"), "[::1]:65535");
  for (const char* wrong : {"", "localhost:9001", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536",
                            "127.0.0.1:-1", "1.2.3:9", "::1:9001", "[::1]", "a b:1", "127.0.0.1:9001 "}) {
    EXPECT_TRUE(text(wrong).starts_with("no: ")) << wrong << " " << text(wrong);
  }
}

}  // namespace datagram_test
}  // namespace entrain
