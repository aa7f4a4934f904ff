#pragma once

#include <array>
#include <string>
#include <vector>

#include "methods/explicit/energy_control.hpp"
#include "methods/explicit/explicit_stepper.hpp"
#include "methods/explicit/late_outputs.hpp"
#include "methods/explicit/residual_power.hpp"

namespace entrain::method {

/// What the size of the macro steps follows.
enum class StepSizeBy { Fixed, Energy };

}  // namespace entrain::method

namespace entrain {
template <>
struct ChoiceNames<method::StepSizeBy> {
  static constexpr std::array<ChoiceName<method::StepSizeBy>, 2> all{
      {{method::StepSizeBy::Fixed, "fixed"}, {method::StepSizeBy::Energy, "energy"}}};
};

}  // namespace entrain

namespace entrain::method {

/// All subsystems at once, each with inputs from the past (docs/theory/jacobi.md).
class Jacobi final : public Method {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override;
  Requirements requirements() const override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  void check_times(const RunSettings& settings, const WrittenOptions& written,
                   std::vector<Problem>& problems) const override;
  std::vector<std::string> step_tolerances() const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  MacroStepReport advance(CoupledSystem& system) override;
  void constants_changed(CoupledSystem& system) override { stepper_.constants_changed(system); }
  void instant_passed(CoupledSystem& system, Time now) override { stepper_.instant_passed(system, now); }
  MethodMemory memory() const override;
  void restore(const MethodMemory& memory) override;
  std::vector<Fact> notes(const CoupledSystem& system) const override;
  std::vector<Fact> closing_notes(const CoupledSystem& system) const override { return power_.notes(system); }
  std::vector<Fact> warnings(const CoupledSystem& system) const override { return stepper_.warnings(system); }

  ExplicitStepper& stepper() { return stepper_; }

 private:
  struct Options : ExplicitOptions {
    FeedthroughTreatment feedthrough = FeedthroughTreatment::Hold;
    double energy_gain = 0.0;
    double passivity_damping = 0.0;
    StepSizeBy step_control = StepSizeBy::Fixed;
    EnergyTolerances energy_tolerances;
    LateOutputOptions late;

    bool by_energy() const { return step_control == StepSizeBy::Energy; }
    EnergyControl::Bounds bounds() const { return {min_step, max_step}; }
  };

  [[gnu::noinline]] MacroStepReport advance_with_options(CoupledSystem& system);  // the default step stays short

  Options options_;
  ExplicitStepper stepper_;
  EnergyControl energy_control_;   // with step_control = "energy"
  LateOutputs late_;               // with feedthrough = "delay"
  ResidualPowerCorrection power_;  // with an energy_gain or passivity_damping
  bool only_steps_ = false;        // hold, step: nothing else happens in a macro step
  std::vector<SubsystemId> everyone_;
};

}  // namespace entrain::method
