#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "support/archives.hpp"
#include "support/clocked_fmu3.h"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {

inline constexpr const char* kVariableStep =
    "CoSimulation canHandleVariableCommunicationStepSize=\"true\" hasEventMode=\"true\"";
inline constexpr const char* kFixedStep = "CoSimulation hasEventMode=\"true\"";

/// Of the FMU in clocked_fmu3.c. `tick`: attributes of its clock with times.
inline std::string clocked3(const std::string& tick, const std::string& flags = "",
                            const std::string& interface = kVariableStep) {
  return fmt::format(R"(<fmiModelDescription fmiVersion="3.0" modelName="clocked" instantiationToken="clocked">
  <{2} modelIdentifier="clocked" {1}/>
  <ModelVariables>
    <Float64 name="interval" valueReference="1" causality="parameter" variability="tunable" start="0.1"/>
    <Int32 name="mode" valueReference="2" causality="parameter" variability="fixed" start="0"/>
    <Float64 name="shift" valueReference="3" causality="parameter" variability="fixed" start="0"/>
    <Clock name="tick" valueReference="10" causality="input" {0}/>
    <Clock name="in" valueReference="11" causality="input" intervalVariability="triggered"/>
    <Clock name="out" valueReference="12" causality="output" intervalVariability="triggered"/>
    <Int32 name="ticks" valueReference="20" causality="output" variability="discrete"/>
    <Int32 name="heard" valueReference="21" causality="output" variability="discrete"/>
    <Float64 name="u" valueReference="22" causality="input" variability="discrete" start="0" clocks="10"/>
    <Float64 name="y" valueReference="23" causality="output" variability="discrete" clocks="10"/>
    <Int32 name="value" valueReference="24" causality="output" variability="discrete" clocks="12"/>
    <Int32 name="received" valueReference="25" causality="input" variability="discrete" start="0" clocks="11"/>
    <Int32 name="last" valueReference="26" causality="output" variability="discrete"/>
    <Float64 name="tick_time" valueReference="27" causality="output"/>
    <Int32 name="updates" valueReference="28" causality="output" variability="discrete"/>
    <Float64 name="heard_time" valueReference="29" causality="output"/>
    <Float64 name="x" valueReference="30" causality="input" start="0"/>
    <Float64 name="z" valueReference="31" causality="output"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="12" dependencies="10"/><Output valueReference="20" dependencies="10"/>
    <Output valueReference="21" dependencies=""/><Output valueReference="23" dependencies="10 22"/>
    <Output valueReference="24" dependencies="12"/><Output valueReference="26" dependencies=""/>
    <Output valueReference="27" dependencies=""/><Output valueReference="28" dependencies=""/>
    <Output valueReference="29" dependencies=""/><Output valueReference="31" dependencies="30"/>
  </ModelStructure>
</fmiModelDescription>)",
                     tick, flags, interface);
}

inline constexpr const char* kConstantTick = "intervalVariability=\"constant\" intervalDecimal=\"0.1\"";
inline constexpr const char* kCountdownTick = "intervalVariability=\"countdown\"";

inline std::filesystem::path write_clocked(const TemporaryFolder& folder, const std::string& name = "clocked.fmu",
                                           const std::string& tick = kConstantTick, const std::string& flags = "",
                                           const std::string& interface = kVariableStep) {
  write_archive(folder / name, {{"modelDescription.xml", clocked3(tick, flags, interface)},
                                {"binaries/x86_64-linux/clocked.so", text_of(clocked_fmu3_library())}});
  return folder / name;
}

/// The same for scheduled execution.
inline void write_scheduled(const TemporaryFolder& folder, const std::string& name, const std::string& tick) {
  write_archive(folder / name, {{"modelDescription.xml", clocked3(tick, "", "ScheduledExecution")},
                                {"binaries/x86_64-linux/clocked.so", text_of(clocked_fmu3_library())}});
}

/// Of the FMU in counting_exchange.c: FMI 2, model exchange. `derivative`: what its slope says about its state.
inline void write_counting(const TemporaryFolder& folder, const std::string& derivative = "derivative=\"1\"") {
  const std::string xml = fmt::format(
      R"(<fmiModelDescription fmiVersion="2.0" modelName="counting" guid="counting" numberOfEventIndicators="1">
  <ModelExchange modelIdentifier="counting"/>
  <ModelVariables>
    <ScalarVariable name="x" valueReference="0" causality="output" initial="exact"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="slope" valueReference="1"><Real {}/></ScalarVariable>
    <ScalarVariable name="count" valueReference="0" causality="output" variability="discrete"><Integer/></ScalarVariable>
    <ScalarVariable name="in" valueReference="1" causality="input" variability="discrete"><Integer start="0"/></ScalarVariable>
    <ScalarVariable name="copy" valueReference="2" causality="output" variability="discrete"><Integer/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="1"/><Unknown index="3"/><Unknown index="5" dependencies="4"/></Outputs>
    <Derivatives><Unknown index="2" dependencies=""/></Derivatives></ModelStructure>
</fmiModelDescription>)",
      derivative);
  write_archive(folder / "counting.fmu", {{"modelDescription.xml", xml},
                                          {"binaries/linux64/counting.so", text_of(counting_exchange_library())}});
}

