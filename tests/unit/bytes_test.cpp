#include "base/bytes.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/sha256.hpp"

namespace entrain {
namespace bytes_test {

enum class Colour : std::uint16_t { Red, Green };

struct Inner {
  double number = 0.0;
  std::optional<std::string> text;
  bool operator==(const Inner&) const = default;
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(number, text);
  }
};

struct Outer {
  bool flag = false;
  Colour colour = Colour::Red;
  std::vector<Inner> inner;
  std::array<int, 3> array{};
  std::map<std::tuple<std::size_t, Colour>, Value> values;
  std::vector<SubsystemId> ids;
  std::deque<std::pair<double, std::uint8_t>> pairs;
  bool operator==(const Outer&) const = default;
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(flag, colour, inner, array, values, ids, pairs);
  }
};

Outer some() {
  return {true,
          Colour::Green,
          {{0.1, "one"}, {-std::numeric_limits<double>::infinity(), std::nullopt}},
          {1, -2, 3},
          {{{7, Colour::Red}, 1.5},
           {{7, Colour::Green}, std::int64_t{-3}},
           {{8, Colour::Red}, true},
           {{9, Colour::Red}, std::string("text")},
           {{10, Colour::Red}, std::uint64_t{5}},
           {{11, Colour::Red}, Binary{{1, 2, 255}}}},
          {SubsystemId{4}, SubsystemId{0}},
          {{2.5, std::uint8_t{9}}}};
}

TEST(Bytes, hold_every_kind_of_value) {
  Outer read;
  read.values[{1, Colour::Red}] = 2.0;  // what was there before is gone
  base::from_bytes(base::to_bytes(some()), read);
  EXPECT_TRUE(read == some());
}

TEST(Bytes, are_refused_when_they_are_cut_or_too_many) {
  const base::Bytes whole = base::to_bytes(some());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Outer read;
    EXPECT_THROW(base::from_bytes(std::span(whole).first(size), read), Error) << size;
  }
  base::Bytes more = whole;
  more.push_back(std::byte{0});
  Outer read;
  EXPECT_THROW(base::from_bytes(more, read), Error);
}

TEST(Bytes, ask_for_no_more_memory_than_they_have) {
  const base::Bytes claims = base::to_bytes(std::numeric_limits<std::uint64_t>::max());
  std::vector<double> numbers;
  EXPECT_THROW(base::from_bytes(claims, numbers), Error);
  std::string text;
  EXPECT_THROW(base::from_bytes(claims, text), Error);
}

/// More than what it remembers.
class Counter {
 public:
  struct Memory {
    int count = 0;
    template <class Visitor>
    void fields(Visitor& visit) {
      visit(count);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) {
    memory_ = memory;
    doubled = 2 * memory_.count;
  }
  void add() { ++memory_.count; }
  int doubled = 0;

 private:
  Memory memory_;
};

TEST(Bytes, of_an_object_are_those_of_its_memory) {
  Counter counter;
  counter.add();
  counter.add();
  Counter other;
  base::from_bytes(base::to_bytes(counter), other);
  EXPECT_EQ(other.memory().count, 2);
  EXPECT_EQ(other.doubled, 4);
}

std::string hash_of(std::string_view text) {
  return base::hexadecimal(base::sha256(std::as_bytes(std::span(text))));
}

TEST(Sha256, is_that_of_the_standard) {  // FIPS 180-4, examples; the last: a million times 'a'
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, does_not_depend_on_the_instructions_of_the_processor_or_on_the_pieces) {
  std::vector<std::byte> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i * 7 + i);
  for (const std::size_t size : {0, 1, 55, 56, 63, 64, 65, 127, 128, 129, 999, 1000}) {
    base::Sha256 plain(false);
    base::Sha256 chosen;
    const auto all = std::span<const std::byte>(bytes).first(size);
    plain.add(all);
    for (std::span<const std::byte> rest = all; !rest.empty();) {
      const std::size_t count = std::min<std::size_t>(rest.size(), 77);
      chosen.add(rest.first(count));
      rest = rest.subspan(count);
    }
    EXPECT_EQ(base::hexadecimal(plain.digest()), base::hexadecimal(chosen.digest())) << size;
  }
}

}  // namespace bytes_test
}  // namespace entrain
