// What identified steps and the columns of iqn-ils remember is part of a checkpoint, and no thread can be seen in it.
#include <gtest/gtest.h>

#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace identified_contract_test {

struct Case {
  const char* name;
  test::Change change;
  const char* estimator;
};

SystemDescription system_of(const Case& tried) {
  auto description = test::changed(test::example("mechanical"), tried.change);
  for (auto& subsystem : description.subsystems) {
    subsystem.input_degree = {0, {}};
    if (*tried.estimator != '\0') subsystem.estimator = {tried.estimator, {}};
  }
  return description;
}

class Learned : public testing::TestWithParam<Case> {};

TEST_P(Learned, goes_on_from_a_checkpoint_as_if_nothing_had_happened) {
  const auto description = system_of(GetParam());
  Simulation whole(description);
  EXPECT_EQ(whole.run().termination, Termination::Completed) << whole.summary().message;
  if (*GetParam().estimator != '\0') {
    EXPECT_TRUE(test::has_fact(whole.summary().notes, FactCode::StepsIdentified, "right"));
  }
  Simulation simulation(description);
  simulation.run_until(0.2);
  const auto checkpoint = simulation.checkpoint();
  simulation.run_until(0.35);  // goes astray from here
  simulation.restore(*checkpoint);
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  EXPECT_EQ(simulation.value("left.x"), whole.value("left.x"));
  EXPECT_EQ(simulation.value("right.F"), whole.value("right.F"));
  EXPECT_EQ(simulation.summary().iterations, whole.summary().iterations);
}

TEST_P(Learned, gives_the_same_bits_with_1_and_4_threads) {
  const auto description = system_of(GetParam());
  Simulation one(description, {.threads = 1, .interrupt = nullptr});
  Simulation four(description, {.threads = 4, .interrupt = nullptr});
  one.run();
  four.run();
  EXPECT_EQ(one.value("left.x"), four.value("left.x"));
  EXPECT_EQ(one.value("right.F"), four.value("right.F"));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Learned,
    testing::Values(
        Case{"missiles", {.method = "missiles", .step = 1e-3, .stop = 0.5}, "identified"},
        Case{"waveform", {.method = "waveform", .step = 1e-3, .stop = 0.5}, "identified"},
        Case{"ifosmondi", {.method = "ifosmondi", .step = 1e-3, .stop = 0.5}, "identified"},
        Case{"predictor",
             {.method = "ifosmondi", .step = 1e-3, .stop = 0.5, .options = {"predictor=\"missiles\""}},
             "identified"},
        Case{"iqn_ils", {.method = "ifosmondi", .step = 1e-3, .stop = 0.5, .options = {"solver=\"iqn-ils\""}}, ""}),
    [](const auto& case_info) { return std::string(case_info.param.name); });

}  // namespace identified_contract_test
}  // namespace entrain
