// The integration inside black boxes as a part of the estimated error. Truth: closed form.
#include "estimate/inner_steps.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "entrain/fact_codes.hpp"
#include "entrain/judged_run.hpp"
#include "support/estimated_run.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace inner_steps_test {

/// x' = -2 x + u, y = x; it only steps, under held inputs.
class BlackBox final : public Subsystem {
 public:
  enum class Inside { Exact, Euler, Clocked, Late };
  BlackBox(Inside inside, Duration inner) : inside_(inside), inner_(inner) {
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
    const double u = step.inputs.order(0)[0];
    const Time to = step.from + step.size;
    switch (inside_) {
      case Inside::Exact: x_ = u / 2.0 + (x_ - u / 2.0) * std::exp(-2.0 * step.size); break;
      case Inside::Euler:
        for (Duration rest = step.size; rest > 1e-12; rest -= inner_) euler(std::min(inner_, rest), u);
        break;
      case Inside::Clocked:
        for (; to > inner_ * (ticks_ + 1.0) - 1e-9; ticks_ += 1.0) euler(inner_, u);
        break;
      case Inside::Late:
        if (step.from > 1.0 - 1e-9) x_ = u / 2.0 + (x_ - u / 2.0) * std::exp(-2.0 * step.size);
        break;
    }
    outputs[0] = x_;
    return {to};
  }

 private:
  void euler(Duration size, double u) { x_ += size * (u - 2.0 * x_); }

  VariableTable table_;
  Capabilities capabilities_;
  Inside inside_;
  Duration inner_;
  double x_ = 0.0;
  double ticks_ = 0.0;
};

/// Beside b' = -a: a = t exp(-t), b = (1 + t) exp(-t).
test::EstimatedRun run_with(BlackBox::Inside inside, Duration inner, const std::string& method = "jacobi",
                            bool sampled = false, Duration step = 0.04) {
  Extensions extensions;
  extensions.models = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name != "b") return nullptr;
    return std::make_unique<test::OdeModel>(test::OdeModel::Equation{
        .f = [](double, double u) { return -u; }, .g = [](double x, double) { return x; }, .start = 1.0});
  };
  extensions.subsystems = [=](std::string_view kind, std::string_view) -> std::unique_ptr<Subsystem> {
    return kind == "a" ? std::make_unique<BlackBox>(inside, inner) : nullptr;
  };
  auto description = test::two_in_a_loop(8.0);
  description.step = {step, {}};
  description.method.value = method;
  if (method == "jacobi") description.method_options["jacobi"]["degree"] = {std::int64_t{1}, {}};
  if (sampled) description.subsystems[0].sampled = {true, {}};
  return test::estimated_run(description, extensions);
}

double true_error_of_a(const test::EstimatedRun& run) {
  const auto& y = run.recorder.column("a.y");
  double squares = 0.0;
  double count = 0.0;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const double t = run.recorder.times[k];
    if (!std::isfinite(y[k])) continue;
    squares += std::pow(y[k] - t * std::exp(-t), 2);
    count += 1.0;
  }
  return std::sqrt(squares / count) * std::numbers::e;  // the range is exp(-1)
}

TEST(InnerSteps, euler_steps_shorter_than_the_macro_step_are_part_of_the_error) {
  for (const std::string method : {"jacobi", "f3ornits"}) {
    for (const Duration inner : {0.02, 0.01, 0.004}) {
      const auto run = run_with(BlackBox::Inside::Euler, inner, method);
      const double truth = true_error_of_a(run);
      const double claimed = run.output("a.y").error;
      EXPECT_GT(claimed, truth / 3.0) << method << ", " << inner;
      EXPECT_LT(claimed, truth * 3.0) << method << ", " << inner;
      EXPECT_GT(run.output("a.y").bound, truth) << method << ", " << inner;
    }
  }
}

TEST(InnerSteps, coarse_euler_steps_are_not_trusted) {
  const auto run = run_with(BlackBox::Inside::Euler, 0.08, "jacobi", false, 0.08);
  EXPECT_GT(true_error_of_a(run), 0.01);
  EXPECT_NE(judge(run.summary, run.estimate).grade, Grade::Trusted);
}

TEST(InnerSteps, exact_black_box_costs_a_probe_and_no_run) {
  const auto run = run_with(BlackBox::Inside::Exact, 0.0);
  const double truth = true_error_of_a(run);
  EXPECT_NEAR(run.output("a.y").error, truth, 0.3 * truth);
  EXPECT_EQ(judge(run.summary, run.estimate).grade, Grade::Trusted);
  // Of two subsystems: runs with twice, four times and half the step, and two probes of 64 calls. A run with divided
  // steps would be 400 calls more of each.
  EXPECT_LE(run.estimate.extra_steps, 2u * (100u + 50u + 400u + 2u * 64u));
}

TEST(InnerSteps, clock_inside_that_is_shorter_than_the_macro_step_keeps_the_grade_at_check) {
  const auto run = run_with(BlackBox::Inside::Clocked, 0.02);
  EXPECT_NEAR(test::number_of(run.estimate.reasons, FactCode::EstimateInnerStep, "inner_step"), 0.02, 1e-3);
  EXPECT_EQ(judge(run.summary, run.estimate).grade, Grade::Check);
}

TEST(InnerSteps, subsystem_that_rests_at_first_has_no_clock) {
  const auto run = run_with(BlackBox::Inside::Late, 0.0);
  EXPECT_FALSE(test::has_fact(run.estimate.reasons, FactCode::EstimateInnerStep));
}

TEST(InnerSteps, clock_of_a_sampled_subsystem_is_part_of_the_model) {
  const auto run = run_with(BlackBox::Inside::Clocked, 0.02, "jacobi", true);
  EXPECT_FALSE(test::has_fact(run.estimate.reasons, FactCode::EstimateInnerStep));
}

}  // namespace inner_steps_test
}  // namespace entrain
