#include "base/foreign_code.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <cfenv>
#include <chrono>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "base/fault_watch.hpp"
#include "base/printable.hpp"
#include "base/sanitized.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/watchdog.hpp"

namespace entrain {
namespace foreign_code_test {

void print(const Error& fault) {
  std::fputs(fault.what(), stderr);
}

void crash() {
  ::raise(SIGSEGV);
}

class Faults : public testing::Test {
 protected:
  // A watch has a thread: the process that dies must start anew.
  Faults() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST(ForeignCode, knows_its_innermost_call) {
  base::ForeignCode code({.code = "library"});
  EXPECT_EQ(base::ForeignCode::current(), nullptr);
  const int result = code.call("outer", [&] {
    EXPECT_EQ(base::ForeignCode::current(), &code);
    code.call("inner", [&] { EXPECT_EQ(std::string_view(code.function()), "inner"); });
    EXPECT_EQ(std::string_view(code.function()), "outer");
    EXPECT_EQ(base::ForeignCode::current(), &code);
    return 7;
  });
  EXPECT_EQ(result, 7);
  EXPECT_EQ(code.function(), nullptr);
  EXPECT_EQ(base::ForeignCode::current(), nullptr);
  EXPECT_EQ(code.calls(), 2U);
}

TEST(ForeignCode, that_throws_a_long_text_is_quoted_in_part) {
  base::ForeignCode code({.code = "library"});
  try {
    code.call("f", [] { throw std::runtime_error(std::string(1'000'000, 'x')); });
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.fact().text("what"), "'" + std::string(base::kLongestQuote, 'x') + "...'");
  }
}

TEST(ForeignCode, that_runs_out_of_memory_is_named_with_function_and_amounts) {
  base::ForeignCode code({.code = "library", .subsystem = "part"});
  note_refused_memory(123456789);
  try {
    code.call("f", [] { throw std::bad_alloc(); });
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.fact().code, FactCode::OutOfMemory);
    EXPECT_EQ(error.context().subsystem, "part");
    EXPECT_EQ(error.fact().text("function"), "f");
    EXPECT_EQ(error.fact().number("requested"), 123456789.0);
    EXPECT_GT(error.fact().number("used").value_or(0.0), 1e6);
  }
}

TEST(ForeignCode, that_changes_the_arithmetic_has_it_put_back_before_it_returns) {
  base::ForeignCode code({.code = "library"});
  const auto third = [] {
    volatile double one = 1.0;
    return one / 3.0;
  };
  const double before = third();
  code.call("f", [] { std::fesetround(FE_UPWARD); });
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  EXPECT_EQ(third(), before);
  EXPECT_THROW(code.call("g", [] { std::fesetround(FE_DOWNWARD), throw 1; }), Error);
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(ForeignCode, turns_what_is_thrown_into_an_error_and_is_done) {
  base::ForeignCode code({.code = "library", .subsystem = "part"});
  code.set_time(1.5);
  try {
    code.call("f", [] { throw 1; });
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.context().subsystem, "part");
    EXPECT_EQ(error.context().time, 1.5);
    EXPECT_EQ(error.fact().code, FactCode::CodeThrew);
    EXPECT_EQ(error.fact().subjects, std::vector<std::string>{"library"});
    EXPECT_EQ(error.fact().text("function"), "f");
  }
  EXPECT_FALSE(code.usable());
  EXPECT_EQ(base::ForeignCode::current(), nullptr);
}

TEST(ForeignCode, lets_errors_of_our_callbacks_pass) {
  base::ForeignCode code({.code = "library"});
  try {
    code.call("f", [] { throw Error(ErrorCode::FileFailed, "disk full"); });
    FAIL() << "nothing thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::FileFailed);
  }
}

TEST_F(Faults, crash_in_a_call_is_reported_and_ends_the_process) {
  EXPECT_EXIT(
      {
        const base::FaultWatch watch(print);
        base::ForeignCode code({.code = "library 'x'", .last_words = [] { return std::string("; it sighed"); }});
        code.call("f", crash);
      },
      testing::ExitedWithCode(1), "library 'x' crashed in f .SIGSEGV: it used memory that is not there.; it sighed. ");
}

TEST_F(Faults, crash_of_the_handler_is_reported_in_short) {
  EXPECT_EXIT(
      {
        const base::FaultWatch watch([](const Error&) { crash(); });
        base::ForeignCode code({.code = "library 'x'"});
        code.call("f", crash);
      },
      testing::ExitedWithCode(1), "entrain: library 'x' crashed in f .SIGSEGV.*could not be ended in order");
}

TEST_F(Faults, handler_that_does_not_return_is_cut_off) {  // takes five seconds
  EXPECT_EXIT(
      {
        const base::FaultWatch watch([](const Error&) { std::this_thread::sleep_for(std::chrono::hours(1)); });
        base::ForeignCode code({.code = "library 'x'"});
        code.call("f", crash);
      },
      testing::ExitedWithCode(1), "entrain: library 'x' crashed in f .*could not be ended in order");
}

TEST_F(Faults, newest_watch_gets_the_report) {
  EXPECT_EXIT(
      {
        const base::FaultWatch outer([](const Error&) { std::fputs("outer", stderr); });
        {
          const base::FaultWatch gone([](const Error&) { std::fputs("gone", stderr); });
        }
        const base::FaultWatch inner([](const Error&) { std::fputs("inner", stderr); });
        base::ForeignCode code({.code = "library"});
        code.call("f", crash);
      },
      testing::ExitedWithCode(1), "^inner$");
}

TEST_F(Faults, call_that_takes_too_long_is_reported_also_in_another_thread) {
  EXPECT_EXIT(
      {
        const base::FaultWatch watch(print);
        std::thread([] {
          base::ForeignCode code({.code = "library", .subsystem = "part", .timeout = 0.1});
          code.call("f", [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
        }).join();
      },
      testing::ExitedWithCode(1), "subsystem 'part': library did not return from f within 0.1 s. Raise");
}

TEST_F(Faults, calls_that_return_in_time_may_take_long_together) {
  const base::FaultWatch watch(print);
  base::ForeignCode code({.code = "library", .timeout = 1.0});
  for (int i = 0; i < 15; ++i) code.call("f", [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); });
  EXPECT_EQ(code.calls(), 15U);
}

void enter_and_wait(base::ForeignCode& code, const char* name, std::chrono::milliseconds time) {
  code.enter(name);
  std::this_thread::sleep_for(time);
}

TEST_F(Faults, calls_of_one_visit_that_return_in_time_may_take_long_together) {
  const base::FaultWatch watch(print);
  base::ForeignCode code({.code = "library", .timeout = 1.0});
  const int result = code.visit([&] {
    for (const char* name : {"f", "g", "h"}) enter_and_wait(code, name, std::chrono::milliseconds(500));
    return 7;
  });
  EXPECT_EQ(result, 7);
  EXPECT_EQ(code.calls(), 1U);
  EXPECT_EQ(code.function(), nullptr);
}

TEST_F(Faults, call_of_a_visit_that_takes_too_long_is_named) {
  EXPECT_EXIT(
      {
        const base::FaultWatch watch(print);
        base::ForeignCode code({.code = "library", .timeout = 0.1});
        code.visit([&] {
          enter_and_wait(code, "f", std::chrono::milliseconds(1));
          enter_and_wait(code, "g", std::chrono::hours(1));
          return 0;
        });
      },
      testing::ExitedWithCode(1), "library did not return from g within 0.1 s");
}

#ifndef ENTRAIN_SANITIZED  // which catch signals themselves
TEST_F(Faults, crash_of_our_own_is_not_touched) {
  EXPECT_EXIT(
      {
        const base::FaultWatch watch(print);
        crash();
      },
      testing::KilledBySignal(SIGSEGV), "^$");
}
#endif

TEST_F(Faults, handlers_of_before_are_put_back) {
  struct sigaction before {};
  ::sigaction(SIGFPE, nullptr, &before);
  { const base::FaultWatch watch(print); }
  struct sigaction after {};
  ::sigaction(SIGFPE, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
  EXPECT_FALSE(base::FaultWatch::active());
}

TEST(Printable, text_keeps_its_letters_and_shows_what_a_terminal_would_obey) {
  EXPECT_EQ(base::printable("caf\xC3\xA9 \xE2\x82\xAC"), "caf\xC3\xA9 \xE2\x82\xAC");
  EXPECT_EQ(base::printable("a\x1B[2Jb\n\x7F"), "a\\x1b[2Jb\\x0a\\x7f");
  EXPECT_EQ(base::printable("\xC2\x9B"
                            "2J"),
            "\\xc2\\x9b2J");  // the one-character form of ESC [
  EXPECT_EQ(base::printable("\xB0"
                            "C"),
            "\\xb0C");                                   // Latin-1
  EXPECT_EQ(base::printable("\xE2\x82"), "\\xe2\\x82");  // cut
}

}  // namespace foreign_code_test
}  // namespace entrain
