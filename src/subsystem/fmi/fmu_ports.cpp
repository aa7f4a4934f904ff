#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/units.hpp"
#include "subsystem/fmi/fmi_text.hpp"
#include "subsystem/fmi/fmu.hpp"

namespace entrain {
namespace {

/// More are a mistake, or an attack: each element is a port with a name of its own.
constexpr std::uint64_t kMostElements = 1'000'000;

bool is_real(const FmuVariable& variable) {
  return variable.type == FmuType::Float64 || variable.type == FmuType::Float32;
}

bool is_plain(const FmuVariable& variable) {
  return variable.type == FmuType::Float64 && variable.dimensions.empty();
}

/// What keeps one value over the run.
bool is_parameter(const FmuVariable& variable) {
  return value_type(variable.type) && variable.variability != FmuVariability::Constant &&
         (variable.causality == FmuCausality::Parameter || variable.causality == FmuCausality::StructuralParameter);
}

/// "[2,3]" of the element with this number, row by row, counted from 1 (FMI 3.0, section 2.4.7.5.1).
std::string index_text(std::size_t element, const std::vector<std::uint64_t>& sizes) {
  std::vector<std::uint64_t> indices(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    indices[d] = element % sizes[d] + 1;
    element /= sizes[d];
  }
  return fmt::format("[{}]", fmt::join(indices, ","));
}

class PortMaker {
 public:
  PortMaker(const FmuDescription& description, const std::string& fmu, const FmuStructure& structure)
      : description_(description), fmu_(fmu), structure_(structure) {}

  FmuPorts make() {
    if (description_.co_simulation && description_.co_simulation->needs_execution_tool) {
      ports_.warnings.push_back(
          fmt::format("FMU '{}': it needs the tool that made it on this machine (needsExecutionTool)", fmu_));
    }
    for (const auto& variable : description_.variables) ports_.elements.push_back(element_count(variable));
    for (std::size_t i = 0; i < description_.variables.size(); ++i) {
      const auto& variable = description_.variables[i];
      if (is_parameter(variable)) add(i, ports_.table.parameters, ports_.parameter_origins);
    }
    add_reals(FmuCausality::Input);
    add_reals(FmuCausality::Output);
    add_discrete();
    add_states();
    add_feedthrough();
    add_unknowns();
    return std::move(ports_);
  }

 private:
  std::vector<std::uint64_t> sizes_of(const FmuVariable& variable) const {
    std::vector<std::uint64_t> sizes;
    for (const auto& dimension : variable.dimensions) {
      const auto given = structure_.find(dimension.variable);
      const auto& start = description_.variables[dimension.variable].start;
      if (dimension.size) {
        sizes.push_back(*dimension.size);
      } else if (given != structure_.end()) {
        sizes.push_back(given->second);
      } else {
        sizes.push_back(start && std::holds_alternative<std::uint64_t>(*start) ? std::get<std::uint64_t>(*start) : 0);
      }
    }
    return sizes;
  }

  std::size_t element_count(const FmuVariable& variable) const {
    std::uint64_t count = 1;
    for (const std::uint64_t size : sizes_of(variable)) {
      if (size == 0) fail(variable, "a dimension of size 0");
      if (size > kMostElements / count) fail(variable, fmt::format("more than {} elements", kMostElements));
      count *= size;
    }
    return count;
  }

