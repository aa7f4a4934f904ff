// A run that a program drives: values set between macro steps, runs again, runs that are stopped. Every method.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stop_token>

#include "entrain/recording.hpp"
#include "methods/registry.hpp"
#include "support/example_fmus.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace simulation_control_test {

using test::changed;

/// dx/dt = u - x, y = x: the answer to a step of u is 1 - e^-t.
std::unique_ptr<Model> lag(std::string_view name) {
  if (name != "lag") return nullptr;
  return std::make_unique<test::OdeModel>(
      test::OdeModel::Equation{[](double x, double u) { return u - x; }, [](double x, double) { return x; }});
}

class DrivenRun : public testing::TestWithParam<std::string> {
 protected:
  static SystemDescription two_lags() {
    auto description = changed(test::system_from(R"(
      [run]
      stop = 3.0
      [subsystems.first]
      model = "lag"
      [subsystems.second]
      model = "lag"
      [connections]
      "first.y" = "second.u"
    )"),
                               {.method = GetParam(), .step = 0.05});
    const auto method = method::built_in_methods().make(GetParam());
    for (const auto& known : describe_options(*method)) {
      if (known.name == "degree") apply_option(description, "degree=2");
    }
    return description;
  }
};

TEST_P(DrivenRun, follows_an_input_that_is_set_from_there_on) {
  Simulation simulation(two_lags(), {}, lag);
  const Time begin = simulation.run_until(1.0).reached;
  EXPECT_EQ(simulation.value("first.y"), 0.0);
  simulation.set("first.u", 1.0);
  simulation.run();
  ASSERT_EQ(simulation.summary().termination, Termination::Completed) << simulation.summary().message;
  // A history that is continued across the change overshoots by 1e-2 and more.
  EXPECT_NEAR(simulation.value("first.y"), 1.0 - std::exp(-(3.0 - begin)), 1e-9);
  // The second: 1 - (1 + t) e^-t, to the error of the coupling (held inputs would be 2 % off).
  const double t = 3.0 - begin;
  EXPECT_NEAR(simulation.value("second.y"), 1.0 - (1.0 + t) * std::exp(-t), 2e-3);
  ASSERT_EQ(simulation.summary().changes.size(), 1U);
  EXPECT_EQ(simulation.summary().changes[0].name, "first.u");
  EXPECT_EQ(simulation.summary().changes[0].time, begin);
}

TEST_P(DrivenRun, checkpoint_holds_what_was_set) {
  Simulation simulation(two_lags(), {}, lag);
  simulation.run_until(0.5);
  simulation.set("first.u", 1.0);
  simulation.run_until(1.0);
  const auto checkpoint = simulation.checkpoint();
  simulation.run();
  const double first = simulation.value("second.y");
  simulation.restore(*checkpoint);
  simulation.set("first.u", -4.0);
  simulation.run_until(2.0);
  simulation.restore(*checkpoint);
  simulation.run();
  EXPECT_EQ(simulation.value("second.y"), first);
  EXPECT_EQ(simulation.summary().changes.size(), 1U);
}

TEST_P(DrivenRun, can_be_run_again_to_the_same_bits) {
  Simulation simulation(two_lags(), {}, lag);
  MemoryRecorder first({"*"});
  simulation.observe(first);
  simulation.set("first.u", 2.0);  // a start value: it stays
  simulation.run_until(1.0);
  simulation.set("first.u", 3.0);  // it does not
  simulation.run();
  const auto times = first.times;
  for (int repeat = 0; repeat < 2; ++repeat) {
    simulation.reset();
    EXPECT_EQ(simulation.summary().termination, Termination::NotStarted);
    simulation.run_until(1.0);
    EXPECT_TRUE(simulation.summary().changes.empty());
    simulation.set("first.u", 3.0);
    EXPECT_EQ(simulation.run().termination, Termination::Completed);
    EXPECT_TRUE(first.times == times);
  }
  Simulation other(two_lags(), {}, lag);
  other.set("first.u", 2.0);
  other.run_until(1.0);
  other.set("first.u", 3.0);
  other.run();
  EXPECT_EQ(simulation.value("second.y"), other.value("second.y"));
}

TEST_P(DrivenRun, ends_as_interrupted_when_its_stop_token_is_set) {
  std::stop_source source;
  RunOptions options;
  options.stop = source.get_token();
  Simulation simulation(two_lags(), options, lag);
  simulation.run_until(1.0);
  source.request_stop();
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Interrupted);
  EXPECT_LT(summary.reached, 3.0);
}

