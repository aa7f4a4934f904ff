#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "base/printable.hpp"
#include "description/run_keys.hpp"
#include "description/scenario_keys.hpp"
#include "description/subsystem_keys.hpp"
#include "description/system_file.hpp"
#include "description/toml_text.hpp"

namespace entrain {
namespace {

using Text = fmt::memory_buffer;

template <class T>
void add_entry(Text& text, std::string_view key, const T& value) {
  fmt::format_to(std::back_inserter(text), "{} = {}\n", description::toml_key(key), description::toml_text(value));
}

std::vector<std::string> values_of(const std::vector<Written<std::string>>& written) {
  std::vector<std::string> values;
  values.reserve(written.size());
  for (const auto& of : written) values.push_back(of.value);
  return values;
}

template <class T>
void add_if(Text& text, std::string_view key, const std::optional<Written<T>>& written) {
  if (written) add_entry(text, key, OptionValue(written->value));
}

void add_if(Text& text, std::string_view key, const std::optional<Written<Isolation>>& written) {
  if (written) std::visit([&](const auto& value) { add_entry(text, key, OptionValue(value)); }, written->value);
}

template <Choice Enum>
void add_if(Text& text, std::string_view key, const std::optional<Written<Enum>>& written) {
  if (written) add_entry(text, key, to_word(written->value));
}

/// A comment gives the origin of values from outside the system file (--set, a parameter file, the FMU's default
/// experiment).
std::string origin(const SourcePosition& where, const std::string& file) {
  return where.file.empty() || where.file == file ? "" : "  # " + base::printable(where.file);
}

void add_start(Text& text, const std::string& name, const std::string& value, const SourcePosition& where,
               const std::string& file) {
  fmt::format_to(std::back_inserter(text), "{} = {}{}\n", description::toml_key(name), value, origin(where, file));
}

template <class T>
void add_run_value(Text& text, std::string_view key, const Written<T>& written, const std::string& file) {
  fmt::format_to(std::back_inserter(text), "{} = {}{}\n", key, description::toml_text(OptionValue(written.value)),
                 origin(written.where, file));
}

template <Choice Enum>
void add_run_value(Text& text, std::string_view key, const Written<Enum>& written, const std::string& file) {
  fmt::format_to(std::back_inserter(text), "{} = {}{}\n", key, description::toml_text(to_word(written.value)),
                 origin(written.where, file));
}

template <class T>
void add_run_value(Text& text, std::string_view key, const std::optional<Written<T>>& written,
                   const std::string& file) {
  if (written) add_run_value(text, key, *written, file);
}

/// `udp = { local = "...", ... }`: in one line, as TOML wants it.
void add_outside(Text& text, std::string_view key, const std::optional<Written<OutsideDescription>>& written) {
  if (!written) return;
  const OutsideDescription& outside = written->value;
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, const std::string& value) {
    parts.push_back(fmt::format("{} = {}", name, value));
  };
  const auto add_text = [&](std::string_view name, const Written<std::string>& of) {
    if (!of.value.empty()) add(name, description::toml_text(std::string_view(of.value)));
  };
  const auto add_number = [&](std::string_view name, const std::optional<Written<double>>& of) {
    if (of) add(name, description::toml_text(of->value));
  };
  add_text("local", outside.local);
  add_text("remote", outside.remote);
  add_text("name", outside.name);
  if (outside.inputs) add("inputs", description::toml_text(OptionValue(values_of(*outside.inputs))));
  if (outside.outputs) add("outputs", description::toml_text(OptionValue(values_of(*outside.outputs))));
  add_number("step", outside.step);
  add_number("timeout", outside.timeout);
  add_number("wait", outside.wait);
  if (outside.missing) add("missing", description::toml_text(to_word(outside.missing->value)));
  fmt::format_to(std::back_inserter(text), "{} = {{ {} }}\n", key, fmt::join(parts, ", "));
}

void add_subsystem(Text& text, const SubsystemDescription& subsystem, const std::string& file) {
  const std::string table = "subsystems." + description::toml_key(subsystem.name);
  fmt::format_to(std::back_inserter(text), "\n[{}]\n", table);
  for (const auto& source : description::kSubsystemSources)
    if (!(subsystem.*source.text).empty()) add_entry(text, source.name, std::string_view(subsystem.*source.text));
  add_outside(text, "udp", subsystem.udp);
  add_outside(text, "shm", subsystem.shm);
  description::for_each_subsystem_key([&](const auto& key) { add_if(text, key.name, subsystem.*key.field); });
  if (!subsystem.start.empty()) fmt::format_to(std::back_inserter(text), "[{}.start]\n", table);
  for (const auto& [name, written] : subsystem.start)
    add_start(text, name, description::toml_text(written.value), written.where, file);
  if (subsystem.optional_start.empty()) return;
  fmt::format_to(std::back_inserter(text), "[{}.optional_start]\n", table);
  for (const auto& [name, start] : subsystem.optional_start) {
    const std::string value = description::toml_text(start.value);
    const std::string with_unit =
        start.unit.empty()
            ? value
            : fmt::format("{{ value = {}, unit = {} }}", value, description::toml_text(std::string_view(start.unit)));
    add_start(text, name, with_unit, start.where, file);
  }
}

std::string input_text(const ConnectionDescription& connection) {
  const std::string input = description::toml_text(std::string_view(connection.input));
  const bool scaled = connection.factor != 1.0 || connection.offset != 0.0;
  if (!scaled && connection.convert_units && connection.table.empty()) return input;
  std::string text = "{ to = " + input;
  if (connection.factor != 1.0) text += ", factor = " + description::toml_text(connection.factor);
  if (connection.offset != 0.0) text += ", offset = " + description::toml_text(connection.offset);
  if (!connection.table.empty()) {
    std::vector<std::string> pairs;
    pairs.reserve(connection.table.size());
    for (const auto& [from, to] : connection.table)
      pairs.push_back(fmt::format("[{}, {}]", description::toml_text(from), description::toml_text(to)));
    text += fmt::format(", table = [{}]", fmt::join(pairs, ", "));
  }
  if (scaled == connection.convert_units) text += fmt::format(", units = {}", connection.convert_units);
  return text + " }";
}

/// One key per output: TOML has no key twice.
void add_connections(Text& text, const std::vector<ConnectionDescription>& connections) {
  if (connections.empty()) return;
  std::vector<std::string> outputs;
  std::map<std::string, std::vector<std::string>> inputs_of;
  for (const auto& connection : connections) {
    auto& inputs = inputs_of[connection.output];
    if (inputs.empty()) outputs.push_back(connection.output);
    inputs.push_back(input_text(connection));
  }
  fmt::format_to(std::back_inserter(text), "\n[connections]\n");
  for (const auto& output : outputs) {
    const auto& inputs = inputs_of[output];
    const auto value = inputs.size() == 1 ? inputs.front() : fmt::format("[{}]", fmt::join(inputs, ", "));
    fmt::format_to(std::back_inserter(text), "{} = {}\n", description::toml_key(output), value);
  }
}

void add_bonds(Text& text, const std::optional<std::vector<BondDescription>>& bonds) {
  if (!bonds) return;
  fmt::format_to(std::back_inserter(text), "\n[bonds]\n");
  for (const auto& bond : *bonds) add_entry(text, bond.name, OptionValue(values_of(bond.variables)));
}

void add_constraints(Text& text, const std::vector<ConstraintDescription>& constraints) {
  if (!constraints.empty()) fmt::format_to(std::back_inserter(text), "\n[constraints]\n");
  for (const auto& constraint : constraints) {
    add_entry(text, constraint.name, OptionValue(values_of(constraint.variables)));
  }
}

void add_schedule(Text& text, const std::vector<ScheduleDescription>& schedule) {
  if (schedule.empty()) return;
  fmt::format_to(std::back_inserter(text), "\n[schedule]\n");
  for (const auto& [variable, entries, where] : schedule) {
    std::vector<std::string> pairs;
    pairs.reserve(entries.size());
    for (const auto& entry : entries)
      pairs.push_back(fmt::format("[{}, {}]", description::toml_text(entry.time), description::toml_text(entry.value)));
    fmt::format_to(std::back_inserter(text), "{} = [{}]\n", description::toml_key(variable), fmt::join(pairs, ", "));
  }
}

template <class T>
std::string scenario_text(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return description::toml_text(std::string_view(value));
  } else {
    return description::toml_text(Value(value));
  }
}

