#include "description/check_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "base/grid.hpp"
#include "base/internet_address.hpp"
#include "base/suggest.hpp"
#include "base/values.hpp"
#include "description/outside_ports.hpp"
#include "description/scenario_keys.hpp"
#include "description/subsystem_keys.hpp"
#include "entrain/capabilities.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

class ValueChecker {
 public:
  explicit ValueChecker(std::vector<Problem>& problems) : problems_(problems) {}

  void check(const SystemDescription& description) {
    check_run(description);
    if (description.subsystems.empty())
      add({description.file.string()}, Fact{FactCode::NoSubsystems},
          description.file.extension() == ".toml" || description.file.empty()
              ? "add one: [subsystems.NAME] with model = \"...\""
              : "add a Component with an FMU as its source");
    std::set<std::string> names;
    for (const auto& subsystem : description.subsystems) {
      check_subsystem(subsystem);
      if (!names.insert(subsystem.name).second) add(subsystem.where, Fact{FactCode::SubsystemTwice, {subsystem.name}});
    }
    check_placement(description, names);
    check_connections(description.connections);
    check_schedule(description);
    check_scenario(description);
    check_interval(description);
    check_format(description.record);
    if (const auto& recorded = description.record.variables; recorded && recorded->empty())
      problems_.push_back(problem_of(Fact{FactCode::OnlyTimesRecorded}, "leave it out to record all outputs",
                                     {description.file.string()}));
  }

 private:
  void check_placement(const SystemDescription& description, const std::set<std::string>& names) {
    for (const auto& [name, rank] : description.placement) {
      if (!names.contains(name))
        add(rank.where, Fact{FactCode::PlacementUnknown, {name}}, suggestion(name, {names.begin(), names.end()}));
      if (rank.value < 0) add(rank.where, Fact{FactCode::PlacementBeyond, {name}, {{"rank", rank.value}}});
    }
  }

  void add(SourcePosition where, Fact fact, std::string remedy = {}) {
    problems_.push_back(problem_of(std::move(fact), std::move(remedy), std::move(where)));
  }

  bool check_finite(std::string_view path, const Written<double>& written) {
    if (std::isfinite(written.value)) return true;
    add(written.where, Fact{FactCode::NotFinite, {std::string(path)}, {{"value", written.value}}});
    return false;
  }

  bool check_positive(std::string_view path, const Written<double>& written) {
    if (!check_finite(path, written)) return false;
    if (written.value > 0.0) return true;
    add(written.where,
        Fact{FactCode::OutOfRange, {std::string(path)}, {{"range", "greater than 0 s"}, {"value", written.value}}});
    return false;
  }

  void check_tolerance(const std::string& path, const Written<double>& written) {
    if (!check_finite(path, written) || (written.value > 0.0 && written.value <= 1.0)) return;
    add(written.where, Fact{FactCode::OutOfRange,
                            {path},
                            {{"range", "greater than 0 and at most 1, a share of the range of the output"},
                             {"value", written.value}}});
  }

  void check_run(const SystemDescription& run) {
    if (run.tolerance) check_tolerance("run.tolerance", *run.tolerance);
    if (run.real_time && check_finite("run.real_time", *run.real_time) && !(run.real_time->value > 0.0))
      add(run.real_time->where,
          Fact{
              FactCode::OutOfRange, {"run.real_time"}, {{"range", "greater than 0"}, {"value", run.real_time->value}}});
    for (const auto& [output, written] : run.tolerances) check_tolerance("run.tolerances." + output, written);
    bool known_length = check_finite("run.start", run.start) && run.stop && check_finite("run.stop", *run.stop);
    if (known_length && run.stop->value <= run.start.value) {
      add(run.stop->where,
          Fact{FactCode::StopBeforeStart, {}, {{"start", run.start.value, "s"}, {"stop", run.stop->value, "s"}}});
      known_length = false;
    }
    if (!run.step || !check_positive("run.step", *run.step) || !known_length) return;
    const double length = run.stop->value - run.start.value;
    check_step_count(run, length);
    // 0.3 - 0.1 is less than 0.2: a run of exactly one step must pass.
    if (run.step->value > length * (1 + 1e-9))
      add(run.step->where,
          Fact{FactCode::StepLongerThanRun, {}, {{"step", run.step->value, "s"}, {"run", length, "s"}}},
          "choose a smaller step");
  }

