// Power bonds: found, written, measured and corrected.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "entrain/fact_codes.hpp"
#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/still_clock.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace energy_test {

using test::changed;
using test::example;

SystemDescription undamped() {
  auto description = example("learning");
  description.subsystems[0].start["d1"] = {0.0, {}};
  description.subsystems[0].start["d_k"] = {0.0, {}};
  description.subsystems[1].start["d2"] = {0.0, {}};
  for (auto& subsystem : description.subsystems) subsystem.start["integrator"] = {std::string("exact"), {}};
  return description;
}

RunSummary summary_of(const SystemDescription& description) {
  Simulation simulation(description);
  const RunSummary summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  return summary;
}

BondDescription bond(const std::string& name, const std::vector<std::string>& variables) {
  BondDescription result;
  result.name = name;
  for (const auto& variable : variables) result.variables.push_back({variable, {}});
  return result;
}

TEST(PowerBonds, are_found_from_units) {
  auto description = example("mechanical");
  description.stop = {0.01, {}};
  const auto summary = summary_of(description);
  ASSERT_EQ(summary.bonds.size(), 1U);
  EXPECT_EQ(summary.bonds[0].name, "right.F");
  EXPECT_EQ(summary.bonds[0].effort, "right.F -> left.F");
  EXPECT_EQ(summary.bonds[0].flow, "left.v -> right.v");
  EXPECT_TRUE(summary_of(changed(example("lotka_volterra"), {.stop = 0.01})).bonds.empty());
}

TEST(PowerBonds, are_written_by_two_to_four_names_of_either_end_in_any_order) {
  auto description = example("mechanical");
  description.stop = {0.01, {}};
  const auto energy = summary_of(description).bonds.at(0).residual_energy;
  for (const auto& names : std::vector<std::vector<std::string>>{{"left.F", "left.v"},
                                                                 {"right.v", "right.F"},
                                                                 {"left.v", "right.F"},
                                                                 {"left.F", "left.v", "right.F", "right.v"}}) {
    description.bonds = {{bond("spring", names)}};
    const auto summary = summary_of(description);
    ASSERT_EQ(summary.bonds.size(), 1U);
    EXPECT_EQ(summary.bonds[0].name, "spring");
    EXPECT_EQ(summary.bonds[0].effort, "right.F -> left.F");
    EXPECT_EQ(summary.bonds[0].residual_energy, energy);
  }
  description.bonds.emplace();
  EXPECT_TRUE(summary_of(description).bonds.empty()) << "an empty table means none";
}

TEST(PowerBonds, that_make_no_sense_are_refused_with_their_line) {
  const std::string system = R"([run]
stop = 1.0
[subsystems.left]
model = "mechanical.left"
[subsystems.right]
model = "mechanical.right"
[connections]
"left.v" = "right.v"
"left.x" = "right.x"
"right.F" = "left.F"
[bonds]
)";
  const auto message = [&](const std::string& line) -> std::string {
    try {
      return test::problems_of(test::system_from(system + line));
    } catch (const Error& error) {
      return test::outline(error.problems().front());
    }
  };
  const auto expect = [&](const std::string& line, const std::string& part) {
    EXPECT_NE(message(line).find(part), std::string::npos) << message(line);
  };
  EXPECT_EQ(message(R"(spring = ["left.F", "left.v"])"), "accepted");
  expect(R"(spring = ["left.F", "left.w"])", "test.toml:12: bond-not-connected left.w; did you mean");
  expect(R"(spring = ["left.x", "left.v"])", "bond-not-opposite spring");
  expect(R"(spring = ["left.F", "right.F"])", "bond-not-opposite spring");
  expect(R"(spring = ["left.F"])", "wrong-type bonds.spring");
  expect(R"(spring = 3)", "wrong-type bonds.spring");
}

TEST(PowerBonds, are_kept_in_the_written_system) {
  auto description = example("mechanical");
  description.bonds = {{bond("spring", {"left.F", "left.v"})}};
  std::vector<Problem> problems;
  const auto again = description::parse_system(system_text(description), "again.toml", problems);
  EXPECT_TRUE(problems.empty());
  ASSERT_TRUE(again.bonds.has_value());
  ASSERT_EQ(again.bonds->size(), 1U);
  EXPECT_EQ(again.bonds->at(0).variables.at(1).value, "left.v");
}

TEST(ResidualEnergy, falls_with_the_step_and_vanishes_for_the_monolithic_method) {
  // Held inputs: the residual power is O(h), and so is its integral.
  auto description = undamped();
  description.stop = {1.0, {}};
  const double coarse = summary_of(changed(description, {.step = 2e-4})).residual_energy();
  const double fine = summary_of(changed(description, {.step = 1e-4})).residual_energy();
  EXPECT_NEAR(coarse / fine, 2.0, 0.1);
  const auto exact = summary_of(changed(description, {.method = "monolithic", .step = 1e-3}));
  EXPECT_LT(std::abs(exact.residual_energy()), 1e-9 * exact.bonds.at(0).transferred_energy);
}

