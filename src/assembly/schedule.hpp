#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assembly/written_starts.hpp"
#include "entrain/subsystem.hpp"
#include "entrain/system_description.hpp"
#include "subsystem/scheduled.hpp"

namespace entrain::assembly {

/// What the schedule says of one subsystem.
struct SubsystemSchedule {
  /// An input is set at the first communication time at or after its time.
  struct Input {
    Time time;
    VariableTable::Place place;
    Value value;
    const ScheduleDescription* written;
  };
  std::vector<subsystem::ScheduledValue> parameters;
  std::vector<Input> inputs;
};
/// Everything wrong goes to `problems`. The result points into `description`.
SubsystemSchedule schedule_of(const SystemDescription& description, const std::string& subsystem,
                              const VariableTable& variables, std::vector<Problem>& problems);

/// The subsystem with its scheduled parameters, and the times of all announced; itself if there is nothing. `written`:
/// what its parameters have until then.
std::unique_ptr<Subsystem> with_schedule(std::unique_ptr<Subsystem> subsystem, SubsystemSchedule schedule,
                                         const WrittenStarts& written);

/// Adds a problem for each scheduled variable of a subsystem that there is not.
void check_scheduled_subsystems(const SystemDescription& description, std::vector<Problem>& problems);

}  // namespace entrain::assembly
