// Steps that end early, are rejected, or must be cut: subsystems made for the purpose, called as a method would.
#include "entrain/coupled_system.hpp"
#include "coupling/engine.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "entrain/error.hpp"
#include "methods/asynchronous/f3ornits.hpp"
#include "support/facts.hpp"

namespace entrain {
namespace coupled_system_test {

/// Integrates its one input: y' = u. Stops early at chosen times, refuses steps beyond a limit, takes degree 0 only
/// on request.
class Moody final : public Subsystem {
 public:
  Moody() {
    table_.inputs.push_back({"u", "", "", ValueType::Real, 0.0});
    table_.outputs.push_back({"y", "", "", ValueType::Real, {}});
    can_.input_degree = 3;
    can_.feedthrough = Feedthrough(1, 1, false);
  }

  std::vector<Time> early;     // returns at these times
  Time refuses_from = kNever;  // rejects steps that start here or later
  Time asks_to_stop_at = kNever;
  std::vector<Duration> sizes;  // of the steps made
  std::vector<int> degrees;     // of the inputs received
  void take_degree(int degree) { can_.input_degree = degree; }
  void take_substeps(int substeps) { can_.substeps = substeps; }

  std::string_view name() const noexcept override { return "moody"; }
  const VariableTable& variables() const noexcept override { return table_; }
  const Capabilities& capabilities() const override { return can_; }
  Facets facets() noexcept override { return {}; }
  void set_start(VariableTable::Place, const Value&) override {}
  void initialize(Time, Time) override {}
  void evaluate(std::span<const double>, std::span<double> outputs) override { outputs[0] = y_; }
  StepReport step(const Step& step, std::span<double> outputs) override {
    if (step.from >= refuses_from) return {step.from, StepOutcome::Rejected};
    Time end = step.from + step.size;
    for (const Time t : early) {
      if (t > step.from + 1e-12 && t < end - 1e-12) end = std::min(end, t);
    }
    const Duration size = end - step.from;
    double power = size;
    for (int p = 0; p <= step.inputs.degree(); ++p, power *= size) y_ += step.inputs.order(p)[0] * power / (p + 1);
    sizes.push_back(size);
    degrees.push_back(step.inputs.degree());
    outputs[0] = y_;
    const bool whole = size == step.size || std::abs(size - step.size) < 1e-12;
    return {end, whole ? StepOutcome::Completed : StepOutcome::EndedEarly, end >= asks_to_stop_at};
  }

 private:
  VariableTable table_;
  Capabilities can_;
  double y_ = 0.0;
};

class CommittedStep : public testing::Test {
 protected:
  void build() {
    std::vector<std::unique_ptr<Subsystem>> subsystems;
    subsystems.push_back(std::move(owned_));
    Graph graph({{"moody", {"u"}, {"y"}, Feedthrough(1, 1, false)}}, {});
    system_ = std::make_unique<CoupledSystem>(
        std::make_unique<coupling::Engine>(coupling::Engine::Setup{std::move(subsystems), std::move(graph), {0.0}}));
    system_->engine().initialize(0.0, 10.0);
  }
  /// A step of 1 s under u(s) = 1 + 2 s + 3 s^2: the integral is 1 + 1 + 1 = 3.
  double step(int degree, int parts) {
    const double values[] = {1.0, 2.0, 3.0};
    for (int p = 0; p <= degree; ++p) system_->coefficients(SubsystemId{0}, degree, p)[0] = values[p];
    const StepTask task{SubsystemId{0}, 0.0, 1.0, degree, parts, 1.0};
    system_->commit_all({&task, 1});
    return system_->outputs()[0];
  }

