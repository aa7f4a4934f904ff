#pragma once

#include <memory>
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

}  // namespace entrain::numerics
