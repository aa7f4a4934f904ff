// Values of SSP on their way to a subsystem: units, tables of values; and signals that pass through a dictionary.
#include <gtest/gtest.h>

#include "description/ssp_document.hpp"
#include "description/ssp_file.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace ssp_values_test {

std::string document(const std::string& system, const std::string& rest = {}) {
  return "<SystemStructureDescription version=\"1.0\" name=\"x\">" + rest + "<System name=\"s\">" + system +
         "</System></SystemStructureDescription>";
}

SystemDescription read(const std::string& ssd, std::vector<Problem>& problems) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "a.ssd", ssd);
  return description::read_ssp(folder / "a.ssd", problems);
}

const std::string kUnits =
    "<Units><Unit name=\"degC\"><BaseUnit K=\"1\" offset=\"273.15\"/></Unit>"
    "<Unit name=\"hp\"><BaseUnit kg=\"1\" m=\"2\" s=\"-3\" factor=\"745.7\"/></Unit>"
    "<Unit name=\"percent\"><BaseUnit factor=\"0.01\"/></Unit><Unit name=\"mystery\"/></Units>";

std::string in_unit(const std::string& name, const std::string& value, const std::string& unit) {
  return "<Parameter name=\"" + name + "\"><Real value=\"" + value + "\" unit=\"" + unit + "\"/></Parameter>";
}

TEST(SspUnits, that_only_the_file_knows_become_si_and_others_stay_as_written) {
  const std::string parameters = "<Parameters>" + in_unit("a", "20", "degC") + in_unit("b", "2", "hp") +
                                 in_unit("c", "50", "percent") + in_unit("d", "3", "mystery") + "</Parameters>";
  std::vector<Problem> problems;
  const auto file = description::parse_ssv(
      "<ParameterSet version=\"1.0\" name=\"p\">" + parameters + kUnits + "</ParameterSet>", "a.ssv", problems);
  const auto inline_set =
      read(document("<Elements><Component name=\"c\" source=\"c.fmu\"><ParameterBindings><ParameterBinding>"
                    "<ParameterValues><ParameterSet version=\"1.0\" name=\"p\">" +
                        parameters +
                        "</ParameterSet></ParameterValues></ParameterBinding></ParameterBindings></Component>"
                        "</Elements>",
                    kUnits),
           problems);
  ASSERT_TRUE(problems.empty()) << test::outline(problems.front());
  ASSERT_EQ(file.size(), 4U);
  const std::vector<std::pair<double, std::string>> expected{
      {20.0, "degC"}, {1491.4, "kg.m2.s-3"}, {0.5, "1"}, {3.0, "mystery"}};
  for (std::size_t i = 0; i < file.size(); ++i) {
    EXPECT_EQ(file[i].unit, expected[i].second);
    EXPECT_DOUBLE_EQ(std::get<double>(file[i].value), expected[i].first);
    const auto& bound = inline_set.subsystems.at(0).optional_start.at(file[i].name);
    EXPECT_EQ(bound.unit, file[i].unit);
    EXPECT_EQ(bound.value, file[i].value);
  }
}

