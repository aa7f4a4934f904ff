// SSP to a flat description: what is taken, what is ignored with a note, what is refused.
#include <gtest/gtest.h>

#include "base/archive.hpp"
#include "description/ssp_document.hpp"
#include "description/ssp_file.hpp"
#include "description/system_file.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace ssp_test {

namespace fs = std::filesystem;

std::string document(const std::string& system, const std::string& rest = {}) {
  return "<SystemStructureDescription version=\"1.0\" name=\"x\">\n<System name=\"s\">" + system + "</System>" + rest +
         "</SystemStructureDescription>";
}

std::string values(const std::string& parameters) {
  return "<ParameterBinding><ParameterValues><ParameterSet version=\"1.0\" name=\"p\"><Parameters>" + parameters +
         "</Parameters></ParameterSet></ParameterValues></ParameterBinding>";
}

std::string real(const std::string& name, const std::string& value) {
  return "<Parameter name=\"" + name + "\"><Real value=\"" + value + "\"/></Parameter>";
}

class Ssp : public testing::Test {
 protected:
  SystemDescription read(const std::string& ssd) {
    test::write_text(folder_ / "a.ssd", ssd);
    return description::read_ssp(folder_ / "a.ssd", problems_);
  }
  /// The only problem; "none" without one.
  std::string problem(const std::string& ssd) {
    problems_.clear();
    read(ssd);
    if (problems_.empty()) return "none";
    Problem first = problems_.front();
    first.where = {};
    return test::outline(first);
  }
  static std::string notes(const SystemDescription& system) {
    std::string text;
    for (const auto& note : system.notes) text += test::outline(note.fact) + "\n";
    return text;
  }
  static double start(const SystemDescription& system, std::size_t subsystem, const std::string& name) {
    const auto found = system.subsystems.at(subsystem).optional_start.find(name);
    return found == system.subsystems[subsystem].optional_start.end() ? -1e300 : std::get<double>(found->second.value);
  }

  test::TemporaryFolder folder_;
  std::vector<Problem> problems_;
};

TEST_F(Ssp, files_of_others_with_empty_sources_brackets_and_parameters_that_are_there_again_are_read) {
  std::vector<Problem> problems;
  const auto values = description::parse_ssv(
      "<ParameterSet version=\"1.0\" name=\"p\"><Parameters>"
      "<Parameter name=\"k\"><Real value=\"1\" unit=\"[m]\"/></Parameter>"
      "<Parameter name=\"k\"><Real value=\"2\"/></Parameter><Parameter name=\"k\"><Real value=\"3\"/></Parameter>"
      "</Parameters></ParameterSet>",
      "a.ssv", problems);
  EXPECT_EQ(values.front().unit, "m");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(test::outline(problems.front().fact), "parameter-twice k (count = 2)");
  problems.clear();
  const auto mappings = description::parse_ssm(
      "<ParameterMapping version=\"1.0\"><MappingEntry source=\"\" target=\"a\"/><MappingEntry source=\"\" "
      "target=\"b\"/>"
      "<MappingEntry source=\"k\" target=\"c\"/></ParameterMapping>",
      "a.ssm", problems);
  EXPECT_EQ(mappings.size(), 1U);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(test::outline(problems.front().fact), "mapping-source-empty a (count = 2)");

  const auto system = read(document(
      "<Elements><Component name=\"a\" source=\"a.fmu\"><ParameterBindings><ParameterBinding><ParameterValues>"
      "<ParameterSet version=\"1.0\" name=\"p\"><Parameters><Parameter name=\"k\"><Real value=\"1\"/></Parameter>"
      "<Parameter name=\"k\"><Real value=\"2\"/></Parameter></Parameters></ParameterSet></ParameterValues>"
      "<ParameterMapping><ParameterMapping version=\"1.0\"><MappingEntry source=\"k\" target=\"c\"/></ParameterMapping>"
      "</ParameterMapping></ParameterBinding></ParameterBindings></Component></Elements>"));
  EXPECT_EQ(start(system, 0, "c"), 2.0);
}

TEST_F(Ssp, steps_of_the_annotations_of_osp_count) {
  const auto system = read(document(
      "<Elements><Component name=\"a\" source=\"a.fmu\"><Annotations><Annotation type=\"com.opensimulationplatform\">"
      "<osp:StepSizeHint value=\"0.02\"/></Annotation></Annotations></Component></Elements>",
      "<DefaultExperiment stopTime=\"1\"><Annotations><Annotation type=\"com.opensimulationplatform\">"
      "<osp:SimulationInformation><osp:FixedStepMaster baseStepSize=\"0.01\"/></osp:SimulationInformation></Annotation>"
      "</Annotations></DefaultExperiment>"));
  EXPECT_EQ(problems_.size(), 0U);
  ASSERT_TRUE(system.step);
  EXPECT_EQ(system.step->value, 0.01);
  EXPECT_EQ(system.subsystems.at(0).step->value, 0.02);
  EXPECT_EQ(notes(system), "");
}

