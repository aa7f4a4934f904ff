#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "support/archives.hpp"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {

/// Of the FMU in typed_fmu2.c.
inline constexpr const char* kTyped2 = R"(<fmiModelDescription fmiVersion="2.0" modelName="typed" guid="typed">
  <CoSimulation modelIdentifier="typed" canHandleVariableCommunicationStepSize="true"/>
  <UnitDefinitions>
    <Unit name="degC"><BaseUnit K="1" offset="273.15"/></Unit>
    <Unit name="mystery"/>
  </UnitDefinitions>
  <TypeDefinitions><SimpleType name="mode"><Enumeration>
    <Item name="eco" value="1"/><Item name="sport" value="4"/></Enumeration></SimpleType></TypeDefinitions>
  <LogCategories><Category name="logStatusWarning"/></LogCategories>
  <DefaultExperiment startTime="0.5" stopTime="3" stepSize="0.25"/>
  <ModelVariables>
    <ScalarVariable name="x" valueReference="0" causality="input"><Real start="0" unit="degC"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real unit="degC"/></ScalarVariable>
    <ScalarVariable name="gain" valueReference="2" causality="parameter" variability="tunable"><Real start="1"/></ScalarVariable>
    <ScalarVariable name="i" valueReference="0" causality="input" variability="discrete"><Integer start="0"/></ScalarVariable>
    <ScalarVariable name="j" valueReference="1" causality="output" variability="discrete"><Integer/></ScalarVariable>
    <ScalarVariable name="e" valueReference="2" causality="input" variability="discrete"><Enumeration declaredType="mode" start="1"/></ScalarVariable>
    <ScalarVariable name="f" valueReference="3" causality="output" variability="discrete"><Enumeration declaredType="mode"/></ScalarVariable>
    <ScalarVariable name="b" valueReference="0" causality="input" variability="discrete"><Boolean start="false"/></ScalarVariable>
    <ScalarVariable name="c" valueReference="1" causality="output" variability="discrete"><Boolean/></ScalarVariable>
    <ScalarVariable name="s" valueReference="0" causality="input" variability="discrete"><String start=""/></ScalarVariable>
    <ScalarVariable name="t" valueReference="1" causality="output" variability="discrete"><String/></ScalarVariable>
    <ScalarVariable name="fixed" valueReference="9" causality="parameter" variability="fixed"><Real start="1"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies="1"/></Outputs></ModelStructure>
</fmiModelDescription>)";

/// Of the FMU in typed_fmu3.c. `flags`: further attributes of its co-simulation.
inline std::string typed3(const std::string& flags = "") {
  std::string numbers;
  const char* names[] = {"Float32", "Int8",   "UInt8", "Int16",  "UInt16",
                         "Int32",   "UInt32", "Int64", "UInt64", "Boolean"};
  for (int i = 0; i < 10; ++i) {
    const bool is_float = i == 0;
    const char* variability = is_float ? "continuous" : "discrete";
    const char* start = i == 9 ? "false" : "0";
    numbers += fmt::format(
        "    <{0} name=\"in.{0}\" valueReference=\"{1}\" causality=\"input\" variability=\"{3}\" start=\"{4}\"/>\n"
        "    <{0} name=\"out.{0}\" valueReference=\"{2}\" causality=\"output\" variability=\"{3}\"/>\n",
        names[i], 10 + i, 30 + i, variability, start);
  }
  return fmt::format(R"(<fmiModelDescription fmiVersion="3.0" modelName="typed" instantiationToken="typed">
  <CoSimulation modelIdentifier="typed" canHandleVariableCommunicationStepSize="true" {}/>
  <TypeDefinitions><EnumerationType name="mode"><Item name="eco" value="1"/><Item name="sport" value="4"/></EnumerationType>
  </TypeDefinitions>
  <LogCategories><Category name="logAll"/><Category name="logStatusError"/></LogCategories>
  <ModelVariables>
    <UInt64 name="n" valueReference="1" causality="structuralParameter" variability="fixed" start="2"/>
    <Float64 name="gain" valueReference="2" causality="parameter" variability="tunable" start="1"/>
    <Float64 name="x" valueReference="3" causality="input" start="0"/>
    <Float64 name="y" valueReference="4" causality="output"/>
    <Float64 name="a" valueReference="5" causality="input" start="1 2 3 4 5 6"><Dimension start="2"/><Dimension start="3"/></Float64>
    <Float64 name="m" valueReference="6" causality="output"><Dimension start="2"/><Dimension start="3"/></Float64>
    <Float64 name="v" valueReference="7" causality="input" start="0 0"><Dimension valueReference="1"/></Float64>
    <Float64 name="w" valueReference="8" causality="output"><Dimension valueReference="1"/></Float64>
    <Int32 name="calls" valueReference="9" causality="output" variability="discrete"/>
{}    <String name="in.String" valueReference="50" causality="input" variability="discrete"><Start value=""/></String>
    <String name="out.String" valueReference="51" causality="output" variability="discrete"/>
    <Binary name="in.Binary" valueReference="52" causality="input" variability="discrete"><Start value=""/></Binary>
    <Binary name="out.Binary" valueReference="53" causality="output" variability="discrete"/>
    <Enumeration name="in.Enumeration" valueReference="54" causality="input" variability="discrete" declaredType="mode" start="1"/>
    <Enumeration name="out.Enumeration" valueReference="55" causality="output" variability="discrete" declaredType="mode"/>
    <Int32 name="in.pair" valueReference="56" causality="input" variability="discrete" start="7 8"><Dimension start="2"/></Int32>
    <Int32 name="out.pair" valueReference="57" causality="output" variability="discrete"><Dimension start="2"/></Int32>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="4" dependencies="3"/><Output valueReference="6" dependencies="5"/><Output valueReference="8" dependencies="7"/>
  </ModelStructure>
</fmiModelDescription>)",
                     flags, numbers);
}

inline std::filesystem::path write_typed2(const TemporaryFolder& folder, const std::string& name = "typed2.fmu",
                                          const std::string& xml = kTyped2) {
  write_archive(folder / name,
                {{"modelDescription.xml", xml}, {"binaries/linux64/typed.so", text_of(typed_fmu2_library())}});
  return folder / name;
}

inline std::filesystem::path write_typed3(const TemporaryFolder& folder, const std::string& flags = "") {
  write_archive(folder / "typed3.fmu", {{"modelDescription.xml", typed3(flags)},
                                        {"binaries/x86_64-linux/typed.so", text_of(typed_fmu3_library())}});
  return folder / "typed3.fmu";
}

}  // namespace entrain::test