  /// Steps are counted, and neighbouring communication times must be different numbers.
  void check_step_count(const SystemDescription& run, double length) {
    constexpr double kMostSteps = 1e15;
    constexpr double kLeastRoundings = 1000.0;
    const double latest = std::max(std::abs(run.start.value), std::abs(run.stop->value));
    const double resolution = kLeastRoundings * std::numeric_limits<double>::epsilon() * latest;
    if (!(length / run.step->value <= kMostSteps)) {
      add(run.step->where, Fact{FactCode::TooManySteps, {}, {{"run", length, "s"}, {"step", run.step->value, "s"}}},
          "choose a larger step or an earlier stop");
    } else if (run.step->value < resolution) {
      add(run.step->where, Fact{FactCode::StepTooSmall, {}, {{"step", run.step->value, "s"}, {"time", latest, "s"}}},
          "start nearer to 0, or choose a larger step");
    }
  }

  void check_interval(const SystemDescription& system) {
    constexpr double kMostRows = 1e9;
    const auto& interval = system.record.interval;
    if (!interval || !check_positive("record.interval", *interval) || !system.stop) return;
    if ((system.stop->value - system.start.value) / interval->value > kMostRows)
      add(interval->where, Fact{FactCode::TooManyRows, {}, {{"interval", interval->value, "s"}}},
          "choose a larger interval");
  }

  void check_format(const RecordDescription& record) {
    const std::vector<std::string> known(kRecordFormats.begin(), kRecordFormats.end());
    if (record.format && std::find(known.begin(), known.end(), record.format->value) == known.end())
      add(record.format->where, Fact{FactCode::UnknownFormat, {record.format->value}},
          suggestion(record.format->value, known));
  }

  void check_subsystem(const SubsystemDescription& subsystem) {
    const std::string path = "subsystems." + subsystem.name;
    check_name(subsystem);
    check_source(subsystem);
    for (const auto& [name, start] : subsystem.start)
      if (const auto* number = std::get_if<double>(&start.value))
        check_finite(fmt::format("{}.start.{}", path, name), {*number, start.where});
    for (const auto& [name, start] : subsystem.optional_start)
      if (const auto* number = std::get_if<double>(&start.value))
        check_finite(fmt::format("{}.optional_start.{}", path, name), {*number, start.where});
    check_subsystem_keys(subsystem, path, problems_);
    check_steps(subsystem, path);
    if (is_outside(subsystem)) check_outside(subsystem, path + (subsystem.udp ? ".udp" : ".shm"));
  }

  void check_outside(const SubsystemDescription& subsystem, const std::string& path) {
    const auto& [outside, where] = outside_of(subsystem);
    if (subsystem.udp && subsystem.shm)
      add(subsystem.shm->where, Fact{FactCode::TwoPartsOutside, {subsystem.name}}, "name one of them");
    if (subsystem.udp) {
      check_address(path + ".local", outside.local, where);
      check_address(path + ".remote", outside.remote, where);
    } else if (const auto why = shared_name_fault(outside.name.value); !why.empty()) {
      add(outside.name.value.empty() ? where : outside.name.where,
          Fact{FactCode::AddressWrong, {path + ".name"}, {{"value", outside.name.value}, {"why", why}}},
          "such as name = \"rig\"");
    }
    if (outside.step) check_positive(path + ".step", *outside.step);
    if (outside.timeout) check_positive(path + ".timeout", *outside.timeout);
    if (outside.wait && check_finite(path + ".wait", *outside.wait) && !(outside.wait->value >= 0.0))
      add(outside.wait->where,
          Fact{FactCode::OutOfRange, {path + ".wait"}, {{"range", "at least 0 s"}, {"value", outside.wait->value}}});
    if (!outside.step && !subsystem.step)
      add(where, Fact{FactCode::RigStepMissing, {subsystem.name}}, "write step = ... in seconds");
    const bool has_model = !(subsystem.model.empty() && subsystem.fmu.empty() && subsystem.csv.empty());
    if (!outside.inputs && !outside.outputs && !has_model)
      add(where, Fact{FactCode::RigPortsMissing, {subsystem.name}},
          "write inputs = [\"F [N]\"], outputs = [\"x [m]\"]");
    for (const auto* ports : {&outside.inputs, &outside.outputs}) check_ports(path, *ports);
    for (const auto& [key, written] :
         {std::pair("isolate", subsystem.isolate.has_value()), std::pair("restart", subsystem.restart.has_value()),
          std::pair("sandbox", subsystem.sandbox.has_value()),
          std::pair("memory_limit", subsystem.memory_limit.has_value())}) {
      if (written) add(where, Fact{FactCode::RigKeyWrong, {subsystem.name}, {{"key", key}}}, "leave it out");
    }
  }

