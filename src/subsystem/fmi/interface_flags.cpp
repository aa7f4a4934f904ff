#include "subsystem/fmi/interface_flags.hpp"

#include "entrain/error.hpp"

namespace entrain::subsystem {

std::string model_identifier(const DescriptionXml& xml, pugi::xml_node node) {
  std::string identifier = xml.required(node, "modelIdentifier", node.name());
  // It becomes a file name: the standard requires a C identifier.
  if (identifier.empty() || identifier.find('/') != std::string::npos) {
    xml.fail({FactCode::DescriptionIdentifier, {}, {{"element", node.name()}, {"value", identifier}}});
  }
  return identifier;
}

void DescriptionXml::fail(Fact fact, const std::string& remedy) const {
  fact.subjects.insert(fact.subjects.begin(), fmu_);
  throw Error(ErrorCode::InvalidSystem, std::move(fact),
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = remedy});
}

std::string DescriptionXml::required(pugi::xml_node node, const char* attribute, const std::string& element) const {
  const auto found = node.attribute(attribute);
  if (!found) fail({FactCode::DescriptionAttribute, {}, {{"element", element}, {"attribute", attribute}}});
  return found.value();
}

std::optional<Duration> DescriptionXml::optional_step(pugi::xml_node node, const char* attribute) const {
  const auto step = optional_number<double>(node, attribute, node.name());
  return step && *step > 0.0 ? step : std::nullopt;
}

ScheduledFlags read_scheduled_execution(const DescriptionXml& xml, pugi::xml_node node) {
  return {model_identifier(xml, node), DescriptionXml::flag(node, "needsExecutionTool"),
          DescriptionXml::flag(node, "canBeInstantiatedOnlyOncePerProcess")};
}

ModelExchangeFlags read_model_exchange(const DescriptionXml& xml, pugi::xml_node node, FmiVersion version) {
  const bool three = version == FmiVersion::Three;
  const auto flag = [&](const char* name) { return DescriptionXml::flag(node, name); };
  ModelExchangeFlags flags;
  flags.model_identifier = model_identifier(xml, node);
  flags.rollback = flag(rollback_attribute(version));
  flags.serialization = flag(serialization_attribute(version));
  flags.directional_derivatives = flag(directional_attribute(version));
  flags.needs_completed_step = three ? flag("needsCompletedIntegratorStep") : !flag("completedIntegratorStepNotNeeded");
  flags.needs_execution_tool = flag("needsExecutionTool");
  flags.once_per_process = flag("canBeInstantiatedOnlyOncePerProcess");
  flags.event_indicators =
      xml.optional_number<std::uint32_t>(node.parent(), "numberOfEventIndicators", "fmiModelDescription").value_or(0);
  return flags;
}

CoSimulationFlags read_co_simulation(const DescriptionXml& xml, pugi::xml_node node, FmiVersion version) {
  const bool three = version == FmiVersion::Three;
  const auto flag = [&](const char* name) { return DescriptionXml::flag(node, name); };
  CoSimulationFlags flags;
  flags.model_identifier = model_identifier(xml, node);
  flags.variable_step = flag("canHandleVariableCommunicationStepSize");
  flags.rollback = flag(rollback_attribute(version));
  flags.serialization = flag(serialization_attribute(version));
  flags.input_derivatives = flag("canInterpolateInputs");
  flags.output_derivative_order = node.attribute("maxOutputDerivativeOrder").as_int(0);
  flags.directional_derivatives = flag(directional_attribute(version));
  flags.adjoint_derivatives = three && flag("providesAdjointDerivatives");
  flags.intermediate_update = flag("providesIntermediateUpdate");
  flags.returns_on_request = flags.intermediate_update && flag("canReturnEarlyAfterIntermediateUpdate");
  flags.event_mode = three && flag("hasEventMode");
  flags.once_per_process = flag("canBeInstantiatedOnlyOncePerProcess");
  flags.needs_execution_tool = flag("needsExecutionTool");
  flags.fixed_internal_step = xml.optional_step(node, "fixedInternalStepSize");
  return flags;
}

}  // namespace entrain::subsystem
