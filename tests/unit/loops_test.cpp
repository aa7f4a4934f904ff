// Algebraic loops: at the start, in the run, and when they have no solution.
#include <gtest/gtest.h>

#include <cmath>

#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace loops_test {

std::unique_ptr<Model> loop_model(std::string_view name) {
  if (name == "cosine") return std::make_unique<test::StaticModel>([](Time, double u) { return std::cos(u); });
  if (name == "same") return std::make_unique<test::StaticModel>([](Time, double u) { return u; });
  if (name == "plus_one") return std::make_unique<test::StaticModel>([](Time, double u) { return u + 1.0; });
  if (name == "drifting_cosine") {
    return std::make_unique<test::StaticModel>([](Time t, double u) { return std::cos(u) + t; });
  }
  return nullptr;
}

SystemDescription loop_of(const std::string& a, const std::string& b) {
  return test::system_from("[run]\nstop = 1.0\nstep = 0.1\n[subsystems.a]\nmodel = \"" + a +
                           "\"\n[subsystems.b]\nmodel = \"" + b +
                           "\"\n[connections]\n\"a.y\" = \"b.u\"\n\"b.y\" = \"a.u\"\n");
}

/// u = cos(u) + t
double fixed_point(double t) {
  double u = 0.7 + t;
  for (int i = 0; i < 200; ++i) u -= (u - std::cos(u) - t) / (1 + std::sin(u));
  return u;
}

TEST(AlgebraicLoop, is_solved_at_the_start) {
  Simulation simulation(loop_of("cosine", "same"), {}, loop_model);
  simulation.run_until(0.0);
  EXPECT_NEAR(simulation.value("a.y"), 0.7390851332151607, 1e-10);  // the Dottie number
  ASSERT_EQ(simulation.summary().loops.size(), 1U);
  EXPECT_LT(simulation.summary().loops[0].initial_residual, 1e-10);
}

TEST(AlgebraicLoop, solved_in_the_run_stays_on_the_solution) {
  auto description = loop_of("drifting_cosine", "same");
  apply_option(description, "loops=\"solve\"");
  Simulation simulation(description, {}, loop_model);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_NEAR(simulation.value("a.y"), fixed_point(1.0), 1e-10);
  EXPECT_EQ(simulation.summary().notes.at(0).code, FactCode::LoopsSolved);
}

TEST(AlgebraicLoop, delayed_lags_behind_with_a_note_in_the_summary) {
  Simulation simulation(loop_of("drifting_cosine", "same"), {}, loop_model);
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  EXPECT_GT(std::abs(simulation.value("a.y") - fixed_point(1.0)), 0.01);
  EXPECT_EQ(simulation.summary().notes.at(0).code, FactCode::LoopsDelayed);
}

TEST(AlgebraicLoop, without_solution_is_an_error_that_names_it) {
  Simulation simulation(loop_of("plus_one", "same"), {}, loop_model);
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  const Fact failure = test::failure_of(simulation.summary());
  EXPECT_EQ(failure.code, FactCode::LoopNotSolved);
  EXPECT_TRUE(failure.text("loop").starts_with("a.y, b.y")) << failure;
  EXPECT_EQ(test::place_of_failure(simulation.summary()).time, 0.0);
}

TEST(AlgebraicLoop, with_a_member_in_the_middle_of_a_longer_step_waits_for_it) {
  // b integrates over 0.1 s under the input of its start, whatever is solved at 0.05 s.
  auto description = test::system_from(R"(
    [run]
    stop = 0.1
    step = 0.05
    [method.jacobi]
    loops = "solve"
    [subsystems.a]
    model = "drifting_cosine"
    [subsystems.b]
    model = "oscillator.force_side"
    step = 0.1
    start = { x1 = 1.0, v1 = 0.0, v = 0.0 }
    [connections]
    "b.F" = "a.u"
    "a.y" = "b.x"
  )");
  Simulation coupled(description, {}, loop_model);
  coupled.run_until(0.0);
  const double held = coupled.value("b.x");
  EXPECT_EQ(coupled.run().termination, Termination::Completed) << coupled.summary().message;
  const auto alone = test::system_from(
      "[run]\nstop = 0.1\nstep = 0.1\n[subsystems.b]\nmodel = \"oscillator.force_side\"\n"
      "start = { x1 = 1.0, v1 = 0.0, v = 0.0, x = 0.0 }\n");
  auto with_input = alone;
  with_input.subsystems[0].start["x"] = {Value(held), {}};
  Simulation reference(with_input);
  reference.run();
  EXPECT_EQ(coupled.value("b.x1"), reference.value("b.x1"));
}

TEST(AlgebraicLoop, through_a_single_subsystem_is_a_loop_too) {
  const auto description = test::system_from(
      "[run]\nstop = 1.0\nstep = 0.1\n[subsystems.a]\nmodel = \"cosine\"\n[connections]\n\"a.y\" = \"a.u\"\n");
  Simulation simulation(description, {}, loop_model);
  simulation.run_until(0.0);
  EXPECT_NEAR(simulation.value("a.y"), 0.7390851332151607, 1e-10);
}

TEST(AlgebraicLoop, is_solved_inside_the_monolithic_integrator) {
  auto description = loop_of("drifting_cosine", "same");
  description.method.value = "monolithic";
  Simulation simulation(description, {}, loop_model);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_NEAR(simulation.value("a.y"), fixed_point(1.0), 1e-10);
  EXPECT_LT(simulation.summary().max_coupling_residual, 1e-9);
}

}  // namespace loops_test
}  // namespace entrain
