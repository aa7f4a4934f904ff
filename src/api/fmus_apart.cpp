#include "api/fmus_apart.hpp"

#include <fmt/format.h>

#include <map>

#include "assembly/subsystem_factory.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"

namespace entrain::api {
namespace {

constexpr std::size_t kMostWorkers = 16;
constexpr Duration kPatience = 60.0;  // s of wall clock time for one call, where nothing else is written

bool is_once_per_process(const std::filesystem::path& file) {
  try {
    return subsystem::fmu_once_per_process(file);
  } catch (const Error&) {  // reported where it is made
    return false;
  }
}

}  // namespace

SystemDescription with_fmus_apart(SystemDescription description) {
  std::map<std::string, std::size_t> files;
  for (auto& subsystem : description.subsystems) {
    if (subsystem.fmu.empty()) continue;
    const auto number = files.emplace(subsystem.fmu, files.size()).first->second;
    const bool alone = is_once_per_process(description.file.parent_path() / subsystem.fmu);
    if (!subsystem.timeout) subsystem.timeout = {kPatience, {}};
    subsystem.isolate = {alone ? Isolation(true) : Isolation(fmt::format("look {}", number % kMostWorkers)), {}};
  }
  return description;
}

SystemDescription with_fmus_as_on_ranks(SystemDescription description) {
  const SystemDescription written = description;
  for (auto& subsystem : description.subsystems) {
    if (subsystem.isolate || written.isolate) continue;
    const auto group = assembly::group_on_ranks(subsystem, written);
    if (group) subsystem.isolate = {group->empty() ? Isolation(true) : Isolation(*group), {}};
  }
  return description;
}

}  // namespace entrain::api
