#include "base/long_calls.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/fault_watch.hpp"
#include "base/foreign_code.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/watchdog.hpp"

namespace entrain {
namespace long_calls_test {

using Timer = base::CallTimer<int>;

Timer::Clock::time_point at(int seconds) {
  return Timer::Clock::time_point(std::chrono::seconds(seconds));
}

TEST(CallTimer, call_is_due_after_ten_seconds_and_at_twice_the_time) {
  Timer timer(1, at(0));
  std::vector<int> due;
  for (int second = 0; second <= 50; ++second) {
    if (timer.is_due(timer.look(1, at(second)))) due.push_back(second);
  }
  EXPECT_EQ(due, (std::vector{11, 21, 41}));
}

TEST(CallTimer, many_calls_are_no_long_one) {
  Timer timer(0, at(0));
  for (int call = 0; call < 100; ++call) {
    EXPECT_EQ(timer.look(call, at(4 * call)), 0.0);
    EXPECT_FALSE(timer.is_due(timer.look(call, at(4 * call + 4))));
  }
}

TEST(CallTimer, call_after_a_long_one_is_due_after_ten_seconds_again) {
  Timer timer(1, at(0));
  EXPECT_TRUE(timer.is_due(timer.look(1, at(15))));
  timer.look(2, at(16));
  EXPECT_FALSE(timer.is_due(timer.look(2, at(26))));
  EXPECT_TRUE(timer.is_due(timer.look(2, at(27))));
}

Fact call_of(double seconds) {
  return base::long_call("part", "f", seconds, 0.5, "run");
}

TEST(LongCalls, newest_listener_is_called_and_after_its_end_the_one_before) {
  std::string heard;
  EXPECT_FALSE(base::LongCalls::heard());
  {
    const LongCallWatch outer([&](const Fact& call) { heard += "outer " + call.subjects[0] + " "; });
    {
      const LongCallWatch inner([&](const Fact&) { heard += "inner "; });
      base::LongCalls::report(call_of(10.0));
    }
    base::LongCalls::report(call_of(20.0));
    EXPECT_TRUE(base::LongCalls::heard());
  }
  base::LongCalls::report(call_of(40.0));
  EXPECT_EQ(heard, "inner outer part ");
  EXPECT_FALSE(base::LongCalls::heard());
}

TEST(LongCalls, what_a_listener_throws_is_ignored) {
  int heard = 0;
  const base::LongCalls calls([&](const Fact&) {
    ++heard;
    throw std::runtime_error("no terminal");
  });
  base::LongCalls::report(call_of(10.0));
  base::LongCalls::report(call_of(20.0));
  EXPECT_EQ(heard, 2);
}

TEST(LongCalls, listener_may_end_itself_and_make_others) {
  int heard = 0;
  std::unique_ptr<base::LongCalls> calls;
  calls = std::make_unique<base::LongCalls>([&](const Fact&) {
    ++heard;
    {
      const base::LongCalls other([](const Fact&) {});
    }
    calls.reset();
  });
  base::LongCalls::report(call_of(10.0));
  base::LongCalls::report(call_of(20.0));
  EXPECT_EQ(heard, 1);
}

TEST(LongCalls, listener_is_called_no_more_once_it_is_gone) {
  std::atomic<bool> entered = false;
  std::atomic<bool> goes_on = false;
  std::atomic<bool> gone = false;
  bool called_when_gone = false;
  auto calls = std::make_unique<base::LongCalls>([&](const Fact&) {
    entered = true;
    entered.notify_all();
    goes_on.wait(false);
    called_when_gone = gone;
  });
  std::thread reporting([] { base::LongCalls::report(call_of(10.0)); });
  entered.wait(false);
  std::thread ending([&] {
    calls.reset();
    gone = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // would be gone by now, if it did not wait
  goes_on = true;
  goes_on.notify_all();
  reporting.join();
  ending.join();
  EXPECT_FALSE(called_when_gone);
}

TEST(LongCalls, run_knows_of_a_call_that_is_not_due) {
  base::LongestCall longest;
  int heard = 0;
  const base::LongCalls calls([&](const Fact&) { ++heard; });
  const auto keep = [&](const Fact& call) { longest.keep(call); };
  base::LongCalls::report({call_of(12.0), keep, false});
  base::LongCalls::report({call_of(31.0), keep, false});
  base::LongCalls::report({call_of(10.0), keep, true});
  EXPECT_EQ(heard, 1);
  const auto call = longest.take();
  ASSERT_TRUE(call);
  EXPECT_EQ(call->code, FactCode::CallTakesLong);
  EXPECT_EQ(call->number("seconds"), 31.0);
  EXPECT_EQ(call->number("time"), 0.5);
  EXPECT_FALSE(longest.take());
}

/// Of many that come and go in any order, one that stays is still watched.
TEST(ForeignCodeList, code_among_many_is_timed_until_it_ends) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const base::FaultWatch watch([](const Error& fault) { std::fputs(fault.what(), stderr); });
        std::vector<std::unique_ptr<base::ForeignCode>> all;
        for (int i = 0; i < 1000; ++i) {
          all.push_back(std::make_unique<base::ForeignCode>(
              base::ForeignCode::Owner{.code = "library " + std::to_string(i), .timeout = 0.1}));
        }
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (i % 3 != 1) all[i].reset();
        }
        for (std::size_t i = all.size(); i-- > 0;) {
          if (i != 499) all[i].reset();
        }
        all[499]->call("f", [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
      },
      testing::ExitedWithCode(1), "library 499 did not return from f");
}

/// On the thread of the watch, while a call lasts: it uses what that thread looks after, and throws. A fault afterwards
/// is reported as ever.
TEST(ForeignCodeList, listener_that_makes_foreign_code_and_watches_delays_no_timeout) {  // takes eleven seconds
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const base::FaultWatch watch([](const Error& fault) { std::fputs(fault.what(), stderr); });
        const base::LongCalls calls([](const Fact& call) {
          const Watchdog another([](const Error&) {});
          base::ForeignCode code({.code = "another"});
          code.call("g", [] {});
          std::fprintf(stderr, "heard of %s; ", call.subjects[0].c_str());
          throw std::runtime_error("no terminal");
        });
        base::ForeignCode code({.code = "library", .subsystem = "part", .timeout = 12.0});
        code.call("f", [] { std::this_thread::sleep_for(std::chrono::hours(1)); });
      },
      testing::ExitedWithCode(1), "heard of part; .*library did not return from f within 12 s");
}

}  // namespace long_calls_test
}  // namespace entrain
