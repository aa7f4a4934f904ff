#include "coupling/discrete_signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/values.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::coupling {
namespace {

bool is_whole(ValueType type) {
  return type == ValueType::Integer || type == ValueType::Unsigned || type == ValueType::Boolean;
}

Value zero_of(ValueType type) {
  switch (type) {
    case ValueType::Real: return 0.0;
    case ValueType::Integer: return std::int64_t{0};
    case ValueType::Boolean: return false;
    case ValueType::String: return std::string();
    case ValueType::Unsigned: return std::uint64_t{0};
    case ValueType::Binary: break;
  }
  return Binary{};
}

template <class To>
std::optional<Value> whole_as(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return static_cast<To>(*flag);
  if (const auto* integer = std::get_if<std::int64_t>(&value)) {
    return std::in_range<To>(*integer) ? std::optional<Value>(static_cast<To>(*integer)) : std::nullopt;
  }
  const auto number = std::get<std::uint64_t>(value);
  return std::in_range<To>(number) ? std::optional<Value>(static_cast<To>(number)) : std::nullopt;
}

[[noreturn]] void refuse(const Subsystem& from, const Subsystem& to, const DiscreteConnection& connection,
                         const Value& value) {
  const auto& output = from.variables().discrete_outputs[connection.output];
  const auto& input = to.variables().discrete_inputs[connection.input];
  throw Error(
      ErrorCode::SubsystemFailed,
      {FactCode::ValueDoesNotFit,
       {},
       {{"value", value_text(value)},
        {"source", fmt::format("{}.{}", from.name(), output.name)},
        {"type", base::type_name(input)}}},
      {.subsystem = std::string(to.name()),
       .variable = input.name,
       .time = {},
       .remedy = fmt::format("Keep the output in that range, or feed an input of type {}", base::type_name(output))});
}

/// nullopt when the value does not fit. Expects can_feed.
std::optional<Value> passed_on(const Value& value, ValueType type) {
  if (value.index() == static_cast<std::size_t>(type)) return value;
  return type == ValueType::Integer ? whole_as<std::int64_t>(value) : whole_as<std::uint64_t>(value);
}

}  // namespace

bool can_feed(ValueType output, ValueType input) {
  if (output == input) return true;
  if (input == ValueType::Boolean) return false;
  return is_whole(output) && (is_whole(input) || input == ValueType::Real);
}

DiscreteSignals::DiscreteSignals(const std::vector<Subsystem*>& subsystems,
                                 const std::vector<DiscreteConnection>& connections)
    : subsystems_(subsystems) {
  std::vector<std::size_t> member_of(subsystems.size());
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    const auto& variables = subsystems[s]->variables();
    first_output_.push_back(values_.size());
    member_of[s] = members_.size();
    if (variables.discrete_outputs.empty() && variables.discrete_inputs.empty()) continue;
    Member& member = members_.emplace_back();
    member.subsystem = subsystems[s];
    member.index = s;
    member.first_output = values_.size();
    member.all_outputs.resize(variables.discrete_outputs.size());
    std::iota(member.all_outputs.begin(), member.all_outputs.end(), std::size_t{0});
    for (const auto& output : variables.discrete_outputs) values_.push_back(zero_of(output.type));
  }
  for (auto& member : members_) {
    member.first_input = values_.size();
    for (const auto& input : member.subsystem->variables().discrete_inputs) {
      values_.push_back(input.start.value_or(zero_of(input.type)));
    }
  }
  for (const auto& connection : connections) {
    auto& outputs = members_[member_of[connection.from]].connected_outputs;
    if (std::find(outputs.begin(), outputs.end(), connection.output) == outputs.end()) {
      outputs.push_back(connection.output);
    }
    if (connection.to_real) {
      real_connections_.push_back(connection);
      const Subsystem& to = *subsystems[connection.to];
      real_inputs_.push_back(fmt::format("{}.{}", to.name(), to.variables().inputs[connection.input].name));
    } else {
      members_[member_of[connection.to]].incoming.push_back(connection);
    }
  }
  forget();
}

std::vector<std::string> DiscreteSignals::changed_inputs() const {
  std::vector<std::string> names;
  for (const auto& member : members_) {
    const auto& inputs = member.subsystem->variables().discrete_inputs;
    for (const std::size_t input : member.changed_inputs)
      names.push_back(fmt::format("{}.{}", member.subsystem->name(), inputs[input].name));
  }
  return names.empty() ? real_inputs_ : names;
}

