#include "subsystem/fmi/model_description.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "entrain/error.hpp"
#include "subsystem/fmi/fmu.hpp"
#include "support/facts.hpp"

namespace entrain {
namespace model_description_test {

constexpr const char* kTwo = R"xml(<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Mass" guid="{1}">
  <CoSimulation modelIdentifier="mass" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true"
    canInterpolateInputs="true" maxOutputDerivativeOrder="1" providesDirectionalDerivative="true"/>
  <UnitDefinitions><Unit name="km/h"><BaseUnit m="1" s="-1" factor="0.2777777777777778"/></Unit></UnitDefinitions>
  <TypeDefinitions><SimpleType name="Speed"><Real unit="m/s"/></SimpleType></TypeDefinitions>
  <LogCategories><Category name="logStatusError"/><Category name="logAll"/></LogCategories>
  <DefaultExperiment startTime="1" stopTime="3.5" stepSize="1e-2"/>
  <ModelVariables>
    <ScalarVariable name="f" valueReference="0" causality="input" description="force"><Real start="2" unit="N"/></ScalarVariable>
    <ScalarVariable name="v" valueReference="1" causality="output" initial="exact"><Real start="0.5" declaredType="Speed"/></ScalarVariable>
    <ScalarVariable name="der(v)" valueReference="2"><Real derivative="2"/></ScalarVariable>
    <ScalarVariable name="power" valueReference="3" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="n" valueReference="0" causality="parameter" variability="fixed"><Integer start="-3"/></ScalarVariable>
    <ScalarVariable name="on" valueReference="0" causality="parameter" variability="tunable"><Boolean start="true"/></ScalarVariable>
    <ScalarVariable name="file" valueReference="0" causality="parameter" variability="fixed"><String start="a b"/></ScalarVariable>
    <ScalarVariable name="speed" valueReference="1"><Real/></ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs><Unknown index="2" dependencies=""/><Unknown index="4" dependencies="1 2"/></Outputs>
    <Derivatives><Unknown index="3" dependencies="1"/></Derivatives>
  </ModelStructure>
</fmiModelDescription>)xml";

constexpr const char* kThree = R"xml(<fmiModelDescription fmiVersion="3.0" modelName="Mass" instantiationToken="{3}">
  <CoSimulation modelIdentifier="mass" canHandleVariableCommunicationStepSize="false" fixedInternalStepSize="0.01"
    canGetAndSetFMUState="true" providesDirectionalDerivatives="true"/>
  <ModelVariables>
    <Float64 name="time" valueReference="9" causality="independent" variability="continuous"/>
    <Float64 name="f" valueReference="10" causality="input" start="2"><Alias name="force"/></Float64>
    <Float64 name="v" valueReference="11" causality="output" start="0.5"/>
    <Float64 name="der(v)" valueReference="12" derivative="11"/>
    <Float64 name="field" valueReference="13" causality="input" start="1 2"><Dimension start="2"/></Float64>
    <UInt64 name="seed" valueReference="14" causality="parameter" variability="fixed" start="18446744073709551615"/>
    <String name="file" valueReference="15" causality="parameter" variability="fixed"><Start value="a b"/></String>
    <Enumeration name="gear" valueReference="16" declaredType="Gear" causality="parameter" variability="fixed" start="2"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="11"/>
    <ContinuousStateDerivative valueReference="12" dependencies="10 11"/>
  </ModelStructure>
</fmiModelDescription>)xml";

std::string edited(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string failure_of(const std::string& xml) {
  try {
    subsystem::parse_model_description(xml, "mass.fmu");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidSystem);
    EXPECT_EQ(error.fact().subjects.front(), "mass.fmu");
    return test::outline(error);
  }
  return "accepted";
}

TEST(ModelDescription, of_fmi_2_is_read) {
  const auto d = subsystem::parse_model_description(kTwo, "mass.fmu");
  EXPECT_EQ(d.version, subsystem::FmiVersion::Two);
  EXPECT_EQ(d.token, "{1}");
  ASSERT_TRUE(d.co_simulation);
  EXPECT_EQ(d.co_simulation->model_identifier, "mass");
  EXPECT_TRUE(d.co_simulation->rollback && d.co_simulation->input_derivatives && d.co_simulation->variable_step);
  EXPECT_TRUE(d.co_simulation->directional_derivatives);
  EXPECT_EQ(d.co_simulation->output_derivative_order, 1);
  EXPECT_FALSE(d.co_simulation->once_per_process);
  EXPECT_EQ(d.experiment.start, 1.0);
  EXPECT_EQ(d.experiment.stop, 3.5);
  EXPECT_EQ(d.experiment.step, 0.01);
  ASSERT_EQ(d.units.size(), 1U);
  EXPECT_EQ(d.units[0].exponents[1], 1);
  EXPECT_EQ(d.units[0].exponents[2], -1);
  ASSERT_EQ(d.variables.size(), 8U);
  EXPECT_EQ(d.variables[0].start, Value(2.0));
  EXPECT_EQ(d.variables[0].description, "force");
  EXPECT_EQ(d.variables[1].unit, "m/s");  // from its declared type
  EXPECT_EQ(d.variables[2].derivative_of, 1U);
  EXPECT_EQ(d.variables[4].start, Value(std::int64_t{-3}));
  EXPECT_EQ(d.variables[5].start, Value(true));
  EXPECT_EQ(d.variables[6].start, Value(std::string("a b")));
  EXPECT_EQ(d.log_categories, (std::vector<std::string>{"logStatusError", "logAll"}));
  EXPECT_EQ(d.variables[1].other_names, (std::vector<std::string>{"speed"}));  // local, with its value reference
}

