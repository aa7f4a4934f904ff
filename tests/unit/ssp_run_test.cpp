// SSPs written by hand in the manner of several tools run as their twins in TOML do, to the last digit.
#include <gtest/gtest.h>

#include <functional>

#include "support/archives.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace ssp_run_test {

namespace fs = std::filesystem;

std::string fmu(const std::string& name) {
  return test::fmu_folder() + "/" + name + ".fmu";
}

const std::string kPrey = "test/strict/2/lotka_volterra_prey";
const std::string kPredator = "test/strict/3/lotka_volterra_predator";

struct Entry {
  std::string path;
  std::string text;  ///< of a text file; else
  std::string fmu = {};
};

std::string content_of(const Entry& entry) {
  return entry.fmu.empty() ? entry.text : test::text_of(fmu(entry.fmu));
}

std::string package(const test::TemporaryFolder& folder, const std::string& name, const std::vector<Entry>& entries) {
  std::vector<test::ArchiveEntry> packed;
  for (const auto& entry : entries) packed.push_back({entry.path, content_of(entry)});
  test::write_archive(folder / name, packed);
  return name;
}

std::string unpacked(const test::TemporaryFolder& folder, const std::string& name, const std::vector<Entry>& entries) {
  for (const auto& entry : entries) {
    const fs::path file = folder / name / entry.path;
    fs::create_directories(file.parent_path());
    test::write_text(file, content_of(entry));
  }
  return name;
}

/// Everything in one namespace that is the default, as some generators write it.
constexpr std::string_view kDefaultNamespace = R"(<?xml version="1.0" encoding="UTF-8"?>
<SystemStructureDescription xmlns="http://ssp-standard.org/SSP1/SystemStructureDescription" version="1.0" name="lv">
  <System name="root">
    <Elements>
      <Component name="prey" type="application/x-fmu-sharedlibrary" source="resources/prey.fmu">
        <Connectors>
          <Connector name="u" kind="input"/>
          <Connector name="p" kind="output"/>
        </Connectors>
      </Component>
      <Component name="predator" source="resources/predator.fmu">
        <Connectors>
          <Connector name="u" kind="input"/>
          <Connector name="P" kind="output"/>
        </Connectors>
      </Component>
    </Elements>
    <Connections>
      <Connection startElement="prey" startConnector="p" endElement="predator" endConnector="u"/>
      <Connection startElement="prey" startConnector="u" endElement="predator" endConnector="P"/>
    </Connections>
  </System>
  <DefaultExperiment startTime="0" stopTime="5"/>
</SystemStructureDescription>)";

/// In the manner of OMSimulator: its prefixes and annotations, values in files of their own, hierarchical names.
constexpr std::string_view kAnnotated = R"(<?xml version="1.0" encoding="UTF-8"?>
<ssd:SystemStructureDescription xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon"
    xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:oms="https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd" name="m" version="1.0">
  <ssd:System name="root">
    <ssd:Annotations><ssc:Annotation type="org.openmodelica"><oms:Annotations><oms:SimulationInformation>
      <oms:FixedStepMaster description="oms-ma" stepSize="0.1"/></oms:SimulationInformation></oms:Annotations>
    </ssc:Annotation></ssd:Annotations>
    <ssd:ParameterBindings><ssd:ParameterBinding source="resources/root.ssv"/></ssd:ParameterBindings>
    <ssd:Elements>
      <ssd:Component name="prey" type="application/x-fmu-sharedlibrary" source="resources/prey.fmu">
        <ssd:ElementGeometry x1="10" y1="10" x2="20" y2="20"/>
        <ssd:Connectors>
          <ssd:Connector name="u" kind="input"><ssc:Real/></ssd:Connector>
          <ssd:Connector name="p" kind="output"><ssc:Real/></ssd:Connector>
        </ssd:Connectors>
        <ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
          <ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="x">
            <ssv:Parameters><ssv:Parameter name="alpha"><ssv:Real value="9"/></ssv:Parameter>
              <ssv:Parameter name="p"><ssv:Real value="1.25"/></ssv:Parameter></ssv:Parameters>
          </ssv:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>
      </ssd:Component>
      <ssd:Component name="predator" type="application/x-fmu-sharedlibrary" source="resources/predator.fmu"/>
    </ssd:Elements>
    <ssd:Connections>
      <ssd:Connection startElement="prey" startConnector="p" endElement="predator" endConnector="u"/>
      <ssd:Connection startElement="predator" startConnector="P" endElement="prey" endConnector="u"/>
    </ssd:Connections>
  </ssd:System>
  <ssd:DefaultExperiment startTime="0.000000" stopTime="5.000000">
    <ssd:Annotations><ssc:Annotation type="org.openmodelica"/></ssd:Annotations></ssd:DefaultExperiment>
