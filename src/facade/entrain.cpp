#include "entrain/entrain.hpp"

#include "description/system_file.hpp"
#include "facade/prepare.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"

namespace entrain {

namespace {

/// An FMU by itself: one subsystem named after the file, run as the FMU proposes.
SystemDescription system_of_one_fmu(const std::filesystem::path& file) {
  const DefaultExperiment experiment = fmu_experiment(file);
  SystemDescription description;
  description.name = file.stem().string();
  description.start.value = experiment.start.value_or(0.0);
  if (experiment.stop) description.stop = {*experiment.stop, {}};
  if (experiment.step) description.step = {*experiment.step, {}};
  auto& subsystem = description.subsystems.emplace_back();
  subsystem.name = "fmu";
  subsystem.fmu = std::filesystem::absolute(file).string();
  subsystem.where = subsystem.fmu_where = {file.string(), 0, 0};
  return description;
}

bool is_fmu(const std::filesystem::path& path) {
  auto extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return extension == ".fmu" && std::filesystem::is_regular_file(path);
}

/// Reading and everything that can be said without running. A file that could not be parsed at all says just that.
SystemDescription read_and_check(const std::filesystem::path& path, bool always_check, std::vector<Problem>& problems) {
  const auto fmu = is_fmu(path) ? hold_fmu(path) : nullptr;
  auto description = fmu ? system_of_one_fmu(path) : read_system(find_system_file(path), problems);
  const bool wrong = has_errors(problems);
  if (wrong ? !description.subsystems.empty() : always_check) prepare(description, 1, {}, problems);
  return description;
}

}  // namespace

SystemDescription load(const std::filesystem::path& path) {
  std::vector<Problem> problems;
  auto description = read_and_check(path, false, problems);
  if (has_errors(problems)) throw Error(std::move(problems));
  return description;
}

std::vector<Problem> check(const std::filesystem::path& path) {
  std::vector<Problem> problems;
  read_and_check(path, true, problems);
  return problems;
}

std::string_view version() noexcept {
  return ENTRAIN_VERSION;
}

}  // namespace entrain