TEST_F(Ssp, attributes_and_words_that_the_standard_does_not_have_are_named_with_their_line) {
  const auto system =
      read(document("<Elements><Component name=\"a\" source=\"a.fmu\" colour=\"red\" osp:mine=\"1\">"
                    "<Connectors>\n<Connector name=\"u\" kind=\"inputs\"/></Connectors></Component></Elements>"));
  EXPECT_EQ(notes(system),
            "attribute-unknown Component, colour\n"
            "attribute-word Connector, kind (value = inputs, words = input, output, parameter, calculatedParameter, "
            "structuralParameter, constant, local, inout, unspecified)\n");
  EXPECT_EQ(system.notes.back().where.line, 3);
}

TEST_F(Ssp, takes_the_times_of_the_default_experiment_and_the_implementation) {
  const auto system =
      read(document("<Elements><Component name=\"a\" source=\"a.fmu\" implementation=\"ModelExchange\"/>"
                    "<Component name=\"b\" source=\"b.fmu\" implementation=\"CoSimulation\"/>"
                    "<Component name=\"c\" source=\"c.fmu\"/>"
                    "<Component name=\"d\" source=\"d.fmu\" implementation=\"ScheduledExecution\"/></Elements>",
                    "<DefaultExperiment startTime=\"1\" stopTime=\"3.5\"/>"));
  EXPECT_EQ(problems_.size(), 0U);
  EXPECT_EQ(system.start.value, 1.0);
  EXPECT_EQ(system.stop->value, 3.5);
  ASSERT_EQ(system.subsystems.size(), 4U);
  EXPECT_EQ(system.subsystems[3].interface->value, FmuInterface::ScheduledExecution);
  EXPECT_EQ(system.subsystems[0].interface->value, FmuInterface::ModelExchange);
  EXPECT_EQ(system.subsystems[1].interface->value, FmuInterface::CoSimulation);
  EXPECT_FALSE(system.subsystems[2].interface);
  EXPECT_EQ(system.subsystems[0].fmu, "a.fmu");
  EXPECT_EQ(system.subsystems[1].where.line, 2);
}

TEST_F(Ssp, bindings_that_stand_higher_or_later_win) {
  // The order of the standard: later over earlier in one element, a system over what it contains.
  const auto system =
      read(document("<ParameterBindings>" + values(real("in.c.high", "3")) +
                    "</ParameterBindings><Elements><System name=\"in\">"
                    "<ParameterBindings>" +
                    values(real("c.late", "1")) + values(real("c.late", "2") + real("c.high", "2")) +
                    "</ParameterBindings><Elements><Component name=\"c\" source=\"c.fmu\"><ParameterBindings>" +
                    values(real("late", "0") + real("high", "0") + real("own", "0")) +
                    "</ParameterBindings></Component></Elements></System></Elements>"));
  EXPECT_EQ(problems_.size(), 0U);
  EXPECT_EQ(system.subsystems.at(0).name, "in/c");
  EXPECT_EQ(start(system, 0, "own"), 0.0);
  EXPECT_EQ(start(system, 0, "late"), 2.0);
  EXPECT_EQ(start(system, 0, "high"), 3.0);
}

TEST_F(Ssp, a_value_for_a_connector_reaches_every_input_behind_it) {
  const auto system = read(document(
      "<Connectors><Connector name=\"k\" kind=\"parameter\"/></Connectors><ParameterBindings>" +
      values(real("k", "2")) +
      "</ParameterBindings><Elements><Component name=\"a\" source=\"a.fmu\"/><Component name=\"b\" source=\"b.fmu\"/>"
      "</Elements><Connections><Connection startConnector=\"k\" endElement=\"a\" endConnector=\"p\"/>"
      "<Connection startElement=\"b\" startConnector=\"q\" endConnector=\"k\"><LinearTransformation factor=\"10\" "
      "offset=\"1\"/></Connection></Connections>"));
  EXPECT_EQ(problems_.size(), 0U);
  EXPECT_EQ(start(system, 0, "p"), 2.0);
  EXPECT_EQ(start(system, 1, "q"), 21.0);
  EXPECT_TRUE(system.connections.empty());
}

