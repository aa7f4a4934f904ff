// Subsystems in processes of their own, or several in one: the same bits as in this process, with every method and in
// every example; also where states, linearizations, events and discrete values travel.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <bit>

#include "entrain/fact_codes.hpp"
#include "entrain/inspection.hpp"
#include "entrain/simulation.hpp"
#include "support/example_fmus.hpp"
#include "support/processes.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace worker_bits_test {

/// Every number of every sample: outputs, inputs, states and slopes.
class Bits final : public Observer {
 public:
  Needs needs() const override { return {.states = true, .slopes = true}; }
  void communicated(const Sample& sample, const RunSummary&) override {
    for (const auto list : {sample.values, sample.slopes}) {
      for (const double value : list) bits.push_back(std::bit_cast<std::uint64_t>(value));
    }
  }
  std::vector<std::uint64_t> bits;  // NaN, where nothing is asked for, equals itself
};

struct Outcome {
  std::vector<std::uint64_t> bits;
  Termination termination{};
  std::uint64_t macro_steps = 0;
};

Outcome outcome_of(SystemDescription description, const std::optional<Isolation>& isolate, int threads = 1) {
  for (auto& subsystem : description.subsystems) {
    if (isolate) subsystem.isolate = {*isolate, {}};
  }
  Simulation simulation(description, {.threads = threads});
  Bits all;
  simulation.observe(all);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  return {std::move(all.bits), summary.termination, summary.macro_steps};
}

void expect_same_bits(const SystemDescription& description) {
  const auto here = outcome_of(description, std::nullopt);
  ASSERT_FALSE(here.bits.empty());
  for (const auto& [isolate, threads] :
       {std::pair<Isolation, int>{true, 1}, {true, 3}, {std::string("all"), 1}, {std::string("all"), 3}}) {
    const auto there = outcome_of(description, isolate, threads);
    EXPECT_EQ(there.macro_steps, here.macro_steps);
    EXPECT_TRUE(there.bits == here.bits) << (isolate.index() == 0 ? "apart" : "in one process") << ", " << threads;
  }
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& method : methods()) names.push_back(method.traits.name);
  return names;
}

std::string as_name(std::string text) {
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return text;
}

/// So that a run takes some hundred steps.
SystemDescription shortened(SystemDescription description) {
  const double start = description.start.value;
  if (description.step)
    description.stop = {std::min(description.stop->value, start + 100 * description.step->value), {}};
  return description;
}

SystemDescription of_fmus(SystemDescription description) {
  for (auto& subsystem : description.subsystems) {
    subsystem.fmu = test::fmu_of(subsystem);
    subsystem.model.clear();
  }
  return description;
}

class WorkerMethods : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, WorkerMethods, testing::ValuesIn(method_names()),
                         [](const auto& of) { return as_name(of.param); });

TEST_P(WorkerMethods, of_native_models_give_the_same_bits) {
  expect_same_bits(test::changed(test::example("mechanical"), {.method = GetParam(), .step = 1e-3, .stop = 0.05}));
}

TEST_P(WorkerMethods, of_fmus_give_the_same_bits) {
  expect_same_bits(
      test::changed(of_fmus(test::example("mechanical")), {.method = GetParam(), .step = 1e-3, .stop = 0.05}));
}

TEST(WorkerSandbox, of_fmus_gives_the_same_bits) {
  const auto description =
      test::changed(of_fmus(test::example("mechanical")), {.method = "ifosmondi", .step = 1e-3, .stop = 0.05});
  auto closed = description;
  closed.sandbox = {true, {}};
  const auto here = outcome_of(description, std::nullopt);
  EXPECT_TRUE(outcome_of(closed, std::nullopt).bits == here.bits) << "apart";
  EXPECT_TRUE(outcome_of(closed, Isolation("all")).bits == here.bits) << "in one process";
}

class WorkerExamples : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, WorkerExamples, testing::ValuesIn(test::example_names()),
                         [](const auto& of) { return as_name(of.param); });

TEST_P(WorkerExamples, give_the_same_bits) {
  expect_same_bits(shortened(test::example(GetParam())));
}

TEST(Worker, checkpoint_of_isolated_subsystems_goes_on_to_the_same_bits) {
  auto description = test::changed(test::example("mechanical"), {.method = "jacobi", .step = 1e-3, .stop = 0.05});
  const auto whole = outcome_of(description, true);
  description.isolate = {true, {}};
  Simulation simulation(description);
  Bits rest;
  simulation.observe(rest);
  static_cast<void>(simulation.run_until(0.02));
  const auto checkpoint = simulation.checkpoint();
  static_cast<void>(simulation.run_until(0.03));
  simulation.restore(*checkpoint);
  rest.bits.clear();
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  ASSERT_FALSE(rest.bits.empty());
  ASSERT_LT(rest.bits.size(), whole.bits.size());
  EXPECT_TRUE(std::equal(rest.bits.rbegin(), rest.bits.rend(), whole.bits.rbegin()));
}

class KilledWorkers : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, KilledWorkers, testing::ValuesIn(method_names()),
                         [](const auto& of) { return as_name(of.param); });

// Killed twice, the second time after more than a thousand calls: then they return to a serialized state.
TEST_P(KilledWorkers, are_started_again_to_the_same_bits) {
  // One integrator over all makes an exchange for each evaluation: a few steps are thousands of calls.
  const double length = GetParam() == "monolithic" ? 0.02 : 1.0;
  auto description =
      test::changed(test::example("mechanical"), {.method = GetParam(), .step = 1e-3, .stop = 2.0 * length});
  const auto whole = outcome_of(description, std::nullopt);
  for (auto& subsystem : description.subsystems) {
    subsystem.isolate = {true, {}};
    subsystem.restart = {2, {}};
  }
  Simulation simulation(description);
  Bits all;
  simulation.observe(all);
  for (const Time until : {0.1 * length, 1.7 * length}) {
    static_cast<void>(simulation.run_until(until));
    const auto workers = test::children_that_run("entrain-worker");
    ASSERT_EQ(workers.size(), description.subsystems.size());
    for (const pid_t worker : workers) ::kill(worker, SIGKILL);
  }
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_TRUE(all.bits == whole.bits);
  std::size_t restarts = 0;
  for (const auto& warning : summary.warnings) restarts += warning.code == FactCode::WorkerRestarted ? 1 : 0;
  EXPECT_EQ(restarts, 2 * description.subsystems.size());
}

}  // namespace worker_bits_test
}  // namespace entrain
