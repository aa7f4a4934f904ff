#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>

#include "base/suggest.hpp"
#include "description/check_values.hpp"
#include "description/renamed_keys.hpp"
#include "description/run_keys.hpp"
#include "description/scenario_keys.hpp"
#include "description/subsystem_keys.hpp"
#include "description/system_file.hpp"
#include "description/toml_document.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

constexpr std::string_view kQuoteDots = "quote a name that has dots: \"a.b\" = ...";

template <class T>
constexpr std::string_view kExpected;
template <>
constexpr std::string_view kExpected<bool> = "true or false";
template <>
constexpr std::string_view kExpected<std::int64_t> = "an integer";
template <>
constexpr std::string_view kExpected<double> = "a number";
template <>
constexpr std::string_view kExpected<std::string> = "a string";
template <>
constexpr std::string_view kExpected<std::vector<double>> = "a list of numbers";
template <>
constexpr std::string_view kExpected<Isolation> = "true, false or a name";
template <>
constexpr std::string_view kExpected<Value> = "a number, a boolean or a string";

std::vector<std::string> texts(std::span<const std::string_view> words) {
  return {words.begin(), words.end()};
}

/// Walks the document once. Each table states its keys with what to do for each; all the rest is an unknown key.
class SystemReader {
 public:
  SystemReader(SystemDescription& description, std::vector<Problem>& problems)
      : description_(description), problems_(problems) {}

  void read(const TomlTable& document) {
    read_keys(document, "",
              {{"run", table(&SystemReader::read_run)},
               {"method", table(&SystemReader::read_methods)},
               {"subsystems", table(&SystemReader::read_subsystems)},
               {"connections", table(&SystemReader::read_connections)},
               {"bonds", table(&SystemReader::read_bonds)},
               {"constraints", table(&SystemReader::read_constraints)},
               {"schedule", table(&SystemReader::read_schedule)},
               {"scenario", [this](const TomlNode& node, const std::string& path) { read_scenario(node, path); }},
               {"placement", table(&SystemReader::read_placement)},
               {"sweep", table(&SystemReader::read_sweep)},
               {"record", table(&SystemReader::read_record)}});
  }

  /// Of a file that is laid over systems.
  void read_only_scenario(const TomlTable& document) {
    read_keys(document, "",
              {{"scenario", [this](const TomlNode& node, const std::string& path) { read_scenario(node, path); }}});
  }

 private:
  using Action = std::function<void(const TomlNode& node, const std::string& path)>;
  struct Key {
    std::string name;
    Action action;
  };

  void add(SourcePosition where, Fact fact, std::string remedy = {}) {
    problems_.push_back(problem_of(std::move(fact), std::move(remedy), std::move(where)));
  }

  void add_wrong_type(const TomlNode& node, const std::string& path, std::string_view expected) {
    add(node.where, Fact{FactCode::WrongType, {path}, {{"expected", expected}, {"found", found(node)}}});
  }

