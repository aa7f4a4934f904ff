#include <algorithm>

#include "read/results_readers.hpp"

namespace entrain::reading {

void add_where_known(Results& results, std::vector<std::vector<bool>>& known_on_axis, const std::vector<Time>& times,
                     std::vector<bool> known, Results::Column column) {
  const auto same = std::find(known_on_axis.begin(), known_on_axis.end(), known);
  column.axis = static_cast<std::size_t>(same - known_on_axis.begin());
  if (same == known_on_axis.end()) {
    auto& axis = results.axes.emplace_back();
    for (std::size_t row = 0; row < known.size(); ++row) {
      if (known[row]) axis.push_back(times[row]);
    }
  }
  auto& values = column.values;
  if (results.axes[column.axis].size() != values.size()) {
    std::size_t kept = 0;
    for (std::size_t row = 0; row < known.size(); ++row) {
      if (known[row]) values[kept++] = values[row];
    }
    values.resize(kept);
  }
  if (same == known_on_axis.end()) known_on_axis.push_back(std::move(known));
  results.columns.push_back(std::move(column));
}

}  // namespace entrain::reading
