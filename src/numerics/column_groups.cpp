#include "numerics/column_groups.hpp"

#include <algorithm>

namespace entrain::numerics {

std::vector<std::vector<std::size_t>> independent_columns(const SparsityPattern& pattern, std::size_t rows) {
  std::vector<std::vector<std::size_t>> groups;
  std::vector<std::vector<bool>> taken;  // rows of each group
  for (std::size_t column = 0; column < pattern.rows_of_column.size(); ++column) {
    const auto& own = pattern.rows_of_column[column];
    const auto fits = [&](const std::vector<bool>& used) {
      return std::none_of(own.begin(), own.end(), [&](std::size_t row) { return used[row]; });
    };
    const auto place = std::find_if(taken.begin(), taken.end(), fits) - taken.begin();
    const auto group = static_cast<std::size_t>(place);
    if (group == groups.size()) {
      groups.emplace_back();
      taken.emplace_back(rows, false);
    }
    groups[group].push_back(column);
    for (const std::size_t row : own) taken[group][row] = true;
  }
  return groups;
}

}  // namespace entrain::numerics
