#include "assembly/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/suggest.hpp"
#include "base/values.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/scheduled.hpp"

namespace entrain::assembly {
namespace {

/// The first dot ends the name of the subsystem; without one the parser has reported it.
std::string subsystem_of(const std::string& variable) {
  return variable.substr(0, variable.find('.'));
}

/// The values in the type of the variable; those that do not fit go to `problems`.
std::vector<std::pair<Time, Value>> typed_entries(const ScheduleDescription& written, const Variable& variable,
                                                  std::vector<Problem>& problems) {
  std::vector<std::pair<Time, Value>> entries;
  for (const auto& entry : written.entries) {
    if (auto value = base::converted(entry.value, variable)) {
      entries.emplace_back(entry.time, std::move(*value));
    } else {
      problems.push_back(wrong_value(written.variable, variable, entry.value, entry.where));
    }
  }
  return entries;
}

bool is_input(VariableTable::Place place) {
  return place.causality == Causality::Input || place.causality == Causality::DiscreteInput;
}

void refuse(const ScheduleDescription& written, const std::string& subsystem, const VariableTable& variables,
            std::vector<Problem>& problems) {
  std::vector<std::string> known;
  for (const auto* some : {&variables.parameters, &variables.inputs, &variables.discrete_inputs}) {
    for (const auto& variable : *some) {
      if (some != &variables.parameters || variable.tunable)
        known.push_back(fmt::format("{}.{}", subsystem, variable.name));
    }
  }
  const auto name = written.variable.substr(written.variable.find('.') + 1);
  const bool exists = variables.find(name).has_value();
  problems.push_back(problem_of({exists ? FactCode::NotTunable : FactCode::UnknownVariable, {written.variable}},
                                suggestion(written.variable, known), written.where));
}

/// What they have without the schedule: as `written`, else as in the subsystem.
std::map<std::size_t, Value> start_values(const std::vector<subsystem::ScheduledValue>& values,
                                          const VariableTable& variables, const WrittenStarts& written) {
  std::map<std::size_t, Value> starts;
  for (const auto& scheduled : values) {
    const auto& parameter = variables.parameters[scheduled.parameter];
    const auto found = written.find(parameter.name);
    const auto value = found == written.end() ? parameter.start : base::converted(found->second.value, parameter);
    if (value) starts.insert({scheduled.parameter, *value});
  }
  return starts;
}

}  // namespace

SubsystemSchedule schedule_of(const SystemDescription& description, const std::string& subsystem,
                              const VariableTable& variables, std::vector<Problem>& problems) {
  SubsystemSchedule schedule;
  for (const auto& written : description.schedule) {
    const auto dot = written.variable.find('.');
    if (dot == std::string::npos || subsystem_of(written.variable) != subsystem) continue;
    const auto place = variables.find_startable(written.variable.substr(dot + 1));
    const bool may_change =
        place && (is_input(*place) || (place->causality == Causality::Parameter && variables.at(*place).tunable));
    if (!may_change) {
      refuse(written, subsystem, variables, problems);
      continue;
    }
    for (auto& [time, value] : typed_entries(written, variables.at(*place), problems)) {
      if (is_input(*place)) {
        schedule.inputs.push_back({time, *place, std::move(value), &written});
      } else {
        schedule.parameters.push_back({time, place->index, std::move(value)});
      }
    }
  }
  return schedule;
}

std::unique_ptr<Subsystem> with_schedule(std::unique_ptr<Subsystem> subsystem, SubsystemSchedule schedule,
                                         const WrittenStarts& written) {
  if (schedule.parameters.empty() && schedule.inputs.empty()) return subsystem;
  auto starts = start_values(schedule.parameters, subsystem->variables(), written);
  std::vector<Time> announced;
  for (const auto& input : schedule.inputs) announced.push_back(input.time);
  std::sort(announced.begin(), announced.end());
  return subsystem::scheduled(std::move(subsystem), std::move(schedule.parameters), std::move(starts),
                              std::move(announced));
}

void check_scheduled_subsystems(const SystemDescription& description, std::vector<Problem>& problems) {
  std::vector<std::string> known;
  for (const auto& subsystem : description.subsystems) known.push_back(subsystem.name);
  for (const auto& written : description.schedule) {
    const std::string name = subsystem_of(written.variable);
    if (name == written.variable || std::find(known.begin(), known.end(), name) != known.end()) continue;
    problems.push_back(
        problem_of(Fact{FactCode::UnknownSubsystem, {name, written.variable}}, suggestion(name, known), written.where));
  }
}

}  // namespace entrain::assembly
