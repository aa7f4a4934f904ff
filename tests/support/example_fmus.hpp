#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "support/systems.hpp"

namespace entrain::test {

inline std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(examples_folder())) {
    if (entry.path().filename() == "bench") continue;  // a part of it lies outside (tests/failure/real_time_test.cpp)
    if (std::filesystem::exists(entry.path() / "system.toml")) names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The FMU that a subsystem of an example names, or the one of its built-in model; strict ones, but for those that can
/// do less.
inline std::string fmu_of(const SubsystemDescription& subsystem) {
  constexpr std::string_view kBuilt = "build/fmus/";
  std::string model = subsystem.model;
  std::replace(model.begin(), model.end(), '.', '_');
  const std::string file =
      subsystem.fmu.empty() ? "2/" + model + ".fmu" : subsystem.fmu.substr(subsystem.fmu.find(kBuilt) + kBuilt.size());
  return fmu_folder() + (file.starts_with("supplied/") ? "/" : "/test/strict/") + file;
}

}  // namespace entrain::test
