// Learning over repeated runs: the check values are those of docs/theory/reproduction.md, learning.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "entrain/learning.hpp"
#include "entrain/recording.hpp"
#include "models/chain_system.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace learning_test {

using test::example;

SystemDescription with_options(SystemDescription description, const std::vector<std::string>& options) {
  for (const auto& option : options) apply_option(description, option);
  return description;
}

/// The pair of the paper with springs that harden, each by 1 N/m3.
SystemDescription cubic_pair(bool damped) {
  SystemDescription description = example("learning");
  for (auto& subsystem : description.subsystems) {
    const bool force = subsystem.name == "force_side";
    subsystem.model = force ? "cubic.force_side" : "cubic.motion_side";
    subsystem.start = {{"integrator", {std::string("semi-implicit"), {}}}};
    if (damped) continue;
    subsystem.start[force ? "d1" : "d2"] = {0.0, {}};
    if (force) subsystem.start["d_k"] = {0.0, {}};
  }
  return description;
}

MemoryRecorder recorded(const SystemDescription& description, const Learned* learned = nullptr) {
  Simulation simulation(description, {.threads = 1, .interrupt = nullptr, .learned = learned});
  MemoryRecorder record({"*"});
  simulation.observe(record);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return record;
}

/// Largest difference of what `input` received to what `output` was at the start of the same macro steps in a run whose
/// outputs are evaluated again at every communication time.
double distance_to_undelayed(const SystemDescription& description, const Learned& learned, const std::string& output,
                             const std::string& input) {
  const auto meant = recorded(with_options(description, {"feedthrough=refresh"})).column(output);
  const auto received = recorded(with_learned(description, learned), &learned).column(input);
  double largest = 0.0;
  for (std::size_t k = 0; k + 1 < received.size(); ++k) {
    largest = std::max(largest, std::abs(received[k + 1] - meant[k]));
  }
  return largest;
}

LearnOptions runs(int iterations, double tolerance = 0.0) {
  LearnOptions options;
  options.inputs = LearnInputs::Held;
  options.iterations = iterations;
  options.tolerance = tolerance;
  return options;
}

double norm(const LearnResult& result, std::size_t iteration) {
  return result.iterations.at(iteration).connections.at(0).norm;
}

