#pragma once

#include <string>
#include <vector>

#include "entrain/coupled_system.hpp"

namespace entrain {

/// What becomes of input polynomials of this degree in each subsystem: lowered, on how many sub-steps, or sub-steps
/// that bring nothing.
std::vector<Fact> input_degree_notes(const CoupledSystem& system, int degree);

}  // namespace entrain
