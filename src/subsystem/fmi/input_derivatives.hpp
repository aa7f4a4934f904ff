#pragma once

#include <span>
#include <vector>

#include "subsystem/fmi/fmu_instance.hpp"

namespace entrain::subsystem {

/// Input polynomials for an FMU that takes derivatives at the start of a step (FMI 2): u(s) = sum_p c_p s^p has the
/// p-th derivative p! c_p there.
class InputDerivatives {
 public:
  /// Forgets what was set before. Borrows `inputs`.
  void start(std::span<const ValueReference> inputs, int degree);

  /// The derivatives that belong to a step under these inputs; none as long as all inputs were held.
  void add_to(FmuStepCall& call, const InputBlock& inputs);
  /// Values and derivatives as they are at local time s.
  FmuResult set(FmuInstance& instance, const InputBlock& inputs, Duration s);

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(highest_sent_);
  }

 private:
  std::span<const ValueReference> inputs_;
  std::vector<ValueReference> references_;  ///< order by order, as the two below
  std::vector<int> orders_;
  std::vector<double> derivatives_;
  std::vector<double> values_;
  int highest_sent_ = 0;  ///< an FMU may keep derivatives for the next step: once sent, an order is always sent
};

}  // namespace entrain::subsystem
