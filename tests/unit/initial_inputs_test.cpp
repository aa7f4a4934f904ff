// `entrain inspect --initial`: what each input gets at the start, from where, and what it was there in another unit.
#include <gtest/gtest.h>

#include "entrain/inspection.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace initial_inputs_test {

/// Of the only input of the last subsystem.
InitialInput initial(const std::string& connection, const std::string& start = {}) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "force.csv", "time,F [kN]\n0,2\n1,2\n");
  return inspect_initial(test::system_in(folder,
                                         "[run]\nstop = 1.0\n[subsystems.force]\ncsv = "
                                         "\"force.csv\"\n[subsystems.mass]\nmodel = \"car.body\"\n" +
                                             start + "[connections]\n" + connection))
      .back();
}

TEST(InitialInput, of_a_connection_is_reported_in_both_units) {
  const auto converted = initial("\"force.F\" = \"mass.F\"\n");
  EXPECT_EQ(converted.name, "mass.F");
  EXPECT_EQ(converted.value, Value(2000.0));
  EXPECT_EQ(converted.unit, "N");
  EXPECT_EQ(converted.from, "'force.F', 2 kN there");
}

TEST(InitialInput, of_a_factor_contains_the_output_as_well) {
  const auto scaled = initial("\"force.F\" = { to = \"mass.F\", factor = 3.0, offset = 1.0 }\n");
  EXPECT_EQ(scaled.value, Value(7.0));
  EXPECT_EQ(scaled.from, "'force.F', 2 kN there");
}

TEST(InitialInput, of_a_parameter_set_is_reported_with_its_position_and_written_unit) {
  const auto given = initial("", "optional_start = { F = { value = 1.5, unit = \"kN\" } }\n");
  EXPECT_EQ(given.value, Value(1500.0));
  EXPECT_EQ(given.from, "test.toml:7, 1.5 kN there");
  EXPECT_EQ(initial("", "start = { F = 12.0 }\n").from, "test.toml:7");
}

}  // namespace initial_inputs_test
}  // namespace entrain
