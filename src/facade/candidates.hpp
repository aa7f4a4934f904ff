#pragma once

#include <vector>

#include "analysis/forecast.hpp"
#include "facade/advice.hpp"
#include "masters/method.hpp"

namespace entrain {

/// Every method and degree worth considering, with what hinders it. `monolithic` is not among them: it is a reference,
/// not a coupling.
std::vector<Candidate> candidates_for(CoupledSystem& system, const RunSettings& settings);

/// The sequence that gauss-seidel finds by itself.
std::vector<std::size_t> found_sequence(const CoupledSystem& system);

/// The error and the stability of a candidate over a run; nullopt when it cannot be foretold (f3ornits chooses its own
/// steps).
std::optional<Forecast> forecast_of(const Candidate& candidate, const RunPath& path,
                                    const std::vector<std::size_t>& sequence, Duration step);

}  // namespace entrain