TEST_F(Ssp, connections_are_followed_through_systems_with_their_transformations) {
  const auto system = read(document(
      "<Elements><Component name=\"a\" source=\"a.fmu\"/><System name=\"in\"><Connectors>"
      "<Connector name=\"i\" kind=\"input\"/></Connectors><Elements><Component name=\"b\" source=\"b.fmu\"/></Elements>"
      "<Connections><Connection startConnector=\"i\" endElement=\"b\" endConnector=\"u\"><LinearTransformation "
      "factor=\"2\" offset=\"1\"/></Connection></Connections></System></Elements><Connections>"
      "<Connection startElement=\"a\" startConnector=\"y\" endElement=\"in\" endConnector=\"i\"><LinearTransformation "
      "factor=\"3\" offset=\"5\"/></Connection></Connections>"));
  ASSERT_EQ(system.connections.size(), 1U);
  EXPECT_EQ(system.connections[0].output, "a.y");
  EXPECT_EQ(system.connections[0].input, "in/b.u");
  EXPECT_EQ(system.connections[0].factor, 6.0);  // 2 (3 y + 5) + 1
  EXPECT_EQ(system.connections[0].offset, 11.0);
}

TEST_F(Ssp, units_are_not_converted_where_one_connection_in_between_suppresses_it) {
  const auto system = read(
      document("<Elements><Component name=\"a\" source=\"a.fmu\"/><System name=\"in\"><Connectors>"
               "<Connector name=\"i\" kind=\"input\"/></Connectors><Elements><Component name=\"b\" source=\"b.fmu\"/>"
               "</Elements><Connections><Connection startConnector=\"i\" endElement=\"b\" endConnector=\"u\"/>"
               "</Connections></System></Elements><Connections><Connection startElement=\"a\" startConnector=\"y\" "
               "endElement=\"in\" endConnector=\"i\" suppressUnitConversion=\"true\"/><Connection startElement=\"a\" "
               "startConnector=\"y\" endElement=\"a\" endConnector=\"w\"/></Connections>"));
  ASSERT_EQ(system.connections.size(), 2U);
  for (const auto& connection : system.connections)
    EXPECT_EQ(connection.convert_units, connection.input == "a.w") << connection.input;
}

TEST_F(Ssp, direction_comes_from_the_kind_of_the_connectors) {
  const std::string components =
      "<Elements><Component name=\"a\" source=\"a.fmu\"><Connectors><Connector name=\"x\" kind=\"input\"/></Connectors>"
      "</Component><Component name=\"b\" source=\"b.fmu\"/></Elements><Connections>";
  const auto system =
      read(document(components + "<Connection startElement=\"a\" startConnector=\"x\" endElement=\"b\" "
                                 "endConnector=\"y\"/><Connection startElement=\"b\" startConnector=\"v\" "
                                 "endElement=\"a\" endConnector=\"w\"/></Connections>"));
  ASSERT_EQ(system.connections.size(), 2U);
  EXPECT_EQ(system.connections[0].output, "b.y");
  EXPECT_EQ(system.connections[0].input, "a.x");
  EXPECT_EQ(system.connections[1].output, "b.v") << "no kinds of connectors: from start to end";
  EXPECT_NE(problem(document(components + "<Connection startElement=\"a\" startConnector=\"x\" endElement=\"a\" "
                                          "endConnector=\"x\"/></Connections>"))
                .find("same-direction a.x, a.x (both = take data)"),
            std::string::npos);
}

TEST_F(Ssp, what_is_ignored_is_noted) {
  const auto system = read(
      document("<ParameterBindings>" + values(real("a.k", "1") + real("b.k", "1") + real("lost", "1")) +
               "</ParameterBindings><Elements><Component name=\"a\" source=\"a.fmu\"><Annotations><Annotation "
               "type=\"com.vendor\"><x/></Annotation></Annotations></Component></Elements><Annotations><Annotation "
               "type=\"com.vendor\"/></Annotations>"));
  EXPECT_EQ(problems_.size(), 0U);
  EXPECT_EQ(notes(system),
            "annotation-ignored com.vendor\n"
            "values-unused s, b.k, lost (count = 2)\n");
}

TEST_F(Ssp, what_is_not_supported_is_named) {
  EXPECT_EQ(problem(document("<Elements><Component name=\"m\" type=\"text/x-modelica\" source=\"m.mo\"/></Elements>")),
            "component-type m (type = text/x-modelica); export it as an FMU");
  EXPECT_EQ(problem(document("<Elements><Component name=\"m\"/></Elements>")),
            "component-without-source m; name the FMU that it is");
  EXPECT_EQ(problem(document("<Elements><Component name=\"m\" source=\"http://x.org/a.fmu\"/></Elements>")),
            "component-unusable m, http://x.org/a.fmu (of = source-scheme); Name a file of the package or beside it");
  const std::string pair =
      "<Elements><Component name=\"a\" source=\"a.fmu\"/></Elements><Connections><Connection "
      "startElement=\"a\" startConnector=\"y\" endElement=\"";
  EXPECT_EQ(
      problem(document(pair + "a\" endConnector=\"u\"><BooleanMappingTransformation/></Connection></Connections>")),
      "table-empty BooleanMappingTransformation");
  EXPECT_EQ(problem(document(pair + "aa\" endConnector=\"u\"/></Connections>")),
            "unknown-element aa; did you mean 'a'?");
  EXPECT_NE(
      problem(document(pair + "a\" endConnector=\"u\" endIndices=\"1\"/></Connections>")).find("element-connections"),
      std::string::npos);
}