/// The two masses of the paper with all their springs and dampers as one set of equations, by Runge-Kutta steps of a
/// tenth of `step`: the position of the second one at every step.
std::vector<double> true_positions(Duration step, std::size_t steps) {
  using State = std::array<double, 4>;  // x1, v1, x, v
  const auto rates = [](const State& s) -> State {
    const double force = 100.0 * (s[0] - s[2]) + 0.1 * (s[1] - s[3]);
    return {s[1], -10.0 * s[0] - 0.1 * s[1] - force, s[3], -1000.0 * s[2] - 0.1 * s[3] + force};
  };
  const auto moved = [](State s, const State& by, double h) {
    for (std::size_t i = 0; i < s.size(); ++i) s[i] += h * by[i];
    return s;
  };
  constexpr int kParts = 10;
  const double h = step / kParts;
  State s{0.0, 100.0, 0.0, -100.0};
  std::vector<double> positions{s[2]};
  for (std::size_t k = 1; k <= steps; ++k) {
    for (int part = 0; part < kParts; ++part) {
      const State a = rates(s);
      const State b = rates(moved(s, a, h / 2));
      const State c = rates(moved(s, b, h / 2));
      const State d = rates(moved(s, c, h));
      for (std::size_t i = 0; i < s.size(); ++i) s[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    }
    positions.push_back(s[2]);
  }
  return positions;
}

class LearnedError : public testing::TestWithParam<const char*> {};

TEST_P(LearnedError, is_that_of_the_run_and_not_what_is_minimised) {
  SystemDescription description = example("learning");
  description.stop = {5.0, {}};
  for (auto& subsystem : description.subsystems) subsystem.start["integrator"] = {std::string(GetParam()), {}};
  const auto result = learn(description, runs(13));
  ASSERT_TRUE(result.judged);
  const auto& outputs = result.judged->estimate.outputs;
  const auto found =
      std::find_if(outputs.begin(), outputs.end(), [](const auto& of) { return of.name == "motion_side.x"; });
  ASSERT_NE(found, outputs.end());
  ASSERT_EQ(found->estimate, EstimateKind::Propagated) << render(result.judged->verdict.reasons, "; ");

  const auto run = recorded(with_learned(description, result.learned), &result.learned);
  const auto& ours = run.column("motion_side.x");
  const auto exact = true_positions(description.step->value, ours.size() - 1);
  double sum = 0.0;
  for (std::size_t k = 0; k < ours.size(); ++k) sum += (ours[k] - exact[k]) * (ours[k] - exact[k]);
  const auto [least, most] = std::minmax_element(exact.begin(), exact.end());
  const double truth = std::sqrt(sum / static_cast<double>(ours.size())) / (*most - *least);
  EXPECT_GT(truth, 1e3 * result.learned.error) << "what is minimised is far smaller";
  EXPECT_GT(found->error, truth / 3);
  EXPECT_LT(found->error, truth * 3);
}

INSTANTIATE_TEST_SUITE_P(Learning, LearnedError, testing::Values("semi-implicit", "exact"),
                         [](const auto& of) { return of.index == 0 ? "euler" : "exact"; });

TEST(Learning, damped_oscillator_has_the_verified_norms) {
  const auto result = learn(example("learning"), runs(13));
  ASSERT_EQ(result.learned.inputs, std::vector<std::string>{"motion_side.F"});
  // Twelve digits are printed.
  EXPECT_NEAR(norm(result, 0), 862.674010206, 1e-9);
  EXPECT_NEAR(norm(result, 1), 346.615649301, 1e-9);
  EXPECT_NEAR(norm(result, 2), 130.324463094, 1e-9);
  EXPECT_NEAR(norm(result, 4), 8.80803445406, 1e-11);
  EXPECT_NEAR(norm(result, 12), 4.95e-7, 0.01e-7);
  EXPECT_LT(distance_to_undelayed(example("learning"), result.learned, "force_side.F", "motion_side.F"), 6e-8);
  EXPECT_NEAR(result.full_runs, 13.0, 1e-12);
}

TEST(Learning, undelayed_reference_is_the_same_scheme_for_both_masses) {
  const auto record = recorded(with_options(example("learning"), {"feedthrough=refresh"}));
  EXPECT_NEAR(record.column("force_side.x1").back(), -1.26781033162, 1e-11);
  EXPECT_NEAR(record.column("motion_side.x").back(), -0.261611793009, 1e-12);
  EXPECT_NEAR(record.column("force_side.F").back(), -98.7298328637, 1e-9);
}

TEST(Learning, gamma_is_that_of_the_subsystems_own_steps) {
  LearnPlan plan;
  const LearnProgress progress{[&](const LearnPlan& known) { plan = known; }, {}};
  learn(example("learning"), runs(1), progress);
  EXPECT_NEAR(plan.gamma.value(), 0.98435493, 5e-9);
  EXPECT_LT(plan.radius.value(), 1.0);

  auto exact = example("learning");
  for (auto& subsystem : exact.subsystems) subsystem.start["integrator"] = {std::string("exact"), {}};
  learn(exact, runs(1), progress);
  EXPECT_NEAR(plan.gamma.value(), 2.119, 5e-4);

  auto half = example("learning");
  half.step = {5e-4, {}};
  learn(half, runs(1), progress);
  EXPECT_NEAR(plan.gamma.value(), 0.330, 5e-4);
}

TEST(Learning, exact_steps_converge_to_the_undelayed_held_coupling_although_gamma_exceeds_one) {
  auto exact = example("learning");
  for (auto& subsystem : exact.subsystems) subsystem.start["integrator"] = {std::string("exact"), {}};
  const auto result = learn(exact, runs(13));
  EXPECT_LT(distance_to_undelayed(exact, result.learned, "force_side.F", "motion_side.F"), 1e-6);
}

TEST(Learning, hardening_springs_damped_are_learned_to_1e_minus_5_N_at_iteration_12) {
  const auto description = cubic_pair(true);
  const auto result = learn(description, runs(13));
  EXPECT_EQ(result.end, LearnEnd::Iterations);
  EXPECT_LT(distance_to_undelayed(description, result.learned, "force_side.F", "motion_side.F"), 1e-5);
}

TEST(Learning, hardening_springs_undamped_are_stopped_unless_the_horizon_grows) {
  auto options = runs(30, 1e-12);
  options.progressive = ProgressiveLearning::Never;
  const auto plain = learn(cubic_pair(false), options);
  EXPECT_EQ(plain.end, LearnEnd::Diverged);
  EXPECT_LT(plain.iterations.size(), 30U);

  options.progressive = ProgressiveLearning::Auto;
  const auto grown = learn(cubic_pair(false), options);
  EXPECT_TRUE(grown.end == LearnEnd::Converged || grown.end == LearnEnd::Stalled);
  EXPECT_EQ(grown.learned.steps, 20'000U);
  EXPECT_LT(distance_to_undelayed(cubic_pair(false), grown.learned, "force_side.F", "motion_side.F"), 1e-6);
  EXPECT_GT(grown.full_runs, plain.full_runs);
  EXPECT_LT(grown.full_runs, 150.0);
}

TEST(Learning, chain_of_three_has_two_connections_to_learn) {
  auto chain = models::chain_system(3, false);
  const auto result = learn(chain, runs(40, 1e-12));
  EXPECT_EQ(result.end, LearnEnd::Converged);
  ASSERT_EQ(result.learned.inputs, (std::vector<std::string>{"m0.right_F", "m1.right_F"}));
  chain.method.value = "jacobi";
  EXPECT_LT(distance_to_undelayed(chain, result.learned, "m1.F_left", "m0.right_F"), 1e-10);
  EXPECT_LT(distance_to_undelayed(chain, result.learned, "m2.F_left", "m1.right_F"), 1e-10);
}

/// Largest error of any learned connection in the last of so many runs, one side with twice the step of the other.
double tracking_error(const std::string& slow, int iterations) {
  auto description = example("learning");
  for (auto& subsystem : description.subsystems) {
    if (subsystem.name == slow) subsystem.step = {2e-3, {}};
  }
  auto options = runs(iterations);
  options.progressive = ProgressiveLearning::Never;
  const auto result = learn(description, options);
  EXPECT_EQ(result.iterations.size(), static_cast<std::size_t>(iterations));
  double largest = 0.0;
  for (const auto& connection : result.iterations.back().connections) largest = std::max(largest, connection.max_error);
  return largest;
}

TEST(Learning, force_side_with_twice_the_step_is_tracked_to_1e_minus_2_N_at_iteration_15) {
  EXPECT_LT(tracking_error("force_side", 16), 1e-2);
}

TEST(Learning, motion_side_with_twice_the_step_takes_twice_the_runs) {
  EXPECT_LT(tracking_error("motion_side", 30), 1e-2);  // x and v are learned as well: they come every other step only
}

TEST(Learning, replay_is_the_best_run_to_the_last_bit) {
  auto description = example("learning");
  description.stop = {2.0, {}};
  const auto result = learn(description, runs(6));
  ASSERT_EQ(result.best, 5);
  const auto replay = recorded(with_learned(description, result.learned), &result.learned);
  // The error of the replay, as the learning sees it, summed in the same order.
  const auto& received = replay.column("motion_side.F");
  const auto& sent = replay.column("force_side.F");
  double squares = 0.0;
  for (std::size_t k = 0; k + 1 < received.size(); ++k) {
    squares += (sent[k + 1] - received[k + 1]) * (sent[k + 1] - received[k + 1]);
  }
  EXPECT_EQ(std::sqrt(squares), norm(result, 5));
}

TEST(Learning, gives_the_same_bits_with_1_and_4_threads) {
  auto description = models::chain_system(5, false);
  description.stop = {1.0, {}};
  auto options = runs(5);
  const auto one = learn(description, options);
  options.threads = 4;
  const auto four = learn(description, options);
  EXPECT_EQ(one.learned.corrections, four.learned.corrections);
  ASSERT_EQ(one.iterations.size(), four.iterations.size());
}

TEST(Learning, half_the_gain_halves_the_error_of_what_the_loop_does_not_feed_back) {
  // Short enough that the error of a run hardly acts on the motion: then each run leaves 1 - gain of it.
  auto description = example("learning");
  description.stop = {5e-3, {}};
  auto options = runs(3);
  options.gain = 0.5;
  const auto result = learn(description, options);
  EXPECT_NEAR(norm(result, 1) / norm(result, 0), 0.5, 0.01);
  EXPECT_NEAR(norm(result, 2) / norm(result, 1), 0.5, 0.01);
}

TEST(Learning, low_pass_filter_leaves_an_error_of_second_order_in_its_cutoff) {
  const auto error_left = [](double cutoff) {
    auto options = runs(60, 1e-12);
    options.cutoff = cutoff;
    const auto result = learn(example("learning"), options);
    EXPECT_EQ(result.end, LearnEnd::Stalled) << cutoff;
    return norm(result, result.iterations.size() - 1);
  };
  // Where the filter passes the share Q = 1 / (1 + (f / cutoff)^2), c = Q (c + e): (f / cutoff)^2 of c stays.
  EXPECT_NEAR(std::log2(error_left(40.0) / error_left(80.0)), 2.0, 0.3);
}

}  // namespace learning_test
}  // namespace entrain
