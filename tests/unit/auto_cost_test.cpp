// What an automatic choice asks of the subsystems.
#include <gtest/gtest.h>

#include <cmath>

#include "advise/choose_method.hpp"
#include "support/facts.hpp"
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

}  // namespace auto_cost_test
}  // namespace entrain
