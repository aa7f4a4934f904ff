#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "entrain/subsystem.hpp"
#include "numerics/sparse_rows.hpp"

namespace entrain::estimate {

/// dw/dt = A w + r(t) over a step, exactly, for a rate r that is a polynomial of the share of the step that has passed.
/// By a series where the matrix has few entries or the step size comes once; else by matrices that are kept.
class LinearFlow {
 public:
  static constexpr std::size_t kMostRates = 6;  ///< coefficients of r

  LinearFlow() = default;
  explicit LinearFlow(numerics::SparseRows a);

  const numerics::SparseRows& matrix() const { return a_; }
  /// `rates`: coefficient after coefficient, each as long as w.
  void advance(Duration size, std::span<const double> rates, std::span<double> w);

 private:
  struct Kept {
    Duration size = std::numeric_limits<Duration>::quiet_NaN();  // equal to no step size until used
    std::uint64_t uses = 0;
    std::vector<Matrix> propagators;  // p! h phi_{p+1}(h A) for p = -1, 0, .. (the first one is the exponential)
  };
  bool prefers_series(Duration size, std::uint64_t uses) const;
  Kept& kept_for(Duration size);
  void make_propagators(Kept& kept) const;
  void advance_by_series(Duration size, std::span<const double> rates, std::span<double> w);

  numerics::SparseRows a_;
  double norm_ = 0.0;
  std::array<Kept, 4> kept_;
  std::size_t oldest_ = 0;
  std::vector<double> term_, next_, part_;
};

}  // namespace entrain::estimate
