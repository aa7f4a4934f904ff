#include "run/changes.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/suggest.hpp"
#include "base/values.hpp"
#include "coupling/discrete_signals.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::running {
namespace {

[[noreturn]] void refuse(Fact fact, const std::string& remedy = {}) {
  throw Error(ErrorCode::InvalidSystem, std::move(fact),
              {.subsystem = {}, .variable = {}, .time = std::nullopt, .remedy = remedy});
}

std::vector<std::string> settable_names(const CoupledSystem& system) {
  std::vector<std::string> names;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& variables = system.variables(SubsystemId{s});
    const auto add = [&](const std::vector<Variable>& some) {
      for (const auto& variable : some) names.push_back(system.graph().name(SubsystemId{s}) + "." + variable.name);
    };
    add(variables.inputs);
    add(variables.discrete_inputs);
    add(variables.parameters);
  }
  return names;
}

/// The output that feeds an input, "subsystem.variable"; empty if none does.
std::string source_of_input(CoupledSystem& system, SubsystemId s, VariableTable::Place place) {
  const auto& graph = system.graph();
  const bool real = place.causality == Causality::Input;
  if (real) {
    const Connection* source = graph.source(InputId{graph.inputs_of(s).first + place.index});
    if (source != nullptr) return graph.name(source->output);
  }
  const auto* fed =
      system.engine().discrete() == nullptr ? nullptr : system.engine().discrete()->feeder(s, place.index, real);
  if (fed == nullptr) return {};
  const auto& variables = system.variables(fed->from);
  const auto& outputs = fed->from_real ? variables.outputs : variables.discrete_outputs;
  return graph.name(fed->from) + "." + outputs[fed->output].name;
}

}  // namespace

void Changes::set(std::string_view name, const Value& value, bool initialized) {
  const auto& graph = system_.graph();
  for (std::size_t s = 0; s < system_.size(); ++s) {
    const std::string prefix = graph.name(SubsystemId{s}) + ".";
    if (!name.starts_with(prefix)) continue;
    const auto& table = system_.variables(SubsystemId{s});
    const auto found = table.find_startable(name.substr(prefix.size()));
    if (!found) break;
    const auto [causality, index] = *found;
    const bool is_input = causality == Causality::Input;
    if (!is_input && causality != Causality::DiscreteInput && causality != Causality::Parameter) {
      refuse({FactCode::NotSettable, {std::string(name)}});
    }
    const Variable& variable = table.at(*found);
    if (causality != Causality::Parameter) {
      const auto source = source_of_input(system_, SubsystemId{s}, *found);
      if (!source.empty()) {
        refuse({FactCode::SetButFed, {std::string(name), source}},
               "Remove the connection, or set what the output depends on");
      }
    }
    if (initialized && causality == Causality::Parameter &&
        (!variable.tunable || system_.facets(SubsystemId{s}).tuning == nullptr)) {
      refuse({FactCode::SetNotTunable, {std::string(name)}}, "Give it as a start value, and run again");
    }
    const auto fitting = base::converted(value, variable);
    if (!fitting) {
      refuse({FactCode::WrongValueType,
              {std::string(name)},
              {{"expected", base::kind_of(variable.type)}, {"found", base::kind_of(value)}}});
    }
    if (const auto* number = std::get_if<double>(&*fitting); number != nullptr && !std::isfinite(*number)) {
      refuse({FactCode::SetNotFinite, {std::string(name)}, {{"value", *number}}});
    }
    const Place place{s, causality, index};
    if (!originals_.contains(place)) originals_[place] = value_before(place);
    if (!initialized) {
      system_.engine().set_start(SubsystemId{s}, *found, *fitting);
      at_start_[place] = *fitting;
    } else {
      apply(place, *fitting);
    }
    in_force_[place] = *fitting;
    return;
  }
  refuse({FactCode::NothingToSet, {std::string(name)}}, suggestion(std::string(name), settable_names(system_)));
}

std::optional<Value> Changes::value_before(const Place& place) {
  const auto [s, causality, index] = place;
  const SubsystemId subsystem{s};
  if (causality == Causality::Input) {
    return Value(system_.incoming(InputId{system_.graph().inputs_of(subsystem).first + index}));
  }
  if (causality == Causality::Parameter) {
    if (auto given = start_of_(subsystem, index)) return given;
  }
  return system_.variables(subsystem).at({causality, index}).start;
}

void Changes::apply(const Place& place, const Value& value) {
  const auto [s, causality, index] = place;
  const SubsystemId subsystem{s};
  if (causality == Causality::Input) {
    system_.engine().set_constant(InputId{system_.graph().inputs_of(subsystem).first + index}, std::get<double>(value));
    return;
  }
  if (causality == Causality::DiscreteInput) {
    system_.engine().discrete()->set_input(s, index, value);
    return;
  }
  system_.facets(subsystem).tuning->set_parameter(index, value);
  system_.engine().refresh_outputs(subsystem);
}

void Changes::restore(const InForce& earlier) {
  for (const auto& [place, value] : in_force_) {
    const auto before = earlier.find(place);
    const std::optional<Value> wanted = before != earlier.end() ? std::optional(before->second) : originals_[place];
    if (wanted && *wanted != value) apply(place, *wanted);
  }
  in_force_ = earlier;
}

void Changes::resume_start(const InForce& at_start) {
  for (const auto& [place, value] : at_start) {
    const auto [s, causality, index] = place;
    if (!originals_.contains(place)) originals_[place] = value_before(place);
    system_.engine().set_start(SubsystemId{s}, {causality, index}, value);
    in_force_[place] = at_start_[place] = value;
  }
}

void Changes::resume(const InForce& in_force) {
  for (const auto& [place, value] : in_force) {
    const auto now = in_force_.find(place);
    if (now != in_force_.end() && now->second == value) continue;
    if (!originals_.contains(place)) originals_[place] = value_before(place);
    apply(place, value);
  }
  in_force_ = in_force;
}

void Changes::rewind() {
  for (const auto& [place, value] : in_force_) {
    const auto [s, causality, index] = place;
    const auto kept = at_start_.find(place);
    const std::optional<Value> wanted = kept != at_start_.end() ? std::optional(kept->second) : originals_[place];
    if (wanted && causality != Causality::Input)
      system_.engine().set_start(SubsystemId{s}, {causality, index}, *wanted);
  }
  in_force_ = at_start_;
}

}  // namespace entrain::running
