#pragma once

#include "entrain/capabilities.hpp"

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

}  // namespace entrain::coupling
