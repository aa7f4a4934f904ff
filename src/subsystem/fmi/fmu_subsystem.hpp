#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "entrain/subsystem.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain {

/// A co-simulation FMU (FMI 2.0 or 3.0) as a subsystem. `timeout`: s of wall clock time that one call may take. Throws
/// Error when the file is no such FMU.
std::unique_ptr<Subsystem> make_fmu_subsystem(std::string name, const std::filesystem::path& file,
                                              std::optional<Duration> timeout = {});

class Fmu;
/// Keeps the file unpacked as long as the result is held, so that the functions below and subsystems need not do it
/// again.
std::shared_ptr<Fmu> hold_fmu(const std::filesystem::path& file);

/// "prey.fmu (FMI 2.0 co-simulation)". The file is read anew unless a subsystem holds it.
std::string fmu_title(const std::filesystem::path& file);

/// The run an FMU proposes, as far as it does.
DefaultExperiment fmu_experiment(const std::filesystem::path& file);

}  // namespace entrain
