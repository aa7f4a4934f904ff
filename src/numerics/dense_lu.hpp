#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

/// LU decomposition of a small dense matrix.
class DenseLu {
 public:
  explicit DenseLu(const Matrix& matrix);
  ~DenseLu();
  DenseLu(DenseLu&&) noexcept;
  DenseLu& operator=(DenseLu&&) noexcept;

  /// In place. Of a singular matrix the result is not finite.
  void solve(std::span<double> right_side) const;

 private:
  struct Factors;
  std::unique_ptr<Factors> factors_;
};

/// Solves in place, without a place of its own: what is asked for in every step. The matrix is used up. Returns the
/// first column that depends on those before it, to rounding; nullopt = solved.
std::optional<std::size_t> solve_used_up(Matrix& matrix, std::span<double> right_side);

}  // namespace entrain::numerics
