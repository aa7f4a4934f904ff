#pragma once

#include <map>
#include <string>
#include <vector>

#include "methods/explicit/calling_sequence.hpp"
#include "methods/explicit/explicit_stepper.hpp"

namespace entrain::method {

/// The integral controller of the coupling error as a filter: w <- gain w + (1 - gain) y for the samples y of an input.
/// Gain 0 is no filter.
class NepceFilter final : public InputFilter {
 public:
  void bind(OptionBinder& binder);
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const;
  void start(const Graph& graph);

  double filtered(InputId input, double last, double sample) const override;

 private:
  std::map<std::string, double> written_;  // by "subsystem.input"
  std::vector<double> gains_;              // by input
};

/// gauss-seidel with an integral controller of the coupling error on chosen inputs.
///
/// M. Benedikt, D. Watzenig, J. Zehetner, A. Hofer: "NEPCE - a nearly energy-preserving coupling element for
/// weak-coupled problems and co-simulations", 2013 (docs/theory/nepce.md).
class Nepce final : public Method {
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
  NepceFilter filter_;
  ExplicitStepper stepper_;
};

}  // namespace entrain::method
