#pragma once

#include <array>
#include <string>
#include <vector>

#include "methods/explicit/energy_control.hpp"
#include "methods/explicit/explicit_method.hpp"
#include "methods/explicit/late_outputs.hpp"
#include "methods/explicit/residual_power.hpp"

namespace entrain {

/// Outputs that follow inputs at once.
enum class FeedthroughTreatment { Hold, Delay, Refresh };
template <>
struct ChoiceNames<FeedthroughTreatment> {
  static constexpr std::array<ChoiceName<FeedthroughTreatment>, 3> all{{{FeedthroughTreatment::Hold, "hold"},
                                                                        {FeedthroughTreatment::Delay, "delay"},
                                                                        {FeedthroughTreatment::Refresh, "refresh"}}};
};

/// What the size of the macro steps follows.
enum class MacroStepControl { Fixed, Energy };
template <>
struct ChoiceNames<MacroStepControl> {
  static constexpr std::array<ChoiceName<MacroStepControl>, 2> all{
      {{MacroStepControl::Fixed, "fixed"}, {MacroStepControl::Energy, "energy"}}};
};

/// All subsystems at once, each with inputs from the past (docs/theory/jacobi.md).
class Jacobi final : public ExplicitMethod {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override;
  Requirements requirements() const override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  std::vector<std::string> step_tolerances() const override;
  void check_times(const RunSettings& settings, const WrittenOptions& written,
                   std::vector<Problem>& problems) const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  std::vector<Fact> notes(const CoupledSystem& system) const override;

  /// Its own, besides those of explicit methods.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(late_, energy_, control_);
  }

 protected:
  void advance_subsystems(CoupledSystem& system) override;
  bool steps_all_at_once() const override {
    return feedthrough_ == FeedthroughTreatment::Hold && energy_gain_ == 0.0 &&
           step_control_ == MacroStepControl::Fixed;
  }
  Bytes own_memory() const override { return to_bytes(*this); }
  void restore_own(std::span<const std::byte> bytes) override { from_bytes(bytes, *this); }
  bool chooses_steps() const override { return adaptive() || step_control_ == MacroStepControl::Energy; }

 private:
  std::vector<OutputId> late_outputs(const CoupledSystem& system) const;
  EnergyControlOptions energy_control() const;
  void note_start_of_steps(CoupledSystem& system);
  void step_everyone(CoupledSystem& system);

  FeedthroughTreatment feedthrough_ = FeedthroughTreatment::Hold;
  std::vector<std::string> delayed_;  // by "subsystem.output"; empty = all with feedthrough
  double energy_gain_ = 0.0;
  bool refresh_ = false;
  MacroStepControl step_control_ = MacroStepControl::Fixed;
  EnergyTolerances energy_tolerances_;
  bool adapts_ = false;
  EnergyControl control_;
  LateOutputs late_;
  ResidualPowerCorrection energy_;
  std::vector<SubsystemId> everyone_;
  std::vector<double> first_values_;  // of all inputs, at the start of the steps under way
  std::vector<char> starts_, ends_;   // per subsystem: does a step start or end with this macro step?
};

}  // namespace entrain
