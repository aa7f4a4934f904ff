#include "coupling/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/suggest.hpp"
#include "subsystem/restricted.hpp"

namespace entrain {
namespace {

template <class T>
std::optional<T> value_of(const std::optional<Written<T>>& written) {
  if (!written) return std::nullopt;
  return written->value;
}

std::optional<int> int_of(const std::optional<Written<std::int64_t>>& written) {
  if (!written) return std::nullopt;
  return static_cast<int>(written->value);
}

Restrictions restrictions_of(const SubsystemDescription& description) {
  Restrictions restrictions;
  restrictions.rollback = value_of(description.rollback);
  restrictions.states = value_of(description.states);
  restrictions.state_derivatives = value_of(description.state_derivatives);
  restrictions.linearization = value_of(description.linearization);
  restrictions.input_degree = int_of(description.input_degree);
  restrictions.output_derivative_order = int_of(description.output_derivative_order);
  restrictions.imposed_step = value_of(description.step);
  restrictions.step_offset = value_of(description.step_offset);
  restrictions.min_step = value_of(description.min_step);
  restrictions.max_step = value_of(description.max_step);
  restrictions.initial_step = value_of(description.initial_step);
  restrictions.substeps = int_of(description.substeps);
  restrictions.events = value_of(description.events);
  return restrictions;
}

std::string_view type_name(const Value& value) {
  constexpr std::array<std::string_view, 4> kNames{"a number", "an integer", "a boolean", "a string"};
  return kNames[value.index()];
}

/// The value in the type of the variable, if it fits; an integer is a number too.
std::optional<Value> convert(const Value& value, ValueType type) {
  switch (type) {
    case ValueType::Real:
      if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
      if (std::holds_alternative<double>(value)) return value;
      break;
    case ValueType::Integer:
      if (std::holds_alternative<std::int64_t>(value)) return value;
      break;
    case ValueType::Boolean:
      if (std::holds_alternative<bool>(value)) return value;
      break;
    case ValueType::String:
      if (std::holds_alternative<std::string>(value)) return value;
      break;
  }
  return std::nullopt;
}

std::string_view expected_type(ValueType type) {
  switch (type) {
    case ValueType::Real: return "a number";
    case ValueType::Integer: return "an integer";
    case ValueType::Boolean: return "a boolean";
    case ValueType::String: break;
  }
  return "a string";
}

std::vector<std::string> names_of(std::initializer_list<const std::vector<Variable>*> lists,
                                  const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto* list : lists) {
    for (const auto& variable : *list) names.push_back(prefix + variable.name);
  }
  return names;
}

class Assembler {
 public:
  Assembler(const SystemDescription& description, std::vector<Problem>& problems)
      : description_(description), problems_(problems) {}

  Assembly run(const SubsystemFactory& factory) {
    for (const auto& subsystem : description_.subsystems) add(subsystem, factory);
    for (const auto& connection : description_.connections) connect(connection);
    check_unconnected();
    return std::move(assembly_);
  }

 private:
  struct Entry {
    const SubsystemDescription* description;
    std::size_t index;
    std::size_t first_input;
    std::size_t first_output;
  };

  void problem(const SourcePosition& where, std::string message, std::string remedy = {}) {
    problems_.push_back({std::move(message), std::move(remedy), where, Problem::Severity::Error});
  }

  void add(const SubsystemDescription& description, const SubsystemFactory& factory) {
    auto subsystem = factory(description, problems_);
    if (!subsystem) {
      broken_.insert(description.name);
      return;
    }
    const auto& variables = subsystem->variables();
    std::vector<std::optional<double>> inputs;
    for (const auto& input : variables.inputs) {
      inputs.push_back(input.start ? std::optional(std::get<double>(*input.start)) : std::nullopt);
    }
    for (const auto& [name, written] : description.start) set_start(*subsystem, description, name, written, inputs);
    for (const auto& [name, start] : description.optional_start) {
      if (description.start.contains(name) || !is_known(variables, description, name, start)) continue;
      set_start(*subsystem, description, name, {start.value, start.where}, inputs);
    }

    try {
      subsystem = restrict_as_written(std::move(subsystem), description);
      Graph::Node node{description.name, {}, {}, subsystem->capabilities().feedthrough};
      for (const auto& input : variables.inputs) node.inputs.push_back(input.name);
      for (const auto& output : variables.outputs) node.outputs.push_back(output.name);
      entries_[description.name] = {&description, assembly_.subsystems.size(), given_inputs_.size(), outputs_};
      outputs_ += node.outputs.size();
      given_inputs_.insert(given_inputs_.end(), inputs.begin(), inputs.end());
      assembly_.nodes.push_back(std::move(node));
      assembly_.subsystems.push_back(std::move(subsystem));
    } catch (const Error& error) {  // a parameter that makes no sense
      const auto written = description.start.find(error.context().variable);
      problem(written == description.start.end() ? description.where : written->second.where, error.what());
      broken_.insert(description.name);
    }
  }

  /// Parameter sets may hold more than a subsystem knows.
  bool is_known(const VariableTable& variables, const SubsystemDescription& description, const std::string& name,
                const OptionalStart& start) {
    const auto place = variables.find_startable(name);
    if (!place) {
      problems_.push_back(
          {fmt::format("'{}' has no variable '{}' to start: its value is ignored", description.name, name), "",
           start.where, Problem::Severity::Warning});
      return false;
    }
    const std::string& unit = variables.at(*place).unit;
    if (start.unit.empty() || unit.empty() || start.unit == unit) return true;
    problem(start.where,
            fmt::format("'{}.{}' takes a value in '{}', not in '{}'", description.name, name, unit, start.unit));
    return false;
  }

