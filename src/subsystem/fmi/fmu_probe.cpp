#include <fmt/format.h>

#include <algorithm>

#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/fmu.hpp"
#include "subsystem/fmi/fmu_probe.hpp"
#include "subsystem/fmi/input_sampling.hpp"

namespace entrain {
namespace {

constexpr Duration kBoldestTrial = 1e-3;  ///< s, of an FMU that tells nothing of its steps

std::optional<Duration> imposed_step_of(const FmuDescription& description) {
  const auto& flags = description.co_simulation;
  if (!flags || flags->variable_step) return std::nullopt;
  return flags->fixed_internal_step ? flags->fixed_internal_step : description.experiment.step;
}

}  // namespace

Duration trial_step(const FmuDescription& description, Time start, std::optional<Duration> macro_step) {
  if (const auto imposed = imposed_step_of(description)) return *imposed;
  const auto& experiment = description.experiment;
  if (experiment.step) return std::min(*experiment.step, macro_step.value_or(*experiment.step));
  // A far stop says nothing of the steps inside: a share of it may be more of them than anyone can wait for.
  const auto& flags = description.co_simulation;
  const Duration inside = flags && flags->fixed_internal_step ? *flags->fixed_internal_step : kBoldestTrial;
  const Duration step = macro_step.value_or(inside);
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

/// A second instance in the life of the process is what such an FMU does not allow: its flags must do.
FmuAbilities claimed_abilities(const Fmu& fmu, const FmuPorts& ports) {
  const auto& flags = fmu.flags();
  FmuAbilities result;
  result.rollback = flags.rollback;
  result.states = !ports.states.empty();
  if (result.states && flags.directional_derivatives) result.linearization = LinearizationSource::Directional;
  result.event_mode = flags.event_mode;
  result.output_derivatives = flags.output_derivative_order > 0 && ports.plain;
  const bool asks = !intermediate_inputs(fmu.description()).empty();
  result.input_degree = asks ? kMaxInputDegree : flags.input_derivatives ? 1 : 0;
  result.warnings.push_back(untried_claims(fmu));
  return result;
}

}  // namespace

Fact withdrawn_claim(const Fmu& fmu, std::string_view claim, std::string_view why) {
  const std::string who = fmt::format("FMU '{}': ", fmu.name());
  if (why.starts_with(who)) why.remove_prefix(who.size());
  return {FactCode::FmuClaimWithdrawn, {fmu.name()}, {{"claim", claim}, {"why", why}}};
}

Fact untried_claims(const Fmu& fmu) {
  return {FactCode::FmuClaimsUntried, {fmu.name()}};
}

FmuAbilities proven_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                              const FmuCaller& caller) {
  FmuAbilities result =
      fmu.flags().once_per_process ? claimed_abilities(fmu, ports) : tried_abilities(fmu, ports, starts, caller);
  result.imposed_step = imposed_step_of(fmu.description());
  if (fmu.description().version == FmiVersion::Three && result.input_degree > 0) {
    result.internal_step = fmu.flags().fixed_internal_step;
  }
  if (!fmu.flags().variable_step && !result.imposed_step) {
    result.warnings.push_back({FactCode::FmuStepSizeUnknown, {fmu.name()}});
  }
  return result;
}

}  // namespace entrain
