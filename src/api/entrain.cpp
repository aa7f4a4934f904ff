#include "entrain/entrain.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "advise/choose_method.hpp"
#include "api/fmus_apart.hpp"
#include "base/archive.hpp"
#include "base/open_archives.hpp"
#include "base/replace_file.hpp"
#include "coupling/engine.hpp"
#include "description/system_file.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/sandbox.hpp"
#include "run/redundant_integrals.hpp"
#include "session/prepare.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"

namespace entrain {

namespace {

/// Where a value comes from that the user has not written.
SourcePosition experiment_of(const std::string& fmu) {
  return {std::string(kProposed) + fmu, 0, 0};
}

/// An FMU by itself: one subsystem named after the file, run as the FMU proposes.
SystemDescription system_of_one_fmu(const std::filesystem::path& file) {
  const subsystem::DefaultExperiment experiment = subsystem::fmu_experiment(file);
  SystemDescription description;
  description.name = file.stem().string();
  const SourcePosition proposed = experiment_of(file.filename().string());
  if (experiment.start) description.start = {*experiment.start, proposed};
  if (experiment.stop) description.stop = {*experiment.stop, proposed};
  if (experiment.step) description.step = {*experiment.step, proposed};
  auto& subsystem = description.subsystems.emplace_back();
  subsystem.name = "fmu";
  subsystem.fmu = std::filesystem::absolute(file).string();
  subsystem.where = subsystem.fmu_where = {file.string(), 0, 0};
  return description;
}

bool is_fmu(const std::filesystem::path& path) {
  auto extension = path.extension().string();
  for (char& c : extension) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return extension == ".fmu" && std::filesystem::is_regular_file(base::outermost_file(path));
}

/// Warnings of the subsystems about what may degrade a result, such as claims of FMUs that were withdrawn.
/// Instances of one FMU report the same; once is enough.
void add_warnings(const CoupledSystem& system, const SystemDescription& description, std::vector<Problem>& problems) {
  std::vector<Fact> known;
  for (std::size_t s = 0; s < system.size(); ++s) {
    for (const auto& warning : system.engine().subsystem(SubsystemId{s}).warnings()) {
      if (std::find(known.begin(), known.end(), warning) != known.end()) continue;
      known.push_back(warning);
      problems.push_back(problem_of(warning, {}, description.subsystems[s].fmu_where));
    }
  }
}

/// Signals that both sides of a connection integrate, where the subsystems can be initialised without any effect.
void add_redundant_integrals(session::Prepared& prepared, const SystemDescription& description,
                             std::vector<Problem>& problems) {
  CoupledSystem& system = *prepared.system;
  const bool corrected = description.correct_drift && description.correct_drift->value;
  const bool has_effects = std::any_of(
      description.subsystems.begin(), description.subsystems.end(), [](const SubsystemDescription& subsystem) {
        return subsystem.udp || subsystem.shm || (subsystem.side_effects && subsystem.side_effects->value);
      });
  if (corrected || has_effects || !running::can_have_redundant_integrals(system)) return;
  try {
    system.engine().initialize(prepared.settings.start, prepared.settings.stop);
    for (const auto& integral : running::redundant_integrals(system)) {
      const auto input = system.graph().name(integral.connections.front().input);
      const auto written = std::find_if(description.connections.begin(), description.connections.end(),
                                        [&](const ConnectionDescription& of) { return of.input == input; });
      problems.push_back(problem_of(
          {FactCode::RedundantIntegral, running::subjects_of(integral, system.graph())},
          "exchange the integral itself (the position with its velocity), or write [run] correct_drift = true",
          written == description.connections.end() ? SourcePosition{} : written->where));
    }
  } catch (const Error&) {  // an initialization that fails is reported by the run, with all details
    return;
  }
}

enum class Warnings { LeaveOut, Add };

void look_at(const SystemDescription& description, const Extensions& extensions, std::vector<Problem>& problems,
             Warnings warnings) {
  const auto looked_at = advising::to_look_at(description);
  const bool is_open = looked_at.method.value != description.method.value;  // any method may be chosen
  session::Prepared prepared = session::prepare(api::with_fmus_apart(looked_at), 1, extensions, problems, {}, is_open);
  if (warnings == Warnings::Add && prepared.system) add_warnings(*prepared.system, description, problems);
  if (warnings == Warnings::Add && prepared.system) add_redundant_integrals(prepared, description, problems);
}

/// Reading and all checks that need no run. A file that could not be parsed at all yields that problem alone.
SystemDescription read_and_check(const std::filesystem::path& path, bool always_check, const Extensions& extensions,
                                 const LoadOptions& options, std::vector<Problem>& problems) {
  const base::OpenArchives kept;
  const auto fmu = is_fmu(path) ? subsystem::hold_fmu(path) : nullptr;
  auto description =
      fmu ? system_of_one_fmu(path) : description::read_system(description::find_system_file(path), problems);
  if (!fmu) take_default_experiments(description);
  if (fmu && always_check && !description.stop) {  // no run is asked for, so none has to end
    description.stop = {description.start.value + 1.0, {}};
  }
  if (options.sandbox) put_in_sandbox(description);
  const bool wrong = has_errors(problems);
  if (wrong ? !description.subsystems.empty() : always_check) {
    look_at(description, extensions, problems, always_check ? Warnings::Add : Warnings::LeaveOut);
  }
  return description;
}

}  // namespace

void take_default_experiments(SystemDescription& system) {
  if (system.stop && system.step) return;
  const bool start_is_open = system.start.where.file.empty() && !system.stop;
  std::optional<Written<double>> start;
  std::optional<Written<double>> stop;
  std::optional<Written<double>> step;
  bool starts_agree = true;
  std::set<std::string> asked;
  for (const auto& subsystem : system.subsystems) {
    if (subsystem.fmu.empty() || !asked.insert(subsystem.fmu).second) continue;
    subsystem::DefaultExperiment proposed;
    try {
      proposed = subsystem::fmu_experiment(system.file.parent_path() / subsystem.fmu);
    } catch (const Error&) {  // reported when the subsystem is made
      continue;
    }
    const auto where = experiment_of(subsystem.fmu);
    if (proposed.stop && (!stop || *proposed.stop > stop->value)) stop = {*proposed.stop, where};
    if (proposed.step && (!step || *proposed.step < step->value)) step = {*proposed.step, where};
    if (proposed.start) {
      starts_agree = starts_agree && (!start || start->value == *proposed.start);
      start = {*proposed.start, where};
    }
  }
  if (start_is_open && start && starts_agree) system.start = *start;
  if (!system.stop) system.stop = stop;
  if (!system.step && step && system.stop && step->value < system.stop->value - system.start.value) system.step = step;
}

SystemDescription load(const std::filesystem::path& path, const Extensions& extensions) {
  return load(path, extensions, {});
}

SystemDescription load(const std::filesystem::path& path, const Extensions& extensions, const LoadOptions& options) {
  std::vector<Problem> problems;
  auto description = read_and_check(path, false, extensions, options, problems);
  if (has_errors(problems)) throw Error(std::move(problems));
  return description;
}

std::vector<Problem> check(const std::filesystem::path& path, const Extensions& extensions) {
  return check(path, extensions, {});
}

std::vector<Problem> check(const std::filesystem::path& path, const Extensions& extensions,
                           const LoadOptions& options) {
  std::vector<Problem> problems;
  read_and_check(path, true, extensions, options, problems);
  return problems;
}

void put_in_sandbox(SystemDescription& description) {
  description.sandbox = {true, {}};
  for (auto& subsystem : description.subsystems) {
    if (!subsystem.fmu.empty()) subsystem.sandbox.reset();
  }
}

std::vector<Problem> check(const SystemDescription& description, const Extensions& extensions) {
  const base::OpenArchives kept;
  std::vector<Problem> problems;
  look_at(description, extensions, problems, Warnings::Add);
  return problems;
}

SystemDescription parse(std::string_view text, const std::filesystem::path& file) {
  std::vector<Problem> problems;
  auto description = description::parse_system(text, file, problems);
  if (has_errors(problems)) throw Error(std::move(problems));
  return description;
}

void save(const SystemDescription& description, const std::filesystem::path& file) {
  base::replace_file(file, system_text(description));
}

}  // namespace entrain
