#pragma once

#include <optional>
#include <span>

#include "learn/learning_law.hpp"

namespace entrain::learning {

/// The largest factor by which a frequency of the error changed from one run to the next, over all connections. Nullopt
/// where they cannot be compared.
std::optional<double> measured_gamma(const WireErrors& before, const WireErrors& now);

/// Of two runs without change: the cutoff in Hz of the low-pass filter for which what it leaves of the error and what
/// it lets through of the noise are least together, in the mean square. It leaves at most a quarter of the largest
/// noise. 0 where a filter brings less than a fifth. `intervals`: between two errors of each connection.
double cutoff_against_noise(const WireErrors& once, const WireErrors& again, std::span<const Duration> intervals);

/// The share of the corrections to forget from run to run that leaves a tenth of the noise: with c as large as the
/// error of the first run, c = (1 - f) c + e leaves e = f c. Both relative to the range of the signal.
double forgetting_against_noise(double repeatability, double first_error);

}  // namespace entrain::learning
