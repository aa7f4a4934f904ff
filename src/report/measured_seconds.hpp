#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace entrain::reporting {

/// Seconds of each subsystem in one macro step, by its name, as a run measured them; empty where there is no such run.
std::map<std::string, double> measured_seconds(const std::filesystem::path& folder);

}  // namespace entrain::reporting
