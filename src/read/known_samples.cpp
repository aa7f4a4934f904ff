#include <algorithm>
#include <utility>

#include "read/results_readers.hpp"

namespace entrain::reading {
namespace {

void keep_known(std::vector<double>& values, const std::vector<bool>& known) {
  std::size_t kept = 0;
  for (std::size_t row = 0; row < known.size(); ++row) {
    if (known[row]) values[kept++] = values[row];
  }
  values.resize(kept);
}

}  // namespace

void place_where_known(SharedRows rows, Results& results) {
  std::vector<const std::vector<bool>*> of_axis;
  std::vector<std::size_t> axes;
  for (const auto& row : rows.columns) {
    const auto same =
        std::find_if(of_axis.begin(), of_axis.end(), [&](const auto* known) { return *known == row.known; });
    axes.push_back(results.axes.size() - of_axis.size() + static_cast<std::size_t>(same - of_axis.begin()));
    if (same != of_axis.end()) continue;
    of_axis.push_back(&row.known);
    results.axes.emplace_back();
  }
  const std::size_t first = results.axes.size() - of_axis.size();
  std::size_t whole = of_axis.size();  // the last of all: its times are moved, not copied
  for (std::size_t a = 0; a < of_axis.size(); ++a) {
    const bool is_whole = std::find(of_axis[a]->begin(), of_axis[a]->end(), false) == of_axis[a]->end();
    if (is_whole) whole = a;
    if (is_whole) continue;
    auto& axis = results.axes[first + a];
    axis.reserve(static_cast<std::size_t>(std::count(of_axis[a]->begin(), of_axis[a]->end(), true)));
    for (std::size_t row = 0; row < of_axis[a]->size(); ++row) {
      if ((*of_axis[a])[row]) axis.push_back(rows.times[row]);
    }
  }
  if (whole < of_axis.size()) results.axes[first + whole] = std::move(rows.times);
  for (std::size_t c = 0; c < rows.columns.size(); ++c) {
    auto& [column, known] = rows.columns[c];
    column.axis = axes[c];
    if (results.axes[column.axis].size() != column.values.size()) keep_known(column.values, known);
    results.columns.push_back(std::move(column));
  }
}

}  // namespace entrain::reading
