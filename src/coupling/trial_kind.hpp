#pragma once

#include <cstddef>
#include <string>

#include "entrain/capabilities.hpp"
#include "entrain/estimator.hpp"

namespace entrain::coupling {

/// By how much an input is changed to find what follows it, in sizes of the input, or of 1: wide enough for subsystems
/// and estimators with rounding of their own. Exact for linear ones.
inline constexpr double kInputDifference = 1e-4;

/// How a subsystem is tried out.
enum class TrialKind {
  None,
  Rollback,   ///< a real step that is taken back
  Costarica,  ///< an estimate from states and a linearization
  Continued,  ///< an estimate without linearization: from state derivatives or past outputs alone
};

/// Rollback where the subsystem has it, the estimate where it has not, none without either.
inline TrialKind natural_trial_kind(const Capabilities& can) {
  if (can.rollback) return TrialKind::Rollback;
  return can.states && can.linearization ? TrialKind::Costarica : TrialKind::None;
}

/// Coefficients per output, beyond which no step is identified.
inline constexpr std::size_t kMostIdentified = 48;

/// Whether the steps of a subsystem with so many ports can be estimated from its past: identified, or, of one without
/// inputs, continued. A linear model of order 1 has 1 + outputs + 2 inputs coefficients per output.
inline bool is_identifiable(std::size_t outputs, std::size_t inputs) {
  return inputs == 0 || 1 + outputs + 2 * inputs <= kMostIdentified;
}

/// What estimates the steps of a subsystem, as written.
struct EstimatorChoice {
  enum class Source {
    Auto,        ///< by its linearization; without one, and without state derivatives, identified where that is better
    Continued,   ///< without one: from its past, as it was
    Identified,  ///< also where there is a linearization
    Named,       ///< by `make`
  };
  Source source = Source::Auto;
  std::string name = {};
  EstimatorFactory make = {};

  bool replaces_linearization() const { return source == Source::Identified || source == Source::Named; }
};

}  // namespace entrain::coupling
