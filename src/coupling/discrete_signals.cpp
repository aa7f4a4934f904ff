#include "coupling/discrete_signals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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
                                 const std::vector<DiscreteConnection>& connections, const Graph& graph,
                                 std::span<const double> signals)
    : subsystems_(subsystems), connections_(connections), graph_(graph), signals_(signals) {
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
    for (std::size_t i = 0; i < variables.discrete_outputs.size(); ++i) {
      // What has a clock lives in event phases only, and is read there.
      if (variables.discrete_outputs[i].clocks.empty()) member.all_outputs.push_back(i);
      values_.push_back(zero_of(variables.discrete_outputs[i].type));
    }
  }
  for (auto& member : members_) {
    member.first_input = values_.size();
    for (const auto& input : member.subsystem->variables().discrete_inputs) {
      values_.push_back(input.start.value_or(zero_of(input.type)));
    }
  }
  for (const auto& connection : connections) {
    if (!connection.from_real) {
      auto& member = members_[member_of[connection.from]];
      auto& outputs = member.connected_outputs;
      const auto& all = member.all_outputs;
      if (std::find(all.begin(), all.end(), connection.output) != all.end() &&
          std::find(outputs.begin(), outputs.end(), connection.output) == outputs.end()) {
        outputs.push_back(connection.output);
      }
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
  written_.assign(values_.size(), 1);  // all were, at the start
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
    if (!outputs.empty()) read(member, outputs);
  }
}

void DiscreteSignals::read(Member& member, std::span<const std::size_t> outputs) {
  member.buffer.resize(std::max(member.buffer.size(), outputs.size()));
  const auto values = std::span(member.buffer).first(outputs.size());
  member.subsystem->facets().discrete->read(outputs, values);
  for (std::size_t i = 0; i < outputs.size(); ++i) values_[member.first_output + outputs[i]] = values[i];
}

bool DiscreteSignals::write(Time now, std::span<const Time> times) {
  bool changed = false;
  // Inputs with a clock are set in event phases.
  const auto wanted = [this](const DiscreteConnection& connection, bool differs) {
    return differs && subsystems_[connection.to]->variables().discrete_inputs[connection.input].clocks.empty();
  };
  try {
    for (auto& member : members_) {
      member.changed_inputs.clear();
      if (member.incoming.empty() || member.in_phases || times[member.index] != now) continue;
      if (!collect(member, wanted)) continue;
      write_collected(member);
      changed = true;
    }
  } catch (const Error& error) {
    ErrorContext context = error.context();
    context.time = now;
    throw Error(error.code(), error.fact(), context);
  }
  return changed;
}

bool DiscreteSignals::collect(Member& member, Wanted wanted) {
  member.changed_inputs.clear();
  member.changed_by.clear();
  for (const auto& connection : member.incoming) {
    Value value = fitting(member, connection);
    const std::size_t slot = member.first_input + connection.input;
    if (!wanted(connection, written_[slot] == 0 || values_[slot] != value)) continue;
    values_[slot] = std::move(value);
    written_[slot] = 1;
    member.buffer.resize(std::max(member.buffer.size(), member.changed_inputs.size() + 1));
    member.buffer[member.changed_inputs.size()] = values_[slot];
    member.changed_inputs.push_back(connection.input);
    member.changed_by.push_back(&connection);
  }
  return !member.changed_inputs.empty();
}

void DiscreteSignals::write_collected(Member& member) {
  member.subsystem->facets().discrete->write(member.changed_inputs,
                                             std::span(member.buffer).first(member.changed_inputs.size()));
}

Value DiscreteSignals::fitting(const Member& member, const DiscreteConnection& connection) const {
  const auto& input = member.subsystem->variables().discrete_inputs[connection.input];
  auto value = passed_on(passed(connection), input.type);
  if (!value) refuse(*subsystems_[connection.from], *member.subsystem, connection, source(connection));
  return *std::move(value);
}

DiscreteSignals::Member* DiscreteSignals::member(std::size_t subsystem) {
  const auto found =
      std::find_if(members_.begin(), members_.end(), [&](const Member& each) { return each.index == subsystem; });
  return found == members_.end() ? nullptr : &*found;
}

bool DiscreteSignals::is_connected(std::size_t subsystem, std::size_t output) const {
  return std::any_of(connections_.begin(), connections_.end(), [&](const DiscreteConnection& each) {
    return each.from == subsystem && !each.from_real && each.output == output;
  });
}

void DiscreteSignals::leave_to_events(std::size_t subsystem) {
  if (Member* found = member(subsystem)) found->in_phases = true;
}

void DiscreteSignals::read(std::size_t subsystem, std::span<const std::size_t> outputs) {
  read(*member(subsystem), outputs);
}

bool DiscreteSignals::would_pass_on(std::size_t subsystem, Wanted wanted) {
  const Member* found = member(subsystem);
  if (found == nullptr) return false;
  return std::any_of(found->incoming.begin(), found->incoming.end(), [&](const DiscreteConnection& connection) {
    const std::size_t slot = found->first_input + connection.input;
    return wanted(connection, written_[slot] == 0 || values_[slot] != fitting(*found, connection));
  });
}

std::span<const DiscreteConnection* const> DiscreteSignals::collect(std::size_t subsystem, Wanted wanted) {
  Member* found = member(subsystem);
  if (found == nullptr || !collect(*found, wanted)) return {};
  return found->changed_by;
}

void DiscreteSignals::write_collected(std::size_t subsystem) {
  write_collected(*member(subsystem));
}

const Value& DiscreteSignals::source(const DiscreteConnection& connection) const {
  if (!connection.from_real) return values_[first_output_[connection.from] + connection.output];
  const double number = signals_[graph_.outputs_of(connection.from).first + connection.output];
  sampled_ = connection.factor * number + connection.offset;
  return sampled_;
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
