#pragma once

#include <memory>
#include <string>
#include <vector>

#include "assembly/written_starts.hpp"
#include "entrain/subsystem.hpp"
#include "entrain/system_description.hpp"

namespace entrain::assembly {

/// The subsystem with its part of the schedule; itself if there is none. `written`: what its parameters have
/// until then. Everything wrong goes to `problems`.
std::unique_ptr<Subsystem> with_schedule(std::unique_ptr<Subsystem> subsystem, const SystemDescription& system,
                                         const std::string& name, const WrittenStarts& written,
                                         std::vector<Problem>& problems);

/// Adds a problem for each scheduled variable of a subsystem that there is not.
void check_scheduled_subsystems(const SystemDescription& description, std::vector<Problem>& problems);

}  // namespace entrain::assembly
