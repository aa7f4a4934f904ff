#pragma once

#include <limits>

#include "base/function_ref.hpp"

namespace entrain::numerics {

struct Peak {
  double at = 0.0;
  double value = 0.0;
};

/// The maximum of a function with one between `low` and `high`, to `width` in its place; no further than to a value of
/// `enough`. Of several maxima one is found.
Peak golden_section(double low, double high, double width, base::FunctionRef<double(double)> function,
                    double enough = std::numeric_limits<double>::infinity());

}  // namespace entrain::numerics
