// Power bonds in any units and domains, against closed forms; what units cannot determine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "cli/text_report.hpp"
#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/ports_model.hpp"
#include "support/problems_of.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace bond_energy_test {

using test::PortsModel;
using test::problems_of;

constexpr double kRamp = 3.0;  // SI units of the effort per second
constexpr double kFlow = 2.0;  // SI units of the flow
constexpr double kStep = 0.01;
constexpr double kStop = 1.0;

/// The units of the four ends, and what one unit of each output is in SI units.
struct Units {
  std::string effort, effort_taken, flow, flow_taken;
  double effort_to_si = 1.0;
  double flow_to_si = 1.0;
};
void PrintTo(const Units& units, std::ostream* out) {
  *out << units.effort << " -> " << units.effort_taken << ", " << units.flow << " -> " << units.flow_taken;
}

ModelFactory ramp_and_constant(const Units& units) {
  return [units](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "source") {
      return std::make_unique<PortsModel>(
          std::vector<PortsModel::Port>{{"f", units.flow_taken}},
          std::vector<PortsModel::Port>{{"e", units.effort, [=](Time t) { return kRamp * t / units.effort_to_si; }}});
    }
    return std::make_unique<PortsModel>(
        std::vector<PortsModel::Port>{{"e", units.effort_taken}},
        std::vector<PortsModel::Port>{{"f", units.flow, [=](Time) { return kFlow / units.flow_to_si; }}});
  };
}

SystemDescription described(const std::string& more = {}) {
  return test::system_from(R"([run]
stop = 1.0
step = 0.01
[subsystems.a]
model = "source"
[subsystems.b]
model = "sink"
[connections]
"a.e" = "b.e"
"b.f" = "a.f"
)" + more);
}

class EnergyInUnits : public testing::TestWithParam<Units> {};

// A ramp e = k t that is held over steps of h while f is constant: every step ends with a power of -k h f too little.
TEST_P(EnergyInUnits, residual_energy_of_a_held_ramp_is_that_of_the_closed_form_in_joule) {
  Simulation simulation(described(), {}, ramp_and_constant(GetParam()));
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  ASSERT_EQ(summary.bonds.size(), 1U);
  const BondSummary& bond = summary.bonds[0];
  const double steps = kStop / kStep;
  EXPECT_NEAR(bond.residual_energy, -kRamp * kStep * kFlow * kStop, 1e-13);
  EXPECT_NEAR(bond.max_residual_power, kRamp * kStep * kFlow, 1e-13);
  EXPECT_NEAR(bond.transferred_energy, kRamp * kFlow * kStep * kStep * steps * (steps - 1) / 2, 1e-12);
  EXPECT_EQ(bond.measurements, 100U);
  EXPECT_EQ(summary.residual_energy(), bond.residual_energy);
}

/// Last macro step count and, in SI units, the last effort taken.
std::pair<std::uint64_t, double> with_option(const Units& units, const std::string& option) {
  Simulation simulation(test::changed(described(), {.options = {option}}), {}, ramp_and_constant(units));
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  const double taken_to_si = units.effort_taken == units.effort ? units.effort_to_si : 1.0;
  return {summary.macro_steps, simulation.value("b.e") * taken_to_si};
}

TEST_P(EnergyInUnits, correction_and_step_control_by_energy_do_not_depend_on_them) {
  const Units si{"N", "N", "m/s", "m/s"};
  EXPECT_NEAR(with_option(GetParam(), "energy_gain=0.5").second, with_option(si, "energy_gain=0.5").second, 1e-12);
  EXPECT_GT(std::abs(with_option(si, "energy_gain=0.5").second - with_option(si, "energy_gain=0").second), 1e-3);
  EXPECT_EQ(with_option(GetParam(), "step_control=energy").first, with_option(si, "step_control=energy").first);
}

INSTANTIATE_TEST_SUITE_P(, EnergyInUnits,
                         testing::Values(Units{"N", "N", "m/s", "m/s"},                       //
                                         Units{"N", "N", "mm/s", "mm/s", 1.0, 1e-3},          //
                                         Units{"N", "N", "mm/s", "m/s", 1.0, 1e-3},           //
                                         Units{"kN", "N", "m/s", "mm/s", 1e3, 1.0},           //
                                         Units{"N", "", "", "m/s"},                           //
                                         Units{"N.m", "N.m", "rad/s", "rad/s"},               //
                                         Units{"kNm", "Nm", "rpm", "rad/s", 1e3, M_PI / 30},  //
                                         Units{"V", "V", "A", "A"},                           //
                                         Units{"mV", "V", "kA", "A", 1e-3, 1e3},              //
                                         Units{"kV", "kV", "mA", "mA", 1e3, 1e-3},            //
                                         Units{"Pa", "Pa", "m3/s", "m3/s"},                   //
                                         Units{"bar", "Pa", "l/min", "m3/s", 1e5, 1e-3 / 60.0}));

