// How missiles behaves; its orders are in tests/convergence.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "entrain/recording.hpp"
#include "models/chain_system.hpp"
#include "subsystem/native/linear_model.hpp"
#include "subsystem/native/model_support.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/undetermined_loop.hpp"

namespace entrain {
namespace missiles_test {

using test::changed;
using test::example;
using test::has_fact;
using test::number_of;

SystemDescription prey_and_predator(const std::vector<std::string>& options = {}) {
  return changed(example("lotka_volterra"), {.method = "missiles", .step = 0.1, .stop = 2.0, .options = options});
}

TEST(Missiles, linearizes_a_linear_system_once_and_makes_the_first_step_in_pieces) {
  Simulation simulation(changed(models::chain_system(5), {.method = "missiles", .step = 0.01, .stop = 1.0}));
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_EQ(summary.linearizations, 5U);
  EXPECT_EQ(summary.iterations, 0U);
  // The first step in pieces of a sixteenth without and with slopes, an eighth, a quarter, a half.
  EXPECT_TRUE(number_of(summary.notes, FactCode::CouplingEquations, "unknowns") == 24.0);
  EXPECT_EQ(summary.subsystems[0].steps, 99U + 5U);
}

// The last masses of a long chain move by less than the smallest number, then by next to nothing.
TEST(Missiles, couples_signals_that_an_excitation_has_hardly_reached) {
  Simulation simulation(changed(models::chain_system(250), {.method = "missiles", .step = 0.01, .stop = 0.4}));
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
}

TEST(Missiles, records_the_gap_of_every_connection) {
  Simulation simulation(prey_and_predator());
  MemoryRecorder recorder({"prey.p", "predator.u", "predator.u:gap", "prey.u:gap"});
  simulation.observe(recorder);
  const auto& summary = simulation.run();
  const auto& real = recorder.column("prey.p");
  const auto& used = recorder.column("predator.u");
  const auto& gap = recorder.column("predator.u:gap");
  double largest = 0.0;
  for (std::size_t k = 0; k < gap.size(); ++k) {
    EXPECT_NEAR(gap[k], real[k] - used[k], 1e-15);
    largest = std::max(largest, std::abs(gap[k]));
  }
  EXPECT_GT(largest, 1e-6);
  const auto [low, high] = std::minmax_element(real.begin(), real.end());
  ASSERT_EQ(summary.connections.size(), 2U);
  EXPECT_EQ(summary.connections[0].name, "prey.p -> predator.u");
  EXPECT_NEAR(summary.connections[0].max_residual, largest / (*high - *low), 1e-14);
}

// In the middle of the run the force on one of two masses changes without announcement: that step was made with the
// old one.
TEST(Missiles, reports_the_gap_at_a_jump_that_was_not_announced) {
  auto description = changed(example("two_mass"), {.method = "missiles", .step = 0.4, .stop = 150.0});
  description.subsystems[1].events = {std::vector<double>{}, {}};
  Simulation simulation(description);
  MemoryRecorder recorder({"*"});
  simulation.observe(recorder);
  const auto& summary = simulation.run();
  ASSERT_EQ(number_of(summary.warnings, FactCode::SignalJumps, "count"), 1.0);
  for (const auto& connection : summary.connections) {
    double largest = 0.0;
    for (const double gap : recorder.column(connection.input + ":gap")) largest = std::max(largest, std::abs(gap));
    EXPECT_NEAR(connection.max_residual, largest / connection.range, 1e-12) << connection.name;
  }
  EXPECT_GT(summary.max_coupling_residual, 1e-2);
}

TEST(Missiles, takes_every_subsystem_and_reports_what_is_lost) {
  auto description = prey_and_predator();
  description.subsystems[0].linearization = {false, {}};
  description.subsystems[1].states = {false, {}};
  description.subsystems[1].input_degree = {0, {}};
  Simulation simulation(description);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_TRUE(has_fact(summary.notes, FactCode::StatesContinued, "prey"));
  EXPECT_TRUE(has_fact(summary.notes, FactCode::OutputsContinued, "predator"));
  EXPECT_EQ(number_of(summary.notes, FactCode::InputDegreeLowered, "from", "predator"), 3.0);
  EXPECT_EQ(number_of(summary.notes, FactCode::InputDegreeLowered, "to", "predator"), 0.0);
  description.subsystems[0].linearization = std::nullopt;
  description.subsystems[0].state_derivatives = {false, {}};
  Simulation degraded(description);
  EXPECT_TRUE(has_fact(degraded.run().notes, FactCode::TrialsWithoutStateDerivatives, "prey"));
}

TEST(Missiles, continues_from_a_checkpoint_before_the_first_step_without_linearizations) {
  auto description = prey_and_predator();
  for (auto& subsystem : description.subsystems) subsystem.linearization = {false, {}};
  Simulation simulation(description);
  simulation.run_until(0.0);
  const auto checkpoint = simulation.checkpoint();
  simulation.run_until(1.0);
  const double first = simulation.value("prey.p");
  simulation.restore(*checkpoint);
  simulation.run_until(1.0);
  EXPECT_EQ(simulation.value("prey.p"), first);
}

TEST(Missiles, names_an_output_that_the_coupling_leaves_undetermined) {
  test::UndeterminedLoop loop({.method = "missiles", .step = 0.1});
  const auto& summary = loop.run();
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_NE(summary.message.find("the coupling equations leave"), std::string::npos) << summary.message;
  EXPECT_NE(summary.message.find("algebraic loop"), std::string::npos) << summary.message;
}

/// x' = K u, y = x, with the eigenvalues 2 +- sqrt(2) i of K: fed with itself, what a first step of 1 s estimates of
/// the growth is a double root, so that any end of the step solves the coupling equations.
class Spiral final : public subsystem::LinearModel {
 public:
  Spiral() : LinearModel(table()) {
    Linearization matrices;
    for (Matrix* matrix : {&matrices.A, &matrices.B, &matrices.C, &matrices.D}) matrix->resize(2, 2);
    matrices.B.values = {2.0, -std::sqrt(2.0), std::sqrt(2.0), 2.0};
    matrices.C.values = {1.0, 0.0, 0.0, 1.0};
    set_matrices(matrices);
  }
  void configure(std::span<const Value>) override {}

