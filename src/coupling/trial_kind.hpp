#pragma once

#include <string>

#include "entrain/capabilities.hpp"
#include "entrain/estimator.hpp"

namespace entrain::coupling {

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
