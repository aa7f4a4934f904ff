#pragma once

#include <memory>
#include <span>

#include "base/function_ref.hpp"
#include "numerics/interface_columns.hpp"

namespace entrain::numerics {

enum class FixedPointMethod {
  Plain,         ///< z <- g(z)
  Anderson,      ///< KINSOL, accelerated by the last few iterates
  NewtonKrylov,  ///< KINSOL, GMRES on z - g(z), the Jacobian only by differences of g
  QuasiNewton,   ///< IQN-ILS: the inverse Jacobian by least squares from all iterates, those of earlier solves included
};

/// Solves z = g(z), g being costly. Allocates at construction only.
class FixedPointSolver {
 public:
  /// Writes g(z); false when g has no value there.
  using Map = base::FunctionRef<bool(std::span<const double> z, std::span<double> image)>;
  /// Turns g(z) - z, in place, into about the step to the solution: a cheap inverse of I - dg/dz.
  using Correction = base::FunctionRef<void(std::span<double> difference)>;
  struct Settings {
    double tolerance = 1e-6;
    int max_evaluations = 50;
    std::span<const double> scale;           ///< size of each unknown: what makes them comparable; > 0
    const Correction* correction = nullptr;  ///< then z <- z + correction(g(z) - z) is what is iterated
    int least_evaluations = 2;  ///< 1 if a first guess within the tolerance is not extrapolated from the past
  };
  struct Result {
    bool converged = false;
    int evaluations = 0;
  };

  FixedPointSolver(std::size_t unknowns, FixedPointMethod method);
  ~FixedPointSolver();
  FixedPointSolver(FixedPointSolver&&) noexcept;
  FixedPointSolver& operator=(FixedPointSolver&&) noexcept;

  /// Starts from z. Converged: |z_i - image_i| <= tolerance (|image_i| + 1) for all i, with or without a correction, at
  /// the second evaluation at the earliest (else the first guess is simply accepted). Then the last evaluation was that
  /// of z, and `image` is g(z); otherwise both are the last iterate. What `map` throws is passed on.
  Result solve(std::span<double> z, std::span<double> image, const Settings& settings, Map map);
  /// What earlier solves have shown holds no longer.
  void forget();

  /// What one solve leaves to the next; empty but for QuasiNewton.
  using Memory = InterfaceColumns::Memory;
  Memory memory() const;
  void restore(const Memory& memory);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace entrain::numerics
