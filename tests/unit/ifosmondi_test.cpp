// How ifosmondi and its trials behave; their orders are in tests/convergence.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "entrain/recording.hpp"
#include "methods/jump_detector.hpp"
#include "models/chain_system.hpp"
#include "support/facts.hpp"
#include "support/ports_model.hpp"
#include "support/problems_of.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace ifosmondi_test {

using test::changed;
using test::example;
using test::has_fact;
using test::problems_of;

SystemDescription prey_and_predator(const std::vector<std::string>& options = {}) {
  return changed(example("lotka_volterra"), {.method = "ifosmondi", .step = 0.1, .stop = 1.0, .options = options});
}

TEST(Ifosmondi, counts_trials_rollbacks_and_linearizations) {
  auto description = prey_and_predator();
  description.subsystems[1].trials = {TrialChoice::Costarica, {}};
  Simulation simulation(description);
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  const auto& prey = summary.subsystems[0];
  const auto& predator = summary.subsystems[1];
  EXPECT_EQ(prey.trials, summary.iterations);
  EXPECT_EQ(predator.trials, summary.iterations);
  // The last trial becomes the step, so one rollback less than trials.
  EXPECT_EQ(prey.rollbacks, summary.iterations - summary.macro_steps);
  EXPECT_EQ(predator.rollbacks, 0U);
  EXPECT_EQ(predator.steps, summary.macro_steps);
  EXPECT_EQ(summary.linearizations, summary.macro_steps);
  EXPECT_TRUE(has_fact(summary.notes, FactCode::TrialsEstimated, "predator"));
}

TEST(Ifosmondi, names_what_is_lost) {
  auto description = prey_and_predator();
  auto& prey = description.subsystems[0];
  prey.rollback = {false, {}};
  prey.state_derivatives = {false, {}};
  auto& predator = description.subsystems[1];
  predator.output_derivative_order = {0, {}};
  predator.linearization = {false, {}};
  predator.input_degree = {1, {}};
  Simulation simulation(description);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_TRUE(has_fact(summary.notes, FactCode::TrialsWithoutStateDerivatives, "prey"));
  EXPECT_TRUE(has_fact(summary.notes, FactCode::SlopesFromOutputs, "predator"));
  EXPECT_EQ(test::number_of(summary.notes, FactCode::InputDegreeLowered, "to", "predator"), 1.0);
}

/// Two bare subsystems; 'wide' has so many inputs.
std::string problems_with_inputs(int inputs) {
  auto description = test::system_from(R"(
[run]
stop = 1.0
step = 0.1
method = "ifosmondi"
[subsystems.wide]
model = "wide"
rollback = false
linearization = false
[subsystems.narrow]
model = "narrow"
rollback = false
linearization = false
[connections]
"wide.y" = "narrow.u0"
"narrow.y" = "wide.u0"
)");
  return problems_of(description, [inputs](std::string_view name) -> std::unique_ptr<Model> {
    std::vector<test::PortsModel::Port> ports;
    for (int i = 0; i < (name == "wide" ? inputs : 1); ++i) ports.push_back({fmt::format("u{}", i), ""});
    return std::make_unique<test::PortsModel>(ports,
                                              std::vector<test::PortsModel::Port>{{"y", "", [](Time t) { return t; }}});
  });
}

TEST(Ifosmondi, needs_trials_or_steps_that_can_be_identified) {
  EXPECT_EQ(problems_with_inputs(23), "accepted") << "48 coefficients for an output";
  const auto text = problems_with_inputs(24);
  EXPECT_NE(text.find("needs-trials wide"), std::string::npos) << text;
  EXPECT_EQ(text.find("needs-trials narrow"), std::string::npos) << text;
}

TEST(Ifosmondi, refuses_trials_that_cannot_be_made) {
  auto description = prey_and_predator();
  description.subsystems[0].rollback = {false, {}};
  description.subsystems[0].trials = {TrialChoice::Rollback, {}};
  description.subsystems[1].linearization = {false, {}};
  description.subsystems[1].trials = {TrialChoice::Costarica, {}};
  const auto text = problems_of(description);
  EXPECT_NE(text.find("trials-not-possible prey (choice = rollback, needs = rollback)"), std::string::npos) << text;
  EXPECT_NE(text.find("trials-not-possible predator (choice = costarica, needs = states and a linearization)"),
            std::string::npos)
      << text;
}

