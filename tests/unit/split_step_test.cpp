// Subsystems that compute elsewhere (facet SplitStep): all of a batch are posted before any is waited for, a step may
// take several calls, and results are the same bits as in this process.
#include <gtest/gtest.h>

#include <bit>
#include <future>

#include "coupling/engine.hpp"
#include "entrain/error.hpp"
#include "entrain/extensions.hpp"
#include "entrain/simulation.hpp"
#include "models/registry.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace split_step_test {

/// A built-in model whose steps another thread makes.
class Elsewhere final : public Subsystem, private SplitStep {
 public:
  Elsewhere(std::unique_ptr<Subsystem> inner, std::vector<std::string>* calls)
      : inner_(std::move(inner)), calls_(calls) {}

  std::string_view name() const noexcept override { return inner_->name(); }
  const VariableTable& variables() const noexcept override { return inner_->variables(); }
  const Capabilities& capabilities() const override { return inner_->capabilities(); }
  Facets facets() noexcept override {
    Facets facets = inner_->facets();
    facets.split = this;
    return facets;
  }
  void set_start(VariableTable::Place place, const Value& value) override { inner_->set_start(place, value); }
  void initialize(Time start, Time stop) override { inner_->initialize(start, stop); }
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override {
    inner_->evaluate(inputs, outputs);
  }
  StepReport step(const Step& step, std::span<double> outputs) override {
    note("step");
    return inner_->step(step, outputs);
  }

 private:
  void post(const Step& step, const StepReadings&) override {
    note("post");
    outputs_.resize(variables().outputs.size());
    under_way_ = std::async(std::launch::async, [this, step] { return inner_->step(step, outputs_); });
  }
  StepReport wait(std::span<double> outputs) override {
    note("wait");
    const StepReport report = under_way_.get();
    std::copy(outputs_.begin(), outputs_.end(), outputs.begin());
    return report;
  }
  void note(const char* what) {
    if (calls_ != nullptr) calls_->push_back(std::string(what) + " " + std::string(name()));
  }

  std::unique_ptr<Subsystem> inner_;
  std::vector<std::string>* calls_;
  std::vector<double> outputs_;
  std::future<StepReport> under_way_;
};

Extensions elsewhere(std::vector<std::string>* calls = nullptr) {
  Extensions extensions;
  extensions.subsystems = [calls](std::string_view kind, std::string_view name) -> std::unique_ptr<Subsystem> {
    auto model = models::make_built_in_model(kind);
    if (!model) return nullptr;
    return std::make_unique<Elsewhere>(subsystem::make_native_subsystem(std::string(name), std::move(model)), calls);
  };
  return extensions;
}

