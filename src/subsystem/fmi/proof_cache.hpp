#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "subsystem/fmi/fmu.hpp"

namespace entrain::subsystem {

/// As set_cache_folder set it.
std::filesystem::path cache_folder();

/// Which code made a proof, and on what: another one is not used.
struct Prover {
  std::string version;
  std::string processor;  ///< libraries choose their code by its name and flags

  static const Prover& here();
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(version, processor);
  }
};

/// Which proof: what the result depends on, besides the prover.
struct ProofKey {
  std::string fmu;        ///< SHA-256 of the file
  std::string interface;  ///< its word
  Duration step = 0.0;    ///< of the trial steps
  base::Bytes starts;     ///< start values that select

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(fmu, interface, step, starts);
  }
};

/// What was proven in this process or another. nullopt where nothing is known, or the file is damaged. `name`: of the
/// FMU, for the warnings.
std::optional<FmuAbilities> kept_proof(const ProofKey& key, const std::string& name,
                                       const Prover& prover = Prover::here());

/// Keeps it, where that is possible; replaces what was known. May be called by several processes at once.
void keep_proof(const ProofKey& key, const std::string& name, FmuAbilities abilities,
                const Prover& prover = Prover::here());

}  // namespace entrain::subsystem
