// Imposed steps on the grid of the macro step.
#include <gtest/gtest.h>

#include <cmath>

#include "entrain/recording.hpp"
#include "methods/calendar.hpp"
#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace multirate_test {

using test::problems_of;

SystemDescription prey_with(double prey_step, double macro_step, double stop) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = macro_step, .stop = stop});
  for (auto& subsystem : description.subsystems) {
    if (subsystem.name == "prey") subsystem.step = {prey_step, {}};
  }
  return description;
}

TEST(ImposedStep, whole_ratio_forgives_rounding_only) {
  EXPECT_EQ(method::whole_ratio(0.3, 0.1), 3U);
  EXPECT_EQ(method::whole_ratio(0.1, 0.3), std::nullopt);
  EXPECT_EQ(method::whole_ratio(0.25, 0.1), std::nullopt);
}

TEST(ImposedStep, longer_than_the_macro_step_communicates_less_often) {
  Simulation simulation(prey_with(0.4, 0.1, 2.0));
  MemoryRecorder recorder;
  simulation.observe(recorder);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(simulation.summary().subsystems[0].steps, 5U);
  EXPECT_EQ(simulation.summary().subsystems[1].steps, 20U);
  const auto& prey = recorder.column("prey.p");
  for (std::size_t k = 0; k < prey.size(); ++k) EXPECT_EQ(std::isnan(prey[k]), k % 4 != 0) << "row " << k;
}

TEST(ImposedStep, that_divides_the_macro_step_gives_the_same_result_for_held_inputs) {
  // The prey's closed form makes four steps of h / 4 under one held input equal to one step of h.
  Simulation whole(test::changed(test::example("lotka_volterra"), {.step = 0.1, .stop = 2.0}));
  Simulation parts(prey_with(0.025, 0.1, 2.0));
  whole.run();
  parts.run();
  EXPECT_NEAR(parts.value("prey.p"), whole.value("prey.p"), 1e-14);
}

TEST(ImposedStep, multiple_keeps_the_order_of_the_coupling) {
  const auto error = [](double h) {
    auto reference = test::changed(test::example("lotka_volterra"), {.method = "monolithic", .step = 0.1, .stop = 2.0});
    Simulation exact(reference);
    exact.run();
    auto description = prey_with(2 * h, h, 2.0);
    apply_option(description, "degree=1");
    Simulation simulation(description);
    simulation.run();
    return std::abs(simulation.value("prey.p") - exact.value("prey.p"));
  };
  EXPECT_GT(std::log2(error(0.01) / error(0.005)), 1.8);
}

TEST(ImposedStep, that_does_not_fit_is_refused_with_both_numbers) {
  const auto text = problems_of(prey_with(0.15, 0.1, 3.0));
  EXPECT_NE(text.find("imposed-step-does-not-fit prey (imposed = 0.15 s, step = 0.1 s)"), std::string::npos) << text;
}

TEST(ImposedStep, that_does_not_reach_the_stop_time_is_refused) {
  const auto text = problems_of(prey_with(0.4, 0.1, 1.0));
  EXPECT_NE(text.find("run-no-multiple prey (imposed = 0.4 s,"), std::string::npos) << text;
}

TEST(ImposedStep, absurdly_far_from_the_macro_step_is_refused) {
  EXPECT_NE(problems_of(prey_with(1e-12, 0.1, 1.0)).find("imposed-step-far-off prey"), std::string::npos);
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.1, .stop = 1.0});
  description.subsystems[0].max_step = {1e-300, {}};
  EXPECT_NE(problems_of(description).find("too-many-parts prey"), std::string::npos);
}

TEST(StepLimits, a_part_or_a_last_step_below_the_minimal_step_is_refused) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.1, .stop = 1.0});
  description.subsystems[0].min_step = {0.03, {}};
  description.subsystems[0].max_step = {0.03, {}};
  EXPECT_NE(problems_of(description).find("below-min-step prey (min_step = 0.03 s, step = 0.025 s)"),
            std::string::npos);
  description = test::changed(test::example("lotka_volterra"), {.step = 0.3, .stop = 1.0});
  description.subsystems[0].min_step = {0.3, {}};
  EXPECT_NE(problems_of(description).find("last-below-min-step prey"), std::string::npos);
}

SystemDescription prey_in_substeps(std::int64_t substeps, double macro_step, double stop) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = macro_step, .stop = stop});
  description.subsystems[0].substeps = {substeps, {}};
  return description;
}

TEST(Substeps, must_be_a_multiple_of_an_imposed_step) {
  auto description = prey_in_substeps(4, 0.1, 1.0);
  description.subsystems[0].step = {0.0125, {}};
  EXPECT_EQ(problems_of(description), "accepted");
  description.subsystems[0].step = {0.05, {}};
  EXPECT_NE(problems_of(description)
                .find("imposed-step-and-substeps prey (imposed = 0.05 s, substep = 0.025 s, substeps = 4)"),
            std::string::npos);
}

TEST(Substeps, below_the_minimal_step_are_refused) {
  auto description = prey_in_substeps(4, 0.1, 1.0);
  description.subsystems[0].min_step = {0.03, {}};
  EXPECT_NE(problems_of(description).find("below-min-step prey (min_step = 0.03 s, step = 0.025 s)"),
            std::string::npos);
}

TEST(Substeps, are_reported_in_the_notes_with_their_effect) {
  auto description = prey_in_substeps(4, 0.1, 0.1);
  const auto notes = [](const SystemDescription& of) {
    Simulation simulation(of);
    simulation.run();
    return simulation.summary().notes;
  };
  EXPECT_EQ(notes(description),
            (std::vector<Fact>{{FactCode::SubstepsUnused, {"prey"}, {{"substeps", 4}, {"degree", 0}}}}));
  description.subsystems[0].input_degree = {0, {}};
  apply_option(description, "degree=2");
  EXPECT_EQ(notes(description),
            (std::vector<Fact>{{FactCode::InputDegreeLowered, {"prey"}, {{"from", 2}, {"to", 0}, {"substeps", 4}}}}));
}

TEST(Events, between_communication_times_are_warned_about) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.1, .stop = 1.0});
  description.subsystems[0].events = {{0.25, 0.5, 0.77}, {}};
  Simulation simulation(description);
  simulation.run();
  ASSERT_EQ(simulation.summary().warnings.size(), 1U);
  EXPECT_EQ(simulation.summary().warnings[0],
            (Fact{FactCode::EventsSeenLate, {"prey"}, {{"count", 2}, {"first", 0.25, "s"}}}));
}

TEST(Events, no_polynomial_spans_an_announced_jump) {
  // The car's controller switches at 10 s; its consumer, the body, starts a new history there: one held step.
  Simulation simulation(test::changed(test::example("car"), {.step = 0.01, .stop = 10.02, .options = {"degree=2"}}));
  simulation.run_until(10.0);
  const double force = simulation.value("controller.F");
  simulation.run_until(10.01);
  EXPECT_EQ(simulation.value("body.F"), force);
}

TEST(StepLimits, a_maximal_step_cuts_the_macro_step_and_a_minimal_one_refuses) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.1, .stop = 1.0});
  description.subsystems[0].max_step = {0.03, {}};
  EXPECT_EQ(problems_of(description), "accepted");
  description.subsystems[0].max_step.reset();
  description.subsystems[0].min_step = {0.2, {}};
  EXPECT_NE(problems_of(description).find("below-min-step prey (min_step = 0.2 s"), std::string::npos);
}

}  // namespace multirate_test
}  // namespace entrain
