// What an automatic choice asks of the subsystems.
#include <gtest/gtest.h>

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

SystemDescription pair() {
  auto description = test::two_in_a_loop(10.0);
  description.method.value = method::kAuto;
  return description;
}

TEST(Auto, choice_steps_the_subsystems_at_most_a_twentieth_as_often_as_the_run) {
  Counted choice;
  const auto chosen = advising::choose_method(pair(), choice.models());
  ASSERT_TRUE(chosen.note);
  EXPECT_EQ(chosen.note->code, FactCode::MethodChosen);
  Counted run;
  Simulation simulation(chosen.description, {}, run.models());
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  ASSERT_GT(run.steps, 1000U);
  EXPECT_GT(choice.steps, 0U);
  EXPECT_LE(choice.steps, run.steps / 20);
}

}  // namespace auto_cost_test
}  // namespace entrain
