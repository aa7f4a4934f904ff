#include "assembly/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "assembly/schedule.hpp"
#include "assembly/terminals.hpp"
#include "assembly/written_starts.hpp"
#include "base/grid.hpp"
#include "base/quoting.hpp"
#include "base/suggest.hpp"
#include "base/values.hpp"
#include "coupling/bonds.hpp"
#include "description/array_connections.hpp"
#include "description/subsystem_keys.hpp"
#include "description/toml_text.hpp"
#include "description/unit_problem.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/native/csv_source.hpp"
#include "subsystem/restricted.hpp"

namespace entrain::assembly {
namespace {

std::vector<std::string> names_of(std::initializer_list<const std::vector<Variable>*> lists,
                                  const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto* list : lists) {
    for (const auto& variable : *list) names.push_back(prefix + variable.name);
  }
  return names;
}

std::optional<std::size_t> index_of(const std::string& name, const std::vector<Variable>& list) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const Variable& v) { return is_called(v, name); });
  if (found == list.end()) return std::nullopt;
  return static_cast<std::size_t>(found - list.begin());
}

const OtherPort* other_port(const VariableTable& variables, const std::string& name) {
  const auto found = std::find_if(variables.other_ports.begin(), variables.other_ports.end(),
                                  [&](const OtherPort& port) { return port.name == name; });
  return found == variables.other_ports.end() ? nullptr : &*found;
}

class Assembler {
 public:
  Assembler(const SystemDescription& description, std::vector<Problem>& problems)
      : description_(description), problems_(problems) {}

  Assembly run(const SubsystemMaker& factory) {
    auto made = make_all(factory);
    for (std::size_t s = 0; s < made.size(); ++s) add(description_.subsystems[s], std::move(made[s]));
    for (const auto& connection : description_.connections) {
      const auto members =
          terminal_connections(connection, variables_of(connection.output), variables_of(connection.input), problems_);
      if (!members) connect_written(connection);
      for (const auto& member : members.value_or(std::vector<ConnectionDescription>())) connect_written(member);
    }
    for (const auto& constraint : description_.constraints) {
      for (const auto& name : constraint.variables) forced_.insert(name.value);
    }
    check_scheduled_subsystems(description_, problems_);
    check_scheduled_inputs();
    check_unconnected();
    warn_of_idle_clocks();
    list_open_inputs();
    return std::move(assembly_);
  }

 private:
  struct Entry {
    const SubsystemDescription* description;
    std::size_t index;
    std::size_t first_input;
    std::size_t first_output;
  };

  void problem(const SourcePosition& where, Fact fact, std::string remedy = {}) {
    problems_.push_back(problem_of(std::move(fact), std::move(remedy), where));
  }

  using Made = std::vector<std::unique_ptr<Subsystem>>;