TEST_F(Ssp, that_is_broken_is_refused_with_the_position) {
  read("<SystemStructureDescription>\n<System name=\"s\">\n</Sistem></SystemStructureDescription>");
  ASSERT_EQ(problems_.size(), 1U);
  EXPECT_NE(test::outline(problems_[0]).find("a.ssd: not-xml (why = line 3"), std::string::npos)
      << test::outline(problems_[0]);
  EXPECT_EQ(problem("<html/>"), "wrong-root-element html, SystemStructureDescription; name a file of SSP");
  EXPECT_EQ(problem("<SystemStructureDescription/>"), "no-system-element");
  EXPECT_NE(problem(document("<ParameterBindings><ParameterBinding source=\"none.ssv\"/></ParameterBindings>"))
                .find("no-such-file"),
            std::string::npos);
  EXPECT_EQ(problem(document("<ParameterBindings>" + values(real("k", "one")) + "</ParameterBindings>")),
            "no-value-of-type k (type = Real, value = one)");
}

TEST_F(Ssp, values_have_the_type_that_is_written) {
  const auto system = read(document(
      "<Elements><Component name=\"a\" source=\"a.fmu\"><ParameterBindings>" +
      values("<Parameter name=\"i\"><Integer value=\"-3\"/></Parameter><Parameter name=\"b\"><Boolean value=\"true\"/>"
             "</Parameter><Parameter name=\"s\"><String value=\"1, 2\"/></Parameter><Parameter name=\"r\"><Float64 "
             "value=\" +1e-3 \" unit=\"m\"/></Parameter>") +
      "</ParameterBindings></Component></Elements>"));
  EXPECT_EQ(problems_.size(), 0U);
  const auto& start = system.subsystems.at(0).optional_start;
  EXPECT_EQ(start.at("i").value, Value(std::int64_t{-3}));
  EXPECT_EQ(start.at("b").value, Value(true));
  EXPECT_EQ(start.at("s").value, Value(std::string("1, 2")));
  EXPECT_EQ(start.at("r").value, Value(1e-3));
  EXPECT_EQ(start.at("r").unit, "m");
  std::vector<Problem> none;
  const auto text = system_text(system);
  EXPECT_EQ(system_text(description::parse_system(text, "a.toml", none)), text);
  EXPECT_TRUE(none.empty());
}

TEST(Uri, of_a_component_becomes_a_path) {
  std::string fragment;
  EXPECT_EQ(description::path_of_uri("resources/a%20b.fmu", fragment), "resources/a b.fmu");
  EXPECT_EQ(description::path_of_uri("file:///tmp/a.fmu", fragment), "/tmp/a.fmu");
  EXPECT_EQ(description::path_of_uri("resources\\a.fmu", fragment), "resources/a.fmu");
  EXPECT_EQ(description::path_of_uri("b.ssp#Variant%20B.ssd", fragment), "b.ssp");
  EXPECT_EQ(fragment, "Variant B.ssd");
  EXPECT_EQ(description::uri_of_path("resources/\xc3\xa4 b.fmu"), "resources/%C3%A4%20b.fmu");
  for (const char* bad : {"http://a/b", "a%00b", "file://host/a", "a%ffb"})
    EXPECT_THROW(description::path_of_uri(bad, fragment), Error);
}

TEST(LocatedFile, is_taken_out_of_archives_in_archives) {
  const test::TemporaryFolder folder;
  test::write_archive(folder / "inner.ssp", {{"r/text", "hello"}});
  test::write_archive(folder / "outer.ssp", {{"resources/inner.ssp", test::text_of(folder / "inner.ssp")}});
  fs::path taken;
  {
    const base::LocatedFile file(folder / "outer.ssp/resources/inner.ssp/r/text");
    taken = file.path();
    EXPECT_EQ(test::text_of(taken), "hello");
  }
  EXPECT_FALSE(fs::exists(taken));
  EXPECT_EQ(base::LocatedFile(folder / "inner.ssp").path(), folder / "inner.ssp");
  EXPECT_THROW(base::LocatedFile(folder / "outer.ssp/resources/none"), Error);
}

}  // namespace ssp_test
}  // namespace entrain
