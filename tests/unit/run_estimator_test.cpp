// The estimated error of whole runs: what is compared, what is refused, what is named.
#include "estimate/run_estimator.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "entrain/fact_codes.hpp"
#include "entrain/judged_run.hpp"
#include "support/estimated_run.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/ports_model.hpp"
#include "support/systems.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace run_estimator_test {

using test::estimated_run;

bool all_unknown(const ErrorEstimate& estimate) {
  return !estimate.outputs.empty() &&
         std::all_of(estimate.outputs.begin(), estimate.outputs.end(), [](const OutputError& of) {
           return of.estimate == EstimateKind::Unknown && std::isnan(of.bound);
         });
}

SystemDescription oscillator(double step = 0.01, double stop = 10.0, const std::string& degree = "1") {
  return test::changed(test::example("oscillator"),
                       {.method = "jacobi", .step = step, .stop = stop, .options = {"degree=" + degree}});
}

/// x' = u, y = x on one side and x' = -u on the other: sin and cos. Steps beyond `longest` fail.
class Rotation : public test::OdeModel {
 public:
  Rotation(double sign, double start, Duration longest)
      : OdeModel(
            {.f = [=](double, double u) { return sign * u; }, .g = [](double x, double) { return x; }, .start = start}),
        longest_(longest) {}
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    if (size > longest_) throw std::runtime_error("the step is too long");
    OdeModel::integrate(from, size, inputs, x);
  }

 private:
  Duration longest_;
};

ModelFactory turning(Duration longest = kNever) {
  return [=](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "a") return std::make_unique<Rotation>(1.0, 0.0, longest);
    if (name == "b") return std::make_unique<Rotation>(-1.0, 1.0, longest);
    return nullptr;
  };
}

/// Root mean square of y_h - sin t over the run, relative to the range.
double error_of_sine(const test::EstimatedRun& run) {
  double squares = 0.0;
  const auto& values = run.recorder.column("a.y");
  for (std::size_t k = 0; k < values.size(); ++k) squares += std::pow(values[k] - std::sin(run.recorder.times[k]), 2);
  return std::sqrt(squares / static_cast<double>(values.size())) / run.output("a.y").range;
}

/// y = sin t with a step of 0.05 s: the error is known without the engine.
TEST(RunJudged, estimates_the_error_of_a_run_in_memory) {
  auto description = test::two_in_a_loop(10.0);
  description.step = {0.05, {}};
  MemoryRecorder recorder({"a.y"});
  JudgedRunOptions options;
  options.observers = {recorder};
  const auto run = run_judged(description, options, turning());
  ASSERT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  EXPECT_EQ(run.system.method.value, "jacobi");
  test::EstimatedRun same{run.summary, run.estimate, recorder};
  const double truth = error_of_sine(same);
  EXPECT_GT(same.output("a.y").error, truth / 3);
  EXPECT_LT(same.output("a.y").error, truth * 3);
  EXPECT_GT(truth, run.verdict.tolerance);
  EXPECT_LT(truth, 10.0 * run.verdict.tolerance);
  EXPECT_EQ(run.verdict.grade, Grade::Check) << run.verdict.headline();
}

TEST(RunJudged, run_that_fails_has_no_estimate) {
  auto description = test::two_in_a_loop(10.0);
  const auto run = run_judged(description, {}, turning(0.001));
  EXPECT_EQ(run.summary.termination, Termination::Failed);
  EXPECT_TRUE(run.estimate.outputs.empty());
  EXPECT_EQ(run.verdict.grade, Grade::Unreliable);
}

