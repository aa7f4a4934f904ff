#pragma once

#include <array>
#include <span>
#include <vector>

#include "coupling/coupled_system.hpp"
#include "masters/output_estimate.hpp"
#include "numerics/polynomial.hpp"

namespace entrain {

/// Input polynomials from the estimates of the outputs behind them, each output with times of its own
/// (docs/theory/f3ornits.md).
class EstimatedInputs {
 public:
  struct Settings {
    int max_order = 2;
    bool smooth = false;  ///< without a jump of value or slope, for subsystems that take cubics
  };
  /// The step of one subsystem for which inputs are wanted.
  struct Step {
    SubsystemId subsystem;
    Time from = 0.0;
    Duration size = 0.0;
  };
  using Estimates = std::span<const OutputEstimate>;  ///< by output

  void start(const CoupledSystem& system, const Settings& settings);

  /// From what is known at the start of the step, carried on. Returns the degree.
  int extrapolate(CoupledSystem& system, Estimates estimates, const Step& step);

  /// For a subsystem that waits until its inputs are known: called at the start of its step ...
  void remember_start(const CoupledSystem& system, Estimates estimates, const Step& step);
  /// ... and at its end. Returns the degree.
  int interpolate(CoupledSystem& system, Estimates estimates, const Step& step);

  /// Of the inputs of a subsystem; appends to `numbers`, and reads on from there.
  void save(IdRange<InputId> inputs, std::vector<double>& numbers) const;
  void restore(IdRange<InputId> inputs, const double*& next);

 private:
  struct Polynomial {
    std::array<double, kMaxInputDegree + 1> coefficients{};  // by powers of the time since the start of the step
    int degree = 0;
    EndPoint at(Duration s) const;
    void arrive(const TransferPlan& plan, InputId input);  // from the output's values to the input's
  };
  /// What was known of a source at the start of the step under way.
  struct Start {
    Time time = 0.0;  // of its latest sample
    double value = 0.0;
    Polynomial carried_on;
  };
  static Polynomial carried_on(const OutputEstimate& estimate, Time from);
  Polynomial between_samples(const OutputEstimate& estimate, const Start& start, const Step& step) const;
  int write(CoupledSystem& system, const Step& step);

  Settings settings_;
  std::vector<double> end_slopes_;       // per input: of the polynomial used last, at its end
  std::vector<Start> starts_;            // per input
  std::vector<Polynomial> polynomials_;  // of the subsystem whose inputs are being made
};

}  // namespace entrain
