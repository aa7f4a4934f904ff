// Apart from ode.cpp, which our FMUs have in them as well: they need no KLU.
#include "numerics/sparse_ode.hpp"

#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>

#include "numerics/ode_linear_solver.hpp"

namespace entrain::numerics {
namespace {

using RowIndices = std::vector<std::size_t>;

/// The integrator solves with 1 - gamma J: the diagonal is always there.
RowIndices with_diagonal(RowIndices rows, std::size_t column) {
  const auto place = std::lower_bound(rows.begin(), rows.end(), column);
  if (place == rows.end() || *place != column) rows.insert(place, column);
  return rows;
}

std::vector<RowIndices> with_diagonal(const SparsityPattern& pattern) {
  std::vector<RowIndices> columns;
  for (std::size_t j = 0; j < pattern.rows_of_column.size(); ++j) {
    columns.push_back(with_diagonal(pattern.rows_of_column[j], j));
  }
  return columns;
}

std::size_t entries_of(const std::vector<RowIndices>& columns) {
  std::size_t count = 0;
  for (const auto& rows : columns) count += rows.size();
  return count;
}

SUNMatrix make_matrix(const std::vector<RowIndices>& columns, SUNContext context) {
  const auto size = static_cast<sunindextype>(columns.size());
  return SUNSparseMatrix(size, size, static_cast<sunindextype>(entries_of(columns)), CSC_MAT, context);
}

class SparseSolver final : public OdeLinearSolver {
 public:
  SparseSolver(const OdeLinearSetup& setup, std::vector<RowIndices> columns, SUNMatrix empty)
      : OdeLinearSolver(empty, SUNLinSol_KLU(setup.states, empty, setup.context)),
        given_(*setup.pattern),
        columns_(std::move(columns)) {}

  /// The integrator's matrix may have lost its pattern: it makes it anew from copies.
  void clear(SUNMatrix matrix) const override {
    SUNMatZero(matrix);
    sunindextype* first = SUNSparseMatrix_IndexPointers(matrix);
    sunindextype* row = SUNSparseMatrix_IndexValues(matrix);
    sunindextype next = 0;
    for (const auto& rows : columns_) {
      *first++ = next;
      for (const std::size_t i : rows) row[next++] = static_cast<sunindextype>(i);
    }
    *first = next;
  }

  void put_column(SUNMatrix matrix, std::size_t column, std::span<const double> values) const override {
    double* data = SUNSparseMatrix_Data(matrix) + SUNSparseMatrix_IndexPointers(matrix)[column];
    const auto& rows = columns_[column];
    const auto& given = given_.rows_of_column[column];
    // An added diagonal stays zero: `values` may hold another column's number there.
    auto next = given.begin();
    for (std::size_t k = 0; k < rows.size(); ++k) {
      if (next == given.end() || *next != rows[k]) continue;
      data[k] = values[rows[k]];
      ++next;
    }
  }

 private:
  const SparsityPattern& given_;
  std::vector<RowIndices> columns_;
};

}  // namespace

bool is_sparse(const SparsityPattern& pattern) {
  constexpr std::size_t kStates = 50;  // below, a dense matrix is quicker whatever its pattern
  constexpr double kShare = 0.2;
  const std::size_t states = pattern.rows_of_column.size();
  const auto filled = static_cast<double>(entries_of(pattern.rows_of_column));
  return states >= kStates && filled <= kShare * static_cast<double>(states * states);
}

std::unique_ptr<OdeLinearSolver> sparse_linear_solver(const OdeLinearSetup& setup) {
  auto columns = with_diagonal(*setup.pattern);
  SUNMatrix matrix = make_matrix(columns, setup.context);
  return std::make_unique<SparseSolver>(setup, std::move(columns), matrix);
}

}  // namespace entrain::numerics