  [[noreturn]] void fail(const FmuVariable& variable, const std::string& what) const {
    throw Error(ErrorCode::InvalidSystem, fmt::format("FMU '{}': the array '{}' has {}", fmu_, variable.name, what),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Check its structural parameters"});
  }

  std::optional<UnitMeaning> meaning_of(const FmuVariable& variable) const {
    const auto unit = std::find_if(description_.units.begin(), description_.units.end(),
                                   [&](const FmuUnit& candidate) { return candidate.name == variable.unit; });
    std::optional<UnitMeaning> meaning;
    if (unit != description_.units.end() && unit->has_base) {
      const UnitMeaning& defined = *unit;
      meaning = defined;
    }
    if (!variable.relative_quantity) return meaning;  // as the text says, if there is none
    if (!meaning) meaning = unit_meaning(variable.unit);
    return meaning ? std::optional(as_difference(*meaning)) : std::nullopt;
  }

  /// The variable as a port, or each of its elements.
  void add(std::size_t index, std::vector<Variable>& table, std::vector<PortOrigin>& origins) {
    const auto& variable = description_.variables[index];
    Variable entry{variable.name, variable.unit, variable.description,
                   value_type(variable.type).value_or(ValueType::Real), variable.start};
    entry.meaning = meaning_of(variable);
    entry.declared_type = to_string(variable.type);
    entry.tunable = variable.variability == FmuVariability::Tunable && variable.causality == FmuCausality::Parameter &&
                    variable.dimensions.empty();
    const auto sizes = sizes_of(variable);
    for (std::size_t element = 0; element < ports_.elements[index]; ++element) {
      table.push_back(entry);
      origins.push_back({index, element});
      if (sizes.empty()) return;
      table.back().name += index_text(element, sizes);
      if (element < variable.array_start.size()) table.back().start = variable.array_start[element];
    }
  }

  /// Those of type Float64 first: so their values lie together, and those of type Float32.
  void add_reals(FmuCausality causality) {
    const bool is_input = causality == FmuCausality::Input;
    auto& table = is_input ? ports_.table.inputs : ports_.table.outputs;
    for (const FmuType type : {FmuType::Float64, FmuType::Float32}) {
      auto& references = type == FmuType::Float64 ? (is_input ? ports_.inputs : ports_.outputs)
                                                  : (is_input ? ports_.float_inputs : ports_.float_outputs);
      for (std::size_t i = 0; i < description_.variables.size(); ++i) {
        const auto& variable = description_.variables[i];
        if (variable.causality != causality || variable.type != type) continue;
        references.push_back(variable.reference);
        add(i, table, is_input ? ports_.input_origins : ports_.output_origins);
        ports_.plain = ports_.plain && is_plain(variable);
      }
      if (type == FmuType::Float64) (is_input ? ports_.double_inputs : ports_.double_outputs) = table.size();
    }
  }

  void add_discrete() {
    for (std::size_t i = 0; i < description_.variables.size(); ++i) {
      const auto& variable = description_.variables[i];
      const bool is_input = variable.causality == FmuCausality::Input;
      if ((!is_input && variable.causality != FmuCausality::Output) || is_real(variable)) continue;
      if (!value_type(variable.type)) {
        ports_.table.other_ports.push_back({variable.name, std::string(to_string(variable.type))});
      } else if (is_input) {
        add(i, ports_.table.discrete_inputs, ports_.discrete_input_origins);
      } else {
        add(i, ports_.table.discrete_outputs, ports_.discrete_output_origins);
      }
    }
  }

  void add_states() {
    for (const auto& unknown : description_.state_derivatives) {
      const auto& derivative = description_.variables[unknown.variable];
      const FmuVariable* state =
          derivative.derivative_of ? &description_.variables[*derivative.derivative_of] : nullptr;
      if (state == nullptr || !is_plain(*state) || !is_plain(derivative)) {
        ports_.warnings.push_back(
            fmt::format("FMU '{}': '{}' is listed as a state derivative, but not of which scalar state: its states are "
                        "not used",
                        fmu_, derivative.name));
        ports_.states.clear();
        ports_.derivatives.clear();
        ports_.state_variables.clear();
        ports_.table.states.clear();
        return;
      }
      ports_.states.push_back(state->reference);
      ports_.derivatives.push_back(derivative.reference);
      ports_.state_variables.push_back(*derivative.derivative_of);
      std::vector<PortOrigin> origins;
      add(*derivative.derivative_of, ports_.table.states, origins);
    }
  }

  /// Dependencies that are not told are all there can be. Those of an array are those of all its elements.
  void add_feedthrough() {
    ports_.feedthrough = Feedthrough(ports_.output_origins.size(), ports_.input_origins.size(), true);
    const auto reference = [&](const PortOrigin& origin) { return description_.variables[origin.variable].reference; };
    for (std::size_t o = 0; o < ports_.output_origins.size(); ++o) {
      const auto line = std::find_if(
          description_.outputs.begin(), description_.outputs.end(),
          [&](const FmuUnknown& unknown) { return unknown.variable == ports_.output_origins[o].variable; });
      if (line == description_.outputs.end() || !line->dependencies) continue;
      for (std::size_t i = 0; i < ports_.input_origins.size(); ++i) {
        const bool depends =
            std::any_of(line->dependencies->begin(), line->dependencies->end(), [&](std::size_t index) {
              const auto& variable = description_.variables[index];
              return variable.causality == FmuCausality::Input && is_real(variable) &&
                     variable.reference == reference(ports_.input_origins[i]);
            });
        ports_.feedthrough.set(o, i, depends);
      }
    }
  }

  void add_unknowns() {
    if (!ports_.plain) return;
    ports_.unknowns = ports_.derivatives;
    for (const ValueReference output : ports_.outputs) {
      const auto state = std::find(ports_.states.begin(), ports_.states.end(), output);
      ports_.state_of_output.push_back(state == ports_.states.end()
                                           ? std::nullopt
                                           : std::optional(static_cast<std::size_t>(state - ports_.states.begin())));
      if (!ports_.state_of_output.back()) ports_.unknowns.push_back(output);
    }
  }

  const FmuDescription& description_;
  const std::string& fmu_;
  const FmuStructure& structure_;
  FmuPorts ports_;
};

}  // namespace

FmuPorts ports_of(const FmuDescription& description, const std::string& fmu, const FmuStructure& structure) {
  return PortMaker(description, fmu, structure).make();
}

PortOrigin FmuPorts::origin(VariableTable::Place place) const {
  switch (place.causality) {
    case Causality::Input: return input_origins[place.index];
    case Causality::State: return {state_variables[place.index], 0};
    case Causality::DiscreteInput: return discrete_input_origins[place.index];
    default: return parameter_origins[place.index];
  }
}

}  // namespace entrain