TEST(RunEstimator, companions_take_three_quarters_of_the_steps_of_the_run) {
  const auto run = estimated_run(test::changed(
      test::example("lotka_volterra"), {.method = "jacobi", .step = 0.01, .stop = 10.0, .options = {"degree=1"}}));
  EXPECT_EQ(run.estimate.extra_steps, 2 * (500 + 250));
  EXPECT_TRUE(run.estimate.reasons.empty());
  EXPECT_EQ(run.estimate.order, 2);
  for (const auto& output : run.estimate.outputs) {
    EXPECT_EQ(output.estimate, EstimateKind::Companion);
    EXPECT_GE(output.bound, output.error);
    EXPECT_EQ(output.course.size(), 16u);
    EXPECT_EQ(output.valid_until, 10.0);
  }
}

TEST(RunEstimator, error_of_a_circle_is_that_of_the_closed_form) {
  const auto run = estimated_run(test::two_in_a_loop(6.0), turning());
  // The radius grows by exp(h t / 2): 3 % at the end of the run, 12 % with four times the step.
  EXPECT_NEAR(run.output("a.y").error / error_of_sine(run), 1.0, 0.1);
  EXPECT_NEAR(*run.output("a.y").order, 1.0, 0.1);
  EXPECT_NEAR(run.output("a.y").last, run.recorder.column("a.y").back(), 0.0);
}

TEST(RunEstimator, run_of_one_step_is_compared_with_shorter_steps) {
  auto description = test::two_in_a_loop(0.01);
  const auto run = estimated_run(description, turning());
  EXPECT_EQ(run.summary.macro_steps, 1u);
  EXPECT_EQ(run.estimate.extra_steps, 2 * (2 + 4));
  EXPECT_NEAR(run.output("b.y").error / (0.5e-4 / run.output("b.y").range / std::sqrt(2.0)), 1.0, 0.1);
}

TEST(RunEstimator, span_that_is_no_multiple_of_the_step_is_compared_at_the_stop_too) {
  const auto run = estimated_run(test::two_in_a_loop(0.995), turning());
  EXPECT_NEAR(run.output("a.y").error / error_of_sine(run), 1.0, 0.1);
}

TEST(RunEstimator, companion_that_fails_is_replaced_by_a_shorter_step) {
  const auto run = estimated_run(test::two_in_a_loop(6.0), turning(0.015));
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateCompanionFailed));
  EXPECT_NEAR(run.output("a.y").error / error_of_sine(run), 1.0, 0.1);
}

TEST(RunEstimator, failed_run_has_no_estimate) {
  const auto run = estimated_run(test::two_in_a_loop(6.0), turning(0.001));
  EXPECT_EQ(run.summary.termination, Termination::Failed);
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateRunIncomplete));
  EXPECT_EQ(run.estimate.extra_steps, 0u);
}

TEST(RunEstimator, interruption_during_a_companion_leaves_the_run_and_no_estimate) {
  std::atomic<bool> interrupt = false;
  RunOptions options;
  options.interrupt = &interrupt;
  double reported = 0.0;
  estimate::EstimateOptions how{.enabled = true, .progress = [&](double fraction) {
                                  reported = fraction;
                                  interrupt = true;
                                }};
  const auto run = estimated_run(oscillator(), {}, options, how);
  EXPECT_EQ(run.summary.termination, Termination::Completed);
  EXPECT_GT(reported, 0.0);
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateInterrupted));
  EXPECT_TRUE(all_unknown(run.estimate));
}

TEST(RunEstimator, progress_grows_to_one) {
  std::vector<double> fractions;
  (void)estimated_run(oscillator(), {}, {}, {.enabled = true, .progress = [&](double f) { fractions.push_back(f); }});
  ASSERT_GT(fractions.size(), 5u);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.back(), 1.0);
}

TEST(RunEstimator, switched_off_costs_nothing) {
  const auto run = estimated_run(oscillator(), {}, {}, {.enabled = false, .progress = {}});
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateOff));
  EXPECT_EQ(run.estimate.extra_steps, 0u);
}

TEST(RunEstimator, system_with_side_effects_is_not_run_again) {
  auto description = oscillator();
  description.subsystems[0].side_effects = Written<bool>{true, {}};
  const auto run = estimated_run(description);
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateSideEffects, "force_side"));
  EXPECT_TRUE(all_unknown(run.estimate));
}