TEST(ResidualEnergy, can_be_recorded_and_is_the_integral_of_the_recorded_power) {
  auto description = example("learning");
  description.stop = {0.05, {}};
  Simulation simulation(description);
  MemoryRecorder record({"bonds.*"});
  simulation.observe(record);
  const auto& summary = simulation.run();
  ASSERT_EQ(record.names,
            (std::vector<std::string>{"bonds.force_side.F.residual_power", "bonds.force_side.F.residual_energy"}));
  double energy = 0.0;
  double most = 0.0;
  for (std::size_t k = 1; k < record.times.size(); ++k) {
    energy += (record.times[k] - record.times[k - 1]) * record.columns[0][k];
    most = std::max(most, std::abs(record.columns[0][k]));
  }
  EXPECT_EQ(record.columns[1].back(), energy);
  EXPECT_EQ(summary.bonds.at(0).residual_energy, energy);
  EXPECT_EQ(summary.bonds.at(0).max_residual_power, most);
}

TEST(ResidualEnergy, continues_from_a_checkpoint) {
  auto description = example("learning");
  description.stop = {0.05, {}};
  const double whole = summary_of(description).residual_energy();
  Simulation simulation(description);
  simulation.run_until(0.02);
  const auto checkpoint = simulation.checkpoint();
  simulation.run_until(0.03);
  simulation.restore(*checkpoint);
  EXPECT_EQ(simulation.run().residual_energy(), whole);
}

TEST(ResidualPowerCorrection, takes_most_of_the_error_of_the_held_input_away) {
  // Largest error of the force against the same Euler steps for both masses: 79.8 N held, 9.0 N corrected (by an
  // independent script).
  const auto forces = [](const std::vector<std::string>& options, const std::string& signal) {
    Simulation simulation(changed(example("learning"), {.options = options}));
    MemoryRecorder record({signal});
    simulation.observe(record);
    simulation.run();
    return record.column(signal);
  };
  const auto reference = forces({"feedthrough=refresh"}, "force_side.F");
  const auto worst = [&](const std::vector<double>& received) {
    double largest = 0.0;
    for (std::size_t k = 0; k + 1 < received.size(); ++k) {
      largest = std::max(largest, std::abs(received[k + 1] - reference[k]));
    }
    return largest;
  };
  EXPECT_NEAR(worst(forces({}, "motion_side.F")), 79.8312, 1e-3);
  EXPECT_NEAR(worst(forces({"energy_gain=0.01"}, "motion_side.F")), 8.9952, 1e-3);
}

/// How much the energy of both masses and their springs, 10 kJ at the start and constant without a coupling in steps,
/// has grown at most after 5 s.
double most_growth(const std::string& damping, RunSummary& summary) {
  Simulation simulation(changed(undamped(), {.stop = 5.0, .options = {"passivity_damping=" + damping}}));
  MemoryRecorder record({"*"});
  simulation.observe(record);
  summary = simulation.run();
  const auto& x1 = record.column("force_side.x1");
  const auto& v1 = record.column("force_side.v1");
  const auto& x2 = record.column("motion_side.x");
  const auto& v2 = record.column("motion_side.v");
  double largest = 0.0;
  for (std::size_t k = 0; k < x1.size(); ++k) {
    const double moving = 0.5 * (v1[k] * v1[k] + v2[k] * v2[k]);
    const double stretched = 5.0 * x1[k] * x1[k] + 500.0 * x2[k] * x2[k] + 50.0 * std::pow(x1[k] - x2[k], 2);
    largest = std::max(largest, moving + stretched - 10e3);
  }
  return largest;
}

TEST(PassivityController, takes_back_what_the_held_effort_injects) {
  RunSummary without, with;
  const double grown = most_growth("0", without);
  EXPECT_GT(grown, 5e3);
  EXPECT_LT(most_growth("1", with), 0.25 * grown);  // the lag of the flow injects the rest
  EXPECT_TRUE(test::has_fact(with.notes, FactCode::EnergyTakenBack));
  EXPECT_FALSE(test::has_fact(without.notes, FactCode::EnergyTakenBack));
}

TEST(PassivityObserver, warns_of_injected_energy_in_a_paced_run) {
  const auto warned = [](const SystemDescription& description) {
    test::StillClock clock;
    RunOptions options;
    options.real_time = RealTimeOptions{.clock = &clock};
    Simulation simulation(description, options);
    return test::has_fact(simulation.run().warnings, FactCode::EnergyInjected);
  };
  EXPECT_TRUE(warned(changed(undamped(), {.stop = 2.0})));
  EXPECT_FALSE(warned(changed(undamped(), {.step = 1e-4, .stop = 2.0})));
}

class JacobiVariants : public testing::TestWithParam<const char*> {};

