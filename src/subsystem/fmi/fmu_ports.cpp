#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/units.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmi_text.hpp"
#include "subsystem/fmi/fmu.hpp"

namespace entrain::subsystem {
namespace {

/// Of all arrays together. More are a mistake, or an attack: each element is a port with a name of its own.
constexpr std::uint64_t kMostElements = 100'000;
/// Of other names that the elements of arrays have: each has those of its array.
constexpr std::uint64_t kMostOtherNames = 1'000'000;

/// Pairs of an output and an input: which depends on which is kept for each.
constexpr std::size_t kMostPairs = 400'000'000;

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

bool is_local(const FmuVariable& variable) {
  const bool constant_parameter =
      variable.causality == FmuCausality::Parameter && variable.variability == FmuVariability::Constant;
  return value_type(variable.type) && (variable.causality == FmuCausality::Local || constant_parameter ||
                                       variable.causality == FmuCausality::CalculatedParameter);
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
      ports_.warnings.push_back({FactCode::FmuNeedsTool, {fmu_}});
    }
    add_clocks();
    ports_.table.terminals = description_.terminals;
    if (!description_.terminals_fault.empty())
      ports_.warnings.push_back({FactCode::FmuTerminalsBroken, {fmu_}, {{"why", description_.terminals_fault}}});
    for (const auto& variable : description_.variables) ports_.elements.push_back(element_count(variable));
    for (std::size_t i = 0; i < description_.variables.size(); ++i) {
      const auto& variable = description_.variables[i];
      if (is_parameter(variable)) add(i, ports_.table.parameters, ports_.parameter_origins);
    }
    add_reals(FmuCausality::Input);
    add_reals(FmuCausality::Output);
    add_discrete();
    add_states();
    add_locals();
    add_feedthrough();
    add_knowns_and_unknowns();
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

