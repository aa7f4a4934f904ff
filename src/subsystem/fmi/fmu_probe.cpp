#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "base/child_process.hpp"
#include "base/facts/error_record.hpp"
#include "base/fault_text.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmu.hpp"
#include "subsystem/fmi/fmu_probe.hpp"
#include "subsystem/fmi/input_sampling.hpp"

namespace entrain::subsystem {
namespace {

constexpr Duration kLongestTrial = 1e-3;  ///< s, of an FMU without information about its steps
constexpr double kMostInnerSteps = 100.0;

}  // namespace

std::optional<Duration> imposed_step_of(const FmuDescription& description) {
  const auto& flags = description.co_simulation;
  if (!flags || flags->variable_step) return std::nullopt;
  return flags->fixed_internal_step ? flags->fixed_internal_step : description.experiment.step;
}

Duration trial_step(const FmuDescription& description, Time start, std::optional<Duration> macro_step) {
  if (const auto imposed = imposed_step_of(description)) return *imposed;
  const auto& experiment = description.experiment;
  if (experiment.step) return std::min(*experiment.step, macro_step.value_or(*experiment.step));
  // A far stop has no relation to the steps inside: a share of it may be more of them than anyone can wait for.
  const auto& flags = description.co_simulation;
  const Duration inside = flags && flags->fixed_internal_step ? *flags->fixed_internal_step : kLongestTrial;
  Duration step = macro_step.value_or(inside);
  if (flags && flags->fixed_internal_step) step = std::min(step, kMostInnerSteps * *flags->fixed_internal_step);
  if (!experiment.stop || *experiment.stop <= start) return step;
  return std::min(step, (*experiment.stop - start) / 1000.0);
}

std::vector<double> start_inputs(const FmuPorts& ports, const std::vector<FmuStart>& starts) {
  std::vector<double> inputs;
  for (const auto& input : ports.table.inputs) inputs.push_back(input.start ? std::get<double>(*input.start) : 0.0);
  for (const auto& start : starts) {
    const auto& list = ports.input_origins;
    const auto place = std::find(list.begin(), list.end(), start.origin);
    if (place != list.end()) inputs[static_cast<std::size_t>(place - list.begin())] = std::get<double>(start.value);
  }
  return inputs;
}

namespace {

/// What a copy of this process answers: the abilities, or the error that there was instead.
struct ProbeAnswer {
  std::optional<FmuAbilities> abilities;
  base::ErrorRecord error;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(abilities, error);
  }
};

/// Attempts in other processes.
class ProbeApart {
 public:
  ProbeApart(const FmuCaller& caller, base::FunctionRef<FmuAbilities(const ProbeRequest&)> attempt)
      : caller_(caller), attempt_(attempt), has_workers_(caller.prove != nullptr) {
    if (!caller.timeout) return;
    limits_.call = caller.timeout;
    limits_.later_stages = 10.0 * *caller.timeout;  // some dozens of short calls
  }

  /// nullopt: no other process is possible. Throws what the attempt threw.
  std::optional<base::ChildOutcome> make(const ProbeRequest& request, FmuAbilities& found) {
    auto outcome = caller_.copies ? in_copy(request, found) : in_worker(request, found);
    if (outcome) return outcome;
    return caller_.copies ? in_worker(request, found) : in_copy(request, found);
  }

 private:
  /// nullopt: there is no program for workers here.
  std::optional<base::ChildOutcome> in_worker(const ProbeRequest& request, FmuAbilities& found) {
    if (!has_workers_) return std::nullopt;
    try {
      auto outcome = caller_.prove(request);
      if (outcome.answered) base::from_bytes(outcome.answer, found);
      return outcome;
    } catch (const Error& error) {
      const FactCode code = error.fact().code;
      if (code != FactCode::WorkerMissing && code != FactCode::WorkerNotStarted) throw;
      has_workers_ = false;
      return std::nullopt;
    }
  }

  std::optional<base::ChildOutcome> in_copy(ProbeRequest request, FmuAbilities& found) {
    auto outcome = base::in_child_process(limits_, [&](std::atomic<int>& stage) {
      request.stage = &stage;
      request.limited = true;
      ProbeAnswer answer;
      try {
        answer.abilities = attempt_(request);
      } catch (const Error& error) {
        answer.error = base::ErrorRecord(error);
      }
      return base::to_bytes(answer);
    });
    if (!outcome || outcome->interrupted) return std::nullopt;
    if (!outcome->answered) return outcome;
    ProbeAnswer answer;
    base::from_bytes(outcome->answer, answer);
    if (!answer.abilities) throw answer.error.error();
    found = std::move(*answer.abilities);
    return outcome;
  }

