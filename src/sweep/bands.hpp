#pragma once

#include <utility>
#include <vector>

#include "entrain/sweep.hpp"
#include "sweep/table.hpp"

namespace entrain::sweeping {

/// Percentiles of each signal (name, unit) at each of `times` time points.
std::vector<SweepBand> bands_of(const Courses& courses, const std::vector<std::pair<std::string, std::string>>& signals,
                                std::size_t times);

}  // namespace entrain::sweeping
