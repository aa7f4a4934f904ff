#include "assembly/subsystem_factory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/fault_watch.hpp"
#include "base/quoting.hpp"
#include "base/suggest.hpp"
#include "description/outside_ports.hpp"
#include "description/subsystem_keys.hpp"
#include "entrain/fact_codes.hpp"
#include "models/registry.hpp"
#include "outside/outside_subsystem.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/fmi/proof_cache.hpp"
#include "subsystem/native/csv_source.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "subsystem/native/sum.hpp"
#include "worker/isolated_subsystem.hpp"

namespace entrain::assembly {
namespace {

/// Methods that need the equations get model exchange: co-simulation hides them.
subsystem::FmuChoice fmu_choice(const SubsystemDescription& description, bool needs_equations) {
  subsystem::FmuChoice choice;
  choice.prefer_model_exchange = needs_equations;
  if (description.relative_tolerance) choice.relative_tolerance = description.relative_tolerance->value;
  // A value that makes no sense is reported by the check of values; it must not end the loading before.
  if (description.timeout && description.timeout->value > 0.0) choice.timeout = description.timeout->value;
  if (description.interface) choice.interface = description.interface->value;
  if (description.probe) choice.probe = description.probe->value;
  return choice;
}

/// What the run uses, and what the user wrote about the capabilities of this one.
CapabilityUse uses_of(const SubsystemDescription& description, CapabilityUse uses) {
  const bool trials = description.trials && description.trials->value != TrialChoice::Auto;
  uses.rollback = uses.rollback || description.rollback || trials;
  uses.linearization = uses.linearization || description.linearization || trials;
  uses.input_degree = uses.input_degree || description.input_degree;
  uses.output_derivatives = uses.output_derivatives || description.output_derivative_order;
  return uses;
}

/// Companions of a run would not show its error: a subsystem imposes its step, or has side effects. One that cannot be
/// read is reported when it is made.
bool hides_error(const SubsystemDescription& description) {
  if (description::acts_outside(description)) return true;
  if (description.sampled && description.sampled->value) return false;
  if (description.step || description.fmu.empty()) return description.step.has_value();
  try {
    return subsystem::fmu_imposes_step(description.fmu, fmu_choice(description, false));
  } catch (const Error&) {
    return false;
  }
}

/// Events of FMUs concern each other only through values that are no real numbers, and clocks.
bool may_share_events(const SubsystemDescription& description) {
  try {
    return subsystem::fmu_has_discrete_ports(description.fmu);
  } catch (const Error&) {
    return false;
  }
}

TableInterpolation interpolation_of(const SubsystemDescription& description) {
  return description.interpolation ? description.interpolation->value : TableInterpolation::Hold;
}

/// A process for each FMU, as long as they are few.
std::string group_of_many(const SubsystemDescription& description, const SystemDescription& system) {
  constexpr std::size_t kMostProcesses = 16;
  const auto& all = system.subsystems;
  const auto is_fmu = [](const SubsystemDescription& each) { return !each.fmu.empty(); };
  if (static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_fmu)) <= kMostProcesses) return {};
  const auto place =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == description.name; });
  return fmt::format("one of {}: {}", kMostProcesses, static_cast<std::size_t>(place - all.begin()) % kMostProcesses);
}

/// The name of the group that it runs in, empty = alone; nullopt = in this process.
std::optional<std::string> group_of(const SubsystemDescription& description, const SystemDescription& system,
                                    bool isolates_fmus) {
  if (!description.isolate && !system.isolate && isolates_fmus && !description.fmu.empty())
    return group_of_many(description, system);
  if (!description.isolate) return system.isolate && system.isolate->value ? std::optional("") : std::nullopt;
  const Isolation& written = description.isolate->value;
  if (const auto* name = std::get_if<std::string>(&written)) return *name;
  return std::get<bool>(written) ? std::optional("") : std::nullopt;
}

/// Of FMUs; models and tables contain no code but ours.
bool in_sandbox(const SubsystemDescription& description, const SystemDescription& system) {
  if (description.sandbox) return description.sandbox->value;
  return system.sandbox && system.sandbox->value && !description.fmu.empty();
}

worker::Confinement confinement_of(const SubsystemDescription& description, const SystemDescription& system) {
  constexpr double kMiB = 1048576.0;
  constexpr double kUsual = 4096.0;  // MiB, in a sandbox
  worker::Confinement confinement;
  confinement.sandbox = in_sandbox(description, system);
  const auto& limit = description.memory_limit;
  const double written = limit && limit->value > 0.0 ? limit->value : confinement.sandbox ? kUsual : 0.0;
  confinement.memory = static_cast<std::uint64_t>(std::min(written, 1e12) * kMiB);
  return confinement;
}

