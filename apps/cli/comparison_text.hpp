#pragma once

#include <string>

#include "entrain/comparison.hpp"

namespace entrain::cli {

/// The runs, then the variables that differ most, one per line.
std::string comparison_text(const Comparison& comparison);

}  // namespace entrain::cli