inline constexpr const char* kCan = "application/org.fmi-standard.fmi-ls-bus.can; version=&quot;1.0.0&quot;";

/// The four variables of terminal number k of the FMUs in can_fmu3.c.
inline std::string bus_variables(int k, const std::string& terminal, const std::string& mime = kCan) {
  return fmt::format(R"(
    <Binary name="{1}.Rx_Data" valueReference="{0}00" causality="input" variability="discrete" clocks="{0}02" mimeType="{2}"><Start value=""/></Binary>
    <Binary name="{1}.Tx_Data" valueReference="{0}01" causality="output" variability="discrete" clocks="{0}03" mimeType="{2}"/>
    <Clock name="{1}.Rx_Clock" valueReference="{0}02" causality="input" intervalVariability="triggered"/>
    <Clock name="{1}.Tx_Clock" valueReference="{0}03" causality="input" intervalVariability="countdown" supportsFraction="true"/>)",
                     k, terminal, mime);
}

inline std::string bus_terminal(const std::string& name) {
  std::string members;
  for (const char* role : {"Rx_Data", "Tx_Data", "Rx_Clock", "Tx_Clock"}) {
    members += fmt::format(R"(<TerminalMemberVariable variableKind="signal" variableName="{0}.{1}" memberName="{1}"/>)",
                           name, role);
  }
  return fmt::format(R"(<Terminal terminalKind="org.fmi-ls-bus.network-terminal" name="{}" )"
                     R"(matchingRule="org.fmi-ls-bus.transceiver">{}</Terminal>)",
                     name, members);
}

inline std::string can_description(const std::string& token, const std::string& variables,
                                   const std::string& structure) {
  return fmt::format(R"(<fmiModelDescription fmiVersion="3.0" modelName="{0}" instantiationToken="{0}">
  <CoSimulation modelIdentifier="can" canHandleVariableCommunicationStepSize="true" hasEventMode="true"/>
  <ModelVariables>{1}
  </ModelVariables>
  <ModelStructure>{2}</ModelStructure>
</fmiModelDescription>)",
                     token, variables, structure);
}

inline void write_can(const std::filesystem::path& file, const std::string& description, const std::string& terminals) {
  write_archive(file,
                {{"modelDescription.xml", description},
                 {"terminalsAndIcons/terminalsAndIcons.xml", "<fmiTerminalsAndIcons fmiVersion=\"3.0\"><Terminals>" +
                                                                 terminals + "</Terminals></fmiTerminalsAndIcons>"},
                 {"binaries/x86_64-linux/can.so", text_of(can_fmu3_library())}});
}

inline void write_can_node(const std::filesystem::path& file, const std::string& mime = kCan) {
  const std::string variables = bus_variables(1, "CanChannel", mime) + R"(
    <Float64 name="at" valueReference="1" causality="parameter" variability="fixed" start="0.3"/>
    <Int32 name="id" valueReference="2" causality="parameter" variability="fixed" start="1"/>
    <Int32 name="arrivals" valueReference="3" causality="output" variability="discrete"/>
    <Int32 name="confirmed" valueReference="4" causality="output" variability="discrete"/>
    <Int32 name="latest_id" valueReference="5" causality="output" variability="discrete"/>
    <Float64 name="latest_time" valueReference="6" causality="output"/>)";
  write_can(file, can_description("node", variables, "<Output valueReference=\"101\" dependencies=\"103\"/>"),
            bus_terminal("CanChannel"));
}

inline void write_can_bus(const std::filesystem::path& file) {
  std::string variables, structure, terminals;
  for (int k = 1; k <= 3; ++k) {
    const std::string name = fmt::format("Node{}", k);
    variables += bus_variables(k, name);
    structure += fmt::format("<Output valueReference=\"{0}01\" dependencies=\"{0}03\"/>", k);
    terminals += bus_terminal(name);
  }
  write_can(file, can_description("bus", variables, structure), terminals);
}

}  // namespace entrain::test
