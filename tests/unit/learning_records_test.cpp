// Learning from recorded runs alone: nothing is run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "support/bench.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace learning_records_test {

constexpr double kStep = 0.01;
constexpr std::size_t kSteps = 100;

/// Another program couples the two masses: no rig listens, and none is asked.
SystemDescription bench() {
  return test::system_from(test::bench_text(test::udp_link()));
}

double force(double t) {
  return 3.0 * std::sin(7.0 * t);
}
double position(double t) {
  return std::cos(5.0 * t);
}
double velocity(double t) {
  return -5.0 * std::sin(5.0 * t);
}

/// What such a program records: outputs at every communication time, inputs of the step that ended there; each input
/// is the output at the start of the step, plus `added`.
RecordedRun recorded(double added = 0.0, double noise = 0.0) {
  RecordedRun run{"test", {}, {}};
  run.results.axes.resize(1);
  for (std::size_t k = 0; k <= kSteps; ++k) run.results.axes[0].push_back(kStep * static_cast<double>(k));
  const auto add = [&](const std::string& output, const std::string& input, double (*signal)(double)) {
    Results::Column sent{output, "", "", 0, {}}, received{input, "", "", 0, {}};
    for (std::size_t k = 0; k <= kSteps; ++k) {
      const double t = kStep * static_cast<double>(k);
      const double disturbed = k % 2 == 0 ? noise : -noise;
      sent.values.push_back(signal(t) + disturbed);
      received.values.push_back(k == 0 ? signal(0.0) : sent.values[k - 1] + added);
    }
    run.results.columns.push_back(std::move(sent));
    run.results.columns.push_back(std::move(received));
  };
  add("left.F", "right.F", force);
  add("right.x", "left.x", position);
  add("right.v", "left.v", velocity);
  return run;
}

/// Of the input `name` in macro step k.
double correction(const Learned& learned, const std::string& name, std::size_t k, std::size_t order = 0) {
  const auto found = std::find(learned.inputs.begin(), learned.inputs.end(), name);
  const auto place = static_cast<std::size_t>(found - learned.inputs.begin());
  return learned.corrections[(k * learned.inputs.size() + place) * learned.orders + order];
}

LearnOptions linear() {
  LearnOptions options;
  options.inputs = LearnInputs::Linear;
  return options;
}

TEST(RecordedRuns, of_a_bench_give_the_mean_to_the_rig_and_lines_to_the_model) {
  const RecordedRun runs[] = {recorded()};
  const auto result = learn_from(bench(), runs, linear());
  ASSERT_EQ(result.learned.steps, kSteps);
  for (const std::size_t k : {0U, 17U, 99U}) {
    const double now = kStep * static_cast<double>(k), then = kStep * static_cast<double>(k + 1);
    // Rounding of values of size 5.
    EXPECT_NEAR(correction(result.learned, "right.F", k), 0.5 * (force(then) - force(now)), 1e-14) << k;
    EXPECT_EQ(correction(result.learned, "right.F", k, 1), 0.0) << "a datagram carries constants";
    EXPECT_NEAR(correction(result.learned, "left.v", k), 0.0, 1e-14) << k;
    EXPECT_NEAR(correction(result.learned, "left.v", k, 1), velocity(then) - velocity(now), 1e-14) << k;
  }
  EXPECT_FALSE(result.repeatability) << "one run shows none";
  EXPECT_FALSE(result.judged);
}

TEST(RecordedRuns, with_a_correction_show_it_in_their_inputs) {
  // u = y + 0.25, c = 0.25: with a gain of 0.5 the next c is half of it and half of what is right.
  const RecordedRun runs[] = {recorded(0.25)};
  auto options = linear();
  options.gain = 0.5;
  const auto result = learn_from(bench(), runs, options);
  const double right = 0.5 * (force(0.18) - force(0.17));
  EXPECT_NEAR(correction(result.learned, "right.F", 17), 0.5 * 0.25 + 0.5 * right, 1e-14);
}