TEST(ModelDescription, of_fmi_3_is_read) {
  const auto d = subsystem::parse_model_description(kThree, "mass.fmu");
  EXPECT_EQ(d.version, subsystem::FmiVersion::Three);
  EXPECT_EQ(d.token, "{3}");
  EXPECT_TRUE(d.co_simulation->rollback && d.co_simulation->directional_derivatives);
  EXPECT_EQ(d.co_simulation->fixed_internal_step, 0.01);
  ASSERT_EQ(d.variables.size(), 8U);
  EXPECT_EQ(d.variables[1].other_names, (std::vector<std::string>{"force"}));
  EXPECT_EQ(d.variables[3].derivative_of, 2U);
  ASSERT_EQ(d.variables[4].dimensions.size(), 1U);
  EXPECT_EQ(d.variables[4].dimensions[0].size, 2U);
  EXPECT_EQ(d.variables[4].array_start, (std::vector<Value>{1.0, 2.0}));
  EXPECT_EQ(d.variables[5].start, Value(std::uint64_t{18446744073709551615U}));  // all 64 bits
  EXPECT_EQ(d.variables[6].start, Value(std::string("a b")));
  EXPECT_EQ(d.variables[7].type, subsystem::FmuType::Enumeration);
  EXPECT_EQ(d.outputs.size(), 1U);
  EXPECT_FALSE(d.outputs[0].dependencies);
}

TEST(ModelDescription, makes_ports_of_real_variables_and_parameters_of_the_rest) {
  const auto ports = subsystem::ports_of(subsystem::parse_model_description(kTwo, "mass.fmu"), "mass.fmu");
  EXPECT_EQ(ports.inputs, (std::vector<subsystem::ValueReference>{0}));
  EXPECT_EQ(ports.outputs, (std::vector<subsystem::ValueReference>{1, 3}));
  EXPECT_EQ(ports.states, (std::vector<subsystem::ValueReference>{1}));
  EXPECT_EQ(ports.derivatives, (std::vector<subsystem::ValueReference>{2}));
  ASSERT_EQ(ports.unknowns.size(), 2U);  // 'v' is a state: nothing to ask
  EXPECT_EQ(ports.unknowns[0].reference, 2U);
  EXPECT_EQ(ports.unknowns[1].reference, 3U);
  ASSERT_EQ(ports.table.parameters.size(), 3U);
  EXPECT_EQ(ports.table.parameters[0].type, ValueType::Integer);
  EXPECT_EQ(ports.table.parameters[2].type, ValueType::String);
  EXPECT_FALSE(ports.feedthrough(0, 0));
  EXPECT_TRUE(ports.feedthrough(1, 0));

  const auto of_three = subsystem::ports_of(subsystem::parse_model_description(kThree, "mass.fmu"), "mass.fmu");
  EXPECT_EQ(of_three.inputs, (std::vector<subsystem::ValueReference>{10, 13}));
  ASSERT_EQ(of_three.table.inputs.size(), 3U);
  EXPECT_EQ(of_three.table.inputs[2].name, "field[2]");
  EXPECT_EQ(of_three.table.inputs[2].start, Value(2.0));
  EXPECT_TRUE(of_three.feedthrough(0, 2));  // dependencies not listed
  EXPECT_TRUE(of_three.warnings.empty());
}

TEST(ModelDescription, without_a_model_structure_has_outputs_that_depend_on_all_inputs) {
  std::string xml = kTwo;
  xml.erase(xml.find("  <ModelStructure>"), xml.find("</fmiModelDescription>") - xml.find("  <ModelStructure>"));
  const auto ports = subsystem::ports_of(subsystem::parse_model_description(xml, "mass.fmu"), "mass.fmu");
  EXPECT_EQ(ports.outputs.size(), 2U);
  EXPECT_TRUE(ports.states.empty());
  EXPECT_TRUE(ports.feedthrough(0, 0) && ports.feedthrough(1, 0));
}

