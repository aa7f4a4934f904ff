#pragma once

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <string>

#include "support/archives.hpp"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {

/// A version and interface of FMI by which the FMUs of late_fmu.h are offered.
struct LateInterface {
  const char* name;  ///< also of the tests
  int version;
  bool exchange = false;
  bool events = false;  ///< co-simulation with event mode

  bool has_events() const { return exchange || events; }
};
inline void PrintTo(const LateInterface& interface, std::ostream* out) {
  *out << interface.name;
}
inline constexpr std::array kLateInterfaces{LateInterface{"fmi1", 1},
                                            LateInterface{"fmi1_exchange", 1, true},
                                            LateInterface{"fmi2", 2},
                                            LateInterface{"fmi2_exchange", 2, true},
                                            LateInterface{"fmi3", 3},
                                            LateInterface{"fmi3_events", 3, false, true},
                                            LateInterface{"fmi3_exchange", 3, true}};

inline std::string late_description1(const std::string& kind, bool exchange) {
  return fmt::format(R"xml(<fmiModelDescription fmiVersion="1.0" modelName="late" modelIdentifier="late" guid="{0}"
    numberOfContinuousStates="{1}" numberOfEventIndicators="0">
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/><DirectDependency>{2}</DirectDependency></ScalarVariable>
  </ModelVariables>{3}
</fmiModelDescription>)xml",
                     kind, exchange ? 1 : 0, kind == "integral" ? "" : "<Name>u</Name>",
                     exchange ? ""
                              : "<Implementation><CoSimulation_StandAlone><Capabilities "
                                "canHandleVariableCommunicationStepSize=\"true\"/></CoSimulation_StandAlone>"
                                "</Implementation>");
}

inline std::string late_description2(const std::string& kind, bool exchange) {
  return fmt::format(
      R"xml(<fmiModelDescription fmiVersion="2.0" modelName="late" guid="{0}" numberOfEventIndicators="0">
  <{1} modelIdentifier="late" {2}/>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="x" valueReference="2"><Real/></ScalarVariable>
    <ScalarVariable name="der(x)" valueReference="3"><Real derivative="3"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies="{3}"/></Outputs>
    <Derivatives><Unknown index="4"/></Derivatives></ModelStructure>
</fmiModelDescription>)xml",
      kind, exchange ? "ModelExchange" : "CoSimulation",
      exchange ? "" : "canHandleVariableCommunicationStepSize=\"true\"", kind == "integral" ? "3" : "1");
}

inline std::string late_description3(const std::string& kind, const LateInterface& interface) {
  const char* flags = interface.exchange ? ""
                      : interface.events ? "canHandleVariableCommunicationStepSize=\"true\" hasEventMode=\"true\""
                                         : "canHandleVariableCommunicationStepSize=\"true\"";
  return fmt::format(R"xml(<fmiModelDescription fmiVersion="3.0" modelName="late" instantiationToken="{0}">
  <{1} modelIdentifier="late" {2}/>
  <ModelVariables>
    <Float64 name="u" valueReference="0" causality="input" start="0"/>
    <Float64 name="y" valueReference="1" causality="output"/>
    <Float64 name="x" valueReference="2" causality="local"/>
    <Float64 name="der(x)" valueReference="3" causality="local" derivative="2"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="1" dependencies="{3}"/>
    <ContinuousStateDerivative valueReference="3"/></ModelStructure>
</fmiModelDescription>)xml",
                     kind, interface.exchange ? "ModelExchange" : "CoSimulation", flags,
                     kind == "integral" ? "2" : "0");
}

/// As `kind`_`interface`.fmu.
inline void write_late(const TemporaryFolder& folder, const std::string& kind, const LateInterface& interface) {
  const std::string description = interface.version == 1   ? late_description1(kind, interface.exchange)
                                  : interface.version == 2 ? late_description2(kind, interface.exchange)
                                                           : late_description3(kind, interface);
  const char* platform = interface.version == 3 ? "x86_64-linux" : "linux64";
  write_archive(folder / fmt::format("{}_{}.fmu", kind, interface.name),
                {{"modelDescription.xml", description},
                 {fmt::format("binaries/{}/late.so", platform), text_of(late_fmu_library(interface.version))}});
}

}  // namespace entrain::test
