#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "entrain/sweep.hpp"

namespace entrain::sweeping {

/// Measured value and its standard uncertainty by the name of a quantity.
using MeasuredValues = std::map<std::string, std::pair<double, double>>;

/// Throws Error{FileFailed}, and Error with a problem for each name that is none of `quantities`.
MeasuredValues read_reference(const std::filesystem::path& file, const std::vector<std::string>& quantities);

/// Of all quantities of a sampled sweep. Of Sobol sampling the first two matrices: the others are not independent.
std::vector<QuantityUncertainty> uncertainties(const SweepResult& result, std::size_t base_cases,
                                               const MeasuredValues& reference);

}  // namespace entrain::sweeping