  void set_start(Subsystem& subsystem, const SubsystemDescription& description, const std::string& name,
                 const Written<Value>& written, std::vector<std::optional<double>>& inputs) {
    const auto& variables = subsystem.variables();
    const auto place = variables.find_startable(name);
    if (!place) {
      const auto known = names_of({&variables.parameters, &variables.states, &variables.inputs}, "");
      problem(written.where, fmt::format("'{}' has no parameter, state or input '{}' to start", description.name, name),
              suggestion(name, known));
      return;
    }
    const auto& variable = variables.at(*place);
    const auto value = convert(written.value, variable.type);
    if (!value) {
      problem(written.where, fmt::format("'{}.{}' takes {}, not {}", description.name, name,
                                         expected_type(variable.type), type_name(written.value)));
      return;
    }
    if (place->causality == Causality::Input) inputs[place->index] = std::get<double>(*value);
    subsystem.set_start(*place, *value);
  }

  std::unique_ptr<Subsystem> restrict_as_written(std::unique_ptr<Subsystem> subsystem,
                                                 const SubsystemDescription& description) {
    const Restrictions restrictions = restrictions_of(description);
    if (!restrictions.any()) return subsystem;
    for (const auto& sentence : additions(subsystem->capabilities(), restrictions)) {
      problem(description.where, fmt::format("'{}': {}", description.name, sentence),
              "the system file can take capabilities away, not add them");
    }
    return restricted(std::move(subsystem), restrictions);
  }

  struct End {
    const Entry* entry;
    VariableTable::Place place;
  };

  /// "subsystem.variable", the first dot ending the subsystem's name. nullopt when a problem was added.
  std::optional<End> find(const std::string& name, Causality wanted, const SourcePosition& where) {
    const auto dot = name.find('.');
    if (dot == std::string::npos) return std::nullopt;  // said by the parser already
    const std::string subsystem = name.substr(0, dot);
    const std::string variable = name.substr(dot + 1);
    if (broken_.contains(subsystem)) return std::nullopt;
    const auto entry = entries_.find(subsystem);
    if (entry == entries_.end()) {
      std::vector<std::string> known;
      for (const auto& s : description_.subsystems) known.push_back(s.name);
      problem(where, fmt::format("unknown subsystem '{}' in '{}'", subsystem, name), suggestion(subsystem, known));
      return std::nullopt;
    }
    const auto& variables = assembly_.subsystems[entry->second.index]->variables();
    const auto& wanted_list = wanted == Causality::Output ? variables.outputs : variables.inputs;
    for (std::size_t i = 0; i < wanted_list.size(); ++i) {
      if (wanted_list[i].name == variable) return End{&entry->second, {wanted, i}};
    }
    const std::string_view kind = wanted == Causality::Output ? "an output" : "an input";
    const auto other = std::find_if(variables.other_ports.begin(), variables.other_ports.end(),
                                    [&](const OtherPort& port) { return port.name == variable; });
    if (other != variables.other_ports.end()) {
      problem(where, fmt::format("'{}' is of type {}, which cannot be connected yet", name, other->type),
              "only scalar Real (Float64) inputs and outputs can");
    } else if (variables.find(variable)) {
      problem(where, fmt::format("'{}' is not {}", name, kind),
              "a connection reads \"subsystem.output\" = \"subsystem.input\"");
    } else {
      problem(where, fmt::format("unknown variable '{}'", name),
              suggestion(name, names_of({&wanted_list}, subsystem + ".")));
    }
    return std::nullopt;
  }

  void connect(const ConnectionDescription& description) {
    // The inputs of one output follow each other; its name is looked up, and complained of, once.
    if (description.output != last_output_name_) {
      last_output_name_ = description.output;
      last_output_ = find(description.output, Causality::Output, description.output_where);
    }
    const auto& from = last_output_;
    const auto to = find(description.input, Causality::Input, description.where);
    if (to) {
      const std::size_t input = to->entry->first_input + to->place.index;
      const auto [earlier, is_new] = fed_by_.insert({input, &description});
      if (!is_new) {
        problem(description.where,
                fmt::format("'{}' is fed twice: by '{}' (line {}) and by '{}'", description.input,
                            earlier->second->output, earlier->second->where.line, description.output),
                "an input takes one output");
        return;
      }
    }
    if (!from || !to) return;
    assembly_.connections.push_back({OutputId{from->entry->first_output + from->place.index},
                                     InputId{to->entry->first_input + to->place.index}, description.factor,
                                     description.offset});
  }

  void check_unconnected() {
    assembly_.start_inputs.resize(given_inputs_.size(), 0.0);
    for (const auto& [name, entry] : entries_) {
      const auto& inputs = assembly_.subsystems[entry.index]->variables().inputs;
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto& given = given_inputs_[entry.first_input + i];
        assembly_.start_inputs[entry.first_input + i] = given.value_or(0.0);
        if (given || fed_by_.contains(entry.first_input + i)) continue;
        problem(entry.description->where, fmt::format("input '{}.{}' is not connected", name, inputs[i].name),
                fmt::format("connect it, or give it a value: start = {{ {} = ... }}", inputs[i].name));
      }
    }
  }

  const SystemDescription& description_;
  std::vector<Problem>& problems_;
  Assembly assembly_;
  std::string last_output_name_;
  std::optional<End> last_output_;
  std::map<std::string, Entry> entries_;
  std::set<std::string> broken_;  // subsystems that could not be made: no follow-up problems about them
  std::map<std::size_t, const ConnectionDescription*> fed_by_;
  std::vector<std::optional<double>> given_inputs_;
  std::size_t outputs_ = 0;
};

}  // namespace

Assembly assemble(const SystemDescription& description, const SubsystemFactory& factory,
                  std::vector<Problem>& problems) {
  return Assembler(description, problems).run(factory);
}

}  // namespace entrain