TEST(ModelDescription, that_makes_no_sense_is_refused_by_name) {
  const auto expect = [](const std::string& xml, const std::string& why) {
    const std::string text = failure_of(xml);
    EXPECT_TRUE(text.starts_with("description-" + why)) << text;
  };
  expect("<fmiModelDescription>\n<a>\n</fmiModelDescription>", "not-xml mass.fmu (why = line 3");
  expect("<other/>", "root mass.fmu");
  expect(edited(kTwo, "2.0", "4.0"), "version mass.fmu (version = 4.0)");
  expect(edited(kThree, "3.0", "3.0-beta.2"),
         "version mass.fmu (version = 3.0-beta.2)");  // drafts have other signatures
  expect(edited(kTwo, "guid=\"{1}\"", ""), "attribute mass.fmu (attribute = guid, ");
  expect(edited(kTwo, "modelIdentifier=\"mass\"", "modelIdentifier=\"../mass\""),
         "identifier mass.fmu (element = CoSimulation, value = ../mass)");
  expect(edited(kTwo, "name=\"power\"", "name=\"v\""), "name-twice mass.fmu, v");
  expect(edited(kTwo, "valueReference=\"3\"", "valueReference=\"x\""),
         "number mass.fmu (attribute = valueReference, element = variable 'power', value = x)");
  expect(edited(kTwo, "start=\"2\"", "start=\"two\""),
         "start mass.fmu, f (element = variable 'f', type = Float64, value = two)");
  for (const char* number : {"INF", "-INF", "NaN", "1e999", "nan"}) {
    expect(edited(kTwo, "start=\"2\"", fmt::format("start=\"{}\"", number)),
           fmt::format("start mass.fmu, f (element = variable 'f', type = Float64, value = {})", number));
  }
  expect(edited(kTwo, "start=\"-3\"", "start=\"99999999999999999999\""), "start mass.fmu, ");
  expect(edited(kTwo, "valueReference=\"3\"", "valueReference=\"4294967296\""),
         "number mass.fmu (attribute = valueReference, element = variable 'power', value = 4294967296)");
  expect(edited(kTwo, "causality=\"input\"", "causality=\"inpt\""),
         "word mass.fmu (attribute = causality, element = variable 'f', value = inpt)");
  expect(edited(kTwo, "derivative=\"2\"", "derivative=\"20\""),
         "pointer mass.fmu (element = the derivative of variable 'der(v)', number = 20, variables = ");
  expect(edited(kTwo, "index=\"4\"", "index=\"40\""), "pointer mass.fmu (element = ");
  expect(edited(kTwo, "dependencies=\"1 2\"", "dependencies=\"1 x\""), "dependencies mass.fmu (element = ");
  expect(edited(kThree, "valueReference=\"16\"", "valueReference=\"15\""), "reference-twice mass.fmu, ");
  expect(edited(kThree, "<Output valueReference=\"11\"/>", "<Output valueReference=\"99\"/>"),
         "pointer mass.fmu (element = ");
  expect(edited(kTwo, "name=\"power\" valueReference=\"3\" causality=\"output\"",
                "name=\"power\" valueReference=\"0\" causality=\"input\""),
         "reference-twice mass.fmu, f, power (reference = 0)");
}

TEST(ModelDescription, shows_characters_that_a_terminal_would_obey) {
  const auto text = failure_of(edited(kTwo, "name=\"power\"", "name=\"po&#27;[2Jwer\" causality=\"none\""));
  EXPECT_NE(text.find("variable 'po\\x1b[2Jwer'"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1B'), std::string::npos);
}

/// Of model exchange: a derivative that does not say whose it is says so by its name, or has a state without a name.
TEST(ModelDescription, states_of_derivatives_without_the_attribute) {
  const auto states_of = [](const std::string& head) {
    const std::string exchange = "<ModelExchange modelIdentifier=\"mass\"/><CoSimulation ";
    const auto text =
        edited(edited(edited(kTwo, " derivative=\"2\"", ""), "<CoSimulation ", exchange), "modelName=\"Mass\"", head);
    const auto description = subsystem::parse_model_description(text, "mass.fmu");
    const auto& derivative = description.variables[description.state_derivatives.front().variable];
    return description.variables[derivative.derivative_of.value()].name;
  };
  EXPECT_EQ(states_of("modelName=\"Mass\" variableNamingConvention=\"structured\""), "v");
  EXPECT_EQ(states_of("modelName=\"Mass\""), "$state[1]");
}

TEST(ModelDescription, with_a_document_type_is_refused) {
  const std::string xml = "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>" + std::string(kThree);
  EXPECT_NE(failure_of(xml).find("DOCTYPE"), std::string::npos);
}

}  // namespace model_description_test
}  // namespace entrain