TEST(Bonds, of_units_that_are_no_power_or_not_known_are_not_found) {
  for (const auto& [effort, flow] : std::vector<std::pair<std::string, std::string>>{
           {"N", "m"}, {"N", "rad/s"}, {"V", "m/s"}, {"W", "1"}, {"N.m", "Hz"}, {"", "m/s"}, {"gizmo", "m/s"}}) {
    Simulation simulation(described(), {}, ramp_and_constant({effort, effort, flow, flow}));
    EXPECT_TRUE(simulation.run().bonds.empty()) << effort << ", " << flow;
  }
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(WrittenBond, whose_product_is_no_power_is_refused) {
  const auto description = described("[bonds]\nshaft = [\"b.e\", \"b.f\"]\n");
  expect_part(problems_of(description, ramp_and_constant({"N", "N", "m", "m"})),
              "test.toml:12: bond-no-power b.e, b.f (bond = shaft, effort_unit = N, flow_unit = m)");
  EXPECT_EQ(problems_of(description, ramp_and_constant({"", "", "", ""})), "accepted") << "units not known";
  EXPECT_EQ(problems_of(description, ramp_and_constant({"K", "K", "W/K", "W/K"})), "accepted")
      << "whatever multiplies to W can be written";
}

TEST(WrittenBond, of_a_connection_that_has_one_already_is_refused) {
  const auto description = described("[bonds]\none = [\"a.e\", \"a.f\"]\ntwo = [\"b.e\", \"b.f\"]\n");
  expect_part(problems_of(description, ramp_and_constant({"N", "N", "m/s", "m/s"})),
              "bond-twice b.e, one (bond = two)");
}

TEST(Bonds, that_can_be_paired_in_several_ways_are_not_guessed_but_noted) {
  const auto zero = [](Time) { return 0.0; };
  const ModelFactory models = [&](std::string_view name) -> std::unique_ptr<Model> {
    using Ports = std::vector<PortsModel::Port>;
    if (name == "source") {
      return std::make_unique<PortsModel>(Ports{{"v1", "m/s"}, {"v2", "m/s"}},
                                          Ports{{"F1", "N", zero}, {"F2", "N", zero}});
    }
    return std::make_unique<PortsModel>(Ports{{"F1", "N"}, {"F2", "N"}},
                                        Ports{{"v1", "m/s", zero}, {"v2", "m/s", zero}});
  };
  const std::string system = R"([run]
stop = 1.0
step = 0.5
[subsystems.a]
model = "source"
[subsystems.b]
model = "sink"
[connections]
"a.F1" = "b.F1"
"a.F2" = "b.F2"
"b.v1" = "a.v1"
"b.v2" = "a.v2"
)";
  Simulation simulation(test::system_from(system), {}, models);
  const auto& summary = simulation.run();
  EXPECT_TRUE(summary.bonds.empty());
  ASSERT_EQ(summary.notes.size(), 1U);
  EXPECT_EQ(summary.notes[0],
            (Fact{FactCode::PowerBondsAmbiguous, {"b", "a"}, {{"efforts", "b.F1, b.F2"}, {"flows", "b.v1, b.v2"}}}));
  Simulation written(test::system_from(system + R"([bonds]
one = ["b.F1", "b.v1"]
two = ["b.F2", "b.v2"]
)"),
                     {}, models);
  EXPECT_EQ(written.run().bonds.size(), 2U);
}

/// A force and a velocity whose ends communicate every so many seconds.
SystemDescription with_steps(double one, double other, double stop) {
  auto description = test::changed(described(), {.method = "f3ornits", .step = 0.01, .stop = stop});
  description.subsystems[0].step = {one, {}};
  description.subsystems[1].step = {other, {}};
  return description;
}

TEST(ResidualEnergy, of_ends_that_never_meet_is_not_measured_and_not_zero) {
  auto description = with_steps(0.04, 0.04, 0.14);
  description.subsystems[1].step_offset = {0.02, {}};
  Simulation simulation(description, {}, ramp_and_constant({"N", "N", "m/s", "m/s"}));
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.bonds.size(), 1U);
  EXPECT_EQ(summary.bonds[0].measurements, 0U);
  EXPECT_TRUE(std::isnan(summary.bonds[0].residual_energy));
  EXPECT_TRUE(std::isnan(summary.residual_energy()));
  expect_part(cli::full_summary(summary, {}), "residual energy    not measured");
}

TEST(ResidualEnergy, of_ends_that_communicate_together_now_and_then_has_their_number) {
  Simulation simulation(with_steps(0.02, 0.03, 0.12), {}, ramp_and_constant({"N", "N", "m/s", "m/s"}));
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.bonds.size(), 1U);
  EXPECT_EQ(summary.bonds[0].measurements, 2U);  // at 0.06 s and 0.12 s
  expect_part(cli::full_summary(summary, {}), fmt::format("measured at 2 of {} macro steps", summary.macro_steps));
}

TEST(EnergyOptions, that_make_no_sense_are_reported_before_the_run) {
  const auto models = ramp_and_constant({"N", "N", "m/s", "m/s"});
  const auto message = [&](const std::vector<std::string>& options) {
    return problems_of(test::changed(described(), {.options = options}), models);
  };
  expect_part(message({"step_control=energy", "min_step=0.1", "max_step=0.01"}),
              "min-above-max-step method.jacobi (max_step = 0.01 s, min_step = 0.1 s)");
  expect_part(message({"step_control=energy", "max_step=1e-6"}),
              "smallest-above-largest (largest = 1e-06 s, smallest = 1e-05 s)");
  expect_part(message({"step_control=energy", "min_step=1e200", "max_step=1e200"}), "min-step-longer-than-run");
  const auto without_bonds = ramp_and_constant({"", "", "", ""});
  for (const std::string option : {"energy_gain=1.0", "passivity_damping=1.0", "step_control=energy"}) {
    expect_part(problems_of(test::changed(described(), {.options = {option}}), without_bonds), "needs-power-bonds");
  }
}

TEST(EnergyControl, first_step_keeps_to_the_largest_as_well) {
  Simulation simulation(test::changed(described(), {.options = {"step_control=energy", "max_step=0.004"}}), {},
                        ramp_and_constant({"N", "N", "m/s", "m/s"}));
  EXPECT_LE(simulation.run().largest_step, 0.004 * (1 + 1e-9));
  EXPECT_FALSE(test::has_fact(simulation.summary().warnings, FactCode::OptionWithoutEffect, "method.jacobi.max_step"));
}

}  // namespace bond_energy_test
}  // namespace entrain
