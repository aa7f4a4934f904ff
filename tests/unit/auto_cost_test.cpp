// What an automatic choice and an advice ask of the subsystems, and how they end when their user has enough.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <stdexcept>

#include "advise/choose_method.hpp"
#include "entrain/advice.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace auto_cost_test {

/// Two subsystems that answer each other, of which every step is counted.
struct Counted {
  std::uint64_t steps = 0;

  ModelFactory models() {
    return [this](std::string_view name) -> std::unique_ptr<Model> {
      const double gain = name == "a" ? 0.5 : -0.5;
      return std::make_unique<test::StaticModel>([gain](Time t, double u) { return gain * u + t; },
                                                 [this](Time) { ++steps; });
    };
  }
};

SystemDescription pair(Time stop) {
  auto description = test::two_in_a_loop(stop);
  description.method.value = method::kAuto;
  return description;
}

TEST(Auto, choice_steps_the_subsystems_at_most_a_twentieth_as_often_as_the_run) {
  Counted choice;
  const auto chosen = advising::choose_method(pair(200.0), choice.models());
  ASSERT_TRUE(test::has_fact(chosen.notes, FactCode::MethodChosen));
  Counted run;
  Simulation simulation(chosen.description, {}, run.models());
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  ASSERT_GT(run.steps, 20000U);
  EXPECT_GT(choice.steps, 0U);
  EXPECT_LE(choice.steps, run.steps / 20);
}

TEST(Auto, choice_for_a_short_run_takes_at_most_200_calls) {
  auto description = pair(10.0);
  description.step.reset();
  Counted choice;
  const auto chosen = advising::choose_method(description, choice.models());
  EXPECT_GT(choice.steps, 0U);
  EXPECT_LE(choice.steps, 200U);
  EXPECT_EQ(test::number_of(chosen.notes, FactCode::SearchCost, "calls"), chosen.calls);
  EXPECT_LE(chosen.calls, 200.0);
}

/// Turning at 1 rad/s: x' = u and x' = -u. Steps beyond `longest` fail, late in the run, so that a trial has cost
/// something by then.
class FailsLate : public test::OdeModel {
 public:
  FailsLate(double sign, Duration longest, std::uint64_t& steps)
      : OdeModel({.f = [=](double, double u) { return sign * u; },
                  .g = [](double x, double) { return x; },
                  .start = sign < 0.0 ? 1.0 : 0.0}),
        longest_(longest),
        steps_(steps) {}
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    ++steps_;
    if (size > longest_ && from > 10.0 * size) throw std::runtime_error("the step is too long");
    OdeModel::integrate(from, size, inputs, x);
  }

 private:
  Duration longest_;
  std::uint64_t& steps_;
};

TEST(Auto, choice_keeps_its_budget_where_trials_fail) {
  for (const Duration longest : {0.1, 0.01, 0.002}) {
    std::uint64_t steps = 0;
    const auto models = [&](std::string_view name) -> std::unique_ptr<Model> {
      return std::make_unique<FailsLate>(name == "a" ? 1.0 : -1.0, longest, steps);
    };
    auto description = pair(20.0);
    description.step.reset();
    const auto chosen = advising::choose_method(description, models);
    const auto of_choice = steps;
    EXPECT_LE(chosen.description.step->value, longest);
    steps = 0;
    Simulation simulation(chosen.description, {}, models);
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    EXPECT_LE(static_cast<double>(of_choice), std::max(200.0, 0.05 * static_cast<double>(steps))) << longest;
    EXPECT_LE(static_cast<double>(of_choice), chosen.calls);
  }
}

TEST(Auto, search_that_the_clock_stops_reports_it_and_chooses_by_the_order) {
  advising::SearchBudget budget;
  budget.longest = std::chrono::seconds(0);
  Counted choice;
  const auto chosen = advising::choose_method(pair(10.0), choice.models(), budget);
  EXPECT_TRUE(test::has_fact(chosen.notes, FactCode::SearchStopped));
  EXPECT_NE(chosen.description.method.value, method::kAuto);
}

TEST(Auto, choice_is_the_same_however_long_the_subsystems_take) {
  const auto slow = [](std::string_view name) -> std::unique_ptr<Model> {
    const double gain = name == "a" ? 0.5 : -0.5;
    return std::make_unique<test::StaticModel>([gain](Time t, double u) { return gain * u + t; },
                                               [](Time) {
                                                 volatile double sum = 0.0;
                                                 for (int i = 0; i < 20000; ++i) sum = sum + std::sqrt(i);
                                               });
  };
  Counted fast;
  const auto a = advising::choose_method(pair(10.0), fast.models());
  const auto b = advising::choose_method(pair(10.0), slow);
  EXPECT_EQ(a.description.method.value, b.description.method.value);
  EXPECT_EQ(a.description.step->value, b.description.step->value);
  EXPECT_EQ(a.calls, b.calls);
}

