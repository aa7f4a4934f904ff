#pragma once

#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>
#include <sundials/sundials_nvector.h>

#include <cstddef>
#include <memory>
#include <span>

#include "numerics/column_groups.hpp"

namespace entrain::numerics {

/// The matrix of the BDF integrator and what solves with it.
class OdeLinearSolver {
 public:
  virtual ~OdeLinearSolver() = default;

  SUNMatrix matrix() const { return matrix_.get(); }
  SUNLinearSolver solver() const { return solver_.get(); }
  /// Before its columns are put.
  virtual void clear(SUNMatrix) const {}
  /// A column of the Jacobian; `values`: by row, of which those of the pattern are meant.
  virtual void put_column(SUNMatrix matrix, std::size_t column, std::span<const double> values) const = 0;

 protected:
  OdeLinearSolver(SUNMatrix matrix, SUNLinearSolver solver) : matrix_(matrix), solver_(solver) {}

 private:
  struct Release {
    void operator()(SUNMatrix matrix) const { SUNMatDestroy(matrix); }
    void operator()(SUNLinearSolver solver) const { SUNLinSolFree(solver); }
  };
  std::unique_ptr<_generic_SUNMatrix, Release> matrix_;
  std::unique_ptr<_generic_SUNLinearSolver, Release> solver_;
};

/// What makers of solvers are given. Borrowed; the pattern is null when the integrator finds the Jacobian by
/// differences.
struct OdeLinearSetup {
  N_Vector states;
  SUNContext context;
  const SparsityPattern* pattern;
};

}  // namespace entrain::numerics
