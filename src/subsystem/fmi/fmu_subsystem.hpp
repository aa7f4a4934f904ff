#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.hpp"
#include "base/child_process.hpp"
#include "entrain/simulation.hpp"
#include "entrain/subsystem.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

/// How an FMU is to be used; what is left open is decided by what the FMU offers.
struct FmuChoice {
  std::optional<FmuInterface> interface = std::nullopt;
  bool prefer_model_exchange = false;  ///< when both are offered and none is named: the method integrates the equations
  /// Relative: of our integration in model exchange, and passed to the FMU for the solver inside it.
  std::optional<double> relative_tolerance = std::nullopt;
  bool probe = true;                               ///< what it claims is tried before the run ...
  CapabilityUse uses = {};                         ///< ... as far as that is used
  bool alone = false;                              ///< its events concern no other FMU
  std::optional<Duration> timeout = std::nullopt;  ///< s of wall clock time that one call may take
  std::optional<Duration> step = std::nullopt;     ///< macro step of the run: no longer ones are tried before it
  /// Start values of the user, by name: structural parameters decide which variables there are.
  std::map<std::string, Value> start = {};
  Logging log = {};
  std::filesystem::path folder = {};  ///< where it lies unpacked already; empty = nowhere
  bool copies = false;                ///< what it claims is tried in a copy of this process where that is possible
  /// Tries what it claims in a worker: calls `fmu_proof` there. Empty = there is none.
  std::function<base::ChildOutcome(const base::Bytes& question)> prove = {};
};

/// An FMU (FMI 1.0, 2.0 or 3.0) as a subsystem. Throws Error when the file is no FMU, or does not offer what is chosen.
std::unique_ptr<Subsystem> make_fmu_subsystem(std::string name, const std::filesystem::path& file,
                                              const FmuChoice& choice = {});

class Fmu;
/// Keeps the file unpacked as long as the result is held, so that the functions below and subsystems need not do it
/// again.
std::shared_ptr<Fmu> hold_fmu(const std::filesystem::path& file);

/// "prey.fmu (FMI 2.0 co-simulation)". The file is read anew unless a subsystem holds it.
std::string fmu_title(const std::filesystem::path& file, const FmuChoice& choice);

/// "two masses: a spring between two masses; made by X": the description in the file, safe to show.
std::string fmu_about(const std::filesystem::path& file);

bool fmu_offers(const std::filesystem::path& file, FmuInterface interface);

/// Why an FMU cannot be loaded on this platform at all; empty when it has a binary for it.
std::string fmu_missing_binary(const std::filesystem::path& file, const FmuChoice& choice = {});

/// Of co-simulation, if that is what is chosen.
bool fmu_imposes_step(const std::filesystem::path& file, const FmuChoice& choice = {});

/// Inputs or outputs that are no real numbers, or clocks.
bool fmu_has_discrete_ports(const std::filesystem::path& file);

bool fmu_once_per_process(const std::filesystem::path& file, const FmuChoice& choice = {});

/// What it needs beyond its own process: "starts programs of its own (...)". Empty where nothing says so.
std::string fmu_outside_needs(const std::filesystem::path& file);

/// Into a new folder, for a process that may only read there (FmuChoice::folder). Throws Error.
void unpack_fmu(const std::filesystem::path& file, const std::filesystem::path& folder);

/// Of a subsystem made by make_fmu_subsystem: tries in this process what the question of FmuChoice::prove asks for. The
/// answer as bytes for the process that asked; `stage`: what is being tried. Throws Error.
base::Bytes fmu_proof(Subsystem& subsystem, const base::Bytes& question, std::atomic<int>& stage);

/// Where it lies unpacked, as long as a subsystem holds it.
std::filesystem::path fmu_folder(const std::filesystem::path& file);

/// Loads its library, as the first call of a subsystem would. Throws Error with the reason why it cannot be.
void load_fmu(const std::filesystem::path& file, const FmuChoice& choice);

/// The run an FMU proposes, as far as it does.
DefaultExperiment fmu_experiment(const std::filesystem::path& file);

}  // namespace entrain::subsystem
