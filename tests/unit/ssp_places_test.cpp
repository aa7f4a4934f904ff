// SSP: where files are looked for, and the units that connectors pass on.
#include <gtest/gtest.h>

#include "description/ssp_file.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace ssp_places_test {

const std::string kUnits =
    "<Units><Unit name=\"mm\"><BaseUnit m=\"1\" factor=\"0.001\"/></Unit><Unit name=\"m\"><BaseUnit m=\"1\"/></Unit>"
    "<Unit name=\"ell\"><BaseUnit m=\"1\" factor=\"0.5\"/></Unit><Unit name=\"kg\"><BaseUnit kg=\"1\"/></Unit></Units>";

std::string document(const std::string& system) {
  return "<SystemStructureDescription version=\"1.0\" name=\"x\"><System name=\"s\">" + system + "</System>" + kUnits +
         "</SystemStructureDescription>";
}

std::string connector(const std::string& name, const std::string& kind, const std::string& unit) {
  return "<Connectors><Connector name=\"" + name + "\" kind=\"" + kind + "\"><Real" +
         (unit.empty() ? "" : " unit=\"" + unit + "\"") + "/></Connector></Connectors>";
}

struct Units {
  std::string output;
  std::string between;
  std::string input;
};

/// a.y, offset 5 -> inner.o, factor 2 -> b.x
std::string chain(const Units& units, const std::string& first = "offset=\"5\"", const std::string& flags = {}) {
  return document("<Elements><System name=\"inner\">" + connector("o", "output", units.between) +
                  "<Elements><Component name=\"a\" source=\"a.fmu\">" + connector("y", "output", units.output) +
                  "</Component></Elements><Connections><Connection startElement=\"a\" startConnector=\"y\" "
                  "endConnector=\"o\"><LinearTransformation " +
                  first + "/></Connection></Connections></System><Component name=\"b\" source=\"b.fmu\">" +
                  connector("x", "input", units.input) +
                  "</Component></Elements><Connections><Connection startElement=\"inner\" startConnector=\"o\" "
                  "endElement=\"b\" endConnector=\"x\"" +
                  flags + "><LinearTransformation factor=\"2\"/></Connection></Connections>");
}

SystemDescription read(const std::string& ssd, std::vector<Problem>& problems) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "a.ssd", ssd);
  return description::read_ssp(folder / "a.ssd", problems);
}

ConnectionDescription connection_of(const std::string& ssd) {
  std::vector<Problem> problems;
  const auto system = read(ssd, problems);
  EXPECT_TRUE(problems.empty()) << test::outline(problems.front());
  return system.connections.at(0);
}

TEST(SspConnectorUnits, are_converted_before_the_transformation_of_each_connection) {
  // 1500 mm + 5 mm = 1505 mm = 1.505 m, doubled.
  const auto millimetres = connection_of(chain({"mm", "mm", "m"}));
  EXPECT_DOUBLE_EQ(1500.0 * millimetres.factor + millimetres.offset, 3.01);
  EXPECT_FALSE(millimetres.convert_units);
  // 1500 mm = 1.5 m, + 5 m = 6.5 m, doubled.
  const auto metres = connection_of(chain({"mm", "m", "m"}));
  EXPECT_DOUBLE_EQ(1500.0 * metres.factor + metres.offset, 13.0);
  // A connector without a unit passes that of what feeds it.
  const auto untold = connection_of(chain({"mm", "", "m"}));
  EXPECT_DOUBLE_EQ(1500.0 * untold.factor + untold.offset, 3.01);
  // 3 ell, a unit that only the document knows, are 1.5 m.
  const auto ell = connection_of(chain({"ell", "m", "m"}));
  EXPECT_DOUBLE_EQ(3.0 * ell.factor + ell.offset, 13.0);
}

TEST(SspConnectorUnits, stay_where_the_connection_suppresses_their_conversion) {
  const auto plain = connection_of(chain({"mm", "mm", "m"}, "offset=\"5\"", " suppressUnitConversion=\"true\""));
  EXPECT_EQ(1500.0 * plain.factor + plain.offset, 3010.0);
}