  std::size_t element_count(const FmuVariable& variable) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : sizes_of(variable)) {
      if (size == 0) fail({FactCode::FmuArraySize, {variable.name}});
      if (size > kMostElements / count) fail({FactCode::FmuArraySize, {variable.name}, {{"limit", kMostElements}}});
      count *= size;
    }
    if (!variable.dimensions.empty()) {
      array_elements_ += count;
      other_names_ += count * variable.other_names.size();
    }
    if (other_names_ > kMostOtherNames) fail({FactCode::FmuArrayNames, {variable.name}, {{"limit", kMostOtherNames}}});
    if (array_elements_ > kMostElements)
      fail({FactCode::FmuArrayTotal, {variable.name}, {{"elements", array_elements_}, {"limit", kMostElements}}});
    return count;
  }

  [[noreturn]] void fail(Fact fact) const {
    fact.subjects.insert(fact.subjects.begin(), fmu_);
    throw Error(ErrorCode::InvalidSystem, std::move(fact),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Check its structural parameters"});
  }

  /// In event mode; without, an FMU keeps the times of its clocks itself.
  bool uses_clocks() const { return !description_.co_simulation || description_.co_simulation->event_mode; }

  void add_clocks() {
    std::vector<std::string_view> unused;
    for (std::size_t i = 0; i < description_.variables.size(); ++i) {
      const auto& variable = description_.variables[i];
      if (variable.type != FmuType::Clock) continue;
      const bool is_output = variable.causality == FmuCausality::Output;
      if (uses_clocks() && (is_output || variable.causality == FmuCausality::Input)) {
        ports_.clocks.push_back(i);
        ports_.table.clocks.push_back({variable.name, is_output, variable.clock->kind});
      } else if (!uses_clocks()) {
        unused.push_back(variable.name);
      }
    }
    if (unused.empty()) return;
    ports_.warnings.push_back(
        {FactCode::FmuClocksUnused, {fmu_}, {{"clocks", fmt::format("{}", fmt::join(unused, ", "))}}});
  }

  /// It lives in event phases only, like values that are no numbers.
  bool is_clocked(const FmuVariable& variable) const { return uses_clocks() && !variable.clocks.empty(); }

  std::vector<std::size_t> clocks_of(const FmuVariable& variable) const {
    std::vector<std::size_t> numbers;
    for (const std::size_t clock : variable.clocks) {
      const auto found = std::find(ports_.clocks.begin(), ports_.clocks.end(), clock);
      if (found != ports_.clocks.end()) numbers.push_back(static_cast<std::size_t>(found - ports_.clocks.begin()));
    }
    return numbers;
  }

  std::optional<UnitMeaning> meaning_of(const FmuVariable& variable) const {
    const auto unit = std::find_if(description_.units.begin(), description_.units.end(),
                                   [&](const FmuUnit& candidate) { return candidate.name == variable.unit; });
    std::optional<UnitMeaning> meaning;
    if (unit != description_.units.end() && unit->has_base) {
      const UnitMeaning& defined = *unit;
      meaning = defined;
    }
    if (!variable.relative_quantity) return meaning;  // by the text, if there is none
    if (!meaning) meaning = base::unit_meaning(variable.unit);
    return meaning ? std::optional(base::as_difference(*meaning)) : std::nullopt;
  }

  /// The variable as a port, or each of its elements.
  void add(std::size_t index, std::vector<Variable>& table, std::vector<PortOrigin>& origins) {
    const auto& variable = description_.variables[index];
    Variable entry{variable.name, variable.unit, variable.description,
                   value_type(variable.type).value_or(ValueType::Real), variable.start};
    entry.meaning = meaning_of(variable);
    entry.declared_type = to_string(variable.type);
    entry.tunable = variable.variability == FmuVariability::Tunable && variable.causality == FmuCausality::Parameter;
    entry.items = variable.items;
    entry.other_names = variable.other_names;
    entry.clocks = clocks_of(variable);
    entry.mime_type = variable.mime_type;
    const auto sizes = sizes_of(variable);
    for (std::size_t element = 0; element < ports_.elements[index]; ++element) {
      table.push_back(entry);
      origins.push_back({index, element});
      if (sizes.empty()) return;
      const std::string subscript = index_text(element, sizes);
      table.back().name += subscript;
      for (auto& name : table.back().other_names) name += subscript;
      if (const Value* start = start_of(variable, element)) table.back().start = *start;
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
        if (variable.causality != causality || variable.type != type || is_clocked(variable)) continue;
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
      if (!is_input && variable.causality != FmuCausality::Output) continue;
      if (is_real(variable) && !is_clocked(variable)) continue;
      if (variable.type == FmuType::Clock && uses_clocks()) continue;
      if (!value_type(variable.type)) {
        ports_.table.other_ports.push_back({variable.name, std::string(to_string(variable.type))});
      } else if (is_input) {
        add(i, ports_.table.discrete_inputs, ports_.discrete_input_origins);
      } else {
        add(i, ports_.table.discrete_outputs, ports_.discrete_output_origins);
      }
    }
  }

  /// All of one real type: their values are read by one call.
  void add_states() {
    std::optional<FmuType> type;
    for (const auto& unknown : description_.state_derivatives) {
      const auto& derivative = description_.variables[unknown.variable];
      const FmuVariable* state =
          derivative.derivative_of ? &description_.variables[*derivative.derivative_of] : nullptr;
      if (state == nullptr || !is_real(*state) || derivative.type != state->type ||
          state->type != type.value_or(state->type) || sizes_of(*state) != sizes_of(derivative)) {
        ports_.warnings.push_back({FactCode::FmuStatesUnused, {fmu_, derivative.name}});
        ports_.states.clear();
        ports_.derivatives.clear();
        ports_.state_origins.clear();
        ports_.table.states.clear();
        return;
      }
      type = state->type;
      ports_.numbered_states = ports_.numbered_states || state->numbered > 0;
      ports_.states.push_back(state->reference);
      ports_.derivatives.push_back(derivative.reference);
      add(*derivative.derivative_of, ports_.table.states, ports_.state_origins);
    }
    ports_.single_states = type == FmuType::Float32;
  }

  void add_locals() {
    std::set<std::size_t> states;
    for (const auto& origin : ports_.state_origins) states.insert(origin.variable);
    std::set<std::string_view> other_names;
    for (const auto& variable : description_.variables)
      other_names.insert(variable.other_names.begin(), variable.other_names.end());
    for (std::size_t i = 0; i < description_.variables.size(); ++i) {
      const auto& variable = description_.variables[i];
      if (is_local(variable) && !states.contains(i) && !other_names.contains(variable.name))
        add(i, ports_.table.locals, ports_.local_origins);
    }
  }

  /// Dependencies that are not listed are all there can be. Those of an array are those of all its elements.
  void add_feedthrough() {
    if (!ports_.input_origins.empty() && ports_.output_origins.size() > kMostPairs / ports_.input_origins.size())
      fail({FactCode::FmuTooManyPairs,
            {},
            {{"outputs", ports_.output_origins.size()},
             {"inputs", ports_.input_origins.size()},
             {"limit", kMostPairs}}});
    ports_.feedthrough = Feedthrough(ports_.output_origins.size(), ports_.input_origins.size(), true);
    std::map<std::size_t, const FmuUnknown*> line_of;  // by variable; the first one counts
    for (const auto& unknown : description_.outputs) line_of.insert({unknown.variable, &unknown});
    std::multimap<std::size_t, std::size_t> inputs_of;  // by variable: the ports
    for (std::size_t i = 0; i < ports_.input_origins.size(); ++i)
      inputs_of.insert({ports_.input_origins[i].variable, i});
    for (std::size_t o = 0; o < ports_.output_origins.size(); ++o) {
      const auto line = line_of.find(ports_.output_origins[o].variable);
      if (line == line_of.end() || !line->second->dependencies) continue;
      for (std::size_t i = 0; i < ports_.input_origins.size(); ++i) ports_.feedthrough.set(o, i, false);
      for (const std::size_t variable : *line->second->dependencies) {
        const auto [first, last] = inputs_of.equal_range(variable);
        for (auto input = first; input != last; ++input) ports_.feedthrough.set(o, input->second, true);
      }
    }
  }

  FmuArray array_of(const PortOrigin& origin) const {
    return {description_.variables[origin.variable].reference, ports_.elements[origin.variable]};
  }

  void add_knowns_and_unknowns() {
    // The first element stands for the array.
    for (const auto* origins : {&ports_.state_origins, &ports_.input_origins}) {
      for (const auto& origin : *origins) {
        if (origin.element == 0) ports_.knowns.push_back(array_of(origin));
      }
    }
    for (std::size_t i = 0; i < ports_.derivatives.size(); ++i) {
      ports_.unknowns.push_back({ports_.derivatives[i], ports_.knowns[i].elements});
    }
    std::map<std::pair<ValueReference, std::size_t>, std::size_t> state_at;
    for (std::size_t i = 0; i < ports_.state_origins.size(); ++i) {
      const auto& origin = ports_.state_origins[i];
      state_at[{array_of(origin).reference, origin.element}] = i;
    }
    for (std::size_t i = 0; i < ports_.output_origins.size(); ++i) {
      const auto& origin = ports_.output_origins[i];
      const auto state = state_at.find({array_of(origin).reference, origin.element});
      const bool is_state = state != state_at.end();
      ports_.state_of_output.push_back(is_state ? std::optional(state->second) : std::nullopt);
      if (!is_state && origin.element == 0) ports_.unknowns.push_back(array_of(origin));
    }
  }

  const FmuDescription& description_;
  const std::string& fmu_;
  const FmuStructure& structure_;
  FmuPorts ports_;
  std::uint64_t array_elements_ = 0;
  std::uint64_t other_names_ = 0;
};

}  // namespace

FmuPorts ports_of(const FmuDescription& description, const std::string& fmu, const FmuStructure& structure) {
  return PortMaker(description, fmu, structure).make();
}

PortOrigin FmuPorts::origin(VariableTable::Place place) const {
  switch (place.causality) {
    case Causality::Input: return input_origins[place.index];
    case Causality::State: return state_origins[place.index];
    case Causality::DiscreteInput: return discrete_input_origins[place.index];
    case Causality::Local: return local_origins[place.index];
    default: return parameter_origins[place.index];
  }
}

}  // namespace entrain::subsystem
