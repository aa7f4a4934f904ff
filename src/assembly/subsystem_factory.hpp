#pragma once

#include <map>
#include <optional>
#include <string>

#include "assembly/assembly.hpp"
#include "entrain/simulation.hpp"

namespace entrain::assembly {

struct MakerOptions {
  bool needs_equations = false;  ///< the method integrates the equations itself
  bool loads = false;            ///< libraries of FMUs are loaded at once, not when they are first called
  bool in_worker = false;        ///< itself: no subsystem is put into another
  std::string fmu_folder{};      ///< where the FMU lies unpacked already; empty = nowhere
  bool alone = false;            ///< no event of an FMU concerns another one; found out, but in a worker
  CapabilityUse uses{};          ///< what FMUs claim and is not used is not tried
  bool in_sandbox = false;       ///< likewise: it cannot start a process
  bool only_variables = false;   ///< are asked of them: no code of an FMU runs
  bool isolates_fmus = false;    ///< unless the user says otherwise
  std::map<std::string, std::string> fmu_folders{};  ///< where FMUs lie unpacked already, by their files
};

/// Makes what a subsystem is described to be: one of `extensions`, a built-in model, an FMU, a table, each in a worker
/// where it is to be isolated. Borrows all arguments.
SubsystemMaker subsystem_maker(const SystemDescription& system, const MakerOptions& options,
                               const Extensions& extensions, const Logging& log);

/// With `isolates_fmus`: the name of the group of workers that it runs in, empty = alone; nullopt = in this process.
std::optional<std::string> group_on_ranks(const SubsystemDescription& description, const SystemDescription& system);

/// "model ball.bounce", "prey.fmu (FMI 2.0 co-simulation)", "csv load.csv (linear)".
std::string source_of(const SubsystemDescription& description, bool needs_equations);

}  // namespace entrain::assembly
