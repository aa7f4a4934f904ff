#pragma once

#include "entrain/error.hpp"

namespace entrain::subsystem {

/// An event can cause another one at the same time; more rounds than this are taken for a fault.
inline constexpr int kMostEventRounds = 100;

/// Beyond, events follow each other ever faster (a Zeno motion) or jump to and fro.
inline constexpr int kMostEventsInAStep = 10'000;

/// Throws Error{SubsystemFailed} once there are too many.
void require_few_events(int events, const ErrorContext& where);

}  // namespace entrain::subsystem
