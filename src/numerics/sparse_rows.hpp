#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

/// The numbers of a matrix that are not zero, row by row.
struct SparseRows {
  std::vector<std::size_t> first{0};  ///< per row, into columns and values
  std::vector<std::size_t> columns;
  std::vector<double> values;

  std::size_t rows() const { return first.size() - 1; }
  void add_row(std::span<const double> row) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      if (row[j] == 0.0) continue;
      columns.push_back(j);
      values.push_back(row[j]);
    }
    first.push_back(values.size());
  }
  /// to += scale times a row
  void add_to(std::size_t row, double scale, std::span<double> to) const {
    for (std::size_t k = first[row]; k < first[row + 1]; ++k) to[columns[k]] += scale * values[k];
  }
  double times(std::size_t row, std::span<const double> x) const {
    double sum = 0.0;
    for (std::size_t k = first[row]; k < first[row + 1]; ++k) sum += values[k] * x[columns[k]];
    return sum;
  }
};

inline SparseRows sparse_rows(const Matrix& a) {
  SparseRows result;
  result.first.reserve(a.rows + 1);
  for (std::size_t i = 0; i < a.rows; ++i) result.add_row(std::span(a.values).subspan(i * a.cols, a.cols));
  return result;
}

}  // namespace entrain::numerics
