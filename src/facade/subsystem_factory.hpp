#pragma once

#include <string>

#include "coupling/assembly.hpp"
#include "entrain/simulation.hpp"

namespace entrain {

/// Makes what a subsystem is described to be: a model of `models` or built in, an FMU, a table. Borrows all arguments.
SubsystemFactory subsystem_factory(const SystemDescription& system, const ModelFactory& models, const Logging& log);

/// "model ball.bounce", "prey.fmu (FMI 2.0 co-simulation)", "csv load.csv (linear)".
std::string source_of(const SubsystemDescription& description, const std::string& method);

}  // namespace entrain
