#include "fmukit/listed_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "entrain/error.hpp"

namespace entrain::fmukit {
namespace {

class Lister {
 public:
  explicit Lister(const FmuDefinition& definition)
      : definition_(definition),
        model_(definition.make()),
        variables_(model_->variables()),
        references_(*model_, definition.options) {}

  Listing list() {
    add_ports();
    add_states();
    add_event_indicators();
    add_parameters_and_counters();
    require_distinct_names();
    add_structure();
    return std::move(listing_);
  }

 private:
  std::size_t add(const Variable& variable, Group group, Reference reference, std::optional<Value> start) {
    listing_.variables.push_back({variable.name,
                                  reference,
                                  group,
                                  variable.unit,
                                  variable.description,
                                  variable.type,
                                  std::move(start),
                                  {},
                                  false});
    return listing_.variables.size() - 1;
  }

  void add_ports() {
    for (std::size_t i = 0; i < variables_.inputs.size(); ++i) {
      const auto& input = variables_.inputs[i];
      // FMI requires a start for every input, also for one that the model requires to be connected.
      inputs_.push_back(add(input, Group::Input, references_.of(Group::Input, i), input.start.value_or(Value(0.0))));
    }
    states_.resize(variables_.states.size());
    for (std::size_t i = 0; i < variables_.outputs.size(); ++i) {
      const auto state = references_.state_of_output(i);
      const auto start = state ? std::optional<Value>(start_of_state(*state)) : std::nullopt;
      outputs_.push_back(add(variables_.outputs[i], Group::Output, references_.of(Group::Output, i), start));
      if (state) states_[*state] = outputs_.back();
    }
  }

  void add_states() {
    for (std::size_t i = 0; i < variables_.states.size(); ++i) {
      if (references_.output_of_state(i)) continue;
      states_[i] = add(variables_.states[i], Group::State, references_.of_state(i), start_of_state(i));
    }
    if (!definition_.options.states) return;
    for (std::size_t i = 0; i < variables_.states.size(); ++i) {
      Variable derivative = variables_.states[i];
      derivative.unit = rate_unit(derivative.unit);
      derivative.description = fmt::format("time derivative of {}", derivative.name);
      derivative.name = fmt::format("der({})", derivative.name);
      derivatives_.push_back(add(derivative, Group::Derivative, references_.of(Group::Derivative, i), std::nullopt));
      listing_.variables.back().derivative_of = states_[i];
    }
  }

  void add_event_indicators() {
    if (!definition_.options.states) return;
    for (std::size_t i = 0; i < model_->event_indicator_count(); ++i) {
      const Variable indicator{
          fmt::format("event_indicator[{}]", i + 1), "", "changes its sign at an event", ValueType::Real, {}};
      indicators_.push_back(add(indicator, Group::Indicator, references_.of(Group::Indicator, i), std::nullopt));
    }
  }

  void add_parameters_and_counters() {
    for (std::size_t i = 0; i < variables_.parameters.size(); ++i) {
      const auto& parameter = variables_.parameters[i];
      add(parameter, Group::Parameter, references_.of(Group::Parameter, i), parameter.start.value_or(Value(0.0)));
      listing_.variables.back().tunable = is_tunable(parameter, definition_.options);
    }
    if (!definition_.options.strict) return;
    for (std::size_t i = 0; i < kCounterNames.size(); ++i) {
      const Variable counter{kCounterNames[i], "", "number of calls so far", ValueType::Integer, {}};
      add(counter, Group::Counter, references_.of(Group::Counter, i), std::nullopt);
    }
  }

  void add_structure() {
    const Feedthrough feedthrough = start_feedthrough();
    listing_.announces_events = model_->next_discontinuity(std::numeric_limits<Time>::lowest()) < kNever;
    auto& structure = listing_.structure;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      ListedUnknown unknown{outputs_[i], {}};
      for (std::size_t j = 0; j < inputs_.size(); ++j) {
        if (feedthrough(i, j)) unknown.dependencies.push_back(inputs_[j]);
      }
      const bool is_state = references_.state_of_output(i).has_value();
      if (definition_.options.states) {
        if (is_state) {
          unknown.dependencies.push_back(outputs_[i]);
        } else {
          unknown.dependencies.insert(unknown.dependencies.end(), states_.begin(), states_.end());
        }
      }
      sort(unknown.dependencies);
      structure.outputs.push_back(unknown);
      if (!is_state) structure.initial_unknowns.push_back(std::move(unknown));
    }
    for (const std::size_t derivative : derivatives_) {
      ListedUnknown unknown{derivative, inputs_};
      unknown.dependencies.insert(unknown.dependencies.end(), states_.begin(), states_.end());
      sort(unknown.dependencies);
      structure.derivatives.push_back(unknown);
      structure.initial_unknowns.push_back(std::move(unknown));
    }
    for (const std::size_t indicator : indicators_) {
      ListedUnknown unknown{indicator, inputs_};
      unknown.dependencies.insert(unknown.dependencies.end(), states_.begin(), states_.end());
      sort(unknown.dependencies);
      structure.event_indicators.push_back(std::move(unknown));
    }
  }

  /// In the order of the list, as the standard asks.
  static void sort(std::vector<std::size_t>& dependencies) { std::sort(dependencies.begin(), dependencies.end()); }

  /// With the start values of the parameters; a model whose feedthrough depends on them describes its default.
  Feedthrough start_feedthrough() {
    std::vector<Value> parameters;
    for (const auto& parameter : variables_.parameters) parameters.push_back(parameter.start.value_or(Value(0.0)));
    model_->configure(parameters);
    return model_->feedthrough();
  }

  Value start_of_state(std::size_t state) const { return variables_.states[state].start.value_or(Value(0.0)); }

  static std::string rate_unit(const std::string& unit) {
    if (unit.empty()) return "1/s";
    const auto slash = unit.find('/');
    if (slash == std::string::npos) return unit + "/s";
    const std::string below = unit.substr(slash + 1);
    return below == "s" ? unit + "2" : fmt::format("{}/({}.s)", unit.substr(0, slash), below);
  }

  void require_distinct_names() const {
    std::set<std::string> names;
    for (const auto& variable : listing_.variables) {
      if (names.insert(variable.name).second) continue;
      throw Error(ErrorCode::InvalidSystem,
                  fmt::format("model '{}' has two variables named '{}'", definition_.model, variable.name),
                  {"", variable.name, std::nullopt, "In an FMU only a state and an output may share a name"});
    }
  }

  const FmuDefinition& definition_;
  std::unique_ptr<Model> model_;
  const VariableTable& variables_;
  References references_;
  Listing listing_;
  std::vector<std::size_t> inputs_, outputs_, states_, derivatives_, indicators_;
};

}  // namespace

Listing list_variables(const FmuDefinition& definition) {
  return Lister(definition).list();
}

}  // namespace entrain::fmukit
