#pragma once

#include <span>
#include <vector>

#include "entrain/learning.hpp"
#include "learn/learned_connections.hpp"
#include "learn/learning_law.hpp"

namespace entrain::learning {

/// What the next run adds, from what the last one added and how it went: c <- Q((1 - forgetting) c + gain e), macro
/// step by macro step (docs/theory/learning.md). Only the macro steps that were recorded change.
void update_corrections(std::vector<double>& corrections, const WireRecord& record, const LearningTuning& tuning,
                        Duration step);

/// A low-pass filter without phase: the same first-order filter forwards and backwards.
void smooth(std::span<double> values, double cutoff, Duration interval);

}  // namespace entrain::learning
