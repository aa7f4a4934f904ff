// predictor = "missiles": the coupling of the estimates as first guess and as correction of ifosmondi's iteration.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/undetermined_loop.hpp"

namespace entrain {
namespace ifosmondi_predictor_test {

using test::changed;
using test::example;
using test::has_fact;

struct Outcome {
  double evaluations;  // per macro step
  double value;        // of a signal at the end
  RunSummary summary;
};

Outcome outcome(const SystemDescription& description, const std::string& signal) {
  Simulation simulation(description);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  return {static_cast<double>(summary.iterations) / static_cast<double>(summary.macro_steps), simulation.value(signal),
          summary};
}

SystemDescription iterated(const std::string& system, double step, const std::string& solver,
                           const std::string& predictor) {
  return changed(example(system), {.method = "ifosmondi",
                                   .step = step,
                                   .options = {"iteration_tolerance=1e-10", "solver=\"" + solver + "\"",
                                               "predictor=\"" + predictor + "\""}});
}

class MissilesPredictor : public testing::TestWithParam<const char*> {};

TEST_P(MissilesPredictor, leaves_a_linear_system_one_evaluation_per_step) {
  const auto guessed = outcome(iterated("mechanical", 1e-3, GetParam(), "missiles"), "left.x");
  const auto iterated_only = outcome(iterated("mechanical", 1e-3, GetParam(), "hermite"), "left.x");
  EXPECT_LT(guessed.evaluations, 1.05);
  EXPECT_GT(iterated_only.evaluations, 5.0);
  EXPECT_NEAR(guessed.value, iterated_only.value, 1e-8);
  EXPECT_EQ(guessed.summary.linearizations, 2U);  // read once from each side, since they are linear
  // Each evaluation is a real step that is tried out; the last becomes the step.
  EXPECT_EQ(guessed.summary.subsystems[0].trials, guessed.summary.iterations);
}

TEST_P(MissilesPredictor, saves_evaluations_on_a_nonlinear_system_and_leads_to_the_same_solution) {
  const auto guessed = outcome(iterated("lotka_volterra", 0.05, GetParam(), "missiles"), "prey.p");
  const auto iterated_only = outcome(iterated("lotka_volterra", 0.05, GetParam(), "hermite"), "prey.p");
  EXPECT_LT(guessed.evaluations, 0.8 * iterated_only.evaluations);
  EXPECT_NEAR(guessed.value, iterated_only.value, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Solvers, MissilesPredictor, testing::Values("anderson", "newton-krylov", "fixed-point"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(MissilesPredictorOf, subsystems_with_fewer_abilities_still_saves_evaluations) {
  const auto take_away = [](SystemDescription description, int which) {
    for (auto& subsystem : description.subsystems) {
      if (which == 0) subsystem.input_degree = Written<std::int64_t>{1, {}};
      if (which == 1) subsystem.trials = Written<TrialChoice>{TrialChoice::Costarica, {}};
    }
    if (which == 2) description.subsystems[1].linearization = Written<bool>{false, {}};
    return description;
  };
  for (const int which : {0, 1, 2}) {
    const auto guessed = outcome(take_away(iterated("lotka_volterra", 0.05, "anderson", "missiles"), which), "prey.p");
    const auto iterated_only =
        outcome(take_away(iterated("lotka_volterra", 0.05, "anderson", "hermite"), which), "prey.p");
    EXPECT_LT(guessed.evaluations, 0.95 * iterated_only.evaluations) << which;
    EXPECT_NEAR(guessed.value, iterated_only.value, 1e-7) << which;
  }
}

TEST(MissilesPredictorOf, subsystems_without_facets_costs_no_evaluations_and_reports_what_is_missing) {
  for (const std::string system : {"lotka_volterra", "mechanical"}) {
    for (const bool states : {false, true}) {
      const auto take_away = [&](SystemDescription description) {
        for (auto& subsystem : description.subsystems) {
          if (states) subsystem.linearization = Written<bool>{false, {}};
          if (!states) subsystem.states = Written<bool>{false, {}};
        }
        return description;
      };
      const double step = system == "mechanical" ? 1e-3 : 0.05;
      const std::string signal = system == "mechanical" ? "left.x" : "prey.p";
      const auto guessed = outcome(take_away(iterated(system, step, "anderson", "missiles")), signal);
      const auto iterated_only = outcome(take_away(iterated(system, step, "anderson", "hermite")), signal);
      EXPECT_LT(guessed.evaluations, 1.01 * iterated_only.evaluations) << system << states;
      const auto& notes = guessed.summary.notes;
      EXPECT_TRUE(std::any_of(notes.begin(), notes.end(), [&](const Fact& note) {
        return note.text("role") == "predictor" && note.subjects.front() == guessed.summary.subsystems[0].name;
      }));
      EXPECT_TRUE(has_fact(guessed.summary.notes, FactCode::PredictorContinued));
    }
  }
}

TEST(MissilesPredictorOf, estimates_as_the_user_chooses) {
  const auto run = [](const std::string& option) {
    auto description = iterated("lotka_volterra", 0.05, "anderson", "missiles");
    if (!option.empty()) apply_option(description, option);
    return outcome(description, "prey.p").summary;
  };
  const auto as_missiles = run("");
  EXPECT_EQ(test::number_of(as_missiles.notes, FactCode::PredictorEstimates, "reconstruction"), 2.0);
  EXPECT_EQ(test::word_of(as_missiles.notes, FactCode::PredictorEstimates, "linearize"), "when-needed");
  const auto once = run("linearize=\"once\"");
  EXPECT_EQ(test::word_of(once.notes, FactCode::PredictorEstimates, "linearize"), "once");
  EXPECT_EQ(once.linearizations, 2U);
  EXPECT_GT(as_missiles.linearizations, 20U);
}

TEST(MissilesPredictorOf, a_restored_run_is_the_same_to_the_last_bit) {
  Simulation simulation(iterated("lotka_volterra", 0.05, "anderson", "missiles"));
  simulation.run_until(2.0);
  const auto checkpoint = simulation.checkpoint();
  simulation.run_until(4.0);
  const double first = simulation.value("prey.p");
  const auto iterations = simulation.summary().iterations;
  simulation.restore(*checkpoint);
  simulation.run_until(4.0);
  EXPECT_EQ(simulation.value("prey.p"), first);
  EXPECT_EQ(simulation.summary().iterations, iterations);
}

TEST(MissilesPredictorOf, a_loop_that_the_estimates_leave_undetermined_is_left_to_the_iteration) {
  test::UndeterminedLoop loop({.method = "ifosmondi", .step = 0.1, .options = {"predictor=\"missiles\""}});
  const auto& summary = loop.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
}

}  // namespace ifosmondi_predictor_test
}  // namespace entrain
