#pragma once

#include <vector>

#include "analysis/forecast.hpp"
#include "entrain/advice.hpp"
#include "entrain/method.hpp"
#include "methods/registry.hpp"

namespace entrain::advising {

/// Every method that can be recommended, in every degree worth considering, with what hinders it.
std::vector<Candidate> candidates_for(const method::MethodRegistry& methods, CoupledSystem& system,
                                      const RunSettings& settings);

/// Why one method is as good as another: no value with an error is passed on. Nullopt where it matters.
std::optional<Fact> nothing_to_couple(const SystemDescription& description, const Graph& graph);

/// Whether no subsystem depends, directly or through others, on its own outputs.
bool acts_one_way(const Graph& graph);

/// The sequence that sequential methods find by themselves.
std::vector<std::size_t> found_sequence(const CoupledSystem& system);

/// A method in one configuration on linear networks, as the traits of the method describe it. Borrows all arguments.
class ConfigForecast {
 public:
  /// `found`: the calling sequence where the configuration names none.
  ConfigForecast(const method::MethodRegistry& methods, const MethodConfig& config,
                 const std::vector<std::size_t>& found)
      : config_(config), linear_step_(methods.traits(config.method).linear_step), found_(found) {}

  /// As stages of steps under extrapolated inputs; only where `has_stages`.
  CouplingChoice stages(const LinearNetwork& network, Duration step) const {
    return linear_step_.stages(config_, network, found_, step);
  }
  bool has_stages() const { return static_cast<bool>(linear_step_.stages); }
  /// Whether the error can be forecast: the method has a linear step, and its matrices are not too large.
  bool can_forecast(const analysis::RunPath& path) const;
  /// The error and the stability over a run; nullopt when they cannot be forecast.
  std::optional<analysis::Forecast> forecast(const analysis::RunPath& path, Duration step) const;
  /// The stability alone; `error` stays empty of meaning. For networks of any size where the method has stages.
  std::optional<analysis::Forecast> stability(const analysis::RunPath& path, Duration step) const;

 private:
  double radius(const LinearNetwork& network, Duration step) const;

  const MethodConfig& config_;
  const LinearMacroStep& linear_step_;
  const std::vector<std::size_t>& found_;
};

/// The description with the method, the degree, the sequence and the gains of a configuration in place of its own.
SystemDescription with_config(const method::MethodRegistry& methods, SystemDescription description,
                              const MethodConfig& config);

/// The steps from `low` to `high` that fit the imposed ones: each divides the macro step or is a multiple of it.
/// Ascending; up to 64 steps in one, in both directions. Without imposed steps there is nothing to fit.
std::vector<Duration> fitting_steps(const std::vector<Duration>& imposed, Duration low, Duration high);
/// The one of them that is nearest to `step` by ratio; without imposed steps, `step` itself.
Duration nearest_fitting(const std::vector<Duration>& imposed, Duration step);

/// The smallest step of which every imposed one is a whole part; nullopt where they hardly ever meet.
std::optional<Duration> common_multiple(const std::vector<Duration>& imposed);
/// At most `step`: 1, 2, 2.5 or 5 times a power of ten, all of which divide whole seconds; of the steps that fit the
/// imposed ones the longest, or the shortest where all are longer.
Duration fitting_below(const std::vector<Duration>& imposed, Duration step);

}  // namespace entrain::advising
