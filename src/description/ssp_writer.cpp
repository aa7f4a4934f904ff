#include "description/ssp_writer.hpp"

#include <fmt/format.h>

#include "base/units.hpp"
#include "base/values.hpp"
#include "base/xml.hpp"
#include "description/ssp_units.hpp"
#include "description/system_file.hpp"
#include "description/toml_text.hpp"

namespace entrain::description {
namespace {

using Text = fmt::memory_buffer;

template <class... Arguments>
void add_text(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

std::string_view type_name(ValueType type) {
  switch (type) {
    case ValueType::Real: return "Real";
    case ValueType::Integer: return "Integer";
    case ValueType::Boolean: return "Boolean";
    case ValueType::Unsigned: return "Integer";
    case ValueType::Binary: return "Binary";
    case ValueType::String: break;
  }
  return "String";
}

void add_connectors(Text& text, std::string_view kind, const std::vector<Variable>& variables) {
  for (const auto& variable : variables)
    add_text(text, "          <ssd:Connector name=\"{}\" kind=\"{}\"><ssc:{}/></ssd:Connector>\n",
             base::xml_attribute(variable.name), kind, type_name(variable.type));
}

/// <ssv:Real value="0.5"/>
std::string typed(const Value& value, const std::string& unit) {
  struct Typed {
    std::string operator()(double v) const { return fmt::format("Real value=\"{}\"", v); }
    std::string operator()(std::int64_t v) const { return fmt::format("Integer value=\"{}\"", v); }
    std::string operator()(bool v) const { return fmt::format("Boolean value=\"{}\"", v); }
    std::string operator()(const std::string& v) const {
      return fmt::format("String value=\"{}\"", base::xml_attribute(v));
    }
    std::string operator()(std::uint64_t v) const { return fmt::format("Integer value=\"{}\"", v); }
    std::string operator()(const Binary& v) const { return fmt::format("Binary value=\"{}\"", value_text(v)); }
  };
  const std::string unit_text = unit.empty() ? "" : fmt::format(" unit=\"{}\"", base::xml_attribute(unit));
  return fmt::format("<ssv:{}{}/>", std::visit(Typed{}, value), unit_text);
}

/// In the type of its variable, and without a unit that is the variable's own.
OptionalStart as_declared(OptionalStart start, const std::string& name, const VariableTable& variables) {
  const auto place = variables.find_startable(name);
  if (!place) return start;
  const Variable& variable = variables.at(*place);
  if (auto value = base::converted(start.value, variable)) start.value = std::move(*value);
  if (start.unit == variable.unit) start.unit.clear();
  return start;
}

void add_values(Text& text, const SubsystemDescription& subsystem, const VariableTable& variables) {
  std::map<std::string, OptionalStart> values = subsystem.optional_start;
  for (const auto& [name, written] : subsystem.start) values[name] = {written.value, {}, written.where};
  if (values.empty()) return;
  add_text(text,
           "        <ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>\n"
           "          <ssv:ParameterSet version=\"1.0\" name=\"start\"><ssv:Parameters>\n");
  std::map<std::string, UnitMeaning> units;  // a parameter set defines those that it uses
  for (const auto& [name, given] : values) {
    const OptionalStart start = as_declared(given, name, variables);
    add_text(text, "            <ssv:Parameter name=\"{}\">{}</ssv:Parameter>\n", base::xml_attribute(name),
             typed(start.value, start.unit));
    const auto meaning = start.unit.empty() ? std::nullopt : base::unit_meaning(start.unit);
    if (meaning) units.insert({start.unit, *meaning});
  }
  add_text(text, "          </ssv:Parameters>");
  if (!units.empty()) {
    add_text(text, "<ssv:Units>");
    for (const auto& [name, meaning] : units) add_text(text, "{}", unit_element(name, meaning));
    add_text(text, "</ssv:Units>");
  }
  add_text(text,
           "</ssv:ParameterSet>\n"
           "        </ssd:ParameterValues></ssd:ParameterBinding></ssd:ParameterBindings>\n");
}

std::string_view implementation_of(const SubsystemDescription& subsystem) {
  if (!subsystem.interface) return "any";
  switch (subsystem.interface->value) {
    case FmuInterface::ModelExchange: return "ModelExchange";
    case FmuInterface::ScheduledExecution: return "ScheduledExecution";
    case FmuInterface::CoSimulation: break;
  }
  return "CoSimulation";
}

void add_component(Text& text, const SubsystemDescription& subsystem, const SsdComponent& component) {
  const std::string_view implementation = implementation_of(subsystem);
  add_text(text,
           "      <ssd:Component name=\"{}\" type=\"application/x-fmu-sharedlibrary\" source=\"{}\" "
           "implementation=\"{}\">\n",
           base::xml_attribute(subsystem.name), base::xml_attribute(component.source), implementation);
  const auto& variables = component.variables;
  const bool has_discrete = !variables.discrete_inputs.empty() || !variables.discrete_outputs.empty();
  if (!variables.inputs.empty() || !variables.outputs.empty() || has_discrete) {
    add_text(text, "        <ssd:Connectors>\n");
    add_connectors(text, "input", variables.inputs);
    add_connectors(text, "input", variables.discrete_inputs);
    add_connectors(text, "output", variables.outputs);
    add_connectors(text, "output", variables.discrete_outputs);
    add_text(text, "        </ssd:Connectors>\n");
  }
  add_values(text, subsystem, variables);
  add_text(text, "      </ssd:Component>\n");
}

/// Of booleans, of integers, or, by their names, of values of enumerations.
std::string table_element(const ValueTable& table) {
  const auto& sample = table.front().first;
  const std::string_view type = std::holds_alternative<bool>(sample)          ? "Boolean"
                                : std::holds_alternative<std::string>(sample) ? "Enumeration"
                                                                              : "Integer";
  std::string text = fmt::format("<ssc:{}MappingTransformation>", type);
  for (const auto& [source, target] : table)
    text += fmt::format("<ssc:MapEntry source=\"{}\" target=\"{}\"/>", base::xml_attribute(value_text(source)),
                        base::xml_attribute(value_text(target)));
  return text + fmt::format("</ssc:{}MappingTransformation>", type);
}

void add_connection(Text& text, const ConnectionDescription& connection) {
  const auto split = [](const std::string& name) {
    const auto dot = name.find('.');
    return std::pair(base::xml_attribute(name.substr(0, dot)), base::xml_attribute(name.substr(dot + 1)));
  };
  const auto [from, output] = split(connection.output);
  const auto [to, input] = split(connection.input);
  add_text(text,
           "      <ssd:Connection startElement=\"{}\" startConnector=\"{}\" endElement=\"{}\" endConnector=\"{}\"",
           from, output, to, input);
  if (!connection.convert_units) add_text(text, " suppressUnitConversion=\"true\"");
  if (!connection.table.empty()) {
    add_text(text, ">{}</ssd:Connection>\n", table_element(connection.table));
  } else if (connection.factor == 1.0 && connection.offset == 0.0) {
    add_text(text, "/>\n");
  } else {
    add_text(text, "><ssc:LinearTransformation factor=\"{}\" offset=\"{}\"/></ssd:Connection>\n", connection.factor,
             connection.offset);
  }
}

/// Everything but the structure, which is in the SSD itself.
std::string settings(SystemDescription description) {
  description.connections.clear();
  for (auto& subsystem : description.subsystems) {
    subsystem.start.clear();
    subsystem.optional_start.clear();
    subsystem.fmu = "in the SSD";
  }
  return system_text(description);
}

}  // namespace

std::string write_ssd(const SystemDescription& description, const std::vector<SsdComponent>& components) {
  Text text;
  add_text(text,
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
           "<ssd:SystemStructureDescription version=\"1.0\" name=\"{0}\"\n"
           "    xmlns:ssd=\"http://ssp-standard.org/SSP1/SystemStructureDescription\"\n"
           "    xmlns:ssc=\"http://ssp-standard.org/SSP1/SystemStructureCommon\"\n"
           "    xmlns:ssv=\"http://ssp-standard.org/SSP1/SystemStructureParameterValues\">\n"
           "  <ssd:System name=\"{0}\">\n    <ssd:Elements>\n",
           base::xml_attribute(description.name));
  for (std::size_t i = 0; i < components.size(); ++i) add_component(text, description.subsystems[i], components[i]);
  add_text(text, "    </ssd:Elements>\n");
  if (!description.connections.empty()) {
    add_text(text, "    <ssd:Connections>\n");
    for (const auto& connection : description.connections) add_connection(text, connection);
    add_text(text, "    </ssd:Connections>\n");
  }
  add_text(text, "  </ssd:System>\n  <ssd:DefaultExperiment startTime=\"{}\"", description.start.value);
  if (description.stop) add_text(text, " stopTime=\"{}\"", description.stop->value);
  add_text(text,
           "/>\n  <ssd:Annotations>\n    <ssc:Annotation type=\"{}\"><entrain:settings "
           "xmlns:entrain=\"urn:entrain:settings\">{}</entrain:settings></ssc:Annotation>\n"
           "  </ssd:Annotations>\n</ssd:SystemStructureDescription>\n",
           kSspSettings, base::xml_text(settings(description)));
  return fmt::to_string(text);
}

}  // namespace entrain::description
