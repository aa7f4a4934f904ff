#include "entrain/sketch.hpp"

#include <map>

#include "assembly/subsystem_factory.hpp"
#include "base/open_archives.hpp"
#include "description/system_file.hpp"
#include "entrain/system.hpp"

namespace entrain {
namespace {

/// One subsystem by itself: its own start values, nothing that names others.
SystemDescription alone(const SystemDescription& system, std::size_t s) {
  SystemDescription one;
  one.name = system.name;
  one.file = system.file;
  one.sandbox = system.sandbox;
  one.stop = {system.start.value + 1.0, {}};
  one.start = system.start;
  one.subsystems.push_back(system.subsystems[s]);
  auto& subsystem = one.subsystems.front();
  subsystem.start.clear();  // what is wrong with them is a problem, and changes no variable
  subsystem.optional_start.clear();
  return one;
}

std::string source_of(const SubsystemDescription& subsystem) {
  const std::string interface = subsystem.interface ? std::to_string(static_cast<int>(subsystem.interface->value)) : "";
  return subsystem.model + '\n' + subsystem.fmu + '\n' + subsystem.csv + '\n' + interface;
}

/// A built-in model by itself: an input without a source prevents a run, but its ports are known all the same.
std::optional<SubsystemInspection> made_alone(const SystemDescription& one) {
  const Extensions extensions;
  const Logging log;
  const auto make = assembly::subsystem_maker(one, {}, extensions, log);
  std::vector<Problem> problems;
  const auto& subsystem = one.subsystems.front();
  const auto made = make(subsystem, {}, problems);
  if (!made) return std::nullopt;
  SubsystemInspection shown;
  shown.name = subsystem.name;
  shown.source = assembly::source_of(subsystem, false);
  shown.variables = made->variables();
  shown.capabilities = made->capabilities();
  return shown;
}

std::optional<SubsystemInspection> inspected_alone(const SystemDescription& system, std::size_t s) {
  const auto one = alone(system, s);
  try {
    if (!system.subsystems[s].model.empty()) return made_alone(one);
    return inspect(one).subsystems.at(0);
  } catch (const Error&) {  // a problem of the system
    return std::nullopt;
  }
}

void inspect_each(SystemSketch& sketch) {
  std::map<std::string, std::optional<SubsystemInspection>> known;  // instances of one FMU have the same variables
  for (std::size_t s = 0; s < sketch.description.subsystems.size(); ++s) {
    const auto& subsystem = sketch.description.subsystems[s];
    const bool is_outside = subsystem.udp || subsystem.shm;
    const auto key = is_outside ? subsystem.name + "\n\n\n\n" : source_of(subsystem);
    auto found = known.find(key);
    if (found == known.end()) found = known.emplace(key, inspected_alone(sketch.description, s)).first;
    auto& shown = sketch.subsystems.emplace_back(found->second);
    if (shown) shown->name = subsystem.name;
  }
}

void look_inside(SystemSketch& sketch) {
  if (!has_errors(sketch.problems)) {
    try {
      auto whole = inspect(sketch.description);
      for (auto& subsystem : whole.subsystems) sketch.subsystems.emplace_back(std::move(subsystem));
      sketch.loops = std::move(whole.loops);
      sketch.sequence = std::move(whole.sequence);
      sketch.methods = std::move(whole.methods);
      return;
    } catch (const Error& error) {
      sketch.problems.insert(sketch.problems.end(), error.problems().begin(), error.problems().end());
      sketch.subsystems.clear();
    }
  }
  inspect_each(sketch);
}

SystemSketch completed(SystemDescription description, std::vector<Problem> problems, const LoadOptions& options) {
  const base::OpenArchives kept;
  SystemSketch sketch;
  sketch.description = std::move(description);
  sketch.problems = std::move(problems);
  sketch.is_toml = !has_errors(sketch.problems) || !sketch.description.subsystems.empty();
  take_default_experiments(sketch.description);
  if (options.sandbox) put_in_sandbox(sketch.description);
  if (!sketch.is_toml) return sketch;
  for (auto& problem : check(sketch.description)) sketch.problems.push_back(std::move(problem));
  look_inside(sketch);
  return sketch;
}

}  // namespace

SystemSketch sketch(std::string_view text, const std::filesystem::path& file, const LoadOptions& options) {
  std::vector<Problem> problems;
  auto description = description::parse_system(text, file, problems);
  return completed(std::move(description), std::move(problems), options);
}

SystemSketch sketch(const std::filesystem::path& file, const LoadOptions& options) {
  std::vector<Problem> problems;
  auto description = description::read_system(description::find_system_file(file), problems);
  return completed(std::move(description), std::move(problems), options);
}

}  // namespace entrain