class Factory {
 public:
  Factory(const SystemDescription& system, const MakerOptions& options, const Extensions& extensions,
          const Logging& log)
      : system_(system), options_(options), extensions_(extensions), log_(log) {
    if (options_.in_worker || options_.uses == CapabilityUse{}) return;
    std::vector<const SubsystemDescription*> fmus;
    for (const auto& each : system_.subsystems) {
      if (each.fmu.empty() || description::is_outside(each)) continue;
      fmus.push_back(&each);
      hold(each.fmu);
    }
    const auto& all = system_.subsystems;
    // Beside a run whose companions would not show its error, it is propagated.
    if (std::any_of(all.begin(), all.end(), hides_error)) options_.uses.linearization = true;
    options_.alone = fmus.size() < 2 ||
                     std::none_of(fmus.begin(), fmus.end(), [](const auto* each) { return may_share_events(*each); });
  }

  std::unique_ptr<Subsystem> make(const SubsystemDescription& description, const subsystem::FedInputs& fed,
                                  std::vector<Problem>& problems) const {
    if (description::is_outside(description)) return outside(description, fed, problems);
    if (options_.only_variables) return here(description, fed, problems);
    auto group = group_of(description, system_, options_.isolates_fmus);
    if (in_sandbox(description, system_)) {
      if (!may_be_in_sandbox(description, group.has_value(), problems)) return nullptr;
      if (!group) group = "";
    } else if (description.memory_limit && !group) {
      problems.push_back(
          problem_of(Fact{FactCode::MemoryLimitNotIsolated, {description.name}}, "", description.memory_limit->where));
    }
    if (description.restart && (!group || !group->empty())) {
      problems.push_back(
          problem_of(Fact{FactCode::RestartNotIsolated, {description.name}}, "", description.restart->where));
    }
    if (group) return isolated(request_for(description, fed), *group, problems);
    return here(description, fed, problems);
  }

 private:
  std::unique_ptr<Subsystem> here(const SubsystemDescription& description, const subsystem::FedInputs& fed,
                                  std::vector<Problem>& problems) const {
    if (!description.fmu.empty()) return fmu(description, problems);
    if (!description.csv.empty()) return csv(description, fed, problems);
    if (description.model.empty()) return nullptr;  // reported by the parser already
    return model(description, problems);
  }

  /// Ports that are not written are those of what stands in for it.
  std::unique_ptr<Subsystem> outside(const SubsystemDescription& description, const subsystem::FedInputs& fed,
                                     std::vector<Problem>& problems) const {
    const OutsideDescription& written = description::outside_of(description).value;
    outside::OutsideOptions options;
    const auto add_ports = [](const auto& ports, std::vector<Variable>& to) {
      std::string why;
      for (const auto& port : *ports) {
        if (auto variable = description::port_of(port.value, why)) to.push_back(std::move(*variable));
      }
    };
    if (written.inputs) add_ports(written.inputs, options.inputs);
    if (written.outputs) add_ports(written.outputs, options.outputs);
    const bool has_stand_in = !(description.model.empty() && description.fmu.empty() && description.csv.empty());
    if ((!written.inputs || !written.outputs) && has_stand_in) {
      const auto stand_in = here(description, fed, problems);
      if (!stand_in) return nullptr;
      if (!written.inputs) options.inputs = stand_in->variables().inputs;
      if (!written.outputs) options.outputs = stand_in->variables().outputs;
    }
    const auto& step = written.step ? written.step : description.step;
    if (!step || !(step->value > 0.0)) return nullptr;  // reported by the check of values already
    options.step = step->value;
    if (written.timeout) options.timeout = written.timeout->value;
    // At a pace there is half a step for it; else it may take long, because nothing else waits.
    const bool paced = system_.real_time && system_.real_time->value > 0.0;
    options.wait = paced ? 0.5 * options.step / system_.real_time->value : 0.1 * options.timeout;
    if (written.wait) options.wait = written.wait->value;
    if (written.missing) options.missing = written.missing->value;
    options.interrupted = log_.interrupted;
    return outside::make_outside_subsystem(description.name, written, std::move(options));
  }

