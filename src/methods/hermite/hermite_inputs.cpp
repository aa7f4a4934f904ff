#include "methods/hermite/hermite_inputs.hpp"

#include "coupling/engine.hpp"
#include "coupling/transfer.hpp"

namespace entrain {

/// In local time s: v + v' s + (3 r - h (2 v' + w')) s^2 / h^2 + (h (v' + w') - 2 r) s^3 / h^3 with the rise r = w - v;
/// without v': v + (2 r - h w') s / h + (h w' - r) s^2 / h^2.
void write_hermite_inputs(CoupledSystem& system, const SignalEnd& left, const SignalEnd& right, Duration size,
                          bool slopes_known) {
  const auto& plan = system.engine().transfer();
  const int top = hermite_degree(slopes_known);
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const auto inputs = system.graph().inputs_of(id);
    const auto c0 = system.coefficients(id, top, 0);
    const auto c1 = system.coefficients(id, top, 1);
    const auto c2 = system.coefficients(id, top, 2);
    for (std::size_t i = 0; i < inputs.count; ++i) {
      const InputId input{inputs.first + i};
      const std::size_t source = plan.source(input);
      const double factor = plan.factor(input);
      const double rise = factor * (right.values[source] - left.values[source]);
      const double end_slope = factor * right.slopes[source] * size;
      c0[i] = plan.incoming(input, left.values);
      if (slopes_known) {
        const double start_slope = factor * left.slopes[source];
        c1[i] = start_slope;
        c2[i] = (3.0 * rise - 2.0 * start_slope * size - end_slope) / (size * size);
        system.coefficients(id, top, 3)[i] = (start_slope * size + end_slope - 2.0 * rise) / (size * size * size);
      } else {
        c1[i] = (2.0 * rise - end_slope) / size;
        c2[i] = (end_slope - rise) / (size * size);
      }
    }
  }
}

}  // namespace entrain