  /// Tables last: their columns have the types of what they feed.
  Made make_all(const SubsystemMaker& factory) {
    const auto& all = description_.subsystems;
    Made made(all.size());
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (all[s].csv.empty()) made[s] = factory(all[s], {}, problems_);
    }
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (!all[s].csv.empty()) made[s] = factory(all[s], fed_by(all[s].name, made), problems_);
    }
    return made;
  }

  subsystem::FedInputs fed_by(const std::string& table, const Made& made) const {
    subsystem::FedInputs fed;
    for (const auto& connection : description_.connections) {
      if (!connection.output.starts_with(table + ".")) continue;
      const auto dot = connection.input.find('.');
      for (std::size_t s = 0; s < made.size() && dot != std::string::npos; ++s) {
        if (!made[s] || description_.subsystems[s].name != connection.input.substr(0, dot)) continue;
        const auto& inputs = made[s]->variables().discrete_inputs;
        const auto index = index_of(connection.input.substr(dot + 1), inputs);
        // A boolean feeds integers too, but not the other way round.
        if (index && inputs[*index].type == ValueType::Real) continue;
        const bool better = index && inputs[*index].type == ValueType::Boolean;
        const auto column = connection.output.substr(table.size() + 1);
        if (index && (better || !fed.contains(column))) fed.insert_or_assign(column, inputs[*index]);
      }
    }
    return fed;
  }

  void add(const SubsystemDescription& description, std::unique_ptr<Subsystem> subsystem) {
    if (!subsystem) {
      broken_.insert(description.name);
      return;
    }
    const auto& variables = subsystem->variables();
    std::vector<std::optional<double>> inputs;
    for (const auto& input : variables.inputs) {
      inputs.push_back(input.start ? std::optional(std::get<double>(*input.start)) : std::nullopt);
    }
    const WrittenStarts starts = starts_of(own_starts(description, variables), variables, problems_);
    for (const auto& [name, written] : starts) {
      set_start(*subsystem, description, name, written, inputs);
      started_.insert(fmt::format("{}.{}", description.name, name));
    }
    auto schedule = schedule_of(description_, description.name, variables, problems_);
    schedule_inputs(*subsystem, schedule, inputs);

    try {
      subsystem = restrict_as_written(std::move(subsystem), description);
      subsystem = with_schedule(std::move(subsystem), std::move(schedule), starts);
      Graph::Node node{description.name, {}, {}, subsystem->capabilities().feedthrough};
      for (const auto& input : variables.inputs) node.inputs.push_back(input.name);
      for (const auto& output : variables.outputs) node.outputs.push_back(output.name);
      entries_[description.name] = {&description, assembly_.subsystems.size(), given_inputs_.size(), outputs_};
      outputs_ += node.outputs.size();
      given_inputs_.insert(given_inputs_.end(), inputs.begin(), inputs.end());
      assembly_.nodes.push_back(std::move(node));
      assembly_.subsystems.push_back(std::move(subsystem));
    } catch (const Error& error) {  // a parameter that makes no sense
      const auto written = starts.find(error.context().variable);
      problem(written == starts.end() ? description.where : written->second.where,
              base::quoting({FactCode::SubsystemRefused, {description.name}}, error, error.what()));
      broken_.insert(description.name);
    }
  }

  /// Of a part outside those of its inputs alone: others are for what stands in for it.
  static SubsystemDescription own_starts(SubsystemDescription description, const VariableTable& variables) {
    if (!description::is_outside(description)) return description;
    std::erase_if(description.start, [&](const auto& start) { return !index_of(start.first, variables.inputs); });
    description.optional_start.clear();
    return description;
  }

  void set_start(Subsystem& subsystem, const SubsystemDescription& description, const std::string& name,
                 const Written<Value>& written, std::vector<std::optional<double>>& inputs) {
    const auto& variables = subsystem.variables();
    const auto place = variables.find_startable(name);
    if (const auto* other = place ? nullptr : other_port(variables, name)) {
      problem(written.where,
              {FactCode::NoStartOfType, {fmt::format("{}.{}", description.name, name)}, {{"type", other->type}}});
      return;
    }
    if (!place) {
      const auto known =
          names_of({&variables.parameters, &variables.states, &variables.inputs, &variables.discrete_inputs}, "");
      problem(written.where, Fact{FactCode::UnknownStart, {description.name, name}}, suggestion(name, known));
      return;
    }
    const auto& variable = variables.at(*place);
    const auto value = base::converted(written.value, variable);
    if (!value) {
      problems_.push_back(
          wrong_value(fmt::format("{}.{}", description.name, name), variable, written.value, written.where));
      return;
    }
    note_start(*place, *value, inputs);
    try {
      subsystem.set_start(*place, *value);
    } catch (const Error& error) {  // it would never reach the variable
      problem(written.where, base::quoting({FactCode::StartRefused, {fmt::format("{}.{}", description.name, name)}},
                                           error, error.message()));
    }
  }

  /// Of an input of the subsystem that is being added.
  void note_start(VariableTable::Place place, const Value& value, std::vector<std::optional<double>>& inputs) {
    if (place.causality == Causality::Input) inputs[place.index] = std::get<double>(value);
    if (place.causality == Causality::DiscreteInput) {
      assembly_.discrete_starts.push_back({assembly_.subsystems.size(), place.index, value});
    }
  }

  /// Values for the start time or before it are start values.
  void schedule_inputs(Subsystem& subsystem, const SubsystemSchedule& schedule,
                       std::vector<std::optional<double>>& inputs) {
    for (const auto& input : schedule.inputs) {
      const std::size_t index = assembly_.subsystems.size();
      scheduled_.insert({{index, input.place.causality, input.place.index}, input.written});
      if (base::reached(description_.start.value, input.time)) {
        note_start(input.place, input.value, inputs);
        subsystem.set_start(input.place, input.value);
      } else {
        assembly_.scheduled_inputs.push_back({input.time, SubsystemId{index}, input.place, input.value});
      }
    }
  }

  void check_scheduled_inputs() {
    for (const auto& [input, written] : scheduled_) {
      const auto fed = fed_by_.find(input);
      if (fed == fed_by_.end()) continue;
      problem(written->where, {FactCode::ScheduledInputFed, {written->variable, fed->second->output}},
              "remove the connection or the schedule");
    }
    std::stable_sort(
        assembly_.scheduled_inputs.begin(), assembly_.scheduled_inputs.end(),
        [](const coupling::ScheduledInput& a, const coupling::ScheduledInput& b) { return a.time < b.time; });
  }

  std::unique_ptr<Subsystem> restrict_as_written(std::unique_ptr<Subsystem> subsystem,
                                                 const SubsystemDescription& description) {
    if (!subsystem::restricts(description)) return subsystem;
    for (auto& fact : subsystem::additions(subsystem->capabilities(), description)) {
      problem(description.where, std::move(fact), "the system file can take capabilities away, not add them");
    }
    return subsystem::restricted(std::move(subsystem), description);
  }

  /// Index of the subsystem, kind and number of an input.
  using InputKey = std::tuple<std::size_t, Causality, std::size_t>;

  struct End {
    const Entry* entry;
    VariableTable::Place place;
  };

  /// "subsystem.variable", the first dot ending the subsystem's name. nullopt when a problem was added.
  std::optional<End> find(const std::string& name, Causality wanted, const SourcePosition& where) {
    const auto dot = name.find('.');
    if (dot == std::string::npos) return std::nullopt;  // reported by the parser already
    const std::string subsystem = name.substr(0, dot);
    const std::string variable = name.substr(dot + 1);
    if (broken_.contains(subsystem)) return std::nullopt;
    const auto entry = entries_.find(subsystem);
    if (entry == entries_.end()) {
      std::vector<std::string> known;
      for (const auto& s : description_.subsystems) known.push_back(s.name);
      problem(where, Fact{FactCode::UnknownSubsystem, {subsystem, name}}, suggestion(subsystem, known));
      return std::nullopt;
    }
    const auto& variables = assembly_.subsystems[entry->second.index]->variables();
    const bool is_output = wanted == Causality::Output;
    const auto& wanted_list = is_output ? variables.outputs : variables.inputs;
    const auto& discrete_list = is_output ? variables.discrete_outputs : variables.discrete_inputs;
    if (const auto index = index_of(variable, wanted_list)) return End{&entry->second, {wanted, *index}};
    if (const auto index = index_of(variable, discrete_list)) {
      return End{&entry->second, {is_output ? Causality::DiscreteOutput : Causality::DiscreteInput, *index}};
    }
    const std::string_view kind = is_output ? "an output" : "an input";
    if (const auto* other = other_port(variables, variable)) {
      problem(where, Fact{FactCode::TypeNotConnectable, {name}, {{"type", other->type}}});
    } else if (const auto array = is_output ? description::output_array(variables, variable)
                                            : description::input_array(variables, variable)) {
      problem(where, Fact{FactCode::ArrayNotElement, {name}, {{"shape", array->shape}}},
              fmt::format("name an element, such as '{}{}', or connect it with an array of the same shape", name,
                          array->elements.front()));
    } else if (variables.find(variable)) {
      problem(where, Fact{FactCode::WrongCausality, {name}, {{"kind", kind}}},
              "a connection reads \"subsystem.output\" = \"subsystem.input\"");
    } else {
      problem(where, Fact{FactCode::UnknownVariable, {name}},
              suggestion(name, names_of({&wanted_list, &discrete_list}, subsystem + ".")));
    }
    return std::nullopt;
  }

  void connect_written(const ConnectionDescription& connection) {
    if (connect_clocks(connection)) return;
    for (auto& single : description::element_connections(connection, variables_of(connection.output),
                                                         variables_of(connection.input), problems_))
      connect(connections_.emplace_back(std::move(single)));
  }

  /// False when neither end is a clock.
  bool connect_clocks(const ConnectionDescription& description) {
    const auto from = find_clock(description.output);
    const auto to = find_clock(description.input);
    if (!from && !to) return false;
    if (!from || !to) {
      const auto type = [](const auto& clock) { return clock ? "Clock" : "another type"; };
      problem(description.where, Fact{FactCode::TypesDiffer,
                                      {description.output, description.input},
                                      {{"type", type(from)}, {"input_type", type(to)}}});
      return true;
    }
    const ClockPort& source = *from->port;
    const ClockPort& target = *to->port;
    if (target.is_output || target.kind != ClockKind::Triggered || !(source.is_output || source.has_times())) {
      const auto kind = [](const ClockPort& port) {
        return fmt::format("{} {} clock", to_string(port.kind), port.is_output ? "output" : "input");
      };
      problem(description.where, Fact{FactCode::ClockNotConnectable,
                                      {description.output, description.input},
                                      {{"kind", kind(source)}, {"input_kind", kind(target)}}});
      return true;
    }
    fed_clocks_.insert(description.input);
    assembly_.clock_connections.push_back(
        {SubsystemId{from->subsystem}, from->index, SubsystemId{to->subsystem}, to->index});
    return true;
  }

  struct ClockEnd {
    std::size_t subsystem;
    std::size_t index;
    const ClockPort* port;
  };
  std::optional<ClockEnd> find_clock(const std::string& name) const {
    const auto dot = name.find('.');
    const auto entry = entries_.find(name.substr(0, dot));
    if (dot == std::string::npos || entry == entries_.end()) return std::nullopt;
    const auto& clocks = assembly_.subsystems[entry->second.index]->variables().clocks;
    for (std::size_t i = 0; i < clocks.size(); ++i) {
      if (clocks[i].name == name.substr(dot + 1)) return ClockEnd{entry->second.index, i, &clocks[i]};
    }
    return std::nullopt;
  }

  /// A triggered input clock that nothing activates is no fault: an FMU may offer more than is used.
  void warn_of_idle_clocks() {
    for (const auto& [name, entry] : entries_) {
      for (const auto& clock : assembly_.subsystems[entry.index]->variables().clocks) {
        const std::string full = name + "." + clock.name;
        if (clock.is_output || clock.has_times() || fed_clocks_.contains(full)) continue;
        problem(entry.description->where, Fact{FactCode::ClockNeverTicks, {full}});
      }
    }
  }

  const VariableTable* variables_of(const std::string& name) const {
    const auto entry = entries_.find(name.substr(0, name.find('.')));
    return entry == entries_.end() ? nullptr : &assembly_.subsystems[entry->second.index]->variables();
  }

  void connect(const ConnectionDescription& description) {
    // The inputs of one output follow each other; its name is looked up, and complained of, once.
    if (description.output != last_output_name_) {
      last_output_name_ = description.output;
      last_output_ = find(description.output, Causality::Output, description.output_where);
    }
    const auto& from = last_output_;
    if (from && reports_rigid(description, *from)) return;
    const auto to = find(description.input, Causality::Input, description.where);
    if (to) {
      const InputKey input{to->entry->index, to->place.causality, to->place.index};
      const auto [earlier, is_new] = fed_by_.insert({input, &description});
      if (!is_new) {
        problem(description.where,
                Fact{FactCode::InputFedTwice,
                     {description.input, earlier->second->output, description.output},
                     {{"line", earlier->second->where.line}}},
                "an input takes one output");
        return;
      }
    }
    if (!from || !to) return;
    if (from->place.causality == Causality::Output && to->place.causality == Causality::Input) {
      connect_reals(description, *from, *to);
    } else {
      connect_discrete(description, *from, *to);
    }
  }

  /// Two outputs that are the same flow, each with an input for the effort that belongs to it: two inertias.
  bool reports_rigid(const ConnectionDescription& description, const End& from) {
    const VariableTable* variables = variables_of(description.input);
    if (variables == nullptr || from.place.causality != Causality::Output) return false;
    const auto other = index_of(description.input.substr(description.input.find('.') + 1), variables->outputs);
    const std::string one = owner_of(description.output);
    const std::string two = owner_of(description.input);
    if (!other || one == two) return false;
    const auto effort_here = effort_for(variable(from), *variables_of(description.output));
    const auto effort_there = effort_for(variables->outputs[*other], *variables);
    if (!effort_here || !effort_there) return false;
    problem(description.where,
            Fact{FactCode::RigidConnection,
                 {description.output, description.input},
                 {{"efforts", fmt::format("'{}.{}' and '{}.{}'", one, *effort_here, two, *effort_there)}}},
            std::string(kRigidRemedy));
    return true;
  }

  static std::string owner_of(const std::string& name) { return name.substr(0, name.find('.')); }

  /// The first input whose unit makes a power with that of this flow.
  static std::optional<std::string> effort_for(const Variable& flow, const VariableTable& variables) {
    const auto found = std::find_if(variables.inputs.begin(), variables.inputs.end(),
                                    [&](const Variable& input) { return coupling::units_make_power(input, flow); });
    return found == variables.inputs.end() ? std::nullopt : std::optional(found->name);
  }

  void connect_reals(const ConnectionDescription& description, const End& from, const End& to) {
    if (!description.table.empty())
      problem(description.where, Fact{FactCode::TableOfReals, {description.output}}, "write factor and offset");
    Connection connection{OutputId{from.entry->first_output + from.place.index},
                          InputId{to.entry->first_input + to.place.index}, description.factor, description.offset};
    if (description.convert_units) convert_units(description, from, to, connection);
    assembly_.connections.push_back(connection);
  }

  void connect_discrete(const ConnectionDescription& description, const End& from, const End& to) {
    const Variable& output = variable(from);
    const Variable& input = variable(to);
    if (description.table.empty() && !coupling::can_feed(output.type, input.type)) {
      problem(description.where, Fact{FactCode::TypesDiffer,
                                      {description.output, description.input},
                                      {{"type", base::type_name(output)}, {"input_type", base::type_name(input)}}});
      return;
    }
    if (!output.mime_type.empty() && !input.mime_type.empty() && output.mime_type != input.mime_type) {
      problem(description.where, Fact{FactCode::MimeTypesDiffer,
                                      {description.output, description.input},
                                      {{"type", output.mime_type}, {"input_type", input.mime_type}}});
      return;
    }
    const bool from_real = from.place.causality == Causality::Output;
    const bool scaled = description.factor != 1.0 || description.offset != 0.0;
    if (scaled && to.place.causality != Causality::Input && !from_real) {
      problem(description.where, Fact{FactCode::NotScalable, {description.input}, {{"type", base::type_name(input)}}},
              "leave factor and offset out");
      return;
    }
    Connection scaling{{}, {}, description.factor, description.offset};
    const bool both_real = output.type == ValueType::Real && input.type == ValueType::Real;
    if (both_real && description.convert_units) convert_units(description, from, to, scaling);
    assembly_.discrete_connections.push_back({SubsystemId{from.entry->index}, from.place.index,
                                              SubsystemId{to.entry->index}, to.place.index,
                                              to.place.causality == Causality::Input, scaling.factor, scaling.offset,
                                              typed_table(description, output, input), from_real});
  }

  /// In the types of both ends.
  ValueTable typed_table(const ConnectionDescription& description, const Variable& output, const Variable& input) {
    ValueTable table;
    for (const auto& [from, to] : description.table) {
      const auto source = base::converted(from, output);
      const auto target = base::converted(to, input);
      if (!source) problems_.push_back(wrong_value(description.output, output, from, description.where));
      if (!target) problems_.push_back(wrong_value(description.input, input, to, description.where));
      if (source && target) table.push_back({*source, *target});
    }
    return table;
  }

  const Variable& variable(const End& end) const {
    return assembly_.subsystems[end.entry->index]->variables().at(end.place);
  }

  /// A value without a unit is not converted; nor is one with an unknown unit, which has a warning.
  void convert_units(const ConnectionDescription& description, const End& from, const End& to, Connection& connection) {
    const auto [kind, conversion] = base::match_units(variable(from), variable(to));
    if (kind == base::UnitMatch::Kind::Fits) {
      // First the unit of the input, then what the user makes of it.
      connection.offset += connection.factor * conversion.offset;
      connection.factor *= conversion.factor;
      return;
    }
    problems_.push_back(description::unit_problem(kind, description, variable(from), variable(to)));
  }

  void check_unconnected() {
    assembly_.start_inputs.resize(given_inputs_.size(), 0.0);
    for (const auto& [name, entry] : entries_) {
      const auto& variables = assembly_.subsystems[entry.index]->variables();
      for (std::size_t i = 0; i < variables.inputs.size(); ++i) {
        const auto& given = given_inputs_[entry.first_input + i];
        assembly_.start_inputs[entry.first_input + i] = given.value_or(0.0);
        if (!given) require_source(entry, {Causality::Input, i}, variables.inputs[i]);
      }
      for (std::size_t i = 0; i < variables.discrete_inputs.size(); ++i) {
        const auto is_this = [&, &index = entry.index](const coupling::DiscreteStart& start) {
          return start.subsystem == index && start.input == i;
        };
        const bool given = variables.discrete_inputs[i].start ||
                           std::any_of(assembly_.discrete_starts.begin(), assembly_.discrete_starts.end(), is_this);
        if (!given) require_source(entry, {Causality::DiscreteInput, i}, variables.discrete_inputs[i]);
      }
    }
  }

  void list_open_inputs() {
    for (const auto& [name, entry] : entries_) {
      if (entry.description->fmu.empty()) continue;
      const auto& variables = assembly_.subsystems[entry.index]->variables();
      for (const auto causality : {Causality::Input, Causality::DiscreteInput}) {
        const auto& inputs = causality == Causality::Input ? variables.inputs : variables.discrete_inputs;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
          auto input = fmt::format("{}.{}", name, inputs[i].name);
          if (fed_by_.contains({entry.index, causality, i}) || forced_.contains(input)) {
            ++assembly_.connected_inputs;
          } else if (!started_.contains(input) && !scheduled_.contains({entry.index, causality, i})) {
            assembly_.open_inputs.push_back(std::move(input));
          }
        }
      }
    }
  }

  /// Of an input that has no value of its own.
  void require_source(const Entry& entry, VariableTable::Place place, const Variable& input) {
    const auto name = fmt::format("{}.{}", entry.description->name, input.name);
    if (fed_by_.contains({entry.index, place.causality, place.index}) || forced_.contains(name)) return;
    problem(entry.description->where, {FactCode::InputNotConnected, {name}},
            fmt::format("connect it, or give it a value: start = {{ {} = ... }}", description::toml_key(input.name)));
  }

  const SystemDescription& description_;
  std::vector<Problem>& problems_;
  Assembly assembly_;
  std::string last_output_name_;
  std::optional<End> last_output_;
  std::map<std::string, Entry> entries_;
  std::set<std::string> broken_;  // subsystems that could not be made: no follow-up problems about them
  std::map<InputKey, const ConnectionDescription*> fed_by_;
  std::map<InputKey, const ScheduleDescription*> scheduled_;
  std::deque<ConnectionDescription> connections_;  // those of arrays element by element
  std::vector<std::optional<double>> given_inputs_;
  std::set<std::string> fed_clocks_;
  std::set<std::string> forced_;   // by a constraint: it needs no other source
  std::set<std::string> started_;  // "subsystem.variable" with a written start value
  std::size_t outputs_ = 0;
};

}  // namespace

bool Assembly::has_discrete() const {
  return std::any_of(subsystems.begin(), subsystems.end(), [](const auto& subsystem) {
    const auto& variables = subsystem->variables();
    return !variables.discrete_inputs.empty() || !variables.discrete_outputs.empty();
  });
}

const Subsystem* Assembly::shares_events() const {
  for (std::size_t s = 0; s < subsystems.size(); ++s) {
    // Models with state events alone take part where others share theirs, and are no reason to.
    if (subsystems[s]->facets().event_mode == nullptr || !subsystems[s]->capabilities().announces_events) continue;
    const bool connected = std::any_of(discrete_connections.begin(), discrete_connections.end(),
                                       [s](const auto& each) { return each.from == s || each.to == s; });
    if (connected || !subsystems[s]->variables().clocks.empty()) return subsystems[s].get();
  }
  return nullptr;
}

Assembly assemble(const SystemDescription& description, const SubsystemMaker& factory, std::vector<Problem>& problems) {
  return Assembler(description, problems).run(factory);
}

}  // namespace entrain::assembly