  /// So that it is unpacked once.
  void hold(const std::string& fmu) {
    try {
      held_.push_back(subsystem::hold_fmu(fmu));
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): reported when it is made
    }
  }

  bool may_be_in_sandbox(const SubsystemDescription& description, bool isolated, std::vector<Problem>& problems) const {
    const auto& where = description.sandbox ? description.sandbox->where : description.fmu_where;
    if (!isolated && (description.isolate || (system_.isolate && !description.sandbox))) {
      problems.push_back(
          problem_of(Fact{FactCode::SandboxInProcess, {description.name}}, "leave 'isolate' out", where));
      return false;
    }
    try {
      const std::string needs = subsystem::fmu_outside_needs(description.fmu);
      if (needs.empty()) return true;
      problems.push_back(
          problem_of(Fact{FactCode::SandboxRefused, {description.name, description.fmu}, {{"why", needs}}},
                     "use isolate = true, if you trust it", where));
      return false;
    } catch (const Error&) {  // reported when it is made
      return true;
    }
  }

  worker::MakeRequest request_for(const SubsystemDescription& description, const subsystem::FedInputs& fed) const {
    worker::MakeRequest request;
    request.description = description;
    request.start = system_.start.value;
    if (system_.stop) request.stop = system_.stop->value;
    if (system_.step) request.step = system_.step->value;
    request.needs_equations = options_.needs_equations;
    request.logs_everything = log_.everything;
    request.fed = fed;
    request.uses = uses_of(description, options_.uses);
    request.alone = options_.alone;
    request.sandboxed = in_sandbox(description, system_);
    const auto unpacked = options_.fmu_folders.find(description.fmu);
    if (unpacked != options_.fmu_folders.end() && !request.sandboxed) request.fmu_folder = unpacked->second;
    if (!request.sandboxed) request.cache_folder = subsystem::cache_folder().string();
    return request;
  }

  std::unique_ptr<Subsystem> isolated(const worker::MakeRequest& request, const std::string& group,
                                      std::vector<Problem>& problems) const {
    const SubsystemDescription& description = request.description;
    if (!description.model.empty() && made_outside(description)) {
      problems.push_back(problem_of(
          Fact{FactCode::NotIsolable, {description.name}, {{"why", "it is made by the program that embeds Entrain"}}},
          "leave 'isolate' out", description.isolate ? description.isolate->where : description.model_where));
      return nullptr;
    }
    try {
      return worker::make_isolated(workers_->of_group(group, confinement_of(description, system_)), request, log_,
                                   problems);
    } catch (const Error& error) {
      problems.push_back(problem_of(
          base::quoting({FactCode::SubsystemRefused, {description.name}}, error, error.what()), "", description.where));
      return nullptr;
    }
  }

  /// With the reason as a note, if it helps.
  std::unique_ptr<Subsystem> isolated_unasked(const SubsystemDescription& description, const Error& why,
                                              std::vector<Problem>& problems) const {
    auto request = request_for(description, {});
    request.loads = true;
    auto made = isolated(request, "", problems);
    if (made) {
      problems.push_back(problem_of(base::quoting({FactCode::IsolatedUnasked, {description.name}}, why, why.message()),
                                    "", description.fmu_where));
    }
    return made;
  }

  /// Of an FMU that cannot be used in this process, but perhaps in one of its own, unless the user forbids it.
  bool may_isolate(const SubsystemDescription& description, const Error& error) const {
    const FactCode code = error.fact().code;
    return !description.isolate && !system_.isolate &&
           (code == FactCode::FmuOneInstance || code == FactCode::FmuSymbolMissing || code == FactCode::FmuNotLoaded);
  }

  void try_loading(const SubsystemDescription& description, const subsystem::FmuChoice& choice) const {
    try {
      subsystem::load_fmu(description.fmu, choice);
    } catch (const Error& error) {  // else reported when it is first called
      if (options_.loads || may_isolate(description, error)) throw;
    }
  }

  /// Each time in a new process, which takes the unpacked FMU of this one.
  std::function<base::ChildOutcome(const base::Bytes&)> prover_of(const SubsystemDescription& description) const {
    worker::MakeRequest request = request_for(description, {});
    request.only_tried = true;
    return [request = std::move(request), log = log_](const base::Bytes& question) {
      worker::MakeRequest there = request;
      if (there.fmu_folder.empty()) there.fmu_folder = subsystem::fmu_folder(request.description.fmu).string();
      return worker::prove_apart(there, log, question);
    };
  }

  bool made_outside(const SubsystemDescription& description) const {
    return (extensions_.subsystems && extensions_.subsystems(description.model, description.name)) ||
           (extensions_.models && extensions_.models(description.model));
  }

  std::unique_ptr<Subsystem> fmu(const SubsystemDescription& description, std::vector<Problem>& problems) const {
    try {
      const auto& timeout = description.timeout;
      if (timeout && !base::FaultWatch::active()) {
        problems.push_back(problem_of(Fact{FactCode::TimeoutIgnored, {description.name}}, "make an entrain::Watchdog",
                                      timeout->where));
      }
      subsystem::FmuChoice choice = fmu_choice(description, options_.needs_equations);
      for (const auto& [name, start] : description.optional_start) choice.start[name] = start.value;
      for (const auto& [name, written] : description.start) choice.start[name] = written.value;
      choice.log = log_;
      choice.folder = options_.fmu_folder;
      choice.uses = uses_of(description, options_.uses);
      choice.alone = options_.alone;
      choice.copies = options_.in_worker;
      if (!options_.in_sandbox) choice.prove = prover_of(description);
      if (system_.step && system_.step->value > 0.0) choice.step = system_.step->value;
      auto made = subsystem::make_fmu_subsystem(description.name, description.fmu, choice);
      if (!options_.only_variables) try_loading(description, choice);
      return made;
    } catch (const Error& error) {
      if (may_isolate(description, error)) return isolated_unasked(description, error, problems);
      problems.push_back(problem_of(base::quoting({FactCode::FmuUnusable, {description.name}}, error, error.message()),
                                    error.context().remedy, description.fmu_where));
      return nullptr;
    }
  }

  std::unique_ptr<Subsystem> csv(const SubsystemDescription& description, const subsystem::FedInputs& fed,
                                 std::vector<Problem>& problems) const {
    try {
      auto source = subsystem::read_csv_source(description.csv, interpolation_of(description), fed);
      const Time start = system_.start.value;
      const Time stop = system_.stop ? system_.stop->value : start;
      if (start < source->first_time() || stop > source->last_time()) {
        problems.push_back(problem_of(Fact{FactCode::TableShorterThanRun,
                                           {description.name},
                                           {{"first", source->first_time()},
                                            {"last", source->last_time(), "s"},
                                            {"start", start},
                                            {"stop", stop, "s"}}},
                                      "", description.csv_where));
      }
      return subsystem::make_native_subsystem(description.name, std::move(source));
    } catch (const Error& error) {
      problems.push_back(
          problem_of(base::quoting({FactCode::TableUnusable, {description.name}}, error, error.message()),
                     error.context().remedy, description.csv_where));
      return nullptr;
    }
  }

  std::unique_ptr<Subsystem> model(const SubsystemDescription& description, std::vector<Problem>& problems) const {
    if (extensions_.subsystems) {
      if (auto own = extensions_.subsystems(description.model, description.name)) return own;
    }
    auto model = extensions_.models ? extensions_.models(description.model) : nullptr;
    if (!model) model = models::make_built_in_model(description.model);
    if (!model) model = subsystem::make_sum(description.model);
    if (model) return subsystem::make_native_subsystem(description.name, std::move(model));
    std::vector<std::string> known;
    for (const auto& entry : models::built_in_models()) known.push_back(entry.name);
    problems.push_back(problem_of(Fact{FactCode::UnknownModel, {description.model}},
                                  suggestion(description.model, known), description.model_where));
    return nullptr;
  }

  const SystemDescription& system_;
  MakerOptions options_;
  Extensions extensions_;
  Logging log_;
  std::vector<std::shared_ptr<subsystem::Fmu>> held_;
  std::shared_ptr<worker::Workers> workers_ = std::make_shared<worker::Workers>();
};

}  // namespace

std::optional<std::string> group_on_ranks(const SubsystemDescription& description, const SystemDescription& system) {
  return group_of(description, system, true);
}

std::string source_of(const SubsystemDescription& description, bool needs_equations) {
  if (description.udp) return fmt::format("udp {}", description.udp->value.remote.value);
  if (description.shm) return fmt::format("shm {}", description.shm->value.name.value);
  if (!description.fmu.empty()) return subsystem::fmu_title(description.fmu, fmu_choice(description, needs_equations));
  if (description.csv.empty()) return "model " + description.model;
  return fmt::format("csv {} ({})", std::filesystem::path(description.csv).filename().string(),
                     to_word(interpolation_of(description)));
}

SubsystemMaker subsystem_maker(const SystemDescription& system, const MakerOptions& options,
                               const Extensions& extensions, const Logging& log) {
  return [factory = std::make_shared<const Factory>(system, options, extensions, log)](
             const SubsystemDescription& description, const subsystem::FedInputs& fed, std::vector<Problem>& problems) {
    return factory->make(description, fed, problems);
  };
}

}  // namespace entrain::assembly