TEST(Ifosmondi, refuses_options_that_make_no_sense) {
  const auto text = problems_of(prey_and_predator({"reconstruction=1", "stehfest_terms=7"}));
  EXPECT_NE(text.find("out-of-range method.ifosmondi.reconstruction (range = 0 or 2, value = 1)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("out-of-range method.ifosmondi.stehfest_terms (range = even, value = 7)"), std::string::npos)
      << text;
}

TEST(Ifosmondi, takes_imposed_steps_that_divide_the_macro_step_and_refuses_others) {
  auto description = prey_and_predator();
  description.subsystems[0].step = {0.05, {}};
  Simulation simulation(description);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  description.subsystems[0].step = {0.2, {}};
  EXPECT_NE(problems_of(description).find("needs-common-step prey"), std::string::npos);
  description.subsystems[0].step = {0.05, {}};
  apply_option(description, "adaptive=true");
  EXPECT_NE(problems_of(description).find("needs-free-step prey"), std::string::npos);
}

/// y = -gain u against y = u: no fixed point iteration converges for |gain| > 1, whatever the step.
Simulation loop(double gain, const std::vector<std::string>& options) {
  const ModelFactory models = [gain](std::string_view name) -> std::unique_ptr<Model> {
    const double factor = name == "same" ? 1.0 : -gain;
    return std::make_unique<test::StaticModel>([factor](Time t, double u) { return factor * u + t; });
  };
  const auto description = changed(test::system_from(R"(
    [run]
    stop = 1.0
    [subsystems.a]
    model = "gain"
    [subsystems.b]
    model = "same"
    [connections]
    "a.y" = "b.u"
    "b.y" = "a.u"
  )"),
                                   {.method = "ifosmondi", .step = 0.1, .options = options});
  return Simulation(description, {}, models);
}

TEST(Ifosmondi, that_cannot_converge_fails_and_names_the_residual_by_connection) {
  auto simulation = loop(2.0, {"solver=\"fixed-point\"", "max_iterations=20"});
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Failed);
  Fact failure = test::failure_of(summary);
  EXPECT_EQ(failure.code, FactCode::IterationNotConverged);
  EXPECT_EQ(failure.number("tolerance"), 1e-6);
  std::sort(failure.subjects.begin(), failure.subjects.end());
  EXPECT_EQ(failure.subjects, (std::vector<std::string>{"a.y -> b.u", "b.y -> a.u"}));
  EXPECT_FALSE(failure.remedy.empty());
}

TEST(Ifosmondi, solves_an_algebraic_loop_that_plain_iteration_cannot) {
  for (const char* solver : {"solver=\"anderson\"", "solver=\"newton-krylov\""}) {
    auto simulation = loop(2.0, {solver, "iteration_tolerance=1e-10"});
    EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    // a = -2 b + t, b = a + t: a = -t / 3.
    EXPECT_NEAR(simulation.value("a.y"), -1.0 / 3.0, 1e-9) << solver;
  }
}

TEST(Ifosmondi, a_step_that_does_not_converge_is_cut_and_the_grid_is_kept) {
  // At this step the plain iteration on the mechanical pair diverges.
  const auto description =
      changed(example("mechanical"), {.method = "ifosmondi",
                                      .step = 0.2,
                                      .stop = 0.6,
                                      .options = {"solver=\"fixed-point\"", "iteration_tolerance=1e-8"}});
  Simulation simulation(description);
  MemoryRecorder recorder({"left.x"});
  simulation.observe(recorder);
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_GT(summary.rejected_steps, 0U);
  for (const double t : {0.2, 0.4}) {
    EXPECT_NE(std::find_if(recorder.times.begin(), recorder.times.end(),
                           [t](double time) { return std::abs(time - t) < 1e-12; }),
              recorder.times.end());
  }
}

TEST(Ifosmondi, adapts_its_step_to_the_difficulty_within_the_limits) {
  auto description = prey_and_predator({"adaptive=true", "max_step=0.3"});
  description.stop = {10.0, {}};
  Simulation simulation(description);
  MemoryRecorder recorder({"prey.p"});
  simulation.observe(recorder);
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  double longest = 0.0;
  for (std::size_t k = 1; k < recorder.times.size(); ++k) {
    longest = std::max(longest, recorder.times[k] - recorder.times[k - 1]);
  }
  EXPECT_GT(longest, 0.15);
  EXPECT_LE(longest, 0.3 + 1e-12);
  EXPECT_EQ(recorder.times.back(), 10.0);
}

SystemDescription estimated_chain() {
  auto chain = changed(models::chain_system(7, true), {.method = "ifosmondi", .step = 0.02, .stop = 1.0});
  for (auto& subsystem : chain.subsystems) subsystem.trials = {TrialChoice::Costarica, {}};
  chain.subsystems[2].trials = {TrialChoice::Rollback, {}};
  chain.subsystems[3].input_degree = {1, {}};
  return chain;
}

TEST(Ifosmondi, with_estimates_gives_the_same_bits_with_1_and_4_threads) {
  const auto recorded = [](int threads) {
    Simulation simulation(estimated_chain(), {.threads = threads, .interrupt = nullptr});
    MemoryRecorder recorder({"*"});
    simulation.observe(recorder);
    EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    return recorder.columns;
  };
  EXPECT_EQ(recorded(1), recorded(4));
}

TEST(Ifosmondi, with_estimates_continues_from_a_checkpoint_as_if_nothing_had_happened) {
  auto description = prey_and_predator({"reconstruction=2", "linearize=\"when-needed\""});
  for (auto& subsystem : description.subsystems) subsystem.trials = {TrialChoice::Costarica, {}};
  Simulation whole(description);
  whole.run();
  Simulation simulation(description);
  simulation.run_until(0.5);
  const auto checkpoint = simulation.checkpoint();
  simulation.run_until(0.9);
  simulation.restore(*checkpoint);
  simulation.run();
  EXPECT_EQ(simulation.value("prey.p"), whole.value("prey.p"));
}

TEST(Ifosmondi, records_both_sides_of_an_announced_event) {
  const auto description = changed(example("two_mass"), {.method = "ifosmondi", .step = 0.3, .stop = 101.0});
  Simulation simulation(description);
  MemoryRecorder recorder({"right.F"});
  simulation.observe(recorder);
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  const auto event = std::find(recorder.times.begin(), recorder.times.end(), 100.0);
  ASSERT_NE(event, recorder.times.end());
  const auto at = static_cast<std::size_t>(event - recorder.times.begin());
  EXPECT_NEAR(recorder.times[at - 1], 100.0, 1e-9);
  EXPECT_EQ(recorder.columns[0][at], -1000.0);
  EXPECT_GT(std::abs(recorder.columns[0][at - 1] + 1000.0), 100.0);
}

double left_v_at_2(const std::function<void(SubsystemDescription&)>& change) {
  auto description =
      changed(example("mechanical"),
              {.method = "ifosmondi", .step = 1e-2, .stop = 2.0, .options = {"iteration_tolerance=1e-12"}});
  for (auto& subsystem : description.subsystems) {
    subsystem.input_degree = {2, {}};
    change(subsystem);
  }
  Simulation simulation(description);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return simulation.value("left.v");
}

TEST(Ifosmondi, tries_substeps_as_they_will_be_made) {
  // Four parts of a step are four parts, whatever requested them.
  const double by_substeps = left_v_at_2([](auto& subsystem) { subsystem.substeps = {4, {}}; });
  const double by_limit = left_v_at_2([](auto& subsystem) { subsystem.max_step = {0.0025, {}}; });
  EXPECT_NEAR(by_substeps, by_limit, 1e-9);
}

TEST(Ifosmondi, takes_an_announced_event_for_what_it_is_when_a_step_is_imposed) {
  auto description = changed(example("two_mass"), {.method = "ifosmondi", .step = 0.1, .stop = 101.0});
  description.subsystems[0].step = {0.1, {}};
  Simulation simulation(description);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_FALSE(has_fact(simulation.summary().warnings, FactCode::SignalJumps));
}

TEST(Ifosmondi, cuts_no_step_below_the_minimal_one_of_a_subsystem) {
  auto description = prey_and_predator({"max_iterations=3", "iteration_tolerance=1e-6"});
  Simulation free(description);
  ASSERT_EQ(free.run().termination, Termination::Completed) << free.summary().message;
  ASSERT_LT(free.summary().smallest_step, 0.08) << "else there is nothing to keep";
  description.subsystems[0].min_step = {0.08, {}};
  Simulation simulation(description);
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(simulation.summary()).code, FactCode::IterationNotConverged);
}

