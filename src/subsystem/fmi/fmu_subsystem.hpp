#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "entrain/subsystem.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain {

/// A co-simulation FMU (FMI 2.0 or 3.0) as a subsystem. Throws Error when the file is no such FMU.
std::unique_ptr<Subsystem> make_fmu_subsystem(std::string name, const std::filesystem::path& file);

/// "prey.fmu (FMI 2.0 co-simulation)". The file is read anew unless a subsystem holds it.
std::string fmu_title(const std::filesystem::path& file);

/// The run an FMU proposes, as far as it does.
DefaultExperiment fmu_experiment(const std::filesystem::path& file);

}  // namespace entrain
