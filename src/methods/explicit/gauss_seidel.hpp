#pragma once

#include <string>
#include <vector>

#include "methods/explicit/calling_sequence.hpp"
#include "methods/explicit/explicit_stepper.hpp"

namespace entrain::method {

/// One macro step of a sequential method: each stage sees the outputs of the stages before it.
MacroStepReport sequential_sweep(CoupledSystem& system, ExplicitStepper& stepper, const CallingSequence& sequence);

/// One subsystem after the other; each sees the outputs of those called before it in the same macro step
/// (docs/theory/gauss_seidel.md).
class GaussSeidel final : public Method {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override;
  Requirements requirements() const override { return options_.requirements(); }
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  std::vector<std::string> step_tolerances() const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  MacroStepReport advance(CoupledSystem& system) override;
  void constants_changed(CoupledSystem& system) override { stepper_.constants_changed(system); }
  void instant_passed(CoupledSystem& system, Time now) override { stepper_.instant_passed(system, now); }
  MethodMemory memory() const override;
  void restore(const MethodMemory& memory) override;
  std::vector<Fact> notes(const CoupledSystem& system) const override;
  std::vector<Fact> warnings(const CoupledSystem& system) const override { return stepper_.warnings(system); }

  ExplicitStepper& stepper() { return stepper_; }

 private:
  ExplicitOptions options_;
  CallingSequence sequence_;
  ExplicitStepper stepper_;
};

}  // namespace entrain::method
