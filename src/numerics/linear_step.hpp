#pragma once

#include <array>
#include <limits>
#include <span>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::numerics {

/// Advances dx/dt = A x + B u exactly under polynomial inputs. The matrices of the last few step sizes are kept; the
/// result depends on (size, x, inputs) alone, and nothing is allocated when the step size is known.
class LinearStep {
 public:
  LinearStep() = default;
  LinearStep(Matrix a, Matrix b);

  void advance(Duration size, const InputBlock& inputs, std::span<double> x);

 private:
  struct Kept {
    Duration size = std::numeric_limits<Duration>::quiet_NaN();  ///< equal to no step size until computed
    std::vector<double> rows;                                    ///< of [exponential | gamma_0 | ... | gamma_3]
  };

  const Kept& matrices_for(Duration size);
  const Kept& compute(Duration size);
  std::size_t row_size() const { return a_.cols + b_.cols * (kMaxInputDegree + 1); }

  Matrix a_;
  Matrix b_;
  std::array<Kept, 4> kept_;
  std::size_t recent_ = 0;  ///< where the last step size is
  std::size_t oldest_ = 0;  ///< what is replaced next
  std::vector<double> next_;
};

}  // namespace entrain::numerics