</ssd:SystemStructureDescription>)";

constexpr std::string_view kRootValues = R"(<?xml version="1.0"?>
<ssv:ParameterSet xmlns:ssv="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="root">
  <ssv:Parameters>
    <ssv:Parameter name="prey.alpha"><ssv:Real value="0.75"/></ssv:Parameter>
    <ssv:Parameter name="predator.unknown"><ssv:Real value="1"/></ssv:Parameter>
    <ssv:Parameter name="absent.x"><ssv:Real value="1"/></ssv:Parameter>
  </ssv:Parameters>
</ssv:ParameterSet>)";

/// Other prefixes; the prey inside a system of its own whose connectors pass on; transformations on both sides of them.
constexpr std::string_view kNested = R"(<?xml version="1.0"?>
<a:SystemStructureDescription xmlns:a="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:b="http://ssp-standard.org/SSP1/SystemStructureCommon" name="n" version="1.0">
  <a:System name="top">
    <a:Elements>
      <a:System name="meadow">
        <a:Connectors>
          <a:Connector name="hunters" kind="input"><b:Real/></a:Connector>
          <a:Connector name="hares" kind="output"><b:Real/></a:Connector>
          <a:Connector name="growth" kind="parameter"><b:Real/></a:Connector>
        </a:Connectors>
        <a:Elements>
          <a:Component name="prey" source="resources/prey.fmu"><a:Connectors>
            <a:Connector name="u" kind="input"><b:Real/></a:Connector>
            <a:Connector name="p" kind="output"><b:Real/></a:Connector>
            <a:Connector name="alpha" kind="parameter"><b:Real/></a:Connector></a:Connectors></a:Component>
        </a:Elements>
        <a:Connections>
          <a:Connection startConnector="hunters" endElement="prey" endConnector="u">
            <b:LinearTransformation factor="4" offset="0.5"/></a:Connection>
          <a:Connection startElement="prey" startConnector="p" endConnector="hares"/>
          <a:Connection startConnector="growth" endElement="prey" endConnector="alpha">
            <b:LinearTransformation factor="0.5"/></a:Connection>
        </a:Connections>
      </a:System>
      <a:Component name="predator" source="resources/predator.fmu"/>
    </a:Elements>
    <a:Connections>
      <a:Connection startElement="meadow" startConnector="hares" endElement="predator" endConnector="u"/>
      <a:Connection startElement="predator" startConnector="P" endElement="meadow" endConnector="hunters">
        <b:LinearTransformation factor="0.125" offset="-0.125"/></a:Connection>
    </a:Connections>
    <a:ParameterBindings><a:ParameterBinding prefix="meadow."><a:ParameterValues>
      <v:ParameterSet xmlns:v="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="x">
        <v:Parameters><v:Parameter name="growth"><v:Real value="1.5"/></v:Parameter></v:Parameters></v:ParameterSet>
    </a:ParameterValues></a:ParameterBinding></a:ParameterBindings>
  </a:System>
  <a:DefaultExperiment stopTime="5"/>
</a:SystemStructureDescription>)";

