#pragma once

#include <vector>

#include "subsystem/fmi/fmu.hpp"

namespace entrain {

/// Some step that the FMU should be able to do.
Duration trial_step(const FmuDescription& description, Time start);

/// The inputs an FMU starts with: its own, or those that the user gave.
std::vector<double> start_inputs(const FmuPorts& ports, const std::vector<FmuStart>& starts);

}  // namespace entrain
