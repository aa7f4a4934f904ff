// Errors from runs with other steps, of courses whose true error is known.
#include "estimate/companion_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

#include "estimate/jump_matching.hpp"
#include "estimate/replay.hpp"

namespace entrain {
namespace companion_error_test {

/// The value of an output at time t in a run with this step.
using Course = std::function<double(Time t, double step)>;

struct Sampled {
  std::vector<Time> times;
  estimate::ComparedOutput output;
};

Sampled sampled(const Course& course, const std::vector<double>& factors, double formal_order, int steps = 400) {
  Sampled result;
  for (int k = 0; k <= steps; ++k) result.times.push_back(10.0 * k / steps);
  result.output.formal_order = formal_order;
  for (const double factor : factors) {
    estimate::ComparedCourse& other = result.output.courses.emplace_back();
    other.factor = factor;
    other.range = base::SignalRange::nothing();
    for (std::size_t k = 0; k < result.times.size(); ++k) {
      const bool communicates = k % static_cast<std::size_t>(std::max(1.0, factor)) == 0;
      const double value = course(result.times[k], factor);
      other.values.push_back(communicates ? value : std::numeric_limits<double>::quiet_NaN());
      if (communicates) other.range.take(value);
    }
  }
  result.output.times = result.times;
  return result;
}

estimate::CompanionJudgement judged(const Course& course, const std::vector<double>& factors, double formal_order,
                                    int steps = 400) {
  const auto runs = sampled(course, factors, formal_order, steps);
  estimate::ComparedOutput output = runs.output;
  output.times = runs.times;
  return estimate::judge_by_companions(output);
}

/// sin t, range 2, with an error of c step^p.
Course sine_with(double c, double p) {
  return [=](Time t, double step) { return std::sin(t) + c * std::pow(step, p); };
}

TEST(CompanionError, two_larger_steps_show_error_and_order) {
  for (const double p : {1.0, 2.0, 4.0}) {
    const auto result = judged(sine_with(1e-4, p), {1.0, 2.0, 4.0}, p);
    EXPECT_NEAR(result.error.error, 0.5e-4, 0.5e-6) << p;
    EXPECT_NEAR(result.error.bound, 1.25 * 0.5e-4, 1e-6) << p;
    EXPECT_NEAR(result.error.max_error, 0.5e-4, 0.5e-6) << p;
    EXPECT_NEAR(*result.error.order, p, 1e-6);
    EXPECT_FALSE(result.wants_smaller_step);
  }
}

/// The response of a decaying motion to an input that jumps by 1 at `jump` inside a step, and is seen at the end of
/// that step: late by the rest of the step. `shifted`: the grid of twice the step that begins with a single one.
double response(Time t, Time jump, double step, Time offset) {
  const Time seen = offset + step * std::ceil((jump - offset) / step);
  return t < seen ? 0.0 : 1.0 - std::exp(-(t - seen));
}

TEST(CompanionError, companions_on_both_grids_show_a_jump_inside_a_step) {
  const double step = 10.0 / 400;
  int agrees_alone = 0;
  for (const double place : {0.2, 0.5, 0.8}) {
    for (const int in_step : {100, 101, 102, 103}) {
      const Time jump = step * (in_step + place);
      const Course course = [&](Time t, double factor) { return response(t, jump, factor * step, 0.0); };
      auto runs = sampled(course, {1.0, 2.0, 4.0}, 3.0);
      const auto alone = estimate::judge_by_companions(runs.output);
      auto& shifted = runs.output.courses.emplace_back(runs.output.courses[1]);
      shifted.shifted = true;
      for (std::size_t k = 0; k < runs.times.size(); ++k) {
        shifted.values[k] =
            k % 2 == 1 ? response(runs.times[k], jump, 2.0 * step, step) : std::numeric_limits<double>::quiet_NaN();
      }
      const auto judgement = estimate::judge_by_companions(runs.output);
      double squares = 0.0;
      for (const Time t : runs.times) {
        const double truth = t < jump ? 0.0 : 1.0 - std::exp(-(t - jump));
        squares += std::pow(course(t, 1.0) - truth, 2) / static_cast<double>(runs.times.size());
      }
      const double truth = std::sqrt(squares);
      agrees_alone += alone.error.bound < truth ? 1 : 0;
      EXPECT_GT(judgement.error.error, truth / 3.0) << in_step << " " << place;
      EXPECT_LT(judgement.error.error, truth * 3.0) << in_step << " " << place;
      EXPECT_GT(judgement.error.bound, truth) << in_step << " " << place;
      EXPECT_TRUE(judgement.shows_jumps);
    }
  }
  EXPECT_GE(agrees_alone, 3) << "nested grids alone do not see it where they have the same neighbour of the jump";
}

TEST(CompanionError, order_below_the_formal_one_has_a_factor_of_three) {
  const auto result = judged(sine_with(1e-4, 1.0), {1.0, 2.0, 4.0}, 2.0);
  EXPECT_NEAR(result.error.error, 0.5e-4, 0.5e-6);
  EXPECT_NEAR(result.error.bound, 1.5e-4, 2e-6);
}

TEST(CompanionError, one_companion_has_the_formal_order_and_a_factor_of_three) {
  const auto result = judged(sine_with(1e-4, 2.0), {1.0, 2.0}, 2.0);
  EXPECT_NEAR(result.error.error, 0.5e-4, 0.5e-6);
  EXPECT_NEAR(result.error.bound, 1.5e-4, 2e-6);
  EXPECT_FALSE(result.error.order);
}

TEST(CompanionError, smaller_steps_show_the_error_of_the_run_itself) {
  for (const auto& factors : {std::vector<double>{0.5, 1.0, 2.0}, {0.25, 0.5, 1.0}}) {
    const auto result = judged(sine_with(1e-3, 1.0), factors, 1.0);
    EXPECT_NEAR(result.error.error, 0.5e-3, 1e-6);
    EXPECT_NEAR(*result.error.order, 1.0, 1e-6);
  }
}

TEST(CompanionError, differences_that_do_not_fall_are_claimed_undivided) {
  // What stays the same from step to step is no power of the step.
  const auto stays = [](Time t, double step) {
    return std::sin(t) + 1e-2 * std::cos(std::numbers::pi * std::log2(step));
  };
  const auto result = judged(stays, {1.0, 2.0, 4.0}, 1.0);
  EXPECT_TRUE(result.wants_smaller_step);
  EXPECT_FALSE(result.converges);
  EXPECT_GT(result.error.bound, 2.9 * result.error.error);
}

TEST(CompanionError, run_with_four_times_the_step_that_blows_up_is_no_order) {
  const auto course = [](Time t, double step) {
    return std::sin(t) + 1e-3 * step + (step > 2.0 ? std::exp(3.0 * t) : 0.0);
  };
  const auto result = judged(course, {1.0, 2.0, 4.0}, 1.0);
  EXPECT_TRUE(result.wants_smaller_step);
  EXPECT_NEAR(result.error.error, 0.5e-3, 0.1e-3);  // undivided
  const auto better = judged(course, {0.5, 1.0, 2.0, 4.0}, 1.0);
  EXPECT_NEAR(better.error.error, 0.5e-3, 1e-5);
  EXPECT_NEAR(better.range_ratio, 1.0, 1e-2);
}

TEST(CompanionError, blown_up_run_is_measured_by_the_smaller_range) {
  const auto course = [](Time t, double step) { return std::sin(t) * std::exp(0.5 * step * t); };
  const auto result = judged(course, {0.5, 1.0, 2.0, 4.0}, 1.0);
  EXPECT_GT(result.range_ratio, 4.0);
  EXPECT_GT(result.error.error, 1.0);
  EXPECT_DOUBLE_EQ(result.error.valid_until, 10.0);  // there is no part that could be trusted
}

TEST(CompanionError, chaos_is_valid_until_the_runs_part) {
  // The phases part exponentially, until the runs have nothing to do with each other.
  const auto course = [](Time t, double step) { return std::sin(7.0 * t + 1e-6 * step * std::exp(3.0 * t)); };
  const auto result = judged(course, {0.5, 1.0, 2.0}, 1.0, 4000);
  EXPECT_GT(result.error.valid_until, 3.0);
  EXPECT_LT(result.error.valid_until, 4.7);
  EXPECT_LT(result.error.error, 0.03);
}

TEST(CompanionError, equal_runs_have_no_error_and_need_none) {
  const auto result = judged([](Time t, double) { return std::sin(t); }, {1.0, 2.0, 4.0}, 2.0);
  EXPECT_EQ(result.error.error, 0.0);
  EXPECT_EQ(result.error.bound, 0.0);
  EXPECT_FALSE(result.wants_smaller_step);
}

TEST(CompanionError, constant_is_measured_by_its_magnitude) {
  const auto rounding = [](Time t, double step) { return 300.0 * (1.0 + 1e-16 * std::sin(1e3 * t * step)); };
  const auto result = judged(rounding, {1.0, 2.0, 4.0}, 1.0);
  EXPECT_LT(result.error.bound, 1e-14);
  EXPECT_NEAR(result.range_ratio, 1.0, 1e-9);
  EXPECT_FALSE(result.wants_smaller_step);
}

TEST(CompanionError, signal_that_rests_is_measured_by_others_of_its_unit) {
  const auto noise = [](Time t, double step) { return 1e-18 * std::sin(1e3 * t * step); };
  auto runs = sampled(noise, {1.0, 2.0, 4.0}, 1.0);
  runs.output.times = runs.times;
  runs.output.least_range = 1e-9;
  EXPECT_LT(estimate::judge_by_companions(runs.output).error.bound, 1e-8);
}

TEST(CompanionError, jump_that_agrees_to_within_a_step_is_no_error_of_the_value) {
  const auto square = [](Time t, double step) {
    const Time jump = 5.0 + 0.0035 * step;  // between two common times in the run, behind the next in the companion
    return (t < jump ? 0.0 : 1.0) + 1e-3 * step;
  };
  const auto result = judged(square, {1.0, 2.0, 4.0}, 1.0, 4000);
  EXPECT_NEAR(result.error.error, 1e-3, 1e-4);
  EXPECT_NEAR(result.error.max_error, 1e-3, 1e-4);
  EXPECT_EQ(result.unmatched_jumps, 0u);
  EXPECT_GT(result.event_time_error, 0.0);
}

TEST(CompanionError, jump_of_one_run_alone_is_counted) {
  const auto once = [](Time t, double step) { return std::sin(t) + (step < 2.0 && t > 5.003 ? 1.0 : 0.0); };
  EXPECT_EQ(judged(once, {1.0, 2.0, 4.0}, 1.0, 4000).unmatched_jumps, 1u);
}

TEST(CompanionError, without_common_times_nothing_is_known) {
  auto runs = sampled(sine_with(1e-3, 1.0), {1.0, 2.0}, 1.0);
  runs.output.times = runs.times;
  std::fill(runs.output.courses[1].values.begin(), runs.output.courses[1].values.end(),
            std::numeric_limits<double>::quiet_NaN());
  const auto result = estimate::judge_by_companions(runs.output);
  EXPECT_LT(result.common_times, 2u);
  EXPECT_EQ(result.error.estimate, EstimateKind::Unknown);
}

TEST(JumpMatching, later_jump_of_the_other_course_is_the_same_jump) {
  std::vector<double> one(20, 0.0);
  std::vector<double> other(20, 0.0);
  std::fill(one.begin() + 8, one.end(), 1.0);
  std::fill(other.begin() + 10, other.end(), 1.1);
  const auto matched = estimate::match_jumps(one, other, 1.0);
  ASSERT_EQ(matched.pairs.size(), 1u);
  EXPECT_EQ(matched.pairs[0].first, 8u);
  EXPECT_EQ(matched.pairs[0].last, 10u);
  EXPECT_EQ(matched.unmatched, 0u);
}

TEST(Replay, merged_steps_end_at_events) {
  // A step to just before 0.5, and one across it.
  const std::vector<Time> times{0.0, 0.1, 0.2, 0.3, 0.5 - 1e-10, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0};
  EXPECT_EQ(estimate::merged_steps(times, 2), (std::vector<Time>{0.0, 0.2, 0.5 - 1e-10, 0.5, 0.7, 0.9, 1.0}));
  EXPECT_EQ(estimate::merged_steps(times, 4), (std::vector<Time>{0.0, 0.5 - 1e-10, 0.5, 0.9, 1.0}));
}

TEST(Replay, divided_steps_keep_the_times_of_the_run) {
  const std::vector<Time> times{0.0, 1.0, 2.0 - 1e-8, 2.0, 4.0};
  EXPECT_EQ(estimate::divided_steps(times, 2),
            (std::vector<Time>{0.0, 0.5, 1.0, 0.5 * (3.0 - 1e-8), 2.0 - 1e-8, 2.0, 3.0, 4.0}));
}

}  // namespace companion_error_test
}  // namespace entrain
