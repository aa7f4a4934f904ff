// Memory in which the ranks of one node exchange their blocks: here, two of them in one process.
#include "ranks/node_board.hpp"

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "support/temporary_folder.hpp"

namespace entrain::ranks {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_at(const std::byte* block, std::size_t size) {
  return {reinterpret_cast<const char*>(block), size};
}

TEST(NodeBoard, exchange_is_complete_when_everyone_has_written) {
  NodeBoard first(2, 0);
  NodeBoard second(first.address(), 2, 1);
  EXPECT_FALSE(first.is_complete(1));
  first.write(1, bytes_of("head"), bytes_of("tail"));
  EXPECT_FALSE(first.is_complete(1) || second.is_complete(1));
  second.write(1, bytes_of("other"), {});
  EXPECT_TRUE(first.is_complete(1) && second.is_complete(1));
  EXPECT_EQ(text_at(second.block(1, 0), 8), "headtail");
  EXPECT_EQ(text_at(first.block(1, 1), 5), "other");
}

// A rank can be one exchange ahead of another that still reads: not two, because for the second one it needs that
// other's block.
TEST(NodeBoard, block_stays_while_the_next_one_is_written) {
  NodeBoard first(2, 0);
  NodeBoard second(first.address(), 2, 1);
  first.write(1, bytes_of("1"), bytes_of("a"));
  second.write(1, bytes_of("1"), bytes_of("b"));
  const std::byte* read = second.block(1, 0);
  first.write(2, bytes_of("2"), bytes_of("c"));
  EXPECT_EQ(text_at(read, 2), "1a");
  EXPECT_FALSE(first.is_complete(2));
}

TEST(NodeBoard, what_has_no_room_is_cut) {
  NodeBoard only(1, 0);
  const std::string long_text(NodeBoard::kRoom, 'x');
  only.write(1, bytes_of("head"), bytes_of(long_text));
  EXPECT_EQ(text_at(only.block(1, 0), NodeBoard::kRoom), "head" + long_text.substr(4));
}

TEST(NodeBoard, many_exchanges_of_two_threads_bring_the_blocks_of_their_number) {
  NodeBoard first(2, 0);
  NodeBoard second(first.address(), 2, 1);
  constexpr std::uint64_t kExchanges = 20000;
  std::atomic<std::uint64_t> wrong = 0;
  const auto exchange = [&](NodeBoard& board, int own) {
    for (std::uint64_t number = 1; number <= kExchanges; ++number) {
      const std::uint64_t mine = 2 * number + static_cast<std::uint64_t>(own);
      board.write(number, std::as_bytes(std::span(&mine, 1)), {});
      while (!board.is_complete(number)) std::this_thread::yield();
      for (int rank = 0; rank < 2; ++rank) {
        std::uint64_t read = 0;
        std::memcpy(&read, board.block(number, rank), sizeof read);
        wrong += read != 2 * number + static_cast<std::uint64_t>(rank) ? 1 : 0;
      }
    }
  };
  std::thread other([&] { exchange(second, 1); });
  exchange(first, 0);
  other.join();
  EXPECT_EQ(wrong, 0U);
}

TEST(NodeBoard, of_a_name_that_is_not_there_is_refused) {
  EXPECT_THROW(NodeBoard({"/proc/self/fd/nothing", 1}, 2, 1), std::system_error);
}

// As on another machine, whose process of the same number has another file open.
TEST(NodeBoard, of_another_job_is_refused) {
  const NodeBoard here(2, 0);
  const NodeBoard there(2, 0);
  const NodeBoard::Address mistaken{there.address().file, here.address().token};
  EXPECT_THROW(NodeBoard(mistaken, 2, 1), std::system_error);
  EXPECT_NO_THROW(NodeBoard(there.address(), 2, 1));
}

TEST(NodeBoard, file_that_is_none_is_not_even_opened) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "table.csv";
  std::ofstream(file) << "time,y";
  const int watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(::inotify_add_watch(watch, file.c_str(), IN_OPEN), 0);
  EXPECT_THROW(NodeBoard({file.string(), 1}, 2, 1), std::system_error);
  std::array<char, 256> events{};
  EXPECT_LT(::read(watch, events.data(), events.size()), 0);
  ::close(watch);
  EXPECT_THROW(NodeBoard({"/dev/zero", 0}, 2, 1), std::system_error);  // it could be mapped, and has that token
  const NodeBoard smaller(2, 0);
  EXPECT_THROW(NodeBoard(smaller.address(), 3, 1), std::system_error);
}

}  // namespace
}  // namespace entrain::ranks