  void check_address(const std::string& path, const Written<std::string>& written, const SourcePosition& where) {
    std::string why;
    if (base::parse_address(written.value, why)) return;
    add(written.value.empty() ? where : written.where,
        Fact{FactCode::AddressWrong, {path}, {{"value", written.value}, {"why", why}}}, "such as \"127.0.0.1:9001\"");
  }

  void check_ports(const std::string& path, const std::optional<std::vector<Written<std::string>>>& ports) {
    std::set<std::string> names;
    for (const auto& [text, where] : ports ? *ports : std::vector<Written<std::string>>{}) {
      std::string why;
      const auto port = port_of(text, why);
      if (port && !names.insert(port->name).second) why = "it is there twice";
      if (!why.empty())
        add(where, Fact{FactCode::RigPortWrong, {path}, {{"value", text}, {"why", why}}}, "such as \"F [N]\"");
    }
  }

  void check_source(const SubsystemDescription& subsystem) {
    if (!subsystem.model.empty() && !subsystem.fmu.empty())
      add(subsystem.fmu_where, Fact{FactCode::ModelAndFmu, {subsystem.name}}, "name one of them");
    if (!subsystem.csv.empty() && !(subsystem.model.empty() && subsystem.fmu.empty()))
      add(subsystem.csv_where,
          Fact{FactCode::TableAndOther, {subsystem.name}, {{"other", subsystem.fmu.empty() ? "a model" : "an fmu"}}},
          "name one of them");
  }

  void check_schedule(const SystemDescription& description) {
    for (const auto& [variable, entries, where] : description.schedule) {
      const std::string path = fmt::format("schedule.\"{}\"", variable);
      check_endpoint("variable", variable, where, "a schedule");
      if (entries.empty()) add(where, Fact{FactCode::EmptyValue, {path}}, "give [time, value] pairs, or leave it out");
      const ScheduleDescription::Entry* previous = nullptr;
      for (const auto& entry : entries) {
        if (!check_finite(path, {entry.time, entry.where})) continue;
        if (const auto* number = std::get_if<double>(&entry.value)) check_finite(path, {*number, entry.where});
        if (previous != nullptr && !(entry.time > previous->time))
          add(entry.where,
              Fact{
                  FactCode::TimesNotAscending, {path}, {{"time", entry.time, "s"}, {"previous", previous->time, "s"}}});
        previous = &entry;
        if (description.stop && entry.time > description.stop->value)
          problems_.push_back(
              problem_of(Fact{FactCode::ChangeAfterEnd, {path}, {{"time", entry.time, "s"}}}, "", entry.where));
      }
    }
  }