TEST_P(JacobiVariants, continue_from_a_checkpoint_to_the_same_bits) {
  auto description = changed(example("learning"), {.stop = 0.05, .options = {GetParam()}});
  Simulation whole(description);
  whole.run();
  Simulation simulation(description);
  simulation.run_until(0.02);
  const auto checkpoint = simulation.checkpoint();
  simulation.run_until(0.04);
  simulation.restore(*checkpoint);
  simulation.run();
  for (const char* signal : {"force_side.x1", "force_side.F", "motion_side.x", "motion_side.F"}) {
    EXPECT_EQ(simulation.value(signal), whole.value(signal)) << signal;
  }
}

INSTANTIATE_TEST_SUITE_P(, JacobiVariants,
                         testing::Values("feedthrough=delay", "feedthrough=refresh", "energy_gain=0.01",
                                         "passivity_damping=1.0", "step_control=energy"));

TEST(EnergyControl, takes_more_steps_and_makes_less_energy_the_smaller_the_tolerance) {
  const auto run = [](const std::string& tolerance) {
    return summary_of(
        changed(example("mechanical"),
                {.stop = 0.5, .options = {"step_control=energy", "energy_relative_tolerance=" + tolerance}}));
  };
  const auto loose = run("1e-2");
  const auto tight = run("1e-3");
  EXPECT_EQ(loose.reached, 0.5);
  EXPECT_LT(loose.smallest_step, loose.largest_step);
  EXPECT_GT(tight.macro_steps, 2 * loose.macro_steps);
  EXPECT_LT(std::abs(tight.residual_energy()), 0.5 * std::abs(loose.residual_energy()));
}

TEST(EnergyControl, stays_between_the_smallest_and_the_largest_step_and_meets_the_stop_time) {
  Simulation simulation(changed(example("mechanical"),
                                {.stop = 0.3, .options = {"step_control=energy", "min_step=4e-4", "max_step=7e-4"}}));
  MemoryRecorder recorder;
  simulation.observe(recorder);
  const auto summary = simulation.run();
  std::vector<double> steps(recorder.times.size());
  std::adjacent_difference(recorder.times.begin(), recorder.times.end(), steps.begin());
  steps.erase(steps.begin());
  EXPECT_LE(*std::max_element(steps.begin(), steps.end()), 7e-4 * (1 + 1e-6));
  steps.pop_back();  // the last one may be what is left
  EXPECT_GE(*std::min_element(steps.begin(), steps.end()), 4e-4 * (1 - 1e-6));
  EXPECT_EQ(summary.reached, 0.3);
}

TEST(EnergyControl, without_bonds_or_with_extrapolated_inputs_or_imposed_steps_is_refused) {
  const auto no_bonds = test::problems_of(changed(example("lotka_volterra"), {.options = {"step_control=energy"}}));
  EXPECT_NE(no_bonds.find("needs-power-bonds"), std::string::npos) << no_bonds;
  const auto of_degree_1 =
      test::problems_of(changed(example("mechanical"), {.options = {"step_control=energy", "degree=1"}}));
  EXPECT_NE(of_degree_1.find("energy-needs-held-inputs"), std::string::npos) << of_degree_1;
  auto imposed = changed(example("mechanical"), {.options = {"step_control=energy"}});
  imposed.subsystems[0].step = {1e-3, {}};
  const auto with_imposed = test::problems_of(imposed);
  EXPECT_NE(with_imposed.find("step_control = \"fixed\""), std::string::npos) << with_imposed;
}

TEST(LateOutputs, of_a_subsystem_that_is_only_linearized_are_those_of_one_that_is_evaluated) {
  const auto run = [](SystemDescription description) {
    Simulation simulation(changed(std::move(description), {.stop = 0.2, .options = {"feedthrough=delay"}}));
    MemoryRecorder record({"motion_side.F"});
    simulation.observe(record);
    EXPECT_EQ(simulation.run().termination, Termination::Completed);
    return record.columns[0];
  };
  auto as_fmus = example("learning");
  for (auto& subsystem : as_fmus.subsystems) {
    subsystem.fmu = test::fmu_folder() + "/test/strict/2/" +
                    (subsystem.name == "force_side" ? "oscillator_force_side.fmu" : "oscillator_motion_side.fmu");
    subsystem.model.clear();
  }
  const auto evaluated = run(example("learning"));
  const auto linearized = run(as_fmus);
  ASSERT_EQ(evaluated.size(), linearized.size());
  for (std::size_t k = 0; k < evaluated.size(); ++k) EXPECT_NEAR(linearized[k], evaluated[k], 1e-9);
}

TEST(JacobiOptions, unknown_delayed_output_is_suggested) {
  try {
    Simulation simulation(changed(example("learning"), {.options = {R"(delayed=["force_side.f"])"}}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'force_side.F'?"), std::string::npos) << error.what();
  }
}

}  // namespace energy_test
}  // namespace entrain
