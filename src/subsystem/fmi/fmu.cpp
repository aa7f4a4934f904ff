#include "subsystem/fmi/fmu.hpp"

#include <fmt/format.h>

#include <map>

#include "base/sha256.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmu_probe.hpp"
#include "subsystem/fmi/proof_cache.hpp"

namespace entrain::subsystem {
namespace {

namespace fs = std::filesystem;

std::string_view status_name(FmuStatus status) {
  switch (status) {
    case FmuStatus::Ok: return "OK";
    case FmuStatus::Warning: return "Warning";
    case FmuStatus::Discard: return "Discard";
    case FmuStatus::Error: return "Error";
    case FmuStatus::Fatal: break;
  }
  return "Fatal";
}

FmuDescription checked_description(const fs::path& folder, const std::string& fmu) {
  auto description = read_model_description(folder / "modelDescription.xml", fmu);
  read_terminals(folder / "terminalsAndIcons" / "terminalsAndIcons.xml", description);
  if (description.co_simulation || description.model_exchange || description.scheduled_execution) return description;
  throw Error(ErrorCode::InvalidSystem, {FactCode::FmuNoInterface, {fmu}},
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Export it again for co-simulation"});
}

std::unique_ptr<FmuFunctions> functions_of(const FmuLibrary& library, const FmuDescription& description) {
  switch (description.version) {
    case FmiVersion::One: return make_fmi1_functions(library, description);
    case FmiVersion::Two: return make_fmi2_functions(library, description);
    case FmiVersion::Three: break;
  }
  return make_fmi3_functions(library, description);
}

const char* instantiating_function(FmiVersion version, bool exchange) {
  switch (version) {
    case FmiVersion::One: return exchange ? "fmiInstantiateModel" : "fmiInstantiateSlave";
    case FmiVersion::Two: return "fmi2Instantiate";
    case FmiVersion::Three: break;
  }
  return exchange ? "fmi3InstantiateModelExchange" : "fmi3InstantiateCoSimulation";
}

std::string refusal_remedy(bool three, bool needs_tool) {
  if (needs_tool) {
    return "It is a wrapper around the tool that made it (needsExecutionTool): install and license that tool here, or "
           "export the FMU so that it stands alone";
  }
  return fmt::format(
      "Often the {} in modelDescription.xml is not the one of the binary, a licence is missing, or a "
      "file in its resources",
      three ? "instantiation token" : "guid");
}

CapabilityUse united(const CapabilityUse& a, const CapabilityUse& b) {
  return {a.rollback || b.rollback, a.linearization || b.linearization, a.input_degree || b.input_degree,
          a.output_derivatives || b.output_derivatives, a.reset || b.reset};
}

/// A file that was replaced is another one; so is what lay inside.
std::string key_of(const fs::path& file) {
  std::error_code error;
  const auto outermost = base::outermost_file(file);
  const auto canonical = fs::canonical(outermost, error);
  if (error) return file.string();
  const auto changed = fs::last_write_time(canonical, error).time_since_epoch().count();
  return fmt::format("{}\n{}\n{}\n{}", canonical.string(), changed, fs::file_size(canonical, error),
                     file.lexically_relative(outermost).string());
}

}  // namespace

std::shared_ptr<Fmu> Fmu::open(const fs::path& file, const fs::path& folder) {
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<Fmu>> known;
  const std::string key = key_of(file);
  const std::lock_guard lock(mutex);
  auto& entry = known[key];
  if (auto fmu = entry.lock()) return fmu;
  auto fmu = std::make_shared<Fmu>(file, folder);
  entry = fmu;
  return fmu;
}

Fmu::Fmu(const fs::path& file, const fs::path& folder)
    : name_(file.string()),
      archive_(folder.empty() ? std::make_optional<base::UnpackedArchive>(base::LocatedFile(file)) : std::nullopt),
      folder_(archive_ ? archive_->folder() : folder),
      description_(checked_description(folder_, name_)) {
  ports();
}

const FmuPorts& Fmu::ports(const FmuStructure& structure) {
  const std::lock_guard lock(mutex_);
  const auto known = ports_.find(structure);
  if (known != ports_.end()) return known->second;
  return ports_.emplace(structure, ports_of(description_, name_, structure)).first->second;
}

bool Fmu::offers(FmuInterface interface) const noexcept {
  if (interface == FmuInterface::ScheduledExecution) return description_.scheduled_execution.has_value();
  return interface == FmuInterface::CoSimulation ? description_.co_simulation.has_value()
                                                 : description_.model_exchange.has_value();
}

bool Fmu::once_per_process(FmuInterface interface) const noexcept {
  if (interface == FmuInterface::ScheduledExecution) return scheduled_flags().once_per_process;
  return interface == FmuInterface::CoSimulation ? flags().once_per_process : exchange_flags().once_per_process;
}

std::string Fmu::title(FmuInterface interface, const std::string& how) const {
  const FmuInterface other =
      interface == FmuInterface::CoSimulation ? FmuInterface::ModelExchange : FmuInterface::CoSimulation;
  return fmt::format("{} (FMI {} {}{}{}{})", fs::path(name_).filename().string(), description_.version_text,
                     to_string(interface), how.empty() ? "" : " by " + how, offers(other) ? "; offers " : "",
                     offers(other) ? to_string(other) : "");
}

std::shared_ptr<const std::string> Fmu::claim(const std::string& instance, FmuInterface interface) {
  auto claim = std::make_shared<const std::string>(instance);
  if (!once_per_process(interface)) return claim;
  const std::lock_guard lock(mutex_);
  if (const auto holder = claimed_.lock()) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::FmuOneInstance, {name_, *holder, instance}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Use a copy that allows several"});
  }
  claimed_ = claim;
  return claim;
}

const std::string& Fmu::identifier(FmuInterface interface) const {
  if (interface == FmuInterface::ScheduledExecution) return scheduled_flags().model_identifier;
  return interface == FmuInterface::CoSimulation ? flags().model_identifier : exchange_flags().model_identifier;
}

std::string Fmu::missing_binary(FmuInterface interface) const {
  return entrain::subsystem::missing_binary(folder_, platform(), identifier(interface));
}

bool Fmu::expects_python(FmuInterface interface) const {
  return entrain::subsystem::expects_python(folder_ / "binaries" / platform() / (identifier(interface) + ".so"));
}

const FmuFunctions& Fmu::functions(FmuInterface interface, std::optional<Duration> timeout) {
  const std::string& identifier = this->identifier(interface);
  const std::lock_guard lock(mutex_);
  if (const auto known = loaded_.find(identifier); known != loaded_.end()) return *known->second.functions;
  Loaded loaded;
  loaded.library = std::make_unique<FmuLibrary>(folder_, platform(), identifier, name_, timeout);
  loaded.functions = functions_of(*loaded.library, description_);
  return *loaded_.emplace(identifier, std::move(loaded)).first->second.functions;
}

std::unique_ptr<FmuInstance> Fmu::instantiate(const std::string& instance, const FmuUse& use, FmuLog& log) {
  auto made = functions(use.interface, log.code().owner().timeout).instantiate(instance, folder_, use, log);
  if (made) return made;
  const bool three = description_.version == FmiVersion::Three;
  const bool exchange = use.interface == FmuInterface::ModelExchange;
  const bool scheduled = use.interface == FmuInterface::ScheduledExecution;
  const bool needs_tool = scheduled  ? scheduled_flags().needs_execution_tool
                          : exchange ? exchange_flags().needs_execution_tool
                                     : flags().needs_execution_tool;
  throw Error(ErrorCode::SubsystemFailed,
              {FactCode::FmuNoInstance,
               {name_},
               {{"function", scheduled ? "fmi3InstantiateScheduledExecution"
                                       : instantiating_function(description_.version, exchange)},
                {"said", log.take_text()}}},
              {.subsystem = instance, .variable = {}, .time = {}, .remedy = refusal_remedy(three, needs_tool)});
}

FmuAbilities limited_to(FmuAbilities abilities, const CapabilityUse& uses) {
  if (!uses.rollback) abilities.rollback = abilities.rollback_by_states = false;
  if (!uses.linearization) abilities.linearization = LinearizationSource::None;
  if (!uses.input_degree) {
    abilities.input_degree = 0;
    abilities.resend_inputs = false;
    abilities.internal_step.reset();
  }
  if (!uses.output_derivatives) abilities.output_derivatives = false;
  if (!uses.reset) abilities.reset = false;
  abilities.tried = uses;
  return abilities;
}

/// Kept from another process, or tried now.
FmuAbilities Fmu::found_abilities(const Selection& selecting, const FmuPorts& ports,
                                  const std::vector<FmuStart>& starts, const FmuCaller& caller) {
  const auto& [interface, probe, values] = selecting;
  const bool exchange = interface == FmuInterface::ModelExchange;
  const auto prove = [&](const FmuCaller& by) {
    return exchange ? proven_exchange_abilities(*this, ports, starts, by) : proven_abilities(*this, ports, starts, by);
  };
  if (!probe || once_per_process(interface) || cache_folder().empty()) return prove(caller);
  if (!hash_) {
    try {
      hash_ = base::sha256_of_file(base::LocatedFile(name_).path());
    } catch (const Error&) {  // a process that sees only the content
      hash_.emplace();
    }
  }
  if (hash_->empty()) return prove(caller);
  const Duration step = trial_step(description_, description_.experiment.start.value_or(0.0), caller.step);
  const ProofKey key{*hash_, std::string(to_string(interface)), step, base::to_bytes(values)};
  const auto kept = kept_proof(key, name_);
  load(interface, caller.timeout);
  if (kept && covers(kept->tried, caller.uses)) return *kept;
  FmuCaller together = caller;  // what another run uses is not forgotten
  if (kept) together.uses = united(kept->tried, caller.uses);
  auto proven = prove(together);
  keep_proof(key, name_, proven);
  return proven;
}

const FmuAbilities& Fmu::abilities(FmuInterface interface, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                                   const FmuCaller& caller) {
  Selection selecting{interface, caller.probe, {}};
  for (const auto& [origin, value] : starts) {
    if (!std::holds_alternative<double>(value)) std::get<2>(selecting)[{origin.variable, origin.element}] = value;
  }
  const std::lock_guard lock(proof_);
  auto& known = abilities_[selecting];
  for (const auto& each : known) {
    if (each.tried == caller.uses) return each;
  }
  for (const auto& each : known) {
    if (covers(each.tried, caller.uses)) return known.emplace_back(limited_to(each, caller.uses));
  }
  if (interface == FmuInterface::ScheduledExecution) {
    load(interface, caller.timeout);
    FmuAbilities claimed;  // nothing is claimed that could be tried
    claimed.event_mode = true;
    claimed.tried = caller.uses;
    return known.emplace_back(std::move(claimed));
  }
  auto found = found_abilities(selecting, ports, starts, caller);
  if (found.tried == caller.uses) return known.emplace_back(std::move(found));
  const auto& all = known.emplace_back(std::move(found));
  return known.emplace_back(limited_to(all, caller.uses));
}

Fact call_fact(const FmuResult& result, FmuLog& log) {
  const bool numbered = std::string_view(result.function).find_first_of("23") == 3;  // "fmi2", "fmi3"; "fmi" of FMI 1
  const std::string_view prefix = std::string_view(result.function).substr(0, numbered ? 4 : 3);
  return {FactCode::FmuCallFailed,
          {log.code().owner().code},
          {{"function", result.function},
           {"status", fmt::format("{}{}", prefix, status_name(result.status))},
           {"said", log.take_text()}}};
}

void require_done(const FmuResult& result, FmuLog& log, const ErrorContext& context) {
  if (result.done()) return;
  ErrorContext with_remedy = context;
  if (with_remedy.remedy.empty()) {
    with_remedy.remedy = result.status == FmuStatus::Fatal
                             ? "After that no call of it is allowed: report it to its vendor"
                             : "Look at its start values and inputs at that time, else report it to its vendor";
  }
  throw Error(ErrorCode::SubsystemFailed, call_fact(result, log), with_remedy);
}

}  // namespace entrain::subsystem
