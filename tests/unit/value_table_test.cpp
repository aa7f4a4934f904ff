// Tables of values on connections: what the input gets for each value of the output, in TOML and in SSP.
#include <gtest/gtest.h>

#include "description/ssp_file.hpp"
#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace value_table_test {

std::string two(const std::string& start, const std::string& connections) {
  return "[run]\nstart = 0.0\nstop = 1.0\nstep = 0.5\n[subsystems.a]\nfmu = \"typed2.fmu\"\nstart = " + start +
         "\n[subsystems.b]\nfmu = \"typed2.fmu\"\n[connections]\n" + connections;
}

class ValueTables : public testing::Test {
 protected:
  void SetUp() override { test::write_typed2(folder_); }
  SystemDescription system(const std::string& start, const std::string& connections) const {
    return test::system_in(folder_, two(start, connections));
  }
  test::TemporaryFolder folder_;
};

TEST_F(ValueTables, give_the_input_what_stands_beside_the_value_of_the_output) {
  Simulation simulation(system("{ i = 2, e = \"sport\", b = true, s = \"go\" }", R"(
"a.j" = [{ to = "b.i", table = [[1, 10], [2, -20]] }, { to = "b.x", table = [[2, 0.25]] }]
"a.f" = { to = "b.e", table = [["eco", "sport"], ["sport", "eco"]] }
"a.c" = { to = "b.b", table = [[true, false], [false, true]] }
"a.t" = { to = "b.s", table = [["go", "los"]] }
)"));
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  for (const auto& [input, value] : {std::pair("b.i", -20.0), {"b.x", 0.25}, {"b.e", 1.0}, {"b.b", 0.0}})
    EXPECT_EQ(simulation.value(input), value) << input;
}

TEST_F(ValueTables, end_the_run_at_a_value_that_they_do_not_know) {
  Simulation simulation(system("{ i = 3 }", "\"a.j\" = { to = \"b.i\", table = [[1, 10], [2, -20]] }\n"));
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  EXPECT_EQ(test::outline(test::failure_of(simulation.summary())), "value-not-in-table (source = a.j, value = 3)");
  const auto [subsystem, variable, time, remedy] = test::place_of_failure(simulation.summary());
  EXPECT_EQ(subsystem, "b");
  EXPECT_EQ(variable, "i");
  EXPECT_EQ(time, 0.0);
  EXPECT_FALSE(remedy.empty());
}

TEST_F(ValueTables, must_fit_the_types_of_both_ends) {
  EXPECT_EQ(test::problems_of(system("{}", "\"a.f\" = { to = \"b.i\", table = [[\"echo\", 1]] }\n")),
            "test.toml:11: unknown-item a.f (value = echo); did you mean 'eco'?");
  EXPECT_EQ(test::problems_of(system("{}", "\"a.j\" = { to = \"b.b\", table = [[1, 1]] }\n")),
            "test.toml:11: wrong-value-type b.b (expected = a boolean, found = an integer)");
  EXPECT_EQ(test::problems_of(system("{}", "\"a.y\" = { to = \"b.x\", table = [[1, 1]] }\n")),
            "test.toml:11: table-of-reals a.y; write factor and offset");
  std::vector<Problem> problems;
  description::parse_system(
      two("{}",
          "\"a.j\" = { to = \"b.i\", table = [[1]] }\n\"a.f\" = { to = \"b.e\", table = [[1, 2]], factor = "
          "2.0 }\n"),
      "a.toml", problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(test::outline(problems[0]),
            "a.toml:11: not-value-pairs connections.\"a.j\".table; such as [[0, 10], [1, 20]]");
  EXPECT_EQ(test::outline(problems[1]), "a.toml:12: table-and-factor connections.\"a.f\"; write one");
}

TEST_F(ValueTables, survive_conversion_to_ssp_and_back) {
  test::write_text(folder_ / "a.toml", two("{ i = 2, e = \"sport\", b = true }", R"(
"a.j" = { to = "b.i", table = [[1, 10], [2, -20]] }
"a.f" = { to = "b.e", table = [["eco", "sport"], ["sport", "eco"]] }
"a.c" = { to = "b.b", table = [[true, false], [false, true]] }
)"));
  const auto results = test::results_of(folder_, "a.toml", "a");
  EXPECT_NE(results.find("-20"), std::string::npos) << results;
  for (const auto& [from, to] : {std::pair("a.toml", "b.ssp"), {"b.ssp", "c.toml"}}) {
    const auto converted = test::run_program(folder_, {"convert", from, to});
    ASSERT_EQ(converted.exit_code, 0) << converted.err;
    EXPECT_EQ(test::results_of(folder_, to, std::string(to) + ".run"), results) << to;
  }
  test::write_text(folder_ / "d.toml", two("{}", "\"a.f\" = { to = \"b.i\", table = [[\"eco\", 1]] }\n"));
  EXPECT_EQ(test::run_program(folder_, {"convert", "d.toml", "d.ssp"}).err,
            "entrain: d.toml:11: SSP has no table with a string beside an integer; write all its values as numbers, or "
            "all by name\n");
}

/// An integer on its way into a system, with a transformation outside and one inside.
std::string nested(const std::string& outside, const std::string& inside) {
  return R"(<SystemStructureDescription version="1.0" name="x"><System name="s"><Elements>
    <Component name="a" source="typed2.fmu"/><System name="box"><Connectors><Connector name="p" kind="input"/></Connectors>
    <Elements><Component name="b" source="typed2.fmu"/></Elements><Connections>
    <Connection startConnector="p" endElement="b" endConnector="i">)" +
         inside + R"(</Connection></Connections></System></Elements><Connections>
    <Connection startElement="a" startConnector="j" endElement="box" endConnector="p">)" +
         outside + "</Connection></Connections></System></SystemStructureDescription>";
}

std::string integers(const std::string& entries) {
  return "<IntegerMappingTransformation>" + entries + "</IntegerMappingTransformation>";
}

TEST_F(ValueTables, are_chained_through_systems) {
  const auto read = [&](const std::string& outside, const std::string& inside, std::vector<Problem>& problems) {
    test::write_text(folder_ / "n.ssd", nested(outside, inside));
    return description::read_ssp(folder_ / "n.ssd", problems);
  };
  const std::string first = integers(R"(<MapEntry source="1" target="10"/><MapEntry source="2" target="20"/>)");
  std::vector<Problem> problems;
  const auto system = read(first, integers(R"(<MapEntry source="20" target="200"/>)"), problems);
  ASSERT_TRUE(problems.empty()) << test::outline(problems.front());
  ASSERT_EQ(system.connections.size(), 1U);
  EXPECT_EQ(system.connections[0].table, (ValueTable{{std::int64_t{2}, std::int64_t{200}}}));
  read(first, "<LinearTransformation factor=\"2\"/>", problems);
  read(first, integers(R"(<MapEntry source="1" target="2"/>)"), problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(test::outline(problems[0].fact),
            "connector-tables box/b.i (fault = a table of values and a linear transformation)");
  EXPECT_EQ(test::outline(problems[1].fact),
            "connector-tables box/b.i (fault = two tables that have no value in common)");
}

}  // namespace value_table_test
}  // namespace entrain
