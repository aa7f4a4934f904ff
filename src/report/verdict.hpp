#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include "entrain/verdict.hpp"

namespace entrain::reporting {

/// A residual up to this is small beside what models know; beyond the second one a coupling is visibly wrong.
inline constexpr double kSmallResidual = 1e-4;
inline constexpr double kLargeResidual = 1e-2;

/// What is known of a run besides its summary.
struct Evidence {
  bool results_cut = false;                  ///< the file of the results ends in the middle of a row
  std::size_t samples = 0;                   ///< recorded
  std::size_t not_finite = 0;                ///< of the recorded numbers
  std::vector<std::string> taken_away = {};  ///< capabilities that the system file denies: "left: rollback"
};

/// `run` is run.json; `steps` is steps.json, or null.
Verdict verdict_of(const nlohmann::ordered_json& run, const nlohmann::ordered_json& steps, const Evidence& evidence);

}  // namespace entrain::reporting