  void check_scenario(const SystemDescription& description) {
    for (const auto& entry : description.scenario) {
      check_scenario_keys(entry);
      check_scenario_time(entry, description);
      for (const auto& schedule : description.schedule) {
        if (schedule.variable == entry.target.value)
          add(entry.target.where, Fact{FactCode::ScenarioScheduled, {entry.target.value}},
              "write all of it in the scenario");
      }
    }
    const auto& entries = description.scenario;
    for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
      check_contradictions(*entry, std::span(entries.begin(), entry));
      if (entry->action == ScenarioAction::Release) check_release(*entry, entries);
    }
  }

  void check_scenario_keys(const ScenarioDescription& entry) {
    const std::string_view action = to_word(entry.action);
    const std::string& target = entry.target.value;
    if (const auto connection = parse_connection(target)) {
      check_endpoint("output", connection->first, entry.target.where);
      check_endpoint("input", connection->second, entry.target.where);
    } else {
      check_endpoint("variable", target, entry.target.where, "a scenario");
    }
    for_each_scenario_key([&](const auto& key) {
      const auto& written = entry.*key.field;
      const bool used = has_key(entry.action, key.use);
      if (used && key.is_needed && !written)
        add(entry.where, Fact{FactCode::ScenarioKeyMissing, {target}, {{"action", action}, {"key", key.name}}},
            fmt::format("write {} = ...: {}", key.name, key.help));
      if (!used && written)
        add(written->where, Fact{FactCode::ScenarioKeyUnused, {target}, {{"action", action}, {"key", key.name}}},
            "leave it out");
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(written->value)>, double>) {
        if (written) check_limits(fmt::format("scenario.{}", key.name), *written, key.limits);
      }
    });
    if (!entry.value || !has_key(entry.action, ScenarioKeyUse::Value)) return;
    const bool is_number =
        std::holds_alternative<double>(entry.value->value) || std::holds_alternative<std::int64_t>(entry.value->value);
    if (is_number)
      check_limits("scenario.value", {base::number_of(entry.value->value), entry.value->where},
                   entry.action == ScenarioAction::Noise ? kNotNegative : kAnyValue);
  }

  void check_limits(const std::string& path, const Written<double>& written, const KeyLimits& limits) {
    if (!check_finite(path, written) || limits.allow(written.value)) return;
    add(written.where, Fact{FactCode::OutOfRange,
                            {path},
                            {{"range", limits.above_min ? "greater than 0" : "at least 0"}, {"value", written.value}}});
  }

  void check_scenario_time(const ScenarioDescription& entry, const SystemDescription& description) {
    const std::string_view action = to_word(entry.action);
    const std::string& target = entry.target.value;
    if (!entry.at && !entry.when)
      add(entry.where, Fact{FactCode::ScenarioNoTime, {target}, {{"action", action}}},
          "write at = 2.0, or when = \"subsystem.output < 0.2\"");
    if (entry.when && !parse_condition(entry.when->value))
      add(entry.when->where, Fact{FactCode::ScenarioBadCondition, {target}, {{"value", entry.when->value}}},
          "write a signal, <, <=, > or >=, and a number: \"battery.soc < 0.2\"");
    if (!entry.at || !std::isfinite(entry.at->value)) return;
    const Time at = entry.at->value;
    if (!base::reached(at, description.start.value))
      add(entry.at->where,
          Fact{FactCode::ScenarioBeforeStart,
               {target},
               {{"action", action}, {"time", at, "s"}, {"start", description.start.value, "s"}}},
          "write a time of the run");
    if (description.stop && base::reached(at, description.stop->value))
      problems_.push_back(
          problem_of(Fact{FactCode::ScenarioAfterEnd,
                          {target},
                          {{"action", action}, {"time", at, "s"}, {"stop", description.stop->value, "s"}}},
                     "", entry.at->where));
  }

  /// Two that do the same to one target at one time, or one that ends what the other begins.
  static bool contradict(ScenarioAction a, ScenarioAction b) {
    const auto replaces = [](ScenarioAction action) {
      return action == ScenarioAction::Set || action == ScenarioAction::Ramp || action == ScenarioAction::Freeze ||
             action == ScenarioAction::Drop;
    };
    return a == b || (replaces(a) && replaces(b)) || a == ScenarioAction::Release || b == ScenarioAction::Release;
  }

  void check_contradictions(const ScenarioDescription& entry, std::span<const ScenarioDescription> before) {
    if (!entry.at || entry.when) return;
    for (const auto& other : before) {
      const bool at_once = other.at && !other.when && base::same_time(other.at->value, entry.at->value);
      if (!at_once || other.target.value != entry.target.value || !contradict(entry.action, other.action)) continue;
      Fact fact{FactCode::ScenarioContradicts,
                {entry.target.value, other.target.value},
                {{"action", to_word(entry.action)}, {"other", to_word(other.action)}, {"time", entry.at->value, "s"}}};
      if (other.where.line > 0) fact.values.emplace_back("line", other.where.line);
      add(entry.where, std::move(fact), "leave one of them out, or give it another time");
      return;
    }
  }

  /// Something must be able to be in force when it comes.
  void check_release(const ScenarioDescription& entry, const std::vector<ScenarioDescription>& entries) {
    const bool ends_something = std::any_of(entries.begin(), entries.end(), [&](const ScenarioDescription& other) {
      if (other.action == ScenarioAction::Release || other.target.value != entry.target.value) return false;
      return entry.when || other.when || !entry.at || !other.at || other.at->value < entry.at->value;
    });
    if (ends_something) return;
    Fact fact{FactCode::ScenarioReleasesNothing, {entry.target.value}};
    if (entry.at) fact.values.emplace_back("time", entry.at->value, "s");
    std::vector<std::string> targets;
    for (const auto& other : entries) {
      if (other.action != ScenarioAction::Release) targets.push_back(other.target.value);
    }
    add(entry.where, std::move(fact), targets.empty() ? "leave it out" : suggestion(entry.target.value, targets));
  }

  void check_name(const SubsystemDescription& subsystem) {
    if (!subsystem.name.empty() && subsystem_name(subsystem.name) == subsystem.name) return;
    add(subsystem.where, Fact{FactCode::BadSubsystemName, {subsystem.name}}, "use letters, digits, '_', '-' and '/'");
  }

  /// Keys that depend on each other; each alone has been checked.
  void check_steps(const SubsystemDescription& subsystem, const std::string& path) {
    const auto& step = subsystem.step;
    const auto& offset = subsystem.step_offset;
    if (step && offset && step->value > 0.0 && std::isfinite(offset->value) && offset->value >= step->value)
      add(offset->where,
          Fact{FactCode::OffsetBeyondStep, {path}, {{"offset", offset->value, "s"}, {"step", step->value, "s"}}});
    const auto& least = subsystem.min_step;
    const auto& most = subsystem.max_step;
    if (least && most && most->value > 0.0 && std::isfinite(least->value) && least->value > most->value)
      add(least->where,
          Fact{FactCode::MinAboveMaxStep, {path}, {{"min_step", least->value, "s"}, {"max_step", most->value, "s"}}});
  }

  void check_connections(const std::vector<ConnectionDescription>& connections) {
    const ConnectionDescription* previous = nullptr;
    for (const auto& connection : connections) {
      // The inputs of one output follow each other; its name is wrong once.
      if (previous == nullptr || previous->output != connection.output)
        check_endpoint("output", connection.output, connection.output_where);
      check_endpoint("input", connection.input, connection.where);
      const std::string path = fmt::format("connections.\"{}\"", connection.output);
      check_finite(path + ".factor", {connection.factor, connection.where});
      check_finite(path + ".offset", {connection.offset, connection.where});
      previous = &connection;
    }
  }

  void check_endpoint(std::string_view role, const std::string& name, const SourcePosition& where,
                      std::string_view of = "a connection") {
    const auto dot = name.find('.');
    if (dot != std::string::npos && dot > 0 && dot + 1 < name.size()) return;
    add(where, Fact{FactCode::BadEndpoint, {name}, {{"role", role}, {"of", of}}}, "write \"subsystem.variable\"");
  }

  std::vector<Problem>& problems_;
};

}  // namespace

std::string subsystem_name(std::string_view wanted) {
  std::string name(wanted);
  for (char& c : name) {
    const bool beyond_ascii = (static_cast<unsigned char>(c) & 0x80U) != 0;  // UTF-8, checked when parsed
    const bool allowed = beyond_ascii || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         c == '_' || c == '-' || c == '/';
    if (!allowed) c = '_';
  }
  return name.empty() ? "_" : name;
}

void check_values(const SystemDescription& description, std::vector<Problem>& problems) {
  ValueChecker(problems).check(description);
}

}  // namespace entrain::description
