#include <fmt/format.h>

#include <algorithm>

#include "subsystem/fmi/fmu.hpp"

namespace entrain {
namespace {

std::optional<ValueType> value_type(FmuType type) {
  switch (type) {
    case FmuType::Float32:
    case FmuType::Float64: return ValueType::Real;
    case FmuType::Boolean: return ValueType::Boolean;
    case FmuType::String: return ValueType::String;
    case FmuType::Binary:
    case FmuType::Clock: return std::nullopt;
    default: return ValueType::Integer;
  }
}

Variable table_entry(const FmuVariable& variable) {
  return {variable.name, variable.unit, variable.description, value_type(variable.type).value_or(ValueType::Real),
          variable.start};
}

bool is_signal(const FmuVariable& variable) {
  return variable.type == FmuType::Float64 && !variable.is_array;
}

/// What keeps one value over the run: parameters, and inputs that cannot be connected.
bool is_parameter(const FmuVariable& variable) {
  if (variable.is_array || !value_type(variable.type) || variable.variability == FmuVariability::Constant) return false;
  return variable.causality == FmuCausality::Parameter ||
         (variable.causality == FmuCausality::Input && !is_signal(variable));
}

void add_states(const FmuDescription& description, const std::string& fmu, FmuPorts& ports) {
  for (const auto& unknown : description.state_derivatives) {
    const auto& derivative = description.variables[unknown.variable];
    const FmuVariable* state = derivative.derivative_of ? &description.variables[*derivative.derivative_of] : nullptr;
    if (state == nullptr || !is_signal(*state) || !is_signal(derivative)) {
      ports.warnings.push_back(
          fmt::format("FMU '{}': '{}' is listed as a state derivative, but not of which scalar state: its states are "
                      "not used",
                      fmu, derivative.name));
      ports.states.clear();
      ports.derivatives.clear();
      ports.state_variables.clear();
      ports.table.states.clear();
      return;
    }
    ports.states.push_back(state->reference);
    ports.derivatives.push_back(derivative.reference);
    ports.state_variables.push_back(*derivative.derivative_of);
    ports.table.states.push_back(table_entry(*state));
  }
}

/// Dependencies that are not told are all there can be.
void add_feedthrough(const FmuDescription& description, const std::vector<std::size_t>& outputs, FmuPorts& ports) {
  ports.feedthrough = Feedthrough(outputs.size(), ports.inputs.size(), true);
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const auto line = std::find_if(description.outputs.begin(), description.outputs.end(),
                                   [&](const FmuUnknown& unknown) { return unknown.variable == outputs[o]; });
    if (line == description.outputs.end() || !line->dependencies) continue;
    for (std::size_t i = 0; i < ports.inputs.size(); ++i) {
      const bool depends = std::any_of(line->dependencies->begin(), line->dependencies->end(), [&](std::size_t index) {
        const auto& variable = description.variables[index];
        return variable.causality == FmuCausality::Input && is_signal(variable) &&
               variable.reference == ports.inputs[i];
      });
      ports.feedthrough.set(o, i, depends);
    }
  }
}

}  // namespace

FmuPorts ports_of(const FmuDescription& description, const std::string& fmu) {
  FmuPorts ports;
  if (description.co_simulation && description.co_simulation->needs_execution_tool) {
    ports.warnings.push_back(
        fmt::format("FMU '{}': it needs the tool that made it on this machine (needsExecutionTool)", fmu));
  }
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < description.variables.size(); ++i) {
    const auto& variable = description.variables[i];
    const bool is_port = variable.causality == FmuCausality::Input || variable.causality == FmuCausality::Output;
    if (is_port && !is_signal(variable)) {
      const char* prefix = variable.is_array ? "array of " : "";
      ports.table.other_ports.push_back({variable.name, fmt::format("{}{}", prefix, to_string(variable.type))});
    }
    if (is_port && variable.is_array) {
      ports.warnings.push_back(
          fmt::format("FMU '{}': the array '{}' cannot be connected and keeps its start value", fmu, variable.name));
    }
    if (is_parameter(variable)) {
      ports.parameter_variables.push_back(i);
      ports.table.parameters.push_back(table_entry(variable));
    } else if (is_port && is_signal(variable)) {
      const bool is_input = variable.causality == FmuCausality::Input;
      (is_input ? ports.inputs : ports.outputs).push_back(variable.reference);
      (is_input ? ports.input_variables : outputs).push_back(i);
      (is_input ? ports.table.inputs : ports.table.outputs).push_back(table_entry(variable));
    }
  }
  add_states(description, fmu, ports);
  add_feedthrough(description, outputs, ports);

  ports.unknowns = ports.derivatives;
  for (const ValueReference output : ports.outputs) {
    const auto state = std::find(ports.states.begin(), ports.states.end(), output);
    ports.state_of_output.push_back(state == ports.states.end()
                                        ? std::nullopt
                                        : std::optional(static_cast<std::size_t>(state - ports.states.begin())));
    if (!ports.state_of_output.back()) ports.unknowns.push_back(output);
  }
  return ports;
}

std::size_t FmuPorts::variable_of(VariableTable::Place place) const {
  switch (place.causality) {
    case Causality::Input: return input_variables[place.index];
    case Causality::State: return state_variables[place.index];
    default: return parameter_variables[place.index];
  }
}

}  // namespace entrain