class Last final : public Observer {
 public:
  void communicated(const Sample& sample, const RunSummary&) override {
    bits.clear();
    for (const double value : sample.values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  }
  std::vector<std::uint64_t> bits;  // NaN, where nothing is asked for, equals itself
};

std::vector<std::uint64_t> end_of(const SystemDescription& description, const Extensions& extensions, int threads) {
  Simulation simulation(description, {.threads = threads}, extensions);
  Last last;
  simulation.observe(last);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return last.bits;
}

TEST(SplitStep, all_of_a_batch_are_posted_before_one_is_waited_for) {
  std::vector<std::string> calls;
  Simulation simulation(test::changed(test::example("mechanical"), {.method = "jacobi", .step = 1e-3}), {},
                        elsewhere(&calls));
  static_cast<void>(simulation.run_until(1e-3));
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ(calls[0].substr(0, 4), "post");
  EXPECT_EQ(calls[1].substr(0, 4), "post");
  EXPECT_EQ(calls[2].substr(0, 4), "wait");
  EXPECT_EQ(calls[3].substr(0, 4), "wait");
}

class SplitStepBits : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Methods, SplitStepBits,
                         testing::Values("jacobi", "gauss-seidel", "missiles", "ifosmondi", "f3ornits"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(SplitStepBits, are_those_of_this_process) {
  const auto description =
      test::changed(test::example("mechanical"), {.method = GetParam(), .step = 1e-3, .stop = 0.05});
  const auto here = end_of(description, {}, 1);
  EXPECT_EQ(end_of(description, elsewhere(), 1), here);
  EXPECT_EQ(end_of(description, elsewhere(), 2), here);
}

/// y is the time reached; returns early at 0.5 and rejects what begins at `rejects`.
class Halting final : public Subsystem, private SplitStep {
 public:
  Halting(Time halts, Time rejects) : halts_(halts), rejects_(rejects) {
    table_.outputs.push_back({"y", "", "", ValueType::Real, {}});
    can_.feedthrough = Feedthrough(1, 0, false);
  }
  std::string_view name() const noexcept override { return "halting"; }
  const VariableTable& variables() const noexcept override { return table_; }
  const Capabilities& capabilities() const override { return can_; }
  Facets facets() noexcept override {
    Facets facets;
    facets.split = this;
    return facets;
  }
  void set_start(VariableTable::Place, const Value&) override {}
  void initialize(Time, Time) override {}
  void evaluate(std::span<const double>, std::span<double> outputs) override { outputs[0] = 0.0; }
  StepReport step(const Step&, std::span<double>) override {
    ADD_FAILURE() << "the step is posted";
    return {};
  }
  int calls = 0;

 private:
  void post(const Step& step, const StepReadings&) override {
    ++calls;
    from_ = step.from;
    to_ = step.from + step.size;
  }
  StepReport wait(std::span<double> outputs) override {
    if (from_ == rejects_) return {from_, StepOutcome::Rejected};
    const bool halted = from_ < halts_ && halts_ < to_;
    outputs[0] = halted ? halts_ : to_;
    return {outputs[0], halted ? StepOutcome::EndedEarly : StepOutcome::Completed};
  }

  VariableTable table_;
  Capabilities can_;
  Time halts_, rejects_;
  Time from_ = 0.0;
  Time to_ = 0.0;
};

struct OneHalting {
  OneHalting(Time halts, Time rejects) {
    auto made = std::make_unique<Halting>(halts, rejects);
    subsystem = made.get();
    std::vector<std::unique_ptr<Subsystem>> subsystems;
    subsystems.push_back(std::move(made));
    system = std::make_unique<CoupledSystem>(std::make_unique<coupling::Engine>(coupling::Engine::Setup{
        std::move(subsystems), Graph({{"halting", {}, {"y"}, Feedthrough(1, 0, false)}}, {}), {}}));
    system->engine().initialize(0.0, 10.0);
  }
  Halting* subsystem = nullptr;
  std::unique_ptr<CoupledSystem> system;
};

TEST(SplitStep, that_ends_early_is_posted_on_to_its_end) {
  const OneHalting one(0.5, kNever);
  one.system->commit_everyone({0.0, 1.0, 1.0});
  EXPECT_EQ(one.subsystem->calls, 2);
  EXPECT_EQ(one.system->outputs()[0], 1.0);
  EXPECT_EQ(one.system->counters(SubsystemId{0}).early_returns, 1U);
}

TEST(SplitStep, caller_may_compute_between_post_and_wait) {
  const OneHalting one(kNever, kNever);
  const StepTask task{SubsystemId{0}, 0.0, 1.0, 0, 1, 1.0};
  one.system->post({&task, 1});
  EXPECT_EQ(one.subsystem->calls, 1);
  EXPECT_EQ(one.system->time_of(SubsystemId{0}), 0.0);
  one.system->wait();
  EXPECT_EQ(one.system->time_of(SubsystemId{0}), 1.0);
}

TEST(SplitStep, second_batch_before_the_wait_is_refused) {
  const OneHalting one(kNever, kNever);
  const StepTask task{SubsystemId{0}, 0.0, 1.0, 0, 1, 1.0};
  one.system->post({&task, 1});
  EXPECT_THROW(one.system->post({&task, 1}), Error);
  EXPECT_THROW(one.system->commit_everyone({0.0, 1.0, 1.0}), Error);
  one.system->wait();
  one.system->wait();  // nothing is under way: no step is made again
  EXPECT_EQ(one.subsystem->calls, 1);
  EXPECT_EQ(one.system->counters(SubsystemId{0}).steps, 1U);
}

TEST(SplitStep, rejection_is_an_error_of_the_run_that_names_the_subsystem_and_the_time) {
  const OneHalting one(kNever, 1.0);
  one.system->commit_everyone({0.0, 1.0, 1.0});
  try {
    one.system->commit_everyone({1.0, 0.5, 1.5});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::SubsystemFailed);
    EXPECT_EQ(error.context().subsystem, "halting");
    EXPECT_EQ(error.context().time, 1.0);
  }
  EXPECT_EQ(one.system->time_of(SubsystemId{0}), 1.0);
}

}  // namespace split_step_test
}  // namespace entrain