TEST(RecordedRuns, without_their_inputs_have_those_of_the_file_they_were_corrected_by) {
  auto run = recorded();
  std::erase_if(run.results.columns, [](const Results::Column& column) { return column.name == "right.F"; });
  run.applied = learn_from(bench(), std::vector{recorded()}, linear()).learned;
  auto options = linear();
  options.gain = 0.5;
  const auto result = learn_from(bench(), std::vector{run}, options);
  // The outputs are the same, so the correction is already right.
  EXPECT_NEAR(correction(result.learned, "right.F", 17), 0.5 * (force(0.18) - force(0.17)), 1e-14);
  EXPECT_LT(result.iterations.back().connections.at(0).max_error, 1e-14);
}

TEST(RecordedRuns, with_the_same_corrections_are_averaged_and_show_the_repeatability) {
  const RecordedRun runs[] = {recorded(0.0, 0.01), recorded(0.0, -0.01)};
  auto options = linear();
  options.cutoff = 0.0;
  options.forgetting = 0.0;
  const auto result = learn_from(bench(), runs, options);
  EXPECT_EQ(test::number_of(result.notes, FactCode::RunsLearnedFrom, "runs"), 2.0);
  ASSERT_TRUE(result.repeatability);
  // 0.02 of the smallest range, that of the position: 1 - (-1), and 0.01 on either side.
  EXPECT_NEAR(*result.repeatability, 0.02 / 2.02, 1e-3);
  EXPECT_NEAR(correction(result.learned, "right.F", 17), 0.5 * (force(0.18) - force(0.17)), 1e-14)
      << "what one run has too much the other has too little";
}

TEST(RecordedRuns, noise_of_two_runs_sets_the_filter) {
  const RecordedRun runs[] = {recorded(0.0, 0.1), recorded(0.0, -0.1)};
  const auto result = learn_from(bench(), runs, linear());
  EXPECT_GT(result.cutoff, 5.0 / (2 * std::numbers::pi)) << "the signals turn with 5 and 7 rad/s";
  EXPECT_LT(result.cutoff, 0.5 / kStep) << "the noise turns with the highest frequency that there is";
  EXPECT_GT(result.forgetting, 0.0);
}

TEST(RecordedRuns, with_other_corrections_before_show_gamma) {
  const RecordedRun runs[] = {recorded(0.25), recorded(0.125)};
  const auto result = learn_from(bench(), runs, linear());
  ASSERT_EQ(result.iterations.size(), 2U);
  EXPECT_FALSE(result.iterations[0].gamma);
  ASSERT_TRUE(result.iterations[1].gamma);
  EXPECT_EQ(test::number_of(result.notes, FactCode::RunsLearnedFrom, "earlier"), 1.0);
}

TEST(RecordedRuns, without_an_output_or_a_row_are_refused_by_name) {
  auto run = recorded();
  run.results.columns.erase(run.results.columns.begin());
  const auto missing = test::thrown_by([&] { learn_from(bench(), std::vector{run}, linear()); });
  EXPECT_TRUE(test::has_fact(missing, FactCode::RecordedSignalMissing, "left.F"));
  run = recorded();
  run.results.axes[0][50] += 0.4 * kStep;
  const auto gap = test::thrown_by([&] { learn_from(bench(), std::vector{run}, linear()); });
  EXPECT_TRUE(test::has_fact(gap, FactCode::RecordedTimes));
}

TEST(RecordedRuns, that_end_early_are_learned_as_far_as_they_go) {
  auto run = recorded();
  run.results.axes[0].resize(61);
  for (auto& column : run.results.columns) column.values.resize(61);
  const auto result = learn_from(bench(), std::vector{run}, linear());
  EXPECT_EQ(result.learned.steps, 60U);
  EXPECT_NEAR(result.learned_to, 0.6, 1e-12);
}

}  // namespace learning_records_test
}  // namespace entrain
