#include "assembly/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "assembly/written_starts.hpp"
#include "base/suggest.hpp"
#include "base/values.hpp"
#include "description/scenario_keys.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::assembly {
namespace {

using coupling::ScenarioEntry;

/// Of a text, the same on every machine (FNV-1a).
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

std::optional<std::size_t> position_in(std::string_view name, const std::vector<Variable>& list) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Variable& v) { return is_called(v, name); });
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

class ScenarioMaker {
 public:
  ScenarioMaker(const SystemDescription& description, const Assembly& assembly, const Graph& graph,
                std::vector<Problem>& problems)
      : description_(description), assembly_(assembly), graph_(graph), problems_(problems) {}

  std::vector<ScenarioEntry> run() {
    std::vector<ScenarioEntry> entries;
    for (std::size_t i = 0; i < description_.scenario.size(); ++i) {
      written_ = &description_.scenario[i];
      if (auto entry = made(i)) entries.push_back(std::move(*entry));
    }
    return entries;
  }

 private:
  /// nullopt when a problem was added, by this or by the checks of the values.
  std::optional<ScenarioEntry> made(std::size_t number) {
    ScenarioEntry entry;
    entry.number = number;
    entry.action = written_->action;
    entry.target = written_->target.value;
    if (written_->at) entry.at = written_->at->value;
    if (written_->over) entry.over = written_->over->value;
    if (written_->interval) entry.interval = written_->interval->value;
    const auto seed = written_->seed ? static_cast<std::uint64_t>(written_->seed->value) : 0;
    entry.stream = seed ^ hash_of(entry.target);
    if (!find_target(entry) || !take_value(entry)) return std::nullopt;
    if (written_->when && !take_condition(entry)) return std::nullopt;
    const bool is_complete = entry.at || entry.when;
    const bool has_interval = entry.action != ScenarioAction::Noise || entry.interval > 0.0;
    return is_complete && has_interval ? std::optional(std::move(entry)) : std::nullopt;
  }

  void problem(const SourcePosition& where, Fact fact, std::string remedy = {}) {
    problems_.push_back(problem_of(std::move(fact), std::move(remedy), where));
  }

  bool refuse(std::string_view why, std::string remedy = {}) {
    problem(written_->target.where,
            {FactCode::ScenarioTarget, {written_->target.value}, {{"action", to_word(written_->action)}, {"why", why}}},
            std::move(remedy));
    return false;
  }

  /// "subsystem.variable"; nullopt when there is no such subsystem.
  struct Name {
    SubsystemId subsystem;
    std::string variable;
    const VariableTable* variables;
  };
  std::optional<Name> split(const std::string& name, const SourcePosition& where) {
    const auto dot = name.find('.');
    if (dot == std::string::npos) return std::nullopt;  // reported by the checks of the values
    std::vector<std::string> known;
    for (std::size_t s = 0; s < description_.subsystems.size(); ++s) {
      known.push_back(description_.subsystems[s].name);
      if (known.back() == name.substr(0, dot))
        return Name{SubsystemId{s}, name.substr(dot + 1), &assembly_.subsystems[s]->variables()};
    }
    problem(where, {FactCode::UnknownSubsystem, {name.substr(0, dot), name}}, suggestion(name.substr(0, dot), known));
    return std::nullopt;
  }

  bool find_target(ScenarioEntry& entry) {
    if (const auto ends = description::parse_connection(entry.target))
      return find_connection(entry, ends->first, ends->second);
    const auto name = split(entry.target, written_->target.where);
    if (!name) return false;
    const VariableTable& variables = *name->variables;
    if (const auto input = position_in(name->variable, variables.inputs)) {
      entry.inputs.emplace_back(graph_.inputs_of(name->subsystem).first + *input);
      return true;
    }
    if (const auto output = position_in(name->variable, variables.outputs)) {
      const OutputId id{graph_.outputs_of(name->subsystem).first + *output};
      for (const auto& connection : graph_.connections()) {
        if (connection.output == id) entry.inputs.push_back(connection.input);
      }
      return !entry.inputs.empty() || refuse("the output feeds no input that is a real number");
    }
    if (const auto parameter = position_in(name->variable, variables.parameters))
      return take_parameter(entry, *name, *parameter);
    if (position_in(name->variable, variables.discrete_inputs) ||
        position_in(name->variable, variables.discrete_outputs))
      return refuse("it is no real number", "use [schedule] for an input that nothing feeds");
    if (variables.find(name->variable)) return refuse("it is no input, output or parameter");
    std::vector<std::string> known;
    const std::string prefix = entry.target.substr(0, entry.target.find('.') + 1);
    for (const auto* some : {&variables.inputs, &variables.outputs, &variables.parameters}) {
      for (const auto& variable : *some) known.push_back(prefix + variable.name);
    }
    problem(written_->target.where, {FactCode::UnknownVariable, {entry.target}}, suggestion(entry.target, known));
    return false;
  }