  std::unique_ptr<Moody> owned_ = std::make_unique<Moody>();
  Moody& moody_ = *owned_;
  std::unique_ptr<CoupledSystem> system_;
};

TEST_F(CommittedStep, that_ends_early_is_continued_to_the_communication_time) {
  moody_.early = {0.3, 0.75};
  build();
  EXPECT_NEAR(step(2, 1), 3.0, 1e-14);
  ASSERT_EQ(moody_.sizes.size(), 3U);
  EXPECT_NEAR(moody_.sizes[1], 0.45, 1e-14);
  EXPECT_EQ(system_->time_of(SubsystemId{0}), 1.0);
  EXPECT_EQ(system_->counters(SubsystemId{0}).early_returns, 2U);
}

TEST_F(CommittedStep, of_f3ornits_that_ends_early_is_taken_as_an_event) {
  moody_.early = {0.35};
  build();
  method::F3ornits method;
  method.start(*system_, {0.0, 10.0, 0.1});
  Time seen = 0.0;
  while (seen < 0.35) seen = method.advance(*system_).reached;
  EXPECT_GT(seen, 0.35);
  EXPECT_NEAR(method.advance(*system_).reached - seen, 1e-4, 1e-12);  // the minimal step, as long as the first
}

TEST_F(CommittedStep, in_parts_that_ends_early_keeps_to_its_parts) {
  moody_.early = {0.3};
  build();
  EXPECT_NEAR(step(2, 4), 3.0, 1e-14);
  EXPECT_EQ(moody_.sizes.size(), 5U);  // 0.25, 0.05, 0.2, 0.25, 0.25
}

TEST_F(CommittedStep, in_parts_has_the_mean_of_the_polynomial_on_each_part_for_a_subsystem_that_takes_constants) {
  moody_.take_degree(0);
  build();
  EXPECT_NEAR(step(2, 4), 3.0, 1e-14);  // means keep the integral
  EXPECT_EQ(moody_.degrees, (std::vector<int>{0, 0, 0, 0}));
  EXPECT_NEAR(system_->inputs()[0], 1 + 2 * 0.875 + 3 * (1 - 0.75 * 0.75 * 0.75) / (3 * 0.25), 1e-13);
}

TEST_F(CommittedStep, is_made_in_the_substeps_asked_for_where_the_degree_must_be_lowered) {
  moody_.take_degree(0);
  moody_.take_substeps(4);
  build();
  EXPECT_NEAR(step(2, 1), 3.0, 1e-14);  // means keep the integral
  EXPECT_EQ(moody_.sizes, (std::vector<Duration>(4, 0.25)));
}

TEST_F(CommittedStep, in_substeps_that_ends_early_keeps_to_them) {
  moody_.take_degree(0);
  moody_.take_substeps(4);
  moody_.early = {0.3};
  build();
  step(2, 1);
  const std::vector<Duration> expected{0.25, 0.05, 0.2, 0.25, 0.25};
  ASSERT_EQ(moody_.sizes.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(moody_.sizes[i], expected[i], 1e-14) << i;
  EXPECT_EQ(system_->counters(SubsystemId{0}).early_returns, 1U);
}

TEST_F(CommittedStep, has_no_substeps_where_they_bring_nothing) {
  moody_.take_degree(1);
  moody_.take_substeps(4);
  build();
  step(0, 1);
  step(1, 1);
  EXPECT_EQ(moody_.sizes.size(), 2U);
}

TEST_F(CommittedStep, keeps_the_finer_of_parts_and_substeps) {
  moody_.take_degree(0);
  moody_.take_substeps(4);
  build();
  step(1, 8);
  EXPECT_EQ(moody_.sizes.size(), 8U);
}

TEST_F(CommittedStep, that_is_rejected_is_an_error_with_culprit_time_and_remedy) {
  moody_.refuses_from = 0.5;
  build();
  const auto error = test::error_of([&] { step(0, 2); });
  ASSERT_TRUE(error);
  EXPECT_EQ(test::outline(*error), "step-rejected moody (step = 0.5 s)");
  EXPECT_EQ(error->context().subsystem, "moody");
  EXPECT_EQ(error->context().time, 0.5);
  EXPECT_FALSE(error->fact().remedy.empty());
}

TEST_F(CommittedStep, that_asks_to_stop_is_remembered) {
  moody_.asks_to_stop_at = 0.9;
  build();
  step(0, 1);
  ASSERT_TRUE(system_->engine().stop_request().has_value());
  EXPECT_EQ(system_->graph().name(*system_->engine().stop_request()), "moody");
}

TEST_F(CommittedStep, ends_with_the_inputs_at_the_end_of_the_step) {
  build();
  step(2, 1);
  EXPECT_DOUBLE_EQ(system_->inputs()[0], 6.0);
}

}  // namespace coupled_system_test
}  // namespace entrain
