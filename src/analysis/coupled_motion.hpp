#pragma once

#include <memory>
#include <span>
#include <vector>

#include "analysis/linear_network.hpp"

namespace entrain {

/// The network without any coupling error, dx/dt = M x, for networks of any size: M = A + B L (I - D L)^-1 C is applied
/// and never formed.
class CoupledMotion {
 public:
  /// Throws Error{LoopNotSolved} naming an output when I - D L is singular. `network` is borrowed.
  explicit CoupledMotion(const LinearNetwork& network);
  ~CoupledMotion();
  CoupledMotion(const CoupledMotion&) = delete;
  CoupledMotion& operator=(const CoupledMotion&) = delete;

  std::size_t states() const;
  /// dx = M x.
  void rates(std::span<const double> x, std::span<double> dx);
  /// x <- e^(time M) x, by Taylor series in parts.
  void advance(Duration time, std::span<double> x);

  /// The largest |eigenvalue| of M, 1/s, to a few percent.
  double fastest_rate();
  /// The largest e^(step Re(eigenvalue)): how much the motion itself grows over a step.
  double growth(Duration step);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The same for any network: by eigenvalues while the matrices are small, else by products.
double fastest_rate(const LinearNetwork& network);
double own_growth(const LinearNetwork& network, Duration step);

}  // namespace entrain