TEST(RunEstimator, values_set_during_the_run_are_a_reason) {
  auto description = test::two_in_a_loop(1.0);
  description.connections.pop_back();  // a.u is open
  description = resolved(description);
  estimate::RunEstimator estimator(description, {}, turning(), {});
  RunSummary summary;
  {
    session::Session session(description, {}, turning());
    session.observe(estimator.observer());
    session.run_until(0.5);
    session.set("a.u", 2.0);
    summary = session.run();
  }
  EXPECT_TRUE(test::has_fact(estimator.estimate(summary).reasons, FactCode::EstimateValuesSet, "a.u"));
}

TEST(RunEstimator, nothing_connected_has_no_coupling_error) {
  auto description = test::two_in_a_loop(1.0);
  description.connections.clear();
  for (auto& subsystem : description.subsystems) subsystem.start["u"] = {Value(1.0), {}};
  const auto run = estimated_run(description, turning());
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateNoCoupling));
  for (const auto& output : run.estimate.outputs) EXPECT_EQ(output.bound, 0.0);
}

TEST(RunEstimator, imposed_step_is_respected_and_named_unless_it_is_part_of_the_model) {
  auto description = oscillator(0.01, 10.0, "0");
  description.subsystems[0].step = Written<double>{0.02, {}};  // 4 h does not fit it, nor it 4 h: 0.04 = 2 * 0.02 does
  auto run = estimated_run(description);
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateImposedStep, "force_side"));
  EXPECT_EQ(run.output("motion_side.x").estimate, EstimateKind::Companion);
  description.subsystems[0].sampled = Written<bool>{true, {}};
  run = estimated_run(description);
  EXPECT_FALSE(test::has_fact(run.estimate.reasons, FactCode::EstimateImposedStep));
}

TEST(RunEstimator, imposed_step_that_twice_the_step_does_not_fit_takes_half_of_it) {
  auto description = oscillator(0.01, 9.0, "0");
  description.subsystems[0].step = Written<double>{0.03, {}};
  const auto run = estimated_run(description);
  EXPECT_EQ(run.output("motion_side.x").estimate, EstimateKind::Companion);
  EXPECT_GT(run.estimate.extra_steps, run.summary.subsystems[1].steps);
}

/// x' = u by Euler steps of 0.04 s on a grid of its own, y = x; it only steps.
class Clocked final : public Subsystem {
 public:
  Clocked() {
    table_.inputs.push_back({"u", "", "", ValueType::Real, 0.0});
    table_.outputs.push_back({"y", "", "", ValueType::Real, {}});
    capabilities_.feedthrough = Feedthrough(1, 1, false);
  }
  std::string_view name() const noexcept override { return "a"; }
  const VariableTable& variables() const noexcept override { return table_; }
  const Capabilities& capabilities() const override { return capabilities_; }
  Facets facets() noexcept override { return {}; }
  void set_start(VariableTable::Place, const Value&) override {}
  void initialize(Time, Time) override {}
  void evaluate(std::span<const double>, std::span<double> outputs) override { outputs[0] = x_; }
  StepReport step(const Step& step, std::span<double> outputs) override {
    constexpr Duration kInner = 0.04;
    const Time to = step.from + step.size;
    while (to > kInner * (ticks_ + 1.0) - 1e-9) {
      x_ += kInner * step.inputs.order(0)[0];
      ticks_ += 1.0;
    }
    outputs[0] = x_;
    return {to};
  }

 private:
  VariableTable table_;
  Capabilities capabilities_;
  double x_ = 0.0;
  double ticks_ = 0.0;
};

