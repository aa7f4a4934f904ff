// What every method must keep, whatever it does inside: the rows are the registry's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "entrain/recording.hpp"
#include "methods/registry.hpp"
#include "models/chain_system.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace method_contract_test {

using test::changed;
using test::example;

struct Recorded {
  std::vector<double> times;
  std::vector<std::vector<double>> columns;
  RunSummary summary;
  bool operator==(const Recorded& other) const { return times == other.times && columns == other.columns; }
};

Recorded record(const SystemDescription& description, int threads = 1) {
  Simulation simulation(description, {.threads = threads, .interrupt = nullptr});
  MemoryRecorder recorder({"*"});
  simulation.observe(recorder);
  simulation.run();
  return {recorder.times, recorder.columns, simulation.summary()};
}

class EveryMethod : public testing::TestWithParam<std::string> {
 protected:
  /// Sets an option on the methods that have it.
  static void set_if_known(SystemDescription& description, const std::string& option) {
    const auto method = method::built_in_methods().make(GetParam());
    for (const auto& known : describe_options(*method)) {
      if (option.starts_with(known.name + "=")) apply_option(description, option);
    }
  }
  /// The step of the run is only the first one.
  static bool adapts_its_steps() { return GetParam() == "f3ornits"; }
  /// Steps of subsystems without one of their own, in a step of the run.
  static std::size_t steps_per_step() { return GetParam() == "waveform" ? 3 : 1; }
  SystemDescription system(const std::string& name, double step, double stop) const {
    return changed(example(name), {.method = GetParam(), .step = step, .stop = stop});
  }
};

TEST_P(EveryMethod, gives_the_same_bits_with_1_and_4_Threads) {
  auto chain = models::chain_system(7, true);
  chain = changed(std::move(chain), {.method = GetParam(), .step = 0.01, .stop = 1.0});
  set_if_known(chain, "degree=2");
  const auto one = record(chain, 1);
  EXPECT_EQ(one.summary.termination, Termination::Completed) << one.summary.message;
  EXPECT_TRUE(one == record(chain, 4));
}

TEST_P(EveryMethod, split_in_two_equals_one_run) {
  const auto description = system("lotka_volterra", 0.01, 2.0);
  const auto whole = record(description);
  Simulation simulation(description);
  MemoryRecorder recorder({"*"});
  simulation.observe(recorder);
  EXPECT_EQ(simulation.run_until(0.995).termination, Termination::Running);
  EXPECT_EQ(simulation.summary().reached, *std::lower_bound(whole.times.begin(), whole.times.end(), 0.995));
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  EXPECT_TRUE(recorder.times == whole.times);
  EXPECT_TRUE(recorder.columns == whole.columns);
}

TEST_P(EveryMethod, continues_from_a_checkpoint_as_if_nothing_had_happened) {
  auto description = system("lotka_volterra", 0.01, 2.0);
  set_if_known(description, "degree=3");
  const auto whole = record(description);
  Simulation simulation(description);
  const Time at_checkpoint = simulation.run_until(0.5).reached;
  const auto checkpoint = simulation.checkpoint();
  simulation.run_until(1.5);  // goes astray from here
  simulation.restore(*checkpoint);
  EXPECT_EQ(simulation.summary().reached, at_checkpoint);
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  EXPECT_EQ(simulation.value("prey.p"), whole.columns[0].back());
  EXPECT_EQ(simulation.summary().max_coupling_residual, whole.summary.max_coupling_residual);
}

TEST_P(EveryMethod, continues_from_a_checkpoint_in_a_system_with_an_algebraic_loop) {
  const ModelFactory models = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "same") return std::make_unique<test::StaticModel>([](Time, double u) { return u; });
    if (name != "cosine") return nullptr;
    return std::make_unique<test::StaticModel>([](Time t, double u) { return std::cos(u) + t; });
  };
  auto description = changed(test::system_from(R"(
    [run]
    stop = 1.0
    [subsystems.a]
    model = "cosine"
    [subsystems.b]
    model = "same"
    [connections]
    "a.y" = "b.u"
    "b.y" = "a.u"
  )"),
                             {.method = GetParam(), .step = 0.1});
  set_if_known(description, "loops=\"solve\"");
  Simulation simulation(description, {}, models);
  simulation.run_until(0.3);
  const auto checkpoint = simulation.checkpoint();
  simulation.run_until(0.4);
  const double first = simulation.value("a.y");
  simulation.run_until(0.9);
  simulation.restore(*checkpoint);
  simulation.run_until(0.4);
  EXPECT_EQ(simulation.value("a.y"), first);
}

TEST_P(EveryMethod, ends_exactly_on_a_stop_time_that_is_no_multiple_of_the_step) {
  const auto run = record(system("lotka_volterra", 0.3, 1.0));
  if (adapts_its_steps()) {
    EXPECT_EQ(run.times.back(), 1.0);
    EXPECT_EQ(std::adjacent_find(run.times.begin(), run.times.end(), std::greater_equal<>()), run.times.end());
  } else {
    const std::vector<double> grid{0.0, 0.3, 0.6, 3 * 0.3, 1.0};
    EXPECT_TRUE(std::includes(run.times.begin(), run.times.end(), grid.begin(), grid.end()));
    if (steps_per_step() == 1) {
      EXPECT_EQ(run.times, grid);
    }
  }
}

TEST_P(EveryMethod, ends_when_an_event_lies_a_rounding_before_the_stop) {
  auto description = system("two_mass", 0.1, std::nextafter(1.0, 2.0));
  description.subsystems[1].start["change_time"] = {1.0, {}};
  const auto run = record(description);
  EXPECT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  EXPECT_EQ(run.times.back(), description.stop->value);
}

TEST_P(EveryMethod, runs_a_single_subsystem_without_connections) {
  const auto alone = changed(test::system_from(R"(
    [run]
    stop = 1.0
    [subsystems.only]
    model = "tough"
  )"),
                             {.method = GetParam(), .step = 0.1});
  const auto run = record(alone);
  EXPECT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  EXPECT_EQ(run.times.back(), 1.0);
  if (!adapts_its_steps()) {
    EXPECT_EQ(run.times.size(), 10 * steps_per_step() + 1);
  }
}

TEST_P(EveryMethod, reports_every_option_in_force) {
  const auto run = record(system("lotka_volterra", 0.1, 1.0));
  const auto method = method::built_in_methods().make(GetParam());
  for (const auto& option : describe_options(*method)) {
    EXPECT_TRUE(run.summary.parameters.contains(option.name)) << option.name;
  }
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& entry : method::built_in_methods().entries()) names.push_back(entry.traits.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryMethod, testing::ValuesIn(method_names()), [](const auto& tested) {
  auto name = tested.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace method_contract_test
}  // namespace entrain
