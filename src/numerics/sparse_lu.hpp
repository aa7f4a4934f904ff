#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace entrain::numerics {

/// LU decomposition of a square sparse matrix whose pattern is fixed (SuiteSparse KLU). The order of elimination is
/// found once, from the pattern; pivots once per `factor`; `refactor` computes anew with the same pivots and allocates
/// nothing.
class SparseLu {
 public:
  /// Compressed columns: the entries of column j are first[j] .. first[j + 1] - 1, their rows ascending.
  SparseLu(std::vector<int> first, std::vector<int> rows);
  ~SparseLu();
  SparseLu(SparseLu&&) noexcept;
  SparseLu& operator=(SparseLu&&) noexcept;

  /// Both: false when the matrix is singular but for rounding; `refactor` also when the pivots do not suit the new
  /// values. After `factor` the factors are, to the last bit, those that `refactor` gives for the same values.
  [[nodiscard]] bool factor(std::span<const double> values);
  [[nodiscard]] bool refactor(std::span<const double> values);
  /// In place. Throws Error without factors.
  void solve(std::span<double> right_side);

  std::size_t size() const;
  /// The column that had no pivot when `factor` failed.
  std::size_t singular_column() const;

 private:
  struct Klu;
  std::unique_ptr<Klu> klu_;
};

}  // namespace entrain::numerics