 private:
  static VariableTable table() {
    VariableTable table;
    table.inputs = {subsystem::real("u1", "", ""), subsystem::real("u2", "", "")};
    table.outputs = {subsystem::real("x1", "", ""), subsystem::real("x2", "", "")};
    table.states = {subsystem::real("x1", "", "", 1.0), subsystem::real("x2", "", "", 0.0)};
    return table;
  }
};

TEST(Missiles, does_not_speak_of_an_algebraic_loop_where_there_is_none) {
  const auto description = test::system_from(R"(
    [run]
    stop = 2.0
    step = 1.0
    method = "missiles"
    [method.missiles]
    start = "plain"
    [subsystems.spiral]
    model = "spiral"
    [connections]
    "spiral.x1" = "spiral.u1"
    "spiral.x2" = "spiral.u2"
  )");
  Simulation simulation(description, {}, [](std::string_view) { return std::make_unique<Spiral>(); });
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Failed);
  const Fact failure = test::failure_of(summary);
  EXPECT_EQ(failure.code, FactCode::OutputUndetermined);
  EXPECT_TRUE(failure.subjects.front().starts_with("spiral.x")) << failure;
  EXPECT_EQ(failure.number("step"), 1.0);
  EXPECT_EQ(failure.remedy.find("loop"), std::string::npos) << "there is no algebraic loop";
}

TEST(Missiles, names_an_estimate_that_grows_beyond_all_numbers) {
  auto description = changed(example("lotka_volterra"), {.method = "missiles", .step = 1.0});
  description.subsystems[0].start["alpha"] = {1e300, {}};
  Simulation simulation(description);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::outline(test::failure_of(summary)), "estimate-overflows prey.p (step = 0.0625 s)");
  EXPECT_FALSE(test::place_of_failure(summary).remedy.empty());
}

TEST(Missiles, adaptive_with_imposed_steps_is_refused) {
  auto description = prey_and_predator({"adaptive=true"});
  description.subsystems[0].step = {0.1, {}};
  EXPECT_TRUE(has_fact(test::problem_facts(description), FactCode::NeedsFreeStep, "prey"));
}