TEST(Ifosmondi, names_a_residual_that_really_missed) {
  Simulation simulation(prey_and_predator({"max_iterations=3", "iteration_tolerance=1e-9"}));
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  const std::string message(test::failure_of(simulation.summary()).text("residuals"));
  const auto worst = message.find("prey.p -> predator.u ");
  ASSERT_NE(worst, std::string::npos) << message;
  EXPECT_GT(std::stod(message.substr(worst + std::string("prey.p -> predator.u ").size())), 1e-9) << message;
}

TEST(Ifosmondi, refuses_limits_that_contradict_each_other) {
  EXPECT_THROW(Simulation(prey_and_predator({"adaptive=true", "min_step=1", "max_step=0.1"})), Error);
}

TEST(JumpDetector, ignores_an_output_that_no_subsystem_reads) {
  method::JumpDetector detector;
  detector.start(std::vector{0.0, 0.0}, std::vector{OutputId{1}});
  bool found = false;
  for (int k = 1; k <= 20; ++k) {
    found = detector.jumped(std::vector{0.0, 0.1 * k}, std::vector{k > 10 ? 5.0 : 0.0, 0.1 * k}) || found;
  }
  EXPECT_FALSE(found);
}

TEST(JumpDetector, distinguishes_a_jump_from_a_fast_change) {
  const auto feed = [](double jump) {
    method::JumpDetector detector;
    std::vector<double> value{0.0};
    detector.start(value, std::vector{OutputId{0}});
    bool found = false;
    const double h = 0.1;
    for (int k = 1; k <= 60; ++k) {
      const double t = k * h;
      const double before = t - h;
      const double offset = k > 40 ? jump : 0.0;
      const double offset_before = k > 41 ? jump : 0.0;
      const std::vector<double> predicted{std::sin(before) + offset_before + h * std::cos(before)};
      value[0] = std::sin(t) + offset;
      found = detector.jumped(predicted, value) || found;
    }
    return found;
  };
  EXPECT_FALSE(feed(0.0));
  EXPECT_TRUE(feed(0.3));
}

}  // namespace ifosmondi_test
}  // namespace entrain