/// A mapping in a file of its own that renames and transforms; FMI 3 types of SSP 2.0.
constexpr std::string_view kMapped = R"(<?xml version="1.0"?>
<ssd:SystemStructureDescription xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:ssc="http://ssp-standard.org/SSP1/SystemStructureCommon" version="2.0" name="mapped">
  <ssd:System name="s">
    <ssd:ParameterBindings>
      <ssd:ParameterBinding source="resources/data%20set.ssv" prefix="w.">
        <ssd:ParameterMapping source="resources/names.ssm"/>
      </ssd:ParameterBinding>
    </ssd:ParameterBindings>
    <ssd:Elements>
      <ssd:Component name="prey" source="resources/prey.fmu" implementation="CoSimulation"><ssd:Connectors>
        <ssd:Connector name="u" kind="input"><ssc:Float64/></ssd:Connector></ssd:Connectors></ssd:Component>
      <ssd:Component name="predator" source="resources/predator.fmu" implementation="any"><ssd:Connectors>
        <ssd:Connector name="u" kind="input"><ssc:Float64/></ssd:Connector></ssd:Connectors></ssd:Component>
    </ssd:Elements>
    <ssd:Connections>
      <ssd:Connection startElement="prey" startConnector="u" endElement="predator" endConnector="P"/>
      <ssd:Connection startElement="prey" startConnector="p" endElement="predator" endConnector="u"/>
    </ssd:Connections>
  </ssd:System>
  <ssd:DefaultExperiment stopTime="5"/>
</ssd:SystemStructureDescription>)";

constexpr std::string_view kDataSet = R"(<ParameterSet
    xmlns="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="2.0" name="data">
  <Parameters>
    <Parameter name="rate"><Float64 value="3"/></Parameter>
    <Parameter name="hunger"><Float64 value="1.1"/></Parameter>
    <Parameter name="not mapped"><Float64 value="7"/></Parameter>
  </Parameters></ParameterSet>)";

constexpr std::string_view kNames =
    R"(<m:ParameterMapping xmlns:m="http://ssp-standard.org/SSP1/SystemStructureParameterMapping"
    xmlns:c="http://ssp-standard.org/SSP1/SystemStructureCommon" version="2.0">
  <m:MappingEntry source="w.rate" target="prey.alpha"><c:LinearTransformation factor="0.25" offset="0.125"/></m:MappingEntry>
  <m:MappingEntry source="w.hunger" target="predator.gamma"/>
</m:ParameterMapping>)";

/// Two packages in one; the inner one is parameterised from outside, over its own values.
constexpr std::string_view kOuter = R"(<ssd:SystemStructureDescription name="o" version="1.0"
    xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription">
  <ssd:System name="s">
    <ssd:Elements>
      <ssd:Component name="meadow" type="application/x-ssp-package" source="resources/meadow.ssp">
        <ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
          <v:ParameterSet xmlns:v="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="x">
            <v:Parameters><v:Parameter name="prey.alpha"><v:Real value="0.5"/></v:Parameter></v:Parameters>
          </v:ParameterSet></ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>
      </ssd:Component>
      <ssd:Component name="predator" source="resources/predator.fmu"/>
    </ssd:Elements>
    <ssd:Connections>
      <ssd:Connection startElement="meadow" startConnector="hares" endElement="predator" endConnector="u"/>
      <ssd:Connection startElement="predator" startConnector="P" endElement="meadow" endConnector="hunters"/>
    </ssd:Connections>
  </ssd:System>
  <ssd:DefaultExperiment stopTime="5"/>
</ssd:SystemStructureDescription>)";

constexpr std::string_view kInner = R"(<ssd:SystemStructureDescription name="i" version="1.0"
    xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription">
  <ssd:System name="s">
    <ssd:Connectors><ssd:Connector name="hunters" kind="input"/><ssd:Connector name="hares" kind="output"/></ssd:Connectors>
    <ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>
      <v:ParameterSet xmlns:v="http://ssp-standard.org/SSP1/SystemStructureParameterValues" version="1.0" name="x">
        <v:Parameters><v:Parameter name="prey.alpha"><v:Real value="7"/></v:Parameter>
          <v:Parameter name="prey.beta"><v:Real value="1.5"/></v:Parameter></v:Parameters></v:ParameterSet>
    </ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>
    <ssd:Elements><ssd:Component name="prey" source="resources/the%20prey.fmu"/></ssd:Elements>
    <ssd:Connections>
      <ssd:Connection startConnector="hunters" endElement="prey" endConnector="u"/>
      <ssd:Connection startElement="prey" startConnector="p" endConnector="hares"/>
    </ssd:Connections>
  </ssd:System>