TEST_P(DrivenRun, can_be_reset_after_it_was_stopped) {
  std::stop_source source;
  RunOptions options;
  options.stop = source.get_token();
  Simulation simulation(two_lags(), options, lag);
  simulation.run_until(1.0);
  source.request_stop();
  EXPECT_EQ(simulation.run().termination, Termination::Interrupted);
  simulation.reset();
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
}

TEST_P(DrivenRun, checkpoint_from_before_a_reset_is_refused_and_released_without_harm) {
  Simulation simulation(two_lags(), {}, lag);
  simulation.run_until(1.0);
  auto checkpoint = simulation.checkpoint();
  simulation.reset();
  EXPECT_THROW(simulation.restore(*checkpoint), Error);
  checkpoint.reset();
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& entry : method::built_in_methods().entries()) names.push_back(entry.traits.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Registry, DrivenRun, testing::ValuesIn(method_names()), [](const auto& tested) {
  std::string name = tested.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

std::string refusal(Simulation& simulation, const std::string& name, const Value& value) {
  try {
    simulation.set(name, value);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidSystem);
    return test::outline(error);
  }
  return "taken";
}

TEST(SetValue, is_refused_with_the_reason) {
  Simulation simulation(changed(test::example("mechanical"), {.step = 0.01, .stop = 0.1}));
  simulation.run_until(0.05);
  const auto expect = [&](const std::string& name, const Value& value, const std::string& reason) {
    EXPECT_EQ(refusal(simulation, name, value), reason);
  };
  expect("left.nothing", 1.0, "nothing-to-set left.nothing");
  expect("middle.x", 1.0, "nothing-to-set middle.x");
  expect("right.x", 1.0, "set-but-fed right.x, left.x");
  expect("left.m1", std::string("heavy"), "wrong-value-type left.m1 (expected = a number, found = a string)");
  expect("left.m1", std::numeric_limits<double>::infinity(), "set-not-finite left.m1 (value = inf)");
  EXPECT_TRUE(simulation.summary().changes.empty());
  simulation.run();
  expect("left.m1", 1.0, "set-after-end left.m1");
}

/// Does something in the first sample of a run, and where it begins.
struct Meddler : Observer {
  std::function<void()> at_begin = [] {};
  std::function<void()> at_sample = [] {};
  void begin(std::span<const Signal>, const RunSummary&) override { at_begin(); }
  void communicated(const Sample&, const RunSummary&) override { at_sample(); }
};

TEST(SetValue, is_possible_in_a_sample_but_neither_earlier_nor_a_reset) {
  Simulation simulation(changed(test::example("mechanical"), {.step = 0.01, .stop = 0.1}));
  Meddler meddler;
  int refused = 0;
  const auto count = [&](const std::function<void()>& action) {
    try {
      action();
    } catch (const Error&) {
      ++refused;
    }
  };
  meddler.at_begin = [&] { count([&] { simulation.set("left.c1", 1e4); }); };
  meddler.at_sample = [&] {
    if (simulation.summary().changes.empty()) simulation.set("left.c1", 2e4);
    count([&] { simulation.reset(); });
  };
  simulation.observe(meddler);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(refused, 12);  // at the begin, and in 11 samples
  EXPECT_EQ(simulation.summary().changes.size(), 1U);
}

TEST(SetValue, changes_a_tunable_parameter_of_models_and_of_FMUs_alike) {
  // A mass on a spring: twice the stiffness from t = 1 s on.
  const auto value_with = [](SystemDescription description) {
    Simulation simulation(description);
    simulation.run_until(1.0);
    simulation.set("left.c1", 2e4);
    simulation.run();
    EXPECT_EQ(simulation.summary().termination, Termination::Completed) << simulation.summary().message;
    return simulation.value("left.x");
  };
  const auto description = changed(test::example("mechanical"), {.step = 0.001, .stop = 2.0});
  const double changed_value = value_with(description);
  Simulation plain(description);
  plain.run();
  EXPECT_GT(std::abs(changed_value - plain.value("left.x")), 1e-3);
  auto with_fmus = description;
  for (auto& subsystem : with_fmus.subsystems) {
    subsystem.fmu = test::fmu_of(subsystem);
    subsystem.model.clear();
  }
  EXPECT_NEAR(value_with(with_fmus), changed_value, 1e-9 * std::abs(changed_value));
}

}  // namespace simulation_control_test
}  // namespace entrain