TEST(Missiles, warns_when_the_smallest_step_misses_the_tolerance) {
  Simulation simulation(prey_and_predator({"adaptive=true", "relative_tolerance=1e-12", "min_step=0.1"}));
  EXPECT_TRUE(has_fact(simulation.run().warnings, FactCode::ToleranceMissed));
}

TEST(Missiles, adaptive_lands_on_announced_events_and_does_not_grow_across) {
  Simulation simulation(
      changed(example("two_mass"), {.method = "missiles",
                                    .step = 0.1,
                                    .stop = 150.0,
                                    .options = {"adaptive=true", "relative_tolerance=1e-5", "max_step=20"}}));
  MemoryRecorder recorder({"left.x"});
  simulation.observe(recorder);
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_TRUE(summary.warnings.empty());
  const auto& times = recorder.times;
  EXPECT_NE(std::find(times.begin(), times.end(), 100.0), times.end());
  EXPECT_EQ(times.back(), 150.0);
}

// Neither is a multiple of the other: the shortest step is not undercut for the stop time, nor in front of the event.
TEST(Missiles, adaptive_leaves_no_step_shorter_than_allowed_at_the_end_or_before_an_event) {
  for (const double stop : {2.01, 2.03, 2.07}) {
    for (const bool by_subsystem : {false, true}) {
      auto description = prey_and_predator({"adaptive=true", "relative_tolerance=1e-3", "max_step=0.1"});
      description.stop = {stop, {}};
      description.step = {0.05, {}};
      description.subsystems[0].events = {std::vector<double>{0.972}, {}};
      if (by_subsystem) {
        description.subsystems[0].min_step = {0.05, {}};
      } else {
        apply_option(description, "min_step=0.05");
      }
      Simulation simulation(description);
      MemoryRecorder recorder({"prey.p"});
      simulation.observe(recorder);
      const auto& summary = simulation.run();
      ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
      const auto& times = recorder.times;
      EXPECT_EQ(times.back(), stop);
      EXPECT_NE(std::find(times.begin(), times.end(), 0.972), times.end());
      for (std::size_t k = 1; k < times.size(); ++k) {
        const bool crosses_event = times[k] == 0.972;  // from just before it, if the subsystems take that
        if (by_subsystem || !crosses_event) {
          EXPECT_GT(times[k] - times[k - 1], 0.05 * (1 - 1e-6)) << times[k];
        }
      }
    }
  }
}

TEST(Missiles, warns_of_options_that_only_adaptive_steps_heed) {
  const auto warnings_of = [](const std::string& method, const std::vector<std::string>& options) {
    Simulation simulation(
        changed(example("lotka_volterra"), {.method = method, .step = 0.1, .stop = 1.0, .options = options}));
    return simulation.run().warnings;
  };
  const auto fixed = warnings_of("missiles", {"relative_tolerance=1e-5", "min_step=0.01", "max_step=0.2"});
  EXPECT_TRUE(has_fact(fixed, FactCode::OptionWithoutEffect, "method.missiles.relative_tolerance"));
  EXPECT_TRUE(has_fact(fixed, FactCode::OptionWithoutEffect, "method.missiles.min_step"));
  EXPECT_TRUE(has_fact(fixed, FactCode::OptionWithoutEffect, "method.missiles.max_step"));
  EXPECT_TRUE(
      warnings_of("missiles", {"adaptive=true", "relative_tolerance=1e-5", "min_step=0.01", "max_step=0.2"}).empty());
  // Steps that do not converge are cut down to min_step.
  EXPECT_TRUE(warnings_of("ifosmondi", {"min_step=0.01"}).empty());
  EXPECT_TRUE(
      has_fact(warnings_of("ifosmondi", {"max_step=0.2"}), FactCode::OptionWithoutEffect, "method.ifosmondi.max_step"));
}

TEST(Missiles, refuses_a_reconstruction_of_order_1) {
  EXPECT_EQ(test::word_of(test::problem_facts(prey_and_predator({"reconstruction=1"})), FactCode::OutOfRange, "range",
                          "method.missiles.reconstruction"),
            "0 or 2");
}

}  // namespace missiles_test
}  // namespace entrain
