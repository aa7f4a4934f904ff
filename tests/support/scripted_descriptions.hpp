// The modelDescription.xml of the scripted FMUs.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace entrain::test {

/// Of the FMU in scripted_fmu.c. `flags`: further attributes of its co-simulation.
inline std::string scripted_description(const std::string& flags, const std::string& guid = "scripted") {
  return fmt::format(R"(<fmiModelDescription fmiVersion="2.0" modelName="scripted" guid="{}">
  <CoSimulation modelIdentifier="scripted" canHandleVariableCommunicationStepSize="true" {}/>
  <LogCategories><Category name="logStatusError"/></LogCategories>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="1"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="2" causality="parameter" variability="fixed"><Integer start="0"/></ScalarVariable>
    <ScalarVariable name="offset" valueReference="3" causality="parameter" variability="fixed"><Real start="0"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies="1"/></Outputs></ModelStructure>
</fmiModelDescription>)",
                     guid, flags);
}

/// Of the FMU in scripted_fmu3.c. `flags`: further attributes of its co-simulation, `input` of its input; `more`
/// variables.
inline std::string scripted3_description(const std::string& flags,
                                         const std::string& input = "intermediateUpdate=\"true\"",
                                         const std::string& more = {}) {
  return fmt::format(R"(<fmiModelDescription fmiVersion="3.0" modelName="scripted" instantiationToken="scripted">
  <CoSimulation modelIdentifier="scripted" canHandleVariableCommunicationStepSize="true" {}/>
  <LogCategories><Category name="logStatusError"/></LogCategories>
  <ModelVariables>
    <Float64 name="u" valueReference="0" causality="input" start="1" {}/>
    <Float64 name="y" valueReference="1" causality="output"/>
    <Int32 name="mode" valueReference="2" causality="parameter" variability="fixed" start="0"/>
    <Float64 name="integral" valueReference="4" causality="output"/>
    <Boolean name="on" valueReference="5" causality="output"/>
    {}
    <UInt8 name="small" valueReference="6" causality="parameter" variability="fixed" start="1"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="1" dependencies="0"/><Output valueReference="4" dependencies=""/></ModelStructure>
</fmiModelDescription>)",
                     flags, input, more);
}

/// Of the FMU in scripted_exchange.c. `flags`: further attributes of its model exchange; `variability` of its input.
inline std::string exchange_description(int indicators, const std::string& flags = {},
                                        const std::string& variability = "continuous") {
  return fmt::format(R"xml(<fmiModelDescription fmiVersion="2.0" modelName="scripted" guid="scripted"
    numberOfEventIndicators="{}">
  <ModelExchange modelIdentifier="scripted" {}/>
  <ModelVariables>
    <ScalarVariable name="x" valueReference="0" causality="output" initial="exact"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="der(x)" valueReference="1"><Real derivative="1"/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="2" causality="parameter" variability="fixed"><Integer start="0"/></ScalarVariable>
    <ScalarVariable name="u" valueReference="3" causality="input" variability="{}"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="held" valueReference="4" causality="output"><Real/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="1"/><Unknown index="5"/></Outputs><Derivatives><Unknown index="2"/></Derivatives></ModelStructure>
</fmiModelDescription>)xml",
                     indicators, flags, variability);
}

inline void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace entrain::test
