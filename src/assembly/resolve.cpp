#include "entrain/system.hpp"
#include "methods/registry.hpp"

namespace entrain {
namespace {

/// Macro steps of a run whose file does not say: enough for a first look at most systems.
constexpr double kDefaultSteps = 1000.0;

/// What is really run can be run again from another folder.
std::string absolute_path(const std::filesystem::path& path, const std::filesystem::path& system_file) {
  std::error_code error;  // a working directory that is gone leaves the path as it is
  const auto whole = std::filesystem::absolute(system_file.parent_path() / path, error);
  return (error ? path : whole).lexically_normal().string();
}

}  // namespace

SystemDescription resolved(const SystemDescription& description, const Extensions& extensions) {
  SystemDescription result = description;
  if (!result.step && result.stop) {
    result.step = {(result.stop->value - result.start.value) / kDefaultSteps, {}};
  }
  if (const auto method = MethodRegistry(extensions).make(result.method.value)) {
    auto& written = result.method_options[result.method.value];
    std::vector<Problem> reported_elsewhere;  // prepare() reads the same options and reports
    read_options(*method, written, result.method.value, reported_elsewhere);
    for (auto& [name, value] : options_in_force(*method)) written.insert({name, {std::move(value), {}}});
  }
  for (auto& subsystem : result.subsystems) {
    for (const auto& [name, written] : subsystem.start) subsystem.optional_start.erase(name);  // it wins
    if (!subsystem.fmu.empty()) subsystem.fmu = absolute_path(subsystem.fmu, result.file);
    if (!subsystem.csv.empty()) subsystem.csv = absolute_path(subsystem.csv, result.file);
  }
  return result;
}

}  // namespace entrain
