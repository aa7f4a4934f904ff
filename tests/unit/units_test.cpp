#include "base/units.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace units_test {

base::UnitConversion conversion(std::string_view from, std::string_view to) {
  const auto found = base::unit_conversion(base::unit_meaning(from).value(), base::unit_meaning(to).value());
  return found.value();
}

TEST(Units, of_si_texts_are_understood) {
  EXPECT_EQ(base::unit_meaning("N.m")->exponents, base::unit_meaning("J")->exponents);
  EXPECT_EQ(base::unit_meaning("kg.m2/s2")->exponents, base::unit_meaning("J")->exponents);
  EXPECT_EQ(base::unit_meaning("kg.m^2.s^-2")->exponents, base::unit_meaning("J")->exponents);
  EXPECT_EQ(base::unit_meaning("1/s")->exponents, base::unit_meaning("Hz")->exponents);
  EXPECT_EQ(base::unit_meaning("N.s/m")->exponents, base::unit_meaning("kg/s")->exponents);
  EXPECT_EQ(base::unit_meaning("furlong"), std::nullopt);
  EXPECT_EQ(base::unit_meaning(""), std::nullopt);
  EXPECT_EQ(base::unit_meaning("m/"), std::nullopt);
  EXPECT_EQ(base::unit_meaning("m99999999999"), std::nullopt);
}

TEST(Units, are_converted_by_factor_and_offset) {
  EXPECT_DOUBLE_EQ(conversion("kN", "N").factor, 1000.0);
  EXPECT_DOUBLE_EQ(conversion("km/h", "m/s").factor, 1.0 / 3.6);
  EXPECT_DOUBLE_EQ(conversion("deg", "rad").factor, std::numbers::pi / 180.0);
  EXPECT_DOUBLE_EQ(conversion("rad/s", "rpm").factor, 30.0 / std::numbers::pi);
  EXPECT_DOUBLE_EQ(conversion("mm2", "m2").factor, 1e-6);
  EXPECT_DOUBLE_EQ(conversion("degC", "K").factor, 1.0);
  EXPECT_DOUBLE_EQ(conversion("degC", "K").offset, 273.15);
  EXPECT_DOUBLE_EQ(conversion("K", "degC").offset, -273.15);
  EXPECT_DOUBLE_EQ(conversion("bar", "Pa").factor, 1e5);
  EXPECT_DOUBLE_EQ(conversion("rev/min", "rad/s").factor, 2.0 * std::numbers::pi / 60.0);
  EXPECT_DOUBLE_EQ(conversion("rpm", "rev/min").factor, 1.0);
  EXPECT_DOUBLE_EQ(conversion("degF", "degC").factor * 212.0 + conversion("degF", "degC").offset, 100.0);
  EXPECT_DOUBLE_EQ(conversion("A.s/V", "F").factor, 1.0);
}

TEST(Units, that_measure_different_things_are_not_converted) {
  EXPECT_FALSE(base::unit_conversion(*base::unit_meaning("m"), *base::unit_meaning("s")));
  EXPECT_FALSE(
      base::unit_conversion(*base::unit_meaning("rad/s"), *base::unit_meaning("Hz")));  // the factor 2 pi would be lost
}

// FMI 2.0.4, section 2.2.2, the examples of the table: rad and deg; K, degC and degF with their factors and offsets.
TEST(Units, follow_the_examples_of_the_standard) {
  const UnitMeaning kelvin{{0, 0, 0, 0, 1}, 1.0, 0.0};
  const UnitMeaning celsius{{0, 0, 0, 0, 1}, 1.0, 273.15};
  const UnitMeaning fahrenheit{{0, 0, 0, 0, 1}, 0.555555555555556, 255.372222222222};
  const auto to_fahrenheit = base::unit_conversion(celsius, fahrenheit).value();
  EXPECT_NEAR(to_fahrenheit.factor * 100.0 + to_fahrenheit.offset, 212.0, 1e-9);
  EXPECT_NEAR(to_fahrenheit.factor * 0.0 + to_fahrenheit.offset, 32.0, 1e-9);
  const auto to_kelvin = base::unit_conversion(fahrenheit, kelvin).value();
  EXPECT_NEAR(to_kelvin.factor * 32.0 + to_kelvin.offset, 273.15, 1e-9);
}

SystemDescription fed_by(const test::TemporaryFolder& folder, const std::string& column) {
  test::write_text(folder / "force.csv", "time," + column + "\n0,2\n1,2\n");
  return test::system_in(folder, R"(
[run]
stop = 1.0
step = 0.5
[subsystems.force]
csv = "force.csv"
[subsystems.mass]
model = "car.body"
start = { m = 1000.0, wind_1 = 0.0, wind_2 = 0.0, wind_3 = 0.0 }
[connections]
"force.F" = "mass.F"
)");
}

TEST(UnitsOnAConnection, are_converted_and_the_residual_is_that_of_the_input) {
  const test::TemporaryFolder folder;
  Simulation simulation(fed_by(folder, "F [kN]"));
  const auto& summary = simulation.run();
  EXPECT_EQ(simulation.value("mass.F"), 2000.0);  // the model takes N
  EXPECT_NEAR(simulation.value("mass.v"), 2.0, 1e-12);
  EXPECT_EQ(summary.max_coupling_residual, 0.0);
}

TEST(UnitsOnAConnection, that_do_not_fit_are_an_error_with_both_units) {
  const test::TemporaryFolder folder;
  try {
    const Simulation simulation(fed_by(folder, "F [N.m]"));
    FAIL() << "accepted";
  } catch (const Error& error) {
    ASSERT_EQ(error.problems().size(), 1U);
    EXPECT_EQ(test::outline(error.problems()[0]),
              "test.toml:11: units-do-not-match force.F, mass.F (input_unit = N, output_unit = N.m, why = the units "
              "measure different things); write a factor to convert by hand: { to = ..., factor = ... }");
  }
}

}  // namespace units_test
}  // namespace entrain