/// Masses in a row, each connected with its neighbours in both directions.
SystemDescription chain(std::size_t size) {
  SystemDescription description;
  description.name = "chain";
  description.stop = {10.0, {}};
  description.step = {1e-3, {}};
  for (std::size_t s = 0; s < size; ++s) {
    auto& mass = description.subsystems.emplace_back();
    mass.name = "m" + std::to_string(s);
    mass.model = "chain.mass";
    if (s == 0) {
      mass.start["x"] = {1.0, {}};
      continue;
    }
    const std::string left = "m" + std::to_string(s - 1);
    description.connections.push_back({left + ".x", mass.name + ".left_x", {}});
    description.connections.push_back({left + ".v", mass.name + ".left_v", {}});
    description.connections.push_back({mass.name + ".F_left", left + ".right_F", {}});
  }
  return description;
}

std::vector<std::string> not_looked_at(const Advice& advice) {
  std::vector<std::string> all;
  for (const auto& remark : advice.remarks) {
    if (remark.code == FactCode::NotLookedAt) all.insert(all.end(), remark.subjects.begin(), remark.subjects.end());
  }
  return all;
}

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

TEST(AdviceEffort, thousand_masses_take_a_bounded_number_of_calls_and_what_is_left_out_is_named) {
  const Advice advice = advise(chain(1000));           // 10 000 macro steps: a run makes ten million calls
  EXPECT_GT(advice.calls, 200000.0 * 0.9);             // of the first run
  EXPECT_LE(advice.calls, 200000.0 * 1.1 + 250000.0);  // and of the trials
  ASSERT_TRUE(advice.choice) << advice.reason();
  ASSERT_TRUE(advice.candidates[*advice.choice].tried);
  EXPECT_FALSE(advice.candidates[*advice.choice].tried->whole);
  const auto left_out = not_looked_at(advice);
  for (const auto& candidate : advice.candidates) {
    EXPECT_FALSE(candidate.radius) << candidate.title();
    EXPECT_TRUE(has(left_out, candidate.title())) << candidate.title();
  }
}

TEST(AdviceEffort, interruption_in_any_part_ends_with_what_is_known) {
  const auto description = test::changed(test::example("oscillator"), {.step = 0.1, .stop = 10.0});
  std::vector<std::string> parts;
  AdviceSettings settings;
  settings.progress = [&](const AdviceProgress& progress) { parts.push_back(progress.part); };
  advise(description, settings);
  ASSERT_GE(parts.size(), 4U);
  for (std::size_t last = 0; last < parts.size(); ++last) {
    std::atomic<bool> interrupt = false;
    std::size_t begun = 0;
    settings.interrupt = &interrupt;
    settings.progress = [&](const AdviceProgress&) {
      if (begun++ == last) interrupt = true;
    };
    const Advice advice = advise(description, settings);
    EXPECT_TRUE(has(not_looked_at(advice), parts.back())) << parts[last];
    EXPECT_EQ(advice.fastest_rate.has_value(), last > 1) << parts[last];  // it is found with the stability
    EXPECT_EQ(test::has_fact(advice.remarks, FactCode::SearchInterrupted), last + 1 < parts.size()) << parts[last];
  }
}

TEST(AdviceEffort, first_run_is_left_in_its_middle) {
  std::atomic<bool> interrupt = false;
  std::size_t steps = 0;
  constexpr std::size_t kEnough = 100;
  const auto models = [&](std::string_view name) -> std::unique_ptr<Model> {
    const double gain = name == "a" ? 0.5 : -0.5;
    return std::make_unique<test::StaticModel>([gain](Time t, double u) { return gain * u + t; },
                                               [&](Time) { interrupt = ++steps >= kEnough; });
  };
  AdviceSettings settings;
  settings.interrupt = &interrupt;
  const Advice advice = advise(test::two_in_a_loop(1000.0), settings, models);
  EXPECT_LE(steps, kEnough + 2);  // the macro step is ended
  EXPECT_TRUE(has(not_looked_at(advice), "the motion of the system"));
}

}  // namespace auto_cost_test
}  // namespace entrain
