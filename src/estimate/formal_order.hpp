#pragma once

#include "entrain/method_traits.hpp"
#include "entrain/run_summary.hpp"

namespace entrain::estimate {

/// The order of a method in this run, for smooth systems: subsystems that take inputs of a lower degree than they have
/// lower it.
double formal_order(const MethodTraits& traits, const RunSummary& summary);

}  // namespace entrain::estimate
