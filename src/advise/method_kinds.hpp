#pragma once

#include "entrain/method_traits.hpp"

namespace entrain::advising {

// The kinds of methods that the rules of a choice use, by their traits.
using MethodKind = bool (*)(const MethodTraits&);

/// All subsystems at once, with inputs from the past.
inline bool is_plain(const MethodTraits& of) {
  return of.family == MethodFamily::Explicit && of.knobs.sequence.empty();
}
/// One subsystem after the other.
inline bool is_sequential(const MethodTraits& of) {
  return of.family == MethodFamily::Explicit && !of.knobs.sequence.empty();
}
/// Implicit, by trials that are repeated until they agree.
inline bool is_iterative(const MethodTraits& of) {
  return of.family == MethodFamily::Implicit && of.iterates;
}
/// Implicit, by estimates.
inline bool is_estimating(const MethodTraits& of) {
  return of.family == MethodFamily::Implicit && !of.iterates;
}
/// Each subsystem with steps of its own.
inline bool is_asynchronous(const MethodTraits& of) {
  return of.family == MethodFamily::Asynchronous;
}

}  // namespace entrain::advising