  bool find_connection(ScenarioEntry& entry, const std::string& output, const std::string& input) {
    std::vector<std::string> known;
    for (const auto& connection : graph_.connections()) {
      known.push_back(graph_.name(connection.output) + " -> " + graph_.name(connection.input));
      if (graph_.name(connection.output) == output && graph_.name(connection.input) == input)
        entry.inputs.push_back(connection.input);
    }
    return !entry.inputs.empty() || refuse("there is no such connection", suggestion(output + " -> " + input, known));
  }

  bool take_parameter(ScenarioEntry& entry, const Name& name, std::size_t index) {
    const Variable& variable = name.variables->parameters[index];
    const ScenarioAction action = entry.action;
    if (!variable.tunable || assembly_.subsystems[name.subsystem]->facets().tuning == nullptr)
      return refuse("the parameter is not tunable", "give it as a start value");
    if (action == ScenarioAction::Freeze || action == ScenarioAction::Drop)
      return refuse("a parameter has no connection", "use set");
    const bool is_real = variable.type == ValueType::Real;
    if (!is_real && action != ScenarioAction::Set && action != ScenarioAction::Release)
      return refuse("the parameter is no real number", "use set");
    std::vector<Problem> known_already;
    const auto starts = starts_of(description_.subsystems[name.subsystem], *name.variables, known_already);
    const auto written = starts.find(variable.name);
    const auto start = written == starts.end() ? variable.start : base::converted(written->second.value, variable);
    if (!start) return refuse("the parameter has no start value", "give it one");
    entry.parameter = {name.subsystem, index, *start};
    return true;
  }

  /// In the type of the target.
  bool take_value(ScenarioEntry& entry) {
    if (!written_->value || !description::has_key(entry.action, description::ScenarioKeyUse::Value)) {
      return !description::has_key(entry.action, description::ScenarioKeyUse::Value);  // else reported
    }
    Variable real;
    const Variable& variable =
        entry.parameter
            ? assembly_.subsystems[entry.parameter->subsystem]->variables().parameters[entry.parameter->index]
            : real;
    entry.value = base::converted(written_->value->value, variable);
    if (entry.value) return true;
    problems_.push_back(wrong_value(entry.target, variable, written_->value->value, written_->value->where));
    return false;
  }

  bool take_condition(ScenarioEntry& entry) {
    using Relation = ScenarioEntry::Condition::Relation;
    const auto& [text, where] = *written_->when;
    const auto condition = description::parse_condition(text);
    if (!condition) return false;  // reported by the checks of the values
    const auto name = split(condition->signal, where);
    const auto bad = [&, &text = text, &where = where](std::string_view why, std::string remedy) {
      problem(where, {FactCode::ScenarioBadCondition, {entry.target}, {{"value", text}, {"why", why}}},
              std::move(remedy));
      return false;
    };
    if (!name) return condition->signal.find('.') != std::string::npos ? false : bad("it names no variable", "");
    entry.when = coupling::ScenarioEntry::Condition{};
    auto& when = *entry.when;
    if (const auto output = position_in(name->variable, name->variables->outputs)) {
      when.signal = graph_.outputs_of(name->subsystem).first + *output;
    } else if (const auto input = position_in(name->variable, name->variables->inputs)) {
      when.of_output = false;
      when.signal = graph_.inputs_of(name->subsystem).first + *input;
    } else {
      std::vector<std::string> known;
      const std::string prefix = condition->signal.substr(0, condition->signal.find('.') + 1);
      for (const auto* some : {&name->variables->outputs, &name->variables->inputs}) {
        for (const auto& variable : *some) known.push_back(prefix + variable.name);
      }
      return bad(fmt::format("'{}' is no output and no input that is a real number", condition->signal),
                 suggestion(condition->signal, known));
    }
    const bool below = condition->relation.front() == '<';
    const bool with_equality = condition->relation.size() == 2;
    when.relation = below ? (with_equality ? Relation::AtMost : Relation::Below)
                          : (with_equality ? Relation::AtLeast : Relation::Above);
    when.limit = condition->limit;
    return true;
  }

  const SystemDescription& description_;
  const Assembly& assembly_;
  const Graph& graph_;
  std::vector<Problem>& problems_;
  const ScenarioDescription* written_ = nullptr;
};

}  // namespace

std::vector<ScenarioEntry> scenario_of(const SystemDescription& description, const Assembly& assembly,
                                       const Graph& graph, std::vector<Problem>& problems) {
  return ScenarioMaker(description, assembly, graph, problems).run();
}

}  // namespace entrain::assembly