</ssd:SystemStructureDescription>)";

/// The same system twice by its id, both hunted by one predator.
constexpr std::string_view kTwice = R"(<ssd:SystemStructureDescription name="t" version="1.0"
    xmlns:ssd="http://ssp-standard.org/SSP1/SystemStructureDescription">
  <ssd:System name="s">
    <ssd:Elements>
      <ssd:System name="east" id="meadow">
        <ssd:Connectors><ssd:Connector name="in" kind="input"/><ssd:Connector name="out" kind="output"/></ssd:Connectors>
        <ssd:Elements><ssd:Component name="prey" source="resources/prey.fmu"/></ssd:Elements>
        <ssd:Connections><ssd:Connection startConnector="in" endElement="prey" endConnector="u"/>
          <ssd:Connection startElement="prey" startConnector="p" endConnector="out"/></ssd:Connections>
      </ssd:System>
      <ssd:Component name="west" type="application/x-ssp-definition" source="#meadow"/>
      <ssd:Component name="the predator" source="resources/predator.fmu"/>
    </ssd:Elements>
    <ssd:Connections>
      <ssd:Connection startElement="west" startConnector="out" endElement="the predator" endConnector="u"/>
      <ssd:Connection startElement="the predator" startConnector="P" endElement="west" endConnector="in"/>
      <ssd:Connection startElement="the predator" startConnector="P" endElement="east" endConnector="in"/>
    </ssd:Connections>
  </ssd:System>
  <ssd:DefaultExperiment stopTime="5"/>
</ssd:SystemStructureDescription>)";

struct Twin {
  std::string name;
  std::function<std::string(const test::TemporaryFolder&)> write;  ///< returns what to run
  std::string subsystems;                                          ///< of the twin; PREY and PREDATOR are the FMUs
  std::string connections;
  std::string note = {};  ///< a note that must be there
};

const std::vector<Entry>& fmus() {
  static const std::vector<Entry> entries{{"resources/prey.fmu", "", kPrey}, {"resources/predator.fmu", "", kPredator}};
  return entries;
}
std::vector<Entry> with_fmus(std::vector<Entry> entries) {
  entries.insert(entries.end(), fmus().begin(), fmus().end());
  return entries;
}
std::vector<Entry> document(std::string_view ssd) {
  return with_fmus({{"SystemStructure.ssd", std::string(ssd)}});
}

const std::string kPlain = "\"prey.p\" = \"predator.u\"\n\"predator.P\" = \"prey.u\"\n";

