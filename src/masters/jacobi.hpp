#pragma once

#include <string>
#include <vector>

#include "masters/energy_control.hpp"
#include "masters/explicit_method.hpp"
#include "masters/late_outputs.hpp"
#include "masters/residual_power.hpp"

namespace entrain {

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
  std::vector<std::string> notes(const CoupledSystem& system) const override;

 protected:
  void advance_subsystems(CoupledSystem& system) override;
  bool steps_all_at_once() const override {
    return feedthrough_ == "hold" && energy_gain_ == 0.0 && step_control_ == "fixed";
  }
  std::vector<double> own_memory() const override;
  void restore_own(std::span<const double> numbers) override;

 private:
  std::vector<OutputId> late_outputs(const CoupledSystem& system) const;
  void note_start_of_steps(CoupledSystem& system);
  void step_everyone(CoupledSystem& system);

  std::string feedthrough_ = "hold";
  std::vector<std::string> delayed_;  // by "subsystem.output"; empty = all with feedthrough
  double energy_gain_ = 0.0;
  bool refresh_ = false;
  std::string step_control_ = "fixed";
  EnergyControlOptions control_options_;
  bool adapts_ = false;
  EnergyControl control_;
  LateOutputs late_;
  ResidualPowerCorrection energy_;
  std::vector<SubsystemId> everyone_;
  std::vector<double> first_values_;  // of all inputs, at the start of the steps under way
  std::vector<char> starts_, ends_;   // per subsystem: does a step start or end with this macro step?
};

}  // namespace entrain
