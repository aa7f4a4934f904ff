#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "subsystem/fmi/fmu.hpp"

namespace entrain {

/// Some step that the FMU should be able to do, and soon: none longer than the macro step of the run, if that is known.
Duration trial_step(const FmuDescription& description, Time start, std::optional<Duration> macro_step);

/// The inputs an FMU starts with: its own, or those that the user gave.
std::vector<double> start_inputs(const FmuPorts& ports, const std::vector<FmuStart>& starts);

/// Of a co-simulation FMU: what it claims, each claim tried on a scratch instance.
FmuAbilities tried_abilities(Fmu& fmu, const FmuPorts& ports, const std::vector<FmuStart>& starts,
                             const FmuCaller& caller);

/// The warning about an ability that the FMU claims and that failed when it was tried.
Fact withdrawn_claim(const Fmu& fmu, std::string_view claim, std::string_view why);
/// The warning about an FMU that allows no scratch instance.
Fact untried_claims(const Fmu& fmu);

}  // namespace entrain
