#pragma once

#include <string>

#include "assembly/assembly.hpp"
#include "entrain/simulation.hpp"

namespace entrain::assembly {

/// Makes what a subsystem is described to be: one of `extensions`, a built-in model, an FMU, a table.
/// `needs_equations`: the method integrates the equations itself. Borrows all arguments.
SubsystemMaker subsystem_maker(const SystemDescription& system, bool needs_equations, const Extensions& extensions,
                               const Logging& log);

/// "model ball.bounce", "prey.fmu (FMI 2.0 co-simulation)", "csv load.csv (linear)".
std::string source_of(const SubsystemDescription& description, bool needs_equations);

}  // namespace entrain::assembly
