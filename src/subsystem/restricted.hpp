#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain {

/// Capabilities taken away for study. nullopt = as the subsystem says.
struct Restrictions {
  std::optional<bool> rollback;
  std::optional<bool> states;  ///< false takes state derivatives and linearization with it
  std::optional<bool> state_derivatives;
  std::optional<bool> linearization;
  std::optional<int> input_degree;
  std::optional<int> output_derivative_order;
  std::optional<Duration> imposed_step;
  std::optional<Duration> step_offset;
  std::optional<Duration> min_step;
  std::optional<Duration> max_step;
  std::optional<Duration> initial_step;
  std::optional<int> substeps;
  std::optional<std::vector<Time>> events;  ///< announced instead of the subsystem's own

  bool any() const;
};

/// One sentence for each attempt to add what the subsystem cannot do; empty when the restrictions only take away.
std::vector<std::string> additions(const Capabilities& capabilities, const Restrictions& restrictions);

/// The subsystem with fewer capabilities. The equations stay: they serve the reference solution, not the coupling.
/// Expects `additions` to be empty.
std::unique_ptr<Subsystem> restricted(std::unique_ptr<Subsystem> inner, const Restrictions& restrictions);

}  // namespace entrain
