#pragma once

#include <atomic>
#include <vector>

#include "entrain/sweep.hpp"

namespace entrain::sweeping {

/// First-order and total indices of every quantity and input, with 95 % intervals from resampled rows, the same ones
/// for all. Values of a quantity: of all cases, in the order of Sobol sampling (A, B, then A with each column of B);
/// rows with a NaN are left out. Estimators of Saltelli et al. 2010 (first order) and Jansen 1999 (total). Empty when
/// interrupted.
std::vector<std::vector<SobolIndex>> sobol_indices(const std::vector<std::vector<double>>& quantities,
                                                   std::size_t base_cases, std::size_t inputs,
                                                   const std::atomic<bool>* interrupt);

}  // namespace entrain::sweeping