TEST(RunEstimator, black_box_that_rests_between_its_own_steps_is_named) {
  Extensions extensions = turning();
  extensions.subsystems = [](std::string_view kind, std::string_view) -> std::unique_ptr<Subsystem> {
    return kind == "a" ? std::make_unique<Clocked>() : nullptr;
  };
  const auto run = estimated_run(test::two_in_a_loop(6.0), extensions);
  EXPECT_EQ(test::number_of(run.estimate.reasons, FactCode::EstimateInnerStep, "inner_step"), 0.04);
  EXPECT_EQ(judge(run.summary, run.estimate).grade, Grade::Check) << "companions do not see that error";
}

TEST(RunEstimator, unstable_coupling_is_named_and_not_measured_by_its_own_range) {
  // Held inputs add energy to an oscillation without damping: exp(h t / 2).
  auto description = test::two_in_a_loop(200.0);
  description.step = {0.1, {}};
  const auto run = estimated_run(description, turning());
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateRangesDiffer, "a.y"));
  EXPECT_GT(run.output("a.y").error, 1.0);
}

/// sin(u) - b x in a ring of three is chaotic (R. Thomas, 1999).
TEST(RunEstimator, chaos_is_estimated_as_far_as_it_can_be) {
  SystemDescription description;
  description.name = "ring";
  description.method.value = "jacobi";
  description.stop = {400.0, {}};
  description.step = {0.05, {}};
  for (const std::string name : {"x", "y", "z"}) {
    auto& subsystem = description.subsystems.emplace_back();
    subsystem.name = subsystem.model = name;
  }
  description.connections = {{"y.y", "x.u", {}}, {"z.y", "y.u", {}}, {"x.y", "z.u", {}}};
  const ModelFactory ring = [](std::string_view name) -> std::unique_ptr<Model> {
    return std::make_unique<test::OdeModel>(
        test::OdeModel::Equation{.f = [](double x, double u) { return std::sin(u) - 0.1 * x; },
                                 .g = [](double x, double) { return x; },
                                 .start = name == "x"   ? 1.0
                                          : name == "y" ? 0.5
                                                        : -0.3});
  };
  const auto run = estimated_run(description, ring);
  auto monolithic = description;
  monolithic.method.value = "monolithic";
  const auto exact = estimated_run(monolithic, ring);
  const auto& x = run.output("x.y");
  EXPECT_GT(x.valid_until, 20.0);
  EXPECT_LT(x.valid_until, 390.0);
  const auto truth = test::true_error(run, exact.recorder, "x.y", x.valid_until);
  EXPECT_LT(truth.rms, x.bound);
  EXPECT_LT(x.error / truth.rms, 3.0);
  EXPECT_GT(x.error / truth.rms, 1.0 / 3.0);
  EXPECT_GT(test::true_error(run, exact.recorder, "x.y").largest, 0.3);
}

TEST(RunEstimator, memory_is_bounded) {
  // As many numbers as are kept at most, and more: the common times are thinned, and the error stays.
  const auto run = estimated_run(oscillator(0.001));
  EXPECT_NEAR(run.output("motion_side.x").error / estimated_run(oscillator(0.002)).output("motion_side.x").error, 0.25,
              0.03);
}

/// A force that changes at 2.53 s without being announced, between masses that cannot go back.
TEST(RunEstimator, jumps_that_adaptive_steps_find_late_keep_the_grade_at_check) {
  const auto run = run_judged(test::system_from(R"(
    [run]
    stop = 6.0
    step = 0.1
    method = "jacobi"
    tolerance = 0.1
    [method.jacobi]
    adaptive = true
    [subsystems.left]
    model = "two_mass.left"
    rollback = false
    states = false
    [subsystems.right]
    model = "two_mass.right"
    rollback = false
    states = false
    events = []
    start = { change_time = 2.53 }
    [connections]
    "left.v" = "right.v"
    "left.x" = "right.x"
    "right.F" = "left.F"
  )"));
  ASSERT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateJumps));
  EXPECT_EQ(run.verdict.grade, Grade::Check) << run.verdict.headline();
}

}  // namespace run_estimator_test
}  // namespace entrain
