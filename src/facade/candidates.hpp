#pragma once

#include <vector>

#include "analysis/forecast.hpp"
#include "facade/advice.hpp"
#include "masters/method.hpp"

namespace entrain {

/// Every method and degree worth considering, with what hinders it. `monolithic` is not among them: it is a reference,
/// not a coupling.
std::vector<Candidate> candidates_for(CoupledSystem& system, const RunSettings& settings);

/// Why one method is as good as another: nothing that could err is passed on. Nullopt where it matters.
std::optional<std::string> nothing_to_couple(const SystemDescription& description, const Graph& graph);

/// Whether nobody hears, by any way, of what it did itself.
bool acts_one_way(const Graph& graph);

/// The sequence that gauss-seidel finds by itself.
std::vector<std::size_t> found_sequence(const CoupledSystem& system);

/// An explicit way as what it does to a network; `found` is the sequence where the way names none.
CouplingChoice choice_of(const Way& way, const LinearNetwork& network, const std::vector<std::size_t>& found,
                         Duration step);

/// Whether the error of a way can be foretold: f3ornits chooses its own steps, and the matrices of large networks are
/// too large (can_forecast).
bool can_forecast(const Way& way, const RunPath& path);

/// The error and the stability of a way over a run; nullopt when they cannot be foretold.
std::optional<Forecast> forecast_of(const Way& way, const RunPath& path, const std::vector<std::size_t>& found,
                                    Duration step);

/// The stability alone; `error` stays empty of meaning. For explicit ways on networks of any size.
std::optional<Forecast> stability_of(const Way& way, const RunPath& path, const std::vector<std::size_t>& found,
                                     Duration step);

/// The description with the method, the degree, the sequence and the gains of a way in place of its own.
SystemDescription with_way(SystemDescription description, const Way& way);

/// The steps from `low` to `high` that fit the imposed ones: each divides the macro step or is a multiple of it.
/// Ascending; up to 64 steps in one either way. Without imposed steps there is nothing to fit.
std::vector<Duration> fitting_steps(const std::vector<Duration>& imposed, Duration low, Duration high);
/// The one of them that is nearest to `step` by ratio; without imposed steps, `step` itself.
Duration nearest_fitting(const std::vector<Duration>& imposed, Duration step);

}  // namespace entrain
