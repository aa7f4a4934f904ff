#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "entrain/variable.hpp"

namespace entrain {

/// Recorded signals over time, column by column. NaN = not known at that time.
struct SignalTable {
  std::vector<Time> times;
  std::vector<std::string> names;
  std::vector<std::vector<double>> columns;  ///< one per name, each as long as `times`

  /// Throws Error{InvalidSystem} for a name that was not recorded.
  const std::vector<double>& column(std::string_view name) const;
};

}  // namespace entrain
