// What a run shows on a real terminal: a pseudo-terminal of a given size, and what its screen would show.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace {

/// A terminal that knows what the program uses: line ends, cursor up, clear to the end of the line or of the screen,
/// colours; and that wraps what is too long. One cell holds a whole UTF-8 character. Rows are never dropped.
class Screen {
 public:
  explicit Screen(std::size_t columns) : columns_(columns) {}

  void take(const std::string& bytes) {
    for (const char c : bytes) {
      if (!escape_.empty()) {
        escape_ += c;
        if (c >= '@' && c != '[') obey();
      } else if (c == '\x1b') {
        escape_ = c;
      } else if (c == '\r') {
        column_ = 0;
      } else if (c == '\n') {
        ++row_;
        most_bars_ = std::max(most_bars_, rows_with("% "));
      } else {
        put(c);
      }
    }
  }
  std::size_t rows_with(const std::string& text) const {
    return static_cast<std::size_t>(std::count_if(rows_.begin(), rows_.end(), [&](const auto& row) {
      std::string line;
      for (const auto& cell : row) line += cell;
      return line.find(text) != std::string::npos;
    }));
  }
  std::size_t most_bars() const { return most_bars_; }  ///< progress bars that were on the screen together
  std::size_t updates() const { return updates_; }      ///< of what is overwritten
  bool wrapped() const { return wrapped_; }

 private:
  void put(char c) {
    const bool continuation = (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    if (rows_.size() <= row_) rows_.resize(row_ + 1);
    if (continuation) {
      rows_[row_][column_ - 1] += c;
      return;
    }
    if (column_ == columns_) {
      wrapped_ = true;
      column_ = 0;
      ++row_;
      if (rows_.size() <= row_) rows_.resize(row_ + 1);
    }
    if (rows_[row_].size() <= column_) rows_[row_].resize(column_ + 1, " ");
    rows_[row_][column_++] = std::string(1, c);
  }
  void obey() {
    if (rows_.size() <= row_) rows_.resize(row_ + 1);
    if (escape_.back() == 'A') {
      row_ -= std::min(row_, static_cast<std::size_t>(std::stoul(escape_.substr(2))));
      ++updates_;
    }
    if (escape_.back() == 'K') rows_[row_].resize(std::min(rows_[row_].size(), column_));
    if (escape_.back() == 'J') rows_.resize(row_ + 1), rows_[row_].clear();
    escape_.clear();
  }

  std::size_t columns_;
  std::vector<std::vector<std::string>> rows_;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::string escape_;
  std::size_t most_bars_ = 0;
  std::size_t updates_ = 0;
  bool wrapped_ = false;
};

/// The screen of a run with three watched signals, until it is over or has been redrawn often enough.
Screen watched_run(unsigned short columns, unsigned short rows) {
  const TemporaryFolder folder;
  winsize size{rows, columns, 0, 0};
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    const std::string system = examples_folder() + "/lotka_volterra";
    if (::chdir(folder.path().c_str()) == 0) {
      ::execl(program().c_str(), "entrain", "run", system.c_str(), "--step", "1e-5", "--out", "out", "--watch",
              "prey.p", "--watch", "predator.P", "--watch", "predator.u", static_cast<char*>(nullptr));
    }
    ::_exit(127);
  }
  Screen screen(columns);
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(terminal, buffer, sizeof buffer)) > 0;) {
    screen.take(std::string(buffer, static_cast<std::size_t>(count)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return screen;
}

TEST(Terminal, watched_signals_are_redrawn_in_place_and_gone_at_the_end) {
  const auto screen = watched_run(120, 40);
  EXPECT_GT(screen.updates(), 2U);
  EXPECT_EQ(screen.most_bars(), 1U);
  EXPECT_EQ(screen.rows_with("% "), 0U) << "the bar is removed";
  EXPECT_EQ(screen.rows_with("prey.p  "), 1U) << "the course at the end";
  EXPECT_EQ(screen.rows_with("completed"), 1U);
}

TEST(Terminal, narrow_ones_get_shorter_lines_instead_of_garbled_ones) {
  const auto screen = watched_run(50, 40);
  EXPECT_GT(screen.updates(), 2U);
  EXPECT_EQ(screen.most_bars(), 1U);
  EXPECT_EQ(screen.rows_with("% "), 0U);
}

TEST(Terminal, with_fewer_rows_than_signals_shows_as_many_as_fit) {
  const auto screen = watched_run(100, 3);
  EXPECT_GT(screen.updates(), 2U);
  EXPECT_EQ(screen.most_bars(), 1U);
  EXPECT_EQ(screen.rows_with("% "), 0U);
}

}  // namespace
}  // namespace entrain::test