  const FmuCaller& caller_;
  base::FunctionRef<FmuAbilities(const ProbeRequest&)> attempt_;
  bool has_workers_;
  base::ChildLimits limits_;
};

/// An FMU that does not return from a call of its beginning does not return from it in the run, either.
void require_begun(const std::optional<base::ChildOutcome>& outcome, const FmuCaller& caller) {
  if (!outcome || !outcome->late_call || outcome->stage != static_cast<int>(ProbeStage::Begin)) return;
  const auto& [code, function, time] = *outcome->late_call;
  const auto& text = base::text_of(base::Fault::Timeout);
  throw Error(ErrorCode::SubsystemFailed,
              {FactCode::CodeFault,
               {code},
               {{"fault", text.name},
                {"action", text.action},
                {"cause", text.cause},
                {"function", function},
                {"timeout", *caller.timeout, "s"}}},
              {.subsystem = caller.subsystem, .variable = {}, .time = time, .remedy = text.remedy});
}

/// What the FMU claims that is tried in this stage; empty where it claims nothing.
std::string_view claim_of(ProbeStage stage, FmiVersion version) {
  switch (stage) {
    case ProbeStage::States: return "continuous states";
    case ProbeStage::Rollback: return rollback_attribute(version);
    case ProbeStage::Linearization: return directional_attribute(version);
    case ProbeStage::InputDegree:
      return version == FmiVersion::Three ? "providesIntermediateUpdate" : "canInterpolateInputs";
    case ProbeStage::OutputDerivatives: return "maxOutputDerivativeOrder";
    default: return {};
  }
}

/// A second instance in the life of the process is what such an FMU does not allow, or the user does not want: its
/// flags must do.
FmuAbilities claimed_abilities(const Fmu& fmu, const FmuPorts& ports) {
  const auto& flags = fmu.flags();
  FmuAbilities result;
  result.rollback = flags.rollback;
  result.states = !ports.states.empty() && !ports.numbered_states;
  if (result.states && flags.directional_derivatives) result.linearization = LinearizationSource::Directional;
  result.event_mode = flags.event_mode;
  result.output_derivatives = flags.output_derivative_order > 0 && ports.plain;
  const bool asks = !intermediate_inputs(fmu.description()).empty();
  result.input_degree = asks ? kMaxInputDegree : flags.input_derivatives ? 1 : 0;
  if (flags.once_per_process) result.warnings.push_back(untried_claims(fmu));
  return result;
}

}  // namespace

Fact withdrawn_claim(const Fmu& fmu, std::string_view claim, std::string_view why) {
  const std::string prefix = fmt::format("FMU '{}': ", fmu.name());
  if (why.starts_with(prefix)) why.remove_prefix(prefix.size());
  return {FactCode::FmuClaimWithdrawn, {fmu.name()}, {{"claim", claim}, {"why", why}}};
}

Fact untried_claims(const Fmu& fmu) {
  return {FactCode::FmuClaimsUntried, {fmu.name()}};
}

FmuAbilities probed_apart(const Fmu& fmu, const FmuCaller& caller, const std::vector<ProbeStage>& stages,
                          base::FunctionRef<FmuAbilities(const ProbeRequest& request)> attempt) {
  ProbeApart apart(caller, attempt);
  FmuAbilities found;
  const auto all = apart.make({.stages = stages}, found);
  if (all && all->answered) return found;
  require_begun(all, caller);
  // Without another process; or a copy of this one cannot even begin, which the watch over this process reports best.
  if (!all || all->stage == static_cast<int>(ProbeStage::Begin)) return attempt({.stages = stages});
  found = {};
  for (std::size_t i = 0; i <= stages.size(); ++i) {
    const ProbeStage stage = i == 0 ? ProbeStage::Begin : stages[i - 1];
    const auto one = apart.make({.stages = stages, .only = stage, .known = found}, found);
    if (one && one->answered) continue;
    require_begun(one, caller);
    if (!one || stage == ProbeStage::Begin) return attempt({.stages = stages});
    found.depends_on_load = found.depends_on_load || one->late;
    if (const auto claim = claim_of(stage, fmu.description().version); !claim.empty()) {
      found.warnings.push_back(
          withdrawn_claim(fmu, claim, fmt::format("it {} when that was tried in a process apart", one->failure)));
    }
  }
  return found;
}

namespace {

/// States are read by every run that records them. The other stages are made where their result is used, also by
/// another stage.
std::vector<ProbeStage> stages_for(const Fmu& fmu, const CapabilityUse& uses) {
  const auto& flags = fmu.flags();
  const bool three = fmu.description().version == FmiVersion::Three;
  const bool differs = !flags.directional_derivatives && !flags.adjoint_derivatives && !three;
  const bool honours = flags.input_derivatives || flags.intermediate_update;
  std::vector<ProbeStage> stages{ProbeStage::States};
  if (uses.rollback || (uses.linearization && differs) || (uses.input_degree && honours)) {
    stages.push_back(ProbeStage::Rollback);
  }
  if (uses.linearization) stages.push_back(ProbeStage::Linearization);
  if (uses.reset) stages.push_back(ProbeStage::Reset);
  if (uses.input_degree) stages.push_back(ProbeStage::InputDegree);
  if (uses.output_derivatives) stages.push_back(ProbeStage::OutputDerivatives);
  if (uses.input_degree) stages.push_back(ProbeStage::InputsAfterStep);
  return stages;
}

}  // namespace

FmuAbilities proven_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                              const FmuCaller& caller) {
  fmu.load(FmuInterface::CoSimulation, caller.timeout);
  const bool untried = fmu.flags().once_per_process || !caller.probe;
  FmuAbilities result = untried
                            ? claimed_abilities(fmu, ports)
                            : probed_apart(fmu, caller, stages_for(fmu, caller.uses), [&](const ProbeRequest& request) {
                                return tried_abilities(fmu, ports, starts, caller, request);
                              });
  if (!untried) result.tried = caller.uses;
  result.imposed_step = imposed_step_of(fmu.description());
  if (fmu.description().version == FmiVersion::Three && result.input_degree > 0) {
    result.internal_step = fmu.flags().fixed_internal_step;
  }
  if (!fmu.flags().variable_step && !result.imposed_step) {
    result.warnings.push_back({FactCode::FmuStepSizeUnknown, {fmu.name()}});
  }
  return result;
}

}  // namespace entrain::subsystem