  void read_keys(const TomlTable& table, const std::string& owner, const std::vector<Key>& keys) {
    for (const auto& entry : table.entries) {
      const auto key = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == entry.key; });
      if (key == keys.end()) {
        add_unknown(entry, owner, keys);
      } else {
        key->action(entry.node, owner.empty() ? entry.key : fmt::format("{}.{}", owner, entry.key));
      }
    }
  }

  void add_unknown(const TomlEntry& entry, const std::string& owner, const std::vector<Key>& keys) {
    std::vector<std::string> names;
    names.reserve(keys.size());
    for (const auto& key : keys) names.push_back(key.name);
    const auto value = option_value(entry.node);
    if (auto renamed = value ? renamed_key(owner, entry.key, *value, names) : std::nullopt)
      return add(entry.where, std::move(renamed->fact), std::move(renamed->remedy));
    const bool is_table = std::holds_alternative<TomlTable>(entry.node.value);
    Fact fact{owner.empty() && is_table ? FactCode::UnknownTable : FactCode::UnknownKey, {entry.key}};
    if (!owner.empty()) fact.values.emplace_back("owner", owner);
    add(entry.where, std::move(fact), suggestion(entry.key, names));
  }

  const TomlTable* as_table(const TomlNode& node, const std::string& path) {
    const auto* table = std::get_if<TomlTable>(&node.value);
    if (table == nullptr) add_wrong_type(node, path, "a table");
    return table;
  }

  Action table(void (SystemReader::*reader)(const TomlTable&)) {
    return [this, reader](const TomlNode& node, const std::string& path) {
      if (const auto* content = as_table(node, path)) (this->*reader)(*content);
    };
  }

  template <class T>
  std::optional<Written<T>> written(const TomlNode& node, const std::string& path) {
    if (auto value = read_as<T>(node)) return Written<T>{std::move(*value), node.where};
    add_wrong_type(node, path, kExpected<T>);
    return std::nullopt;
  }

  template <Choice Enum>
  std::optional<Written<Enum>> written(const TomlNode& node, const std::string& path) {
    const auto text = written<std::string>(node, path);
    if (!text) return std::nullopt;
    if (const auto value = from_word<Enum>(text->value)) return Written<Enum>{*value, node.where};
    add(node.where, Fact{FactCode::WordNotAllowed, {path}, {{"value", text->value}}},
        suggestion(text->value, texts(words_of<Enum>())));
    return std::nullopt;
  }

  template <class T>
  Action into(Written<T>& target) {
    return [this, &target](const TomlNode& node, const std::string& path) {
      if (auto value = written<T>(node, path)) target = std::move(*value);
    };
  }

  template <class T>
  Action into(std::optional<Written<T>>& target) {
    return [this, &target](const TomlNode& node, const std::string& path) { target = written<T>(node, path); };
  }

  /// A list of strings, each with its place.
  Action names_into(std::optional<std::vector<Written<std::string>>>& names) {
    return [this, &names](const TomlNode& node, const std::string& path) {
      if (!read_as<std::vector<std::string>>(node)) return add_wrong_type(node, path, "a list of strings");
      names.emplace();
      for (const auto& element : std::get<std::vector<TomlNode>>(node.value))
        names->push_back({std::get<std::string>(element.value), element.where});
    };
  }

  void read_run(const TomlTable& run) {
    std::vector<Key> keys;
    for_each_run_key([&](const auto& key) { keys.push_back({std::string(key.name), into(description_.*key.field)}); });
    keys.push_back({"tolerances", table(&SystemReader::read_tolerances)});
    keys.push_back({"exclude", names_into(description_.exclude)});
    keys.push_back({"open", names_into(description_.open)});
    read_keys(run, "run", keys);
  }

  void read_tolerances(const TomlTable& tolerances) {
    for (const auto& entry : tolerances.entries) {
      if (auto value = written<double>(entry.node, "run.tolerances." + entry.key))
        description_.tolerances[entry.key] = std::move(*value);
    }
  }

  void read_sweep(const TomlTable& sweep) {
    SweepDescription& into_sweep = description_.sweep;
    std::optional<std::vector<Written<std::string>>> quantities;
    read_keys(sweep, "sweep",
              {{"sampling", into(into_sweep.sampling)},
               {"list", into(into_sweep.list)},
               {"cases", into(into_sweep.cases)},
               {"seed", into(into_sweep.seed)},
               {"quantities", names_into(quantities)},
               {"vary", table(&SystemReader::read_variations)}});
    if (quantities) into_sweep.quantities = std::move(*quantities);
  }

  void read_variations(const TomlTable& variations) {
    for (const auto& entry : variations.entries) {
      if (auto law = written<std::string>(entry.node, "sweep.vary." + entry.key))
        description_.sweep.vary.push_back({entry.key, law->value, law->where});
    }
  }

  void read_methods(const TomlTable& methods) {
    for (const auto& method : methods.entries) {
      const std::string path = "method." + method.key;
      const auto* options = as_table(method.node, path);
      if (options == nullptr) continue;
      auto& written_options = description_.method_options[method.key];
      for (const auto& option : options->entries) {
        if (auto value = option_value(option.node)) {
          written_options[option.key] = {std::move(*value), option.node.where};
        } else {
          add_wrong_option(option.node, fmt::format("{}.{}", path, option.key));
        }
      }
    }
  }

  void add_wrong_option(const TomlNode& node, const std::string& path) {
    if (std::holds_alternative<TomlDate>(node.value))
      add_wrong_type(node, path, "a boolean, a number, a string, a list or a table");
    else if (std::holds_alternative<TomlTable>(node.value))
      add(node.where, Fact{FactCode::NotOnlyNumbers, {path}}, std::string(kQuoteDots));
    else
      add(node.where, Fact{FactCode::MixedList, {path}});
  }

  void read_subsystems(const TomlTable& subsystems) {
    for (const auto& entry : subsystems.entries) {
      auto& subsystem = description_.subsystems.emplace_back();
      subsystem.name = entry.key;
      subsystem.where = entry.where;
      if (const auto* content = as_table(entry.node, "subsystems." + entry.key)) read_subsystem(*content, subsystem);
    }
  }

  void read_subsystem(const TomlTable& content, SubsystemDescription& subsystem) {
    bool has_source = false;
    std::vector<Key> keys;
    keys.reserve(kSubsystemSources.size());
    for (const auto& source : kSubsystemSources) {
      keys.push_back({std::string(source.name),
                      [this, source, &subsystem, &has_source](const TomlNode& node, const std::string& path) {
                        has_source = true;
                        read_source(node, path, source, subsystem);
                      }});
    }
    for (auto [name, outside] : {std::pair("udp", &subsystem.udp), std::pair("shm", &subsystem.shm)}) {
      keys.push_back({name, [this, outside = outside, &has_source](const TomlNode& node, const std::string& path) {
                        has_source = true;
                        read_outside(node, path, *outside);
                      }});
    }
    for_each_subsystem_key([&](const auto& key) {
      keys.push_back({std::string(key.name), into(subsystem.*key.field)});
    });
    keys.push_back(
        {"start", [&](const TomlNode& node, const std::string& path) { read_start(node, path, subsystem); }});
    keys.push_back({"optional_start", [&](const TomlNode& node, const std::string& path) {
                      read_optional_start(node, path, subsystem);
                    }});
    read_keys(content, "subsystems." + subsystem.name, keys);
    if (!has_source)
      add(subsystem.where, Fact{FactCode::NoModel, {subsystem.name}},
          "name one, such as model = \"lotka_volterra.prey\", an FMU: fmu = \"prey.fmu\", a table: csv = "
          "\"load.csv\", or a part outside: udp = { ... }");
  }

  void read_outside(const TomlNode& node, const std::string& path, std::optional<Written<OutsideDescription>>& into_) {
    const auto* content = as_table(node, path);
    if (content == nullptr) return;
    auto& outside = into_.emplace(Written<OutsideDescription>{{}, node.where}).value;
    std::vector<Key> keys{{"inputs", names_into(outside.inputs)}, {"outputs", names_into(outside.outputs)},
                          {"step", into(outside.step)},           {"timeout", into(outside.timeout)},
                          {"wait", into(outside.wait)},           {"missing", into(outside.missing)}};
    if (path.ends_with(".udp")) {
      keys.push_back({"local", into(outside.local)});
      keys.push_back({"remote", into(outside.remote)});
    } else {
      keys.push_back({"name", into(outside.name)});
    }
    read_keys(*content, path, keys);
  }

  void read_source(const TomlNode& node, const std::string& path, const SubsystemSource& source,
                   SubsystemDescription& subsystem) {
    const auto text = written<std::string>(node, path);
    if (!text) return;
    subsystem.*source.text = text->value;
    subsystem.*source.where = text->where;
    if (text->value.empty()) add(node.where, Fact{FactCode::EmptyValue, {path}}, "name one");
  }

  void read_start(const TomlNode& node, const std::string& path, SubsystemDescription& subsystem) {
    const auto* values = as_table(node, path);
    if (values == nullptr) return;
    for (const auto& entry : values->entries) {
      if (auto value = scalar(entry.node)) {
        subsystem.start[entry.key] = {std::move(*value), entry.node.where};
      } else {
        add_wrong_type(entry.node, fmt::format("{}.{}", path, entry.key), "a number, a boolean or a string");
        if (std::holds_alternative<TomlTable>(entry.node.value)) problems_.back().remedy = kQuoteDots;
      }
    }
  }

  void read_optional_start(const TomlNode& node, const std::string& path, SubsystemDescription& subsystem) {
    const auto* values = as_table(node, path);
    if (values == nullptr) return;
    for (const auto& entry : values->entries) {
      const std::string name = fmt::format("{}.{}", path, entry.key);
      std::optional<Value> value = scalar(entry.node);
      std::optional<Written<std::string>> unit;
      if (const auto* table = std::get_if<TomlTable>(&entry.node.value)) {
        const auto read_value = [&](const TomlNode& inner, const std::string&) { value = scalar(inner); };
        read_keys(*table, name, {{"value", read_value}, {"unit", into(unit)}});
      }
      if (value)
        subsystem.optional_start[entry.key] = {std::move(*value), unit ? unit->value : "", entry.node.where};
      else
        add_wrong_type(entry.node, name, "a number, a boolean, a string, or { value = ..., unit = ... }");
    }
  }

  void read_connections(const TomlTable& connections) {
    for (const auto& entry : connections.entries) {
      const std::string path = fmt::format("connections.\"{}\"", entry.key);
      const auto* list = std::get_if<std::vector<TomlNode>>(&entry.node.value);
      if (list == nullptr) {
        read_connection(entry, entry.node, path, "an input or a list of inputs, as strings");
        continue;
      }
      if (list->empty()) add(entry.node.where, Fact{FactCode::NoInputNamed, {path}});
      for (const auto& input : *list) read_connection(entry, input, path, "a list of strings");
    }
  }

  void read_connection(const TomlEntry& output, const TomlNode& input, const std::string& path,
                       std::string_view expected) {
    if (auto name = read_as<std::string>(input)) {
      description_.connections.push_back({output.key, std::move(*name), input.where, output.where});
    } else if (const auto* table = std::get_if<TomlTable>(&input.value); table != nullptr && is_scaled_input(*table)) {
      read_scaled_connection(output, input, path);
    } else {
      add_wrong_type(input, path, expected);
      if (table != nullptr) problems_.back().remedy = kQuoteDots;
    }
  }

  /// A table without any of these keys is a name whose dots were not quoted.
  static bool is_scaled_input(const TomlTable& table) {
    return std::any_of(table.entries.begin(), table.entries.end(), [](const TomlEntry& entry) {
      return entry.key == "to" || entry.key == "factor" || entry.key == "offset" || entry.key == "units" ||
             entry.key == "table";
    });
  }

  void read_scaled_connection(const TomlEntry& output, const TomlNode& node, const std::string& path) {
    std::optional<Written<std::string>> to;
    std::optional<Written<double>> factor;
    std::optional<Written<double>> offset;
    std::optional<Written<bool>> units;
    ValueTable table;
    const auto read_table = [&](const TomlNode& inner, const std::string& name) { table = value_table(inner, name); };
    read_keys(std::get<TomlTable>(node.value), path,
              {{"to", into(to)},
               {"factor", into(factor)},
               {"offset", into(offset)},
               {"units", into(units)},
               {"table", read_table}});
    if (!table.empty() && (factor || offset)) add(node.where, Fact{FactCode::TableAndFactor, {path}}, "write one");
    if (to) {
      ConnectionDescription connection{output.key, std::move(to->value), node.where, output.where};
      if (factor) connection.factor = factor->value;
      if (offset) connection.offset = offset->value;
      // A connection with a factor gets no unit conversion, unless `units = true` asks for it.
      connection.convert_units = units ? units->value : !factor && !offset;
      connection.table = std::move(table);
      description_.connections.push_back(std::move(connection));
    } else {
      add(node.where, Fact{FactCode::NoInputNamed, {path}}, "write { to = \"subsystem.input\", factor = ... }");
    }
  }

  ValueTable value_table(const TomlNode& node, const std::string& path) {
    ValueTable table;
    const auto* list = std::get_if<std::vector<TomlNode>>(&node.value);
    for (const auto& entry : list == nullptr ? std::vector<TomlNode>{} : *list) {
      const auto* pair = std::get_if<std::vector<TomlNode>>(&entry.value);
      const bool is_pair = pair != nullptr && pair->size() == 2;
      auto output = is_pair ? scalar(pair->front()) : std::nullopt;
      auto input = is_pair ? scalar(pair->back()) : std::nullopt;
      if (!output || !input) return add_wrong_table(entry, path);
      table.push_back({std::move(*output), std::move(*input)});
    }
    return table.empty() ? add_wrong_table(node, path) : table;
  }

  ValueTable add_wrong_table(const TomlNode& node, const std::string& path) {
    add(node.where, Fact{FactCode::NotValuePairs, {path}}, "such as [[0, 10], [1, 20]]");
    return {};
  }

  void read_bonds(const TomlTable& bonds) {
    auto& list = description_.bonds.emplace();
    for (const auto& entry : bonds.entries) {
      const std::string path = "bonds." + entry.key;
      const auto names = read_as<std::vector<std::string>>(entry.node);
      if (!names || names->size() < 2 || names->size() > 4) {
        add_wrong_type(entry.node, path,
                       "a list of two to four variables, such as [\"engine.torque\", \"engine.speed\"]");
        continue;
      }
      auto& bond = list.emplace_back();
      bond.name = entry.key;
      bond.where = entry.where;
      for (const auto& element : std::get<std::vector<TomlNode>>(entry.node.value)) {
        bond.variables.push_back({std::get<std::string>(element.value), element.where});
      }
    }
  }

  void read_constraints(const TomlTable& constraints) {
    for (const auto& entry : constraints.entries) {
      const auto names = read_as<std::vector<std::string>>(entry.node);
      if (!names || names->size() != 4) {
        add_wrong_type(entry.node, "constraints." + entry.key,
                       "a list of four variables, such as [\"motor.w\", \"load.w\", \"motor.tau\", \"load.tau\"]");
        continue;
      }
      auto& constraint = description_.constraints.emplace_back();
      constraint.name = entry.key;
      constraint.where = entry.where;
      for (const auto& element : std::get<std::vector<TomlNode>>(entry.node.value)) {
        constraint.variables.push_back({std::get<std::string>(element.value), element.where});
      }
    }
  }

  void read_placement(const TomlTable& placement) {
    for (const auto& entry : placement.entries) {
      const auto rank = read_as<std::int64_t>(entry.node);
      if (rank) {
        description_.placement[entry.key] = {*rank, entry.node.where};
      } else {
        add_wrong_type(entry.node, "placement." + entry.key, "the number of a rank, such as 0");
      }
    }
  }

  void read_schedule(const TomlTable& schedule) {
    for (const auto& entry : schedule.entries) {
      const std::string path = fmt::format("schedule.\"{}\"", entry.key);
      ScheduleDescription parameter{entry.key, {}, entry.where};
      const auto* list = std::get_if<std::vector<TomlNode>>(&entry.node.value);
      if (list == nullptr) {
        add_wrong_type(entry.node, path, "a list of [time, value] pairs");
        if (std::holds_alternative<TomlTable>(entry.node.value)) problems_.back().remedy = kQuoteDots;
        continue;
      }
      for (const auto& pair : *list) read_scheduled(pair, path, parameter);
      description_.schedule.push_back(std::move(parameter));
    }
  }

  void read_scheduled(const TomlNode& node, const std::string& path, ScheduleDescription& parameter) {
    const auto* pair = std::get_if<std::vector<TomlNode>>(&node.value);
    const bool is_pair = pair != nullptr && pair->size() == 2;
    const auto time = is_pair ? read_as<double>(pair->front()) : std::nullopt;
    auto value = is_pair ? scalar(pair->back()) : std::nullopt;
    if (time && value) {
      parameter.entries.push_back({*time, std::move(*value), node.where});
    } else {
      add(node.where, Fact{FactCode::NotTimePairs, {path}}, "such as [[2.0, 0.5], [4.0, 0.8]]");
    }
  }

  void read_scenario(const TomlNode& node, const std::string& path) {
    const auto* list = std::get_if<std::vector<TomlNode>>(&node.value);
    if (list == nullptr) return add_wrong_type(node, path, "a list of entries ([[scenario]])");
    for (const auto& entry : *list) {
      if (const auto* content = as_table(entry, path)) read_scenario_entry(*content, entry.where);
    }
  }

  /// One key says what happens to what, the others when and how.
  void read_scenario_entry(const TomlTable& table, const SourcePosition& where) {
    ScenarioDescription entry;
    entry.where = where;
    std::vector<ScenarioAction> actions;
    std::vector<Key> keys;
    keys.reserve(std::size(ChoiceNames<ScenarioAction>::all));
    for (const auto& [action, word] : ChoiceNames<ScenarioAction>::all) {
      keys.push_back(
          {std::string(word), [this, &entry, &actions, action = action](const TomlNode& node, const std::string& path) {
             actions.push_back(action);
             if (auto target = written<std::string>(node, path)) entry.target = std::move(*target);
           }});
    }
    for_each_scenario_key([&](const auto& key) { keys.push_back({std::string(key.name), into(entry.*key.field)}); });
    const std::size_t known_problems = problems_.size();
    read_keys(table, "scenario", keys);
    if (actions.empty() && problems_.size() > known_problems) return;  // a word that is mistyped
    if (actions.size() != 1) {
      Fact fact{FactCode::ScenarioNoAction};
      if (!actions.empty()) {
        fact.values.emplace_back("first", to_word(actions[0]));
        fact.values.emplace_back("second", to_word(actions[1]));
      }
      return add(where, std::move(fact), "write one of set, bias, scale, ramp, freeze, drop, noise and release");
    }
    entry.action = actions.front();
    if (!entry.target.value.empty()) description_.scenario.push_back(std::move(entry));
  }

  void read_record(const TomlTable& record) {
    read_keys(record, "record",
              {{"variables", names_into(description_.record.variables)},
               {"interval", into(description_.record.interval)},
               {"format", into(description_.record.format)}});
  }

  SystemDescription& description_;
  std::vector<Problem>& problems_;
};

}  // namespace

std::vector<ScenarioDescription> parse_scenario(std::string_view text, const std::filesystem::path& file,
                                                std::vector<Problem>& problems) {
  SystemDescription only;
  if (const auto document = parse_toml(text, file.string(), problems))
    SystemReader(only, problems).read_only_scenario(*document);
  return std::move(only.scenario);
}

SystemDescription parse_system(std::string_view text, const std::filesystem::path& file,
                               std::vector<Problem>& problems) {
  SystemDescription description;
  description.name = system_name(file);
  description.file = file;
  std::vector<Problem> found_here;
  if (const auto document = parse_toml(text, file.string(), found_here)) {
    SystemReader(description, found_here).read(*document);
    check_values(description, found_here);
  }
  std::stable_sort(found_here.begin(), found_here.end(),
                   [](const Problem& a, const Problem& b) { return a.where.line < b.where.line; });
  problems.insert(problems.end(), found_here.begin(), found_here.end());
  return description;
}

}  // namespace entrain::description
