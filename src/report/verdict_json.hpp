#pragma once

#include <nlohmann/json_fwd.hpp>

#include "entrain/verdict.hpp"

namespace entrain::reporting {

/// "verdict" of run.json; of a run whose error is not estimated yet, with the grade "pending".
nlohmann::ordered_json json_of(const Verdict* verdict);
/// "outputs" of run.json.
nlohmann::ordered_json json_of(const ErrorEstimate& estimate);

/// The other way, from the whole of run.json. A run that ended before its verdict has a reason instead.
Verdict verdict_from(const nlohmann::ordered_json& run);

}  // namespace entrain::reporting
