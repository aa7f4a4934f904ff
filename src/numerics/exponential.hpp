#pragma once

#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

/// e^M and the products phi_1(M) F, ..., phi_count(M) F, all from one exponential of the augmented matrix
/// [[M, F, 0 ..], [0, shift]], where phi_j(z) = sum_k z^k / (k + j)!.
///
/// Accurate to rounding relative to the largest result, also for large norms of M. The row form C phi_j(M) is the
/// transpose of phi_j(M^T) C^T.
struct PhiProducts {
  Matrix exponential;
  std::vector<Matrix> products;  ///< products[j - 1] = phi_j(M) F
};
PhiProducts phi_products(const Matrix& m, const Matrix& f, int count);

/// The exact step of dx/ds = A x + B u over h for inputs u(s) = sum_p c_p s^p:
/// x(h) = exponential x(0) + sum_p gamma[p] c_p, gamma[p] = p! h^(p+1) phi_{p+1}(h A) B.
struct PhiBlocks {
  Matrix exponential;
  std::vector<Matrix> gamma;  ///< degree + 1 matrices
};
PhiBlocks exact_step_matrices(const Matrix& a, const Matrix& b, Duration h, int degree);

}  // namespace entrain::numerics
