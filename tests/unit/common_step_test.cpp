// The step that all subsystems make together by the short path: counted and timed as if each had made it alone, and
// trouble in it is reported for the first culprit in the order of the system.
#include <gtest/gtest.h>

#include <limits>

#include "coupling/engine.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/error.hpp"
#include "support/facts.hpp"

namespace entrain {
namespace common_step_test {

enum class Behaviour { Nothing, Throws, IsNotFinite, EndsEarly, AsksToStop };

/// y is the time reached. Behaves so in the step that begins at `at`.
class Actor final : public Subsystem, private Rollback {
 public:
  explicit Actor(std::string name) : name_(std::move(name)) {
    table_.outputs.push_back({"y", "", "", ValueType::Real, {}});
    can_.rollback = true;
    can_.feedthrough = Feedthrough(1, 0, false);
  }

  Behaviour behaviour = Behaviour::Nothing;
  Time at = kNever;

  std::string_view name() const noexcept override { return name_; }
  const VariableTable& variables() const noexcept override { return table_; }
  const Capabilities& capabilities() const override { return can_; }
  Facets facets() noexcept override {
    Facets facets;
    facets.rollback = this;
    return facets;
  }
  void set_start(VariableTable::Place, const Value&) override {}
  void initialize(Time, Time) override {}
  void evaluate(std::span<const double>, std::span<double> outputs) override { outputs[0] = 0.0; }
  StepReport step(const Step& step, std::span<double> outputs) override {
    const bool acts = step.from == at;
    const Time end = step.from + (acts && behaviour == Behaviour::EndsEarly ? 0.5 : 1.0) * step.size;
    outputs[0] = acts && behaviour == Behaviour::IsNotFinite ? std::numeric_limits<double>::quiet_NaN() : end;
    if (acts && behaviour == Behaviour::Throws) throw Error(ErrorCode::SubsystemFailed, name_ + " threw");
    if (acts && behaviour == Behaviour::EndsEarly) return {end, StepOutcome::EndedEarly};
    return {end, StepOutcome::Completed, acts && behaviour == Behaviour::AsksToStop};
  }
  HeldStep held_step() noexcept override { return {step_held, this}; }

 private:
  static const StepReport* step_held(void* context, Time from, Duration size, const double* inputs, double* outputs) {
    auto& self = *static_cast<Actor*>(context);
    self.report_ = self.step({from, size, InputBlock(inputs, 0, 0)}, {outputs, 1});
    const bool usual = self.report_.outcome == StepOutcome::Completed && !self.report_.stop_requested;
    return usual ? nullptr : &self.report_;
  }
  StateId save() override { return StateId{0}; }
  void restore(StateId) override {}
  void release(StateId) override {}

  std::string name_;
  VariableTable table_;
  Capabilities can_;
  StepReport report_;
};

class CommonStep : public testing::TestWithParam<int> {
 protected:
  CommonStep() {
    std::vector<std::unique_ptr<Subsystem>> subsystems;
    std::vector<Graph::Node> nodes;
    for (const char* name : {"a", "b", "c"}) {
      auto actor = std::make_unique<Actor>(name);
      actors_.push_back(actor.get());
      subsystems.push_back(std::move(actor));
      nodes.push_back({name, {}, {"y"}, Feedthrough(1, 0, false)});
    }
    system_ = std::make_unique<CoupledSystem>(std::make_unique<coupling::Engine>(
        coupling::Engine::Setup{std::move(subsystems), Graph(std::move(nodes), {}), {}, GetParam()}));
    system_->engine().initialize(0.0, 10.0);
  }
  void step_together() {
    const Time from = static_cast<double>(made_);
    system_->commit_everyone({from, 1.0, from + 1.0});
    ++made_;
  }
  void step_together(int times) {
    for (int k = 0; k < times; ++k) step_together();
  }
  std::optional<Error> failure() {
    return test::error_of([&] { step_together(); });
  }
  void expect_not_finite(const char* output) {
    const auto error = failure();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->fact().code, FactCode::OutputNotFinite);
    EXPECT_EQ(error->context().variable, output);
    EXPECT_EQ(error->context().time, 4.0);
  }
  std::vector<std::uint64_t> steps() const {
    return {system_->counters(SubsystemId{0}).steps, system_->counters(SubsystemId{1}).steps,
            system_->counters(SubsystemId{2}).steps};
  }
  void act(std::size_t actor, Behaviour behaviour, Time at) {
    actors_[actor]->behaviour = behaviour;
    actors_[actor]->at = at;
  }