void DiscreteSignals::forget() {
  unsettled_.clear();
  written_.assign(values_.size(), 0);
  sent_.assign(real_connections_.size(), std::numeric_limits<double>::quiet_NaN());
}

void DiscreteSignals::restore(const Memory& memory) {
  values_ = memory;
  sent_.assign(real_connections_.size(), std::numeric_limits<double>::quiet_NaN());
}

void DiscreteSignals::set_start(std::size_t subsystem, std::size_t input, const Value& value) {
  for (const auto& member : members_) {
    if (member.index == subsystem) values_[member.first_input + input] = value;
  }
}

void DiscreteSignals::set_input(std::size_t subsystem, std::size_t input, const Value& value) {
  set_start(subsystem, input, value);
  subsystems_[subsystem]->facets().discrete->write(std::span(&input, 1), std::span(&value, 1));
}

const DiscreteConnection* DiscreteSignals::feeder(std::size_t subsystem, std::size_t input, bool real) const {
  const auto is_it = [&](const DiscreteConnection& of) { return of.to == subsystem && of.input == input; };
  const auto find = [&](const std::vector<DiscreteConnection>& some) {
    const auto found = std::find_if(some.begin(), some.end(), is_it);
    return found == some.end() ? nullptr : &*found;
  };
  if (real) return find(real_connections_);
  for (const auto& member : members_) {
    if (member.index == subsystem) return find(member.incoming);
  }
  return nullptr;
}

void DiscreteSignals::read(bool all) {
  for (auto& member : members_) {
    const auto& outputs = all ? member.all_outputs : member.connected_outputs;
    if (outputs.empty()) continue;
    member.buffer.resize(std::max(member.buffer.size(), outputs.size()));
    const auto values = std::span(member.buffer).first(outputs.size());
    member.subsystem->facets().discrete->read(outputs, values);
    for (std::size_t i = 0; i < outputs.size(); ++i) values_[member.first_output + outputs[i]] = values[i];
  }
}

bool DiscreteSignals::write(Time now, std::span<const Time> times) {
  bool changed = false;
  try {
    for (auto& member : members_) {
      if (!member.incoming.empty() && times[member.index] == now) changed = write_to(member) || changed;
    }
  } catch (const Error& error) {
    ErrorContext context = error.context();
    context.time = now;
    throw Error(error.code(), error.fact(), context);
  }
  return changed;
}

bool DiscreteSignals::write_to(Member& member) {
  member.changed_inputs.clear();
  const auto& inputs = member.subsystem->variables().discrete_inputs;
  for (const auto& connection : member.incoming) {
    auto value = passed_on(passed(connection), inputs[connection.input].type);
    if (!value) refuse(*subsystems_[connection.from], *member.subsystem, connection, source(connection));
    const std::size_t slot = member.first_input + connection.input;
    if (written_[slot] != 0 && values_[slot] == *value) continue;
    values_[slot] = std::move(*value);
    written_[slot] = 1;
    member.buffer.resize(std::max(member.buffer.size(), member.changed_inputs.size() + 1));
    member.buffer[member.changed_inputs.size()] = values_[slot];
    member.changed_inputs.push_back(connection.input);
  }
  if (member.changed_inputs.empty()) return false;
  member.subsystem->facets().discrete->write(member.changed_inputs,
                                             std::span(member.buffer).first(member.changed_inputs.size()));
  return true;
}

const Value& DiscreteSignals::passed(const DiscreteConnection& connection) const {
  const Value& value = source(connection);
  if (connection.table.empty()) return value;
  for (const auto& [output, input] : connection.table) {
    if (output == value) return input;
  }
  const Subsystem& from = *subsystems_[connection.from];
  const Subsystem& to = *subsystems_[connection.to];
  const auto& inputs = connection.to_real ? to.variables().inputs : to.variables().discrete_inputs;
  throw Error(
      ErrorCode::SubsystemFailed,
      {FactCode::ValueNotInTable,
       {},
       {{"value", value_text(value)},
        {"source", fmt::format("{}.{}", from.name(), from.variables().discrete_outputs[connection.output].name)}}},
      {.subsystem = std::string(to.name()),
       .variable = inputs[connection.input].name,
       .time = {},
       .remedy = "Add it to the table"});
}

double DiscreteSignals::number(const DiscreteConnection& connection) const {
  return connection.factor * base::number_of(passed(connection)) + connection.offset;
}

}  // namespace entrain::coupling