TEST(SspUnits, with_the_factor_0_are_refused) {
  std::vector<Problem> problems;
  description::parse_ssv(
      "<ParameterSet><Parameters/><Units><Unit name=\"x\"><BaseUnit factor=\"0\"/></Unit></Units></ParameterSet>",
      "a.ssv", problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(test::outline(problems[0].fact), "unit-factor-zero x");
}

std::string body_started_with(const std::string& start) {
  return "[run]\nstop = 1.0\n[subsystems.mass]\nmodel = \"car.body\"\noptional_start = " + start + "\n";
}

TEST(StartValueWithAUnit, is_converted_to_the_unit_of_its_variable) {
  Simulation simulation(test::system_from(body_started_with(
      "{ m = { value = 1.5e6, unit = \"g\" }, v = { value = 36.0, unit = \"km/h\" }, F = { value = 3, unit = \"kN\" }, "
      "wind_1 = 0.0, wind_2 = 0.0, wind_3 = 0.0 }")));
  simulation.run();
  EXPECT_EQ(simulation.value("mass.F"), 3000.0);
  EXPECT_NEAR(simulation.value("mass.v"), 10.0 + 3000.0 / 1500.0, 1e-9);
}

TEST(StartValueWithAUnit, that_measures_something_else_or_is_not_known_is_an_error) {
  const auto message = [](const std::string& start) -> std::string {
    try {
      const Simulation simulation(test::system_from(body_started_with(start)));
    } catch (const Error& error) {
      return test::outline(error.problems().front());
    }
    return "accepted";
  };
  EXPECT_EQ(message("{ m = { value = 1.0, unit = \"m\" } }"),
            "test.toml:5: start-unit mass.m (unit = kg, written = m); the units measure different things");
  EXPECT_EQ(
      message("{ m = { value = 1.0, unit = \"stone\" } }"),
      "test.toml:5: start-unit mass.m (unit = kg, written = stone); one of the units is not known: convert by hand");
}

std::string mapped(const std::string& parameter, const std::string& transformation) {
  return document(
      "<Elements><Component name=\"c\" source=\"c.fmu\"><ParameterBindings><ParameterBinding><ParameterValues>"
      "<ParameterSet version=\"1.0\" name=\"p\"><Parameters><Parameter name=\"a\">" +
      parameter +
      "</Parameter></Parameters></ParameterSet></ParameterValues><ParameterMapping><MappingEntry source=\"a\" "
      "target=\"b\">" +
      transformation +
      "</MappingEntry></ParameterMapping></ParameterBinding></ParameterBindings></Component></Elements>");
}

TEST(SspMapping, looks_values_up_in_tables_of_all_three_types) {
  const auto value = [](const std::string& parameter, const std::string& transformation) {
    std::vector<Problem> problems;
    const auto system = read(mapped(parameter, transformation), problems);
    EXPECT_TRUE(problems.empty()) << test::outline(problems.front());
    return system.subsystems.at(0).optional_start.at("b").value;
  };
  EXPECT_EQ(value("<Boolean value=\"true\"/>",
                  "<BooleanMappingTransformation><MapEntry source=\"true\" target=\"false\"/><MapEntry "
                  "source=\"false\" target=\"true\"/></BooleanMappingTransformation>"),
            Value(false));
  EXPECT_EQ(value("<Integer value=\"3\"/>",
                  "<IntegerMappingTransformation><MapEntry source=\"2\" target=\"20\"/><MapEntry source=\"3\" "
                  "target=\"-30\"/></IntegerMappingTransformation>"),
            Value(std::int64_t{-30}));
  EXPECT_EQ(value("<Enumeration value=\"low\"/>",
                  "<EnumerationMappingTransformation><MapEntry source=\"low\" target=\"niedrig\"/>"
                  "</EnumerationMappingTransformation>"),
            Value(std::string("niedrig")));
}

TEST(SspMapping, without_an_entry_or_with_a_wrong_one_is_a_problem) {
  std::vector<Problem> problems;
  read(mapped("<Integer value=\"4\"/>",
              "<IntegerMappingTransformation><MapEntry source=\"2\" target=\"20\"/><MapEntry source=\"3\" "
              "target=\"many\"/></IntegerMappingTransformation>"),
       problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(test::outline(problems[0].fact),
            "table-entry-type IntegerMappingTransformation (from = 3, to = many, type = Integer)");
  EXPECT_EQ(test::outline(problems[1].fact), "mapping-incomplete a, b (value = 4)");
}

/// Two components write to a bus and read from it, one of them inside a system of its own.
std::string bus(const std::string& dictionary = "bus", const std::string& more = {}) {
  const std::string ports =
      "<Connectors><Connector name=\"y\" kind=\"output\"/><Connector name=\"u\" kind=\"input\"/></Connectors>";
  const std::string reference = "<SignalDictionaryReference name=\"signals\" dictionary=\"" + dictionary +
                                "\"><Connectors><Connector name=\"p\" kind=\"inout\"/><Connector name=\"q\" "
                                "kind=\"inout\"/></Connectors></SignalDictionaryReference>";
  return document(
      "<Elements><Component name=\"a\" source=\"a.fmu\">" + ports + "</Component>" + reference +
      "<System name=\"inner\"><Elements><Component name=\"b\" source=\"b.fmu\">" + ports + "</Component>" + reference +
      "</Elements><Connections><Connection startElement=\"signals\" startConnector=\"p\" endElement=\"b\" "
      "endConnector=\"u\"/><Connection startElement=\"b\" startConnector=\"y\" endElement=\"signals\" "
      "endConnector=\"q\"><LinearTransformation factor=\"2\" "
      "offset=\"1\"/></Connection></Connections></System></Elements>"
      "<Connections><Connection startElement=\"a\" startConnector=\"y\" endElement=\"signals\" endConnector=\"p\"/>"
      "<Connection startElement=\"a\" startConnector=\"u\" endElement=\"signals\" endConnector=\"q\"/>" +
      more + "</Connections><SignalDictionaries><SignalDictionary name=\"bus\"/></SignalDictionaries>");
}

TEST(SspDictionary, joins_every_writer_of_a_signal_with_every_reader) {
  std::vector<Problem> problems;
  const auto system = read(bus(), problems);
  ASSERT_TRUE(problems.empty()) << test::outline(problems.front());
  ASSERT_EQ(system.connections.size(), 2U);
  for (const auto& connection : system.connections) {
    const bool out = connection.output == "a.y";
    EXPECT_EQ(connection.output, out ? "a.y" : "inner/b.y");
    EXPECT_EQ(connection.input, out ? "inner/b.u" : "a.u");
    EXPECT_EQ(connection.factor, out ? 1.0 : 2.0);
    EXPECT_EQ(connection.offset, out ? 0.0 : 1.0);
  }
}

TEST(SspDictionary, that_is_not_there_or_has_two_writers_is_a_problem) {
  std::vector<Problem> problems;
  read(bus("bsu"), problems);
  ASSERT_FALSE(problems.empty());
  EXPECT_EQ(
      test::outline(problems.front()).find("unknown-dictionary signals, bsu; did you mean 'bus'?") != std::string::npos,
      true)
      << test::outline(problems.front());
  problems.clear();
  read(bus("bus", "<Connection startElement=\"a\" startConnector=\"y\" endElement=\"signals\" endConnector=\"q\"/>"),
       problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(test::outline(problems.front().fact), "connector-fed-twice #bus.q");
}

}  // namespace ssp_values_test
}  // namespace entrain
