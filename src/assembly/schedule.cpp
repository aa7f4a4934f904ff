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

void add_entries(const ScheduleDescription& written, std::size_t index, const Variable& parameter,
                 std::vector<subsystem::ScheduledValue>& values, std::vector<Problem>& problems) {
  for (const auto& entry : written.entries) {
    if (auto value = base::converted(entry.value, parameter)) {
      values.push_back({entry.time, index, std::move(*value)});
    } else {
      problems.push_back(wrong_value(written.variable, parameter, entry.value, entry.where));
    }
  }
}

std::vector<subsystem::ScheduledValue> scheduled_values(const SystemDescription& description,
                                                        const std::string& subsystem, const VariableTable& variables,
                                                        std::vector<Problem>& problems) {
  std::vector<subsystem::ScheduledValue> values;
  for (const auto& written : description.schedule) {
    const auto dot = written.variable.find('.');
    if (dot == std::string::npos || subsystem_of(written.variable) != subsystem) continue;
    const auto name = written.variable.substr(dot + 1);
    const auto place = variables.find_startable(name);
    const bool is_parameter = place && place->causality == Causality::Parameter;
    if (is_parameter && variables.at(*place).tunable) {
      add_entries(written, place->index, variables.at(*place), values, problems);
      continue;
    }
    std::vector<std::string> known;
    for (const auto& parameter : variables.parameters) {
      if (parameter.tunable) known.push_back(fmt::format("{}.{}", subsystem, parameter.name));
    }
    const bool exists = place || variables.find(name);
    problems.push_back(problem_of({exists ? FactCode::NotTunable : FactCode::UnknownVariable, {written.variable}},
                                  suggestion(written.variable, known), written.where));
  }
  return values;
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

std::unique_ptr<Subsystem> with_schedule(std::unique_ptr<Subsystem> subsystem, const SystemDescription& system,
                                         const std::string& name, const WrittenStarts& written,
                                         std::vector<Problem>& problems) {
  auto values = scheduled_values(system, name, subsystem->variables(), problems);
  if (values.empty()) return subsystem;
  auto starts = start_values(values, subsystem->variables(), written);
  return subsystem::scheduled(std::move(subsystem), std::move(values), std::move(starts));
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
