#pragma once

#include "entrain/learning.hpp"
#include "masters/method.hpp"
#include "run/correction_schedule.hpp"

namespace entrain {

/// The corrections of a run of this system. Throws Error{InvalidSystem} when they were learned for another one.
CorrectionSchedule scheduled(const Learned& learned, const Graph& graph, const RunSettings& settings);

}  // namespace entrain
