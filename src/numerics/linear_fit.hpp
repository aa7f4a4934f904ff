#pragma once

#include <optional>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

/// The matrix M with targets = samples M (a row of each per observation), by least squares. nullopt when the samples do
/// not determine it, or when a target is missed by more than `tolerance` of the largest one of its column.
std::optional<Matrix> linear_fit(const Matrix& samples, const Matrix& targets, double tolerance);

}  // namespace entrain::numerics
