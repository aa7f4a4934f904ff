#pragma once

#include "advise/linearized_run.hpp"

namespace entrain::advising {

/// The Pareto front of radius, consistency and step over sequence, gains, degree and step: a grid where at most one
/// gain and few sequences are to be tried, NSGA-II elsewhere. The worst of the operating points counts. The larger the
/// network, the fewer couplings are judged; none where even the matrices of held inputs are too large (kLargestDense).
/// Throws Error naming an input in settings.gains that is not there.
Front search_configs(const LinearizedRun& linearized, const AdviceSettings& settings, int highest_degree,
                     Duration longest_step);

}  // namespace entrain::advising