  std::vector<Actor*> actors_;
  std::unique_ptr<CoupledSystem> system_;
  int made_ = 0;
};

INSTANTIATE_TEST_SUITE_P(All, CommonStep, testing::Values(1, 3),
                         [](const auto& of) { return std::to_string(of.param) + "_threads"; });

TEST_P(CommonStep, counts_for_each_and_steps_alone_count_beside_it) {
  step_together(5);
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{5, 5, 5}));
  EXPECT_TRUE(system_->all_at(5.0));
  const StepTask alone{SubsystemId{1}, 5.0, 1.0, 0, 1, 6.0};
  system_->commit_all({&alone, 1});
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{5, 6, 5}));
  EXPECT_EQ(system_->time_of(SubsystemId{1}), 6.0);
  EXPECT_EQ(system_->time_of(SubsystemId{2}), 5.0);
  EXPECT_FALSE(system_->all_at(6.0));
  made_ = 6;
  step_together();
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{6, 7, 6}));
  EXPECT_TRUE(system_->all_at(7.0));
}

TEST_P(CommonStep, is_timed_for_everyone_once_in_64) {
  step_together(130);
  for (std::size_t s = 0; s < 3; ++s) EXPECT_EQ(system_->counters(SubsystemId{s}).sampled_steps, 2U);  // 64 and 128
}

TEST_P(CommonStep, that_fails_counts_for_the_others_only) {
  step_together(3);
  act(1, Behaviour::Throws, 3.0);
  EXPECT_EQ(failure()->fact().text("text"), "b threw");
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{4, 3, 4}));
  EXPECT_EQ(system_->time_of(SubsystemId{1}), 3.0);
  EXPECT_EQ(system_->time_of(SubsystemId{2}), 4.0);
}

TEST_P(CommonStep, in_which_several_fail_names_the_first) {
  step_together(3);
  act(1, Behaviour::Throws, 3.0);
  act(2, Behaviour::IsNotFinite, 3.0);
  EXPECT_EQ(failure()->fact().text("text"), "b threw");
}

TEST_P(CommonStep, in_which_several_fail_names_the_first_also_if_its_outputs_are_to_blame) {
  step_together(3);
  act(0, Behaviour::IsNotFinite, 3.0);
  act(1, Behaviour::Throws, 3.0);
  expect_not_finite("a.y");
}

TEST_P(CommonStep, whose_outputs_alone_are_bad_names_them) {
  step_together(3);
  act(2, Behaviour::IsNotFinite, 3.0);
  expect_not_finite("c.y");
}

TEST_P(CommonStep, that_ends_early_for_one_is_continued) {
  step_together(3);
  act(1, Behaviour::EndsEarly, 3.0);
  step_together();
  EXPECT_EQ(system_->outputs()[1], 4.0);
  EXPECT_EQ(system_->counters(SubsystemId{1}).early_returns, 1U);
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{4, 4, 4}));
}

TEST_P(CommonStep, after_which_one_requests_a_stop_names_it) {
  step_together(3);
  act(2, Behaviour::AsksToStop, 3.0);
  step_together();
  EXPECT_EQ(system_->engine().stop_request(), SubsystemId{2});
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{4, 4, 4}));
}

TEST_P(CommonStep, is_taken_back_with_its_count) {
  step_together(3);
  const auto saved = system_->save();
  step_together(2);
  system_->restore(saved);
  EXPECT_EQ(steps(), (std::vector<std::uint64_t>{3, 3, 3}));
  EXPECT_TRUE(system_->all_at(3.0));
  EXPECT_EQ(system_->outputs()[0], 3.0);
}

}  // namespace common_step_test
}  // namespace entrain