/// Before all tables, one entry in a line: lines are compared where systems are.
void add_scenario(Text& text, const std::vector<ScenarioDescription>& scenario) {
  if (scenario.empty()) return;
  fmt::format_to(std::back_inserter(text), "scenario = [\n");
  for (const auto& entry : scenario) {
    std::vector<std::string> keys;
    keys.push_back(
        fmt::format("{} = {}", to_word(entry.action), description::toml_text(std::string_view(entry.target.value))));
    description::for_each_scenario_key([&](const auto& key) {
      if (const auto& written = entry.*key.field)
        keys.push_back(fmt::format("{} = {}", key.name, scenario_text(written->value)));
    });
    fmt::format_to(std::back_inserter(text), "  {{ {} }},\n", fmt::join(keys, ", "));
  }
  fmt::format_to(std::back_inserter(text), "]\n\n");
}

void add_placement(Text& text, const std::map<std::string, Written<std::int64_t>>& placement) {
  if (placement.empty()) return;
  fmt::format_to(std::back_inserter(text), "\n[placement]\n");
  for (const auto& [subsystem, rank] : placement) add_entry(text, subsystem, OptionValue(rank.value));
}

void add_sweep(Text& text, const SweepDescription& sweep) {
  if (sweep.vary.empty() && !sweep.list && sweep.quantities.empty()) return;
  fmt::format_to(std::back_inserter(text), "\n[sweep]\n");
  add_if(text, "sampling", sweep.sampling);
  add_if(text, "list", sweep.list);
  add_if(text, "cases", sweep.cases);
  add_if(text, "seed", sweep.seed);
  if (!sweep.quantities.empty()) add_entry(text, "quantities", OptionValue(values_of(sweep.quantities)));
  if (!sweep.vary.empty()) fmt::format_to(std::back_inserter(text), "\n[sweep.vary]\n");
  for (const auto& [name, law, where] : sweep.vary) add_entry(text, name, OptionValue(law));
}

