#include <algorithm>

#include "entrain/capabilities.hpp"
#include "entrain/variable.hpp"

namespace entrain {
namespace {

const std::vector<Variable>& list_of(const VariableTable& table, Causality causality) {
  switch (causality) {
    case Causality::Input: return table.inputs;
    case Causality::Output: return table.outputs;
    case Causality::State: return table.states;
    case Causality::DiscreteInput: return table.discrete_inputs;
    case Causality::DiscreteOutput: return table.discrete_outputs;
    case Causality::Local: return table.locals;
    case Causality::Parameter:
    case Causality::Method: break;
  }
  return table.parameters;
}

std::optional<VariableTable::Place> find_in_order(const VariableTable& table, std::string_view name,
                                                  std::initializer_list<Causality> order) {
  for (const auto causality : order) {
    const auto& list = list_of(table, causality);
    const auto found = std::find_if(list.begin(), list.end(), [&](const Variable& v) { return is_called(v, name); });
    if (found != list.end()) return VariableTable::Place{causality, static_cast<std::size_t>(found - list.begin())};
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(ClockKind kind) {
  switch (kind) {
    case ClockKind::Constant: return "constant";
    case ClockKind::Fixed: return "fixed";
    case ClockKind::Calculated: return "calculated";
    case ClockKind::Tunable: return "tunable";
    case ClockKind::Changing: return "changing";
    case ClockKind::Countdown: return "countdown";
    case ClockKind::Triggered: break;
  }
  return "triggered";
}

std::optional<VariableTable::Place> VariableTable::find(std::string_view name) const {
  return find_in_order(*this, name,
                       {Causality::Output, Causality::Input, Causality::State, Causality::Parameter,
                        Causality::DiscreteOutput, Causality::DiscreteInput, Causality::Local});
}

std::optional<VariableTable::Place> VariableTable::find_startable(std::string_view name) const {
  return find_in_order(
      *this, name,
      {Causality::Parameter, Causality::State, Causality::Input, Causality::DiscreteInput, Causality::Local});
}

const Variable& VariableTable::at(Place place) const {
  return list_of(*this, place.causality)[place.index];
}

bool Feedthrough::any() const {
  return std::find(depends_.begin(), depends_.end(), true) != depends_.end();
}

}  // namespace entrain