TEST(SspConnectorUnits, that_the_document_does_not_contain_are_those_of_the_variables) {
  const auto connection = connection_of(chain({"", "", ""}));
  EXPECT_TRUE(connection.convert_units);
  EXPECT_EQ(connection.factor, 2.0);
  EXPECT_EQ(connection.offset, 10.0);
  // A factor is the same before and after a conversion.
  EXPECT_TRUE(connection_of(chain({"", "mm", ""}, "factor=\"3\"")).convert_units);
}

TEST(SspConnectorUnits, that_do_not_fit_or_are_given_in_part_are_problems) {
  std::vector<Problem> problems;
  read(chain({"mm", "", "kg"}), problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(test::outline(problems[0].fact),
            "units-do-not-match inner/a.y, b.x (input_unit = kg, output_unit = mm, why = the units measure different "
            "things)");
  problems.clear();
  read(chain({"", "mm", "m"}), problems);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(test::outline(problems[0].fact), "connector-unit-unknown b.x, o, inner/a.y (unit = mm)");
}

std::string bound_to(const std::string& component, const std::string& values) {
  return document("<Elements><Component name=\"c\" " + component + "><ParameterBindings><ParameterBinding source=\"" +
                  values + "\" sourceBase=\"component\"/></ParameterBindings></Component></Elements>");
}

const std::string kInner = document("<Elements><Component name=\"f\" source=\"f.fmu\"/></Elements>");
const std::string kValues =
    "<ParameterSet version=\"1.0\" name=\"p\"><Parameters><Parameter name=\"f.k\"><Real value=\"7\"/></Parameter>"
    "</Parameters></ParameterSet>";

TEST(SspValuesInAComponent, lie_beside_an_ssd_and_inside_a_package) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "sub");
  test::write_text(folder / "sub/inner.ssd", kInner);
  test::write_text(folder / "sub/v.ssv", kValues);
  test::write_archive(folder / "inner.ssp", {{"SystemStructure.ssd", kInner}, {"resources/v.ssv", kValues}});
  test::write_text(folder / "beside.ssd", bound_to("source=\"sub/inner.ssd\"", "v.ssv"));
  test::write_text(folder / "packed.ssd", bound_to("source=\"inner.ssp\"", "resources/v.ssv"));
  for (const char* file : {"beside.ssd", "packed.ssd"}) {
    std::vector<Problem> problems;
    const auto system = description::read_ssp(folder / file, problems);
    ASSERT_TRUE(problems.empty()) << test::outline(problems.front());
    EXPECT_EQ(system.subsystems.at(0).optional_start.at("k").value, Value(7.0)) << file;
  }
}

TEST(SspPackage, reaches_nothing_outside_by_any_path) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "v.ssv", kValues);
  const std::string absolute = "file://" + (folder / "v.ssv").string();
  const auto message = [&](const std::string& ssd) {
    test::write_archive(folder / "a.ssp", {{"SystemStructure.ssd", ssd}});
    std::vector<Problem> problems;
    description::read_ssp(folder / "a.ssp", problems);
    return problems.empty() ? "accepted" : test::outline(problems.front().fact);
  };
  for (const std::string& source : {absolute, (folder / "v.ssv").string(), std::string("../v.ssv")}) {
    EXPECT_EQ(message(document("<ParameterBindings><ParameterBinding source=\"" + source + "\"/></ParameterBindings>")),
              "parameters-unusable " + source + " (kind = package, of = source-leads-out)");
    EXPECT_EQ(message(document("<Elements><Component name=\"c\" source=\"" + source + "\"/></Elements>")),
              "component-unusable c, " + source + " (kind = package, of = source-leads-out)");
    EXPECT_EQ(message(bound_to("source=\"c.fmu\"", source)),
              "parameters-unusable " + source + " (kind = FMU, of = source-leads-out)");
  }
}

}  // namespace ssp_places_test
}  // namespace entrain