void add_record(Text& text, const RecordDescription& record) {
  if (!record.variables && !record.interval && !record.format) return;
  fmt::format_to(std::back_inserter(text), "\n[record]\n");
  if (record.variables) add_entry(text, "variables", OptionValue(values_of(*record.variables)));
  add_if(text, "interval", record.interval);
  add_if(text, "format", record.format);
}

}  // namespace

std::string system_text(const SystemDescription& description) {
  Text text;
  add_scenario(text, description.scenario);
  fmt::format_to(std::back_inserter(text), "[run]\n");
  const std::string file = description.file.string();
  description::for_each_run_key([&](const auto& key) { add_run_value(text, key.name, description.*key.field, file); });
  if (description.exclude) add_entry(text, "exclude", OptionValue(values_of(*description.exclude)));
  if (description.open) add_entry(text, "open", OptionValue(values_of(*description.open)));
  if (!description.tolerances.empty()) fmt::format_to(std::back_inserter(text), "\n[run.tolerances]\n");
  for (const auto& [output, written] : description.tolerances) add_entry(text, output, OptionValue(written.value));
  for (const auto& [method, options] : description.method_options) {
    fmt::format_to(std::back_inserter(text), "\n[method.{}]\n", description::toml_key(method));
    for (const auto& [name, written] : options) add_entry(text, name, written.value);
  }
  for (const auto& subsystem : description.subsystems) add_subsystem(text, subsystem, file);
  add_connections(text, description.connections);
  add_bonds(text, description.bonds);
  add_constraints(text, description.constraints);
  add_schedule(text, description.schedule);
  add_placement(text, description.placement);
  add_sweep(text, description.sweep);
  add_record(text, description.record);
  return fmt::to_string(text);
}

}  // namespace entrain