std::vector<Twin> twins() {
  return {
      {"default_namespace_in_a_package",
       [](const auto& folder) { return package(folder, "lv.ssp", document(kDefaultNamespace)); },
       "[subsystems.prey]\nfmu = \"PREY\"\n[subsystems.predator]\nfmu = \"PREDATOR\"\n", kPlain},
      {"default_namespace_in_a_folder",
       [](const auto& folder) { return unpacked(folder, "lv", document(kDefaultNamespace)); },
       "[subsystems.prey]\nfmu = \"PREY\"\n[subsystems.predator]\nfmu = \"PREDATOR\"\n", kPlain},
      {"values_and_annotations_of_omsimulator",
       [](const auto& folder) {
         auto entries = document(kAnnotated);
         entries.push_back({"resources/root.ssv", std::string(kRootValues)});
         return package(folder, "annotated.ssp", entries);
       },
       "[subsystems.prey]\nfmu = \"PREY\"\nstart = { alpha = 0.75, p = 1.25 }\n[subsystems.predator]\nfmu = "
       "\"PREDATOR\"\n",
       kPlain, "annotations of type 'org.openmodelica' are ignored"},
      {"nested_with_transformations",
       [](const auto& folder) { return package(folder, "nested.ssp", document(kNested)); },
       "[subsystems.\"meadow/prey\"]\nfmu = \"PREY\"\nstart = { alpha = 0.75 }\n[subsystems.predator]\nfmu = "
       "\"PREDATOR\"\n",
       "\"meadow/prey.p\" = \"predator.u\"\n\"predator.P\" = { to = \"meadow/prey.u\", factor = 0.5 }\n"},
      {"mapped_values_of_ssp_2",
       [](const auto& folder) {
         auto entries = document(kMapped);
         entries.push_back({"resources/data set.ssv", std::string(kDataSet)});
         entries.push_back({"resources/names.ssm", std::string(kNames)});
         return unpacked(folder, "mapped", entries) + "/SystemStructure.ssd";
       },
       "[subsystems.prey]\nfmu = \"PREY\"\nstart = { alpha = 0.875 }\n[subsystems.predator]\nfmu = \"PREDATOR\"\n"
       "start = { gamma = 1.1 }\n",
       kPlain},
      {"package_in_a_package",
       [](const auto& folder) {
         package(folder, "meadow.ssp",
                 {{"SystemStructure.ssd", std::string(kInner)}, {"resources/the prey.fmu", "", kPrey}});
         return package(folder, "outer.ssp",
                        {{"SystemStructure.ssd", std::string(kOuter)},
                         {"resources/meadow.ssp", test::text_of(folder / "meadow.ssp")},
                         {"resources/predator.fmu", "", kPredator}});
       },
       "[subsystems.\"meadow/prey\"]\nfmu = \"PREY\"\nstart = { alpha = 0.5, beta = 1.5 }\n"
       "[subsystems.predator]\nfmu = \"PREDATOR\"\n",
       "\"meadow/prey.p\" = \"predator.u\"\n\"predator.P\" = \"meadow/prey.u\"\n"},
      {"one_system_twice_by_its_id", [](const auto& folder) { return package(folder, "twice.ssp", document(kTwice)); },
       "[subsystems.\"east/prey\"]\nfmu = \"PREY\"\n[subsystems.\"west/prey\"]\nfmu = \"PREY\"\n"
       "[subsystems.the_predator]\nfmu = \"PREDATOR\"\n",
       "\"west/prey.p\" = \"the_predator.u\"\n\"the_predator.P\" = [\"west/prey.u\", \"east/prey.u\"]\n",
       "'the predator' is named 'the_predator' here"},
  };
}

class SspTwin : public testing::TestWithParam<Twin> {
 protected:
  std::string results_of(const std::string& system, const std::string& out) {
    return test::results_of(folder_, system, out, {"--step", "0.01"});
  }
  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (auto at = text.find(from); at != std::string::npos; at = text.find(from)) text.replace(at, from.size(), to);
    return text;
  }
  std::string write_twin() const {
    const auto& twin = GetParam();
    test::write_text(folder_ / "twin.toml",
                     replaced(replaced("[run]\nstop = 5.0\n" + twin.subsystems + "[connections]\n" + twin.connections,
                                       "\"PREY\"", "\"" + fmu(kPrey) + "\""),
                              "\"PREDATOR\"", "\"" + fmu(kPredator) + "\""));
    return "twin.toml";
  }
  test::TemporaryFolder folder_;
};

TEST_P(SspTwin, gives_the_same_numbers_as_toml) {
  const auto system = GetParam().write(folder_);
  const auto results = results_of(system, "ssp");
  EXPECT_GT(std::count(results.begin(), results.end(), '\n'), 500);
  EXPECT_EQ(results, results_of(write_twin(), "toml"));
  if (GetParam().note.empty()) return;
  const auto check = test::run_program(folder_, {"check", system});
  EXPECT_EQ(check.exit_code, 0);
  EXPECT_NE(check.err.find(GetParam().note), std::string::npos) << check.err;
  EXPECT_NE(test::text_of(folder_ / "ssp" / "run.json").find(GetParam().note), std::string::npos);
}

TEST_P(SspTwin, can_be_run_again_from_what_was_run) {
  const auto results = results_of(GetParam().write(folder_), "first");
  EXPECT_EQ(results, results_of("first/system.resolved.toml", "second"));
}

INSTANTIATE_TEST_SUITE_P(Styles, SspTwin, testing::ValuesIn(twins()), [](const auto& each) { return each.param.name; });

}  // namespace ssp_run_test
}  // namespace entrain
