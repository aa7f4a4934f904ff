#pragma once

#include <cstddef>
#include <vector>

namespace entrain::numerics {

/// Where a Jacobian can be other than zero: the rows of each column, ascending.
struct SparsityPattern {
  std::vector<std::vector<std::size_t>> rows_of_column;
};

/// Columns in groups such that no two of a group share a row: one product with a sum of unit vectors then gives a whole
/// group (Curtis, Powell, Reid 1974). Greedy, in the order of the columns.
std::vector<std::vector<std::size_t>> independent_columns(const SparsityPattern& pattern, std::size_t rows);

}  // namespace entrain::numerics
