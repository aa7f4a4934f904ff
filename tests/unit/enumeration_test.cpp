// Values of enumerations by their names: in the system file, on the command line, in parameter sets of SSP.
#include <gtest/gtest.h>

#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace enumeration_test {

using test::TemporaryFolder;

/// The column is the only one; its last cell.
std::string last_cell(const std::string& results) {
  const auto line = results.substr(results.rfind('\n', results.size() - 2) + 1);
  return line.substr(line.find(',') + 1, line.size() - line.find(',') - 2);
}

SystemDescription started(const TemporaryFolder& folder, const std::string& fmu, const std::string& start) {
  return test::system_in(
      folder, "[run]\nstop = 1.0\nstep = 0.5\n[subsystems.a]\nfmu = \"" + fmu + "\"\nstart = { " + start + " }\n");
}

TEST(Enumeration, is_started_by_the_name_of_a_value_in_both_versions) {
  const TemporaryFolder folder;
  test::write_typed2(folder);
  test::write_typed3(folder);
  for (const auto& [fmu, input, output] :
       {std::tuple("typed2.fmu", "e", "a.f"), {"typed3.fmu", "\"in.Enumeration\"", "a.out.Enumeration"}}) {
    for (const auto* value : {"\"sport\"", "4", "\"4\""}) {
      Simulation simulation(started(folder, fmu, std::string(input) + " = " + value));
      simulation.run();
      EXPECT_EQ(simulation.value(output), 4.0) << fmu << " " << value;
    }
  }
}

TEST(Enumeration, without_a_value_of_this_name_lists_those_there_are) {
  const TemporaryFolder folder;
  test::write_typed2(folder);
  EXPECT_EQ(test::problems_of(started(folder, "typed2.fmu", "e = \"sprot\"")),
            "test.toml:6: unknown-item a.e (value = sprot); did you mean 'sport'?");
}

TEST(Enumeration, of_a_parameter_set_is_reported_by_name_and_of_a_connection_by_number) {
  const TemporaryFolder folder;
  test::write_typed2(folder);
  test::write_text(folder / "a.ssd", R"(<SystemStructureDescription version="1.0" name="x"><System name="s"><Elements>
    <Component name="a" source="typed2.fmu"><ParameterBindings><ParameterBinding><ParameterValues>
      <ParameterSet version="1.0" name="p"><Parameters><Parameter name="e"><Enumeration value="sport"/></Parameter>
      </Parameters></ParameterSet></ParameterValues></ParameterBinding></ParameterBindings></Component>
    <Component name="b" source="typed2.fmu"/></Elements>
    <Connections><Connection startElement="a" startConnector="f" endElement="b" endConnector="e"/></Connections>
    </System><DefaultExperiment stopTime="1"/></SystemStructureDescription>)");
  test::write_text(folder / "a.toml",
                   "[run]\nstart = 0.0\nstop = 1.0\nstep = 0.5\n[subsystems.a]\nfmu = \"typed2.fmu\"\n[subsystems.b]\n"
                   "fmu = \"typed2.fmu\"\n[connections]\n\"a.f\" = \"b.e\"\n[record]\nvariables = [\"b.f\"]\n");
  const auto results = test::results_of(folder, "a.ssd", "ssd", {"--step", "0.5"});
  EXPECT_NE(results.find("b.f"), std::string::npos);
  EXPECT_EQ(last_cell(test::results_of(folder, "a.toml", "toml", {"--set", "a.e=sport"})), "4");
  ASSERT_EQ(test::run_program(folder, {"convert", "a.ssd", "b.ssd"}).exit_code, 0);
  EXPECT_NE(test::text_of(folder / "b.ssd").find("<ssv:Integer value=\"4\"/>"), std::string::npos);
  EXPECT_EQ(test::results_of(folder, "b.ssd", "back", {"--step", "0.5"}), results);
}

}  // namespace enumeration_test
}  // namespace entrain
