// Waveform iteration: unequal imposed steps, order, loops, windows by error (docs/theory/waveform.md).
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "support/facts.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace waveform_test {

constexpr double kStop = 0.7;

/// Two masses of 5 and 80 kg: examples/mechanical, with steps that the subsystems impose.
SystemDescription pair(const std::string& method, double left_step, double right_step,
                       std::vector<std::string> options = {}) {
  auto description = test::changed(
      test::example("mechanical"),
      {.method = method, .step = std::min(left_step, right_step), .stop = kStop, .options = std::move(options)});
  description.subsystems[0].step = {left_step, {}};
  description.subsystems[1].step = {right_step, {}};
  return description;
}

SystemDescription without_rollback(SystemDescription description) {
  for (auto& subsystem : description.subsystems) subsystem.rollback = {false, {}};
  return description;
}

SystemDescription bare(SystemDescription description) {
  for (auto& subsystem : description.subsystems) {
    subsystem.rollback = {false, {}};
    subsystem.states = {false, {}};
    subsystem.input_degree = {0, {}};
    subsystem.output_derivative_order = {0, {}};
  }
  return description;
}

/// x and v of the left mass at the end: the equations of both masses by Runge-Kutta of order 4 in 70 000 steps.
std::array<double, 2> truth() {
  using State = std::array<double, 4>;
  const auto rate = [](const State& s) {
    const double force = 1e4 * (s[2] - s[0]) + 10.0 * (s[3] - s[1]);
    return State{s[1], (force - 1e4 * s[0] - 10.0 * s[1]) / 5.0, s[3], (-force - 1e5 * s[2] - 40.0 * s[3]) / 80.0};
  };
  const auto along = [](const State& s, const State& d, double by) {
    State moved = s;
    for (std::size_t i = 0; i < 4; ++i) moved[i] += by * d[i];
    return moved;
  };
  State s{1.0, 0.0, 3.0, 0.0};
  constexpr int kSteps = 70000;
  constexpr double kPart = kStop / kSteps;
  for (int k = 0; k < kSteps; ++k) {
    const State a = rate(s), b = rate(along(s, a, kPart / 2)), c = rate(along(s, b, kPart / 2)),
                d = rate(along(s, c, kPart));
    for (std::size_t i = 0; i < 4; ++i) s[i] += kPart / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
  }
  return {s[0], s[1]};
}

/// Of position and velocity of the left mass at the end, relative to about their ranges (6 m, 200 m/s).
double error_of(const SystemDescription& description) {
  Simulation simulation(description);
  const RunSummary summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  static const auto kTruth = truth();
  return std::max(std::abs(simulation.value("left.x") - kTruth[0]) / 6.0,
                  std::abs(simulation.value("left.v") - kTruth[1]) / 200.0);
}

std::uint64_t calls_of(const SystemDescription& description) {
  Simulation simulation(description);
  std::uint64_t calls = 0;
  for (const auto& subsystem : simulation.run().subsystems) calls += subsystem.steps + subsystem.trials;
  return calls;
}

TEST(Waveform, has_order_4_with_unequal_imposed_steps) {
  const double coarse = error_of(pair("waveform", 1e-3, 2.5e-3));
  const double fine = error_of(pair("waveform", 5e-4, 1.25e-3));
  EXPECT_LT(coarse, 1e-4);
  EXPECT_GT(std::log2(coarse / fine), 3.5);
}

TEST(Waveform, by_estimates_has_order_4_too_and_makes_no_call_more_than_an_explicit_method) {
  const auto coarse = without_rollback(pair("waveform", 1e-3, 2.5e-3));
  const auto fine = without_rollback(pair("waveform", 5e-4, 1.25e-3));
  EXPECT_GT(std::log2(error_of(coarse) / error_of(fine)), 3.5);
  EXPECT_EQ(calls_of(coarse), calls_of(without_rollback(pair("f3ornits", 1e-3, 2.5e-3))));
}

TEST(Waveform, is_10_times_as_accurate_as_f3ornits_at_equal_calls_and_unequal_steps) {
  for (const double left : {1e-3, 2.5e-3}) {
    const double right = left == 1e-3 ? 2.5e-3 : 1e-3;
    const double ours = error_of(without_rollback(pair("waveform", left, right)));
    EXPECT_LT(10.0 * ours, error_of(without_rollback(pair("f3ornits", left, right, {"max_order=3"}))));
    EXPECT_LT(10.0 * ours, error_of(without_rollback(pair("f3ornits", left, right))));
  }
}

TEST(Waveform, names_an_estimate_as_what_it_is) {
  auto description = test::changed(test::example("mechanical"), {.method = "waveform", .step = 1e-3, .stop = 0.1});
  description.subsystems[0].estimator = {"continued", {}};
  description.subsystems[1].estimator = {"identified", {}};
  for (auto& subsystem : description.subsystems) subsystem.rollback = {false, {}};
  Simulation simulation(description);
  const auto& notes = simulation.run().notes;
  EXPECT_TRUE(test::has_fact(notes, FactCode::TrialsEstimated, "left"));
  EXPECT_FALSE(test::has_fact(notes, FactCode::TrialsEstimated, "right"));
  EXPECT_TRUE(test::has_fact(notes, FactCode::StepsIdentified, "right"));
}

TEST(Waveform, of_bare_subsystems_with_held_inputs_has_order_2) {
  const double coarse = error_of(bare(pair("waveform", 5e-4, 1.25e-3)));
  const double fine = error_of(bare(pair("waveform", 2.5e-4, 6.25e-4)));
  EXPECT_GT(std::log2(coarse / fine), 1.7);
}

}  // namespace waveform_test
}  // namespace entrain
