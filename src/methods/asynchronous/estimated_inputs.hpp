#pragma once

#include <array>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "methods/asynchronous/output_estimate.hpp"
#include "methods/asynchronous/step_scheduler.hpp"
#include "numerics/cubic_hermite.hpp"
#include "numerics/mean_square_fit.hpp"
#include "numerics/polynomial.hpp"

namespace entrain::coupling {

class TransferPlan;

}  // namespace entrain::coupling

namespace entrain::method {

/// Input polynomials from the estimates of the outputs behind them, each output with times of its own
/// (docs/theory/f3ornits.md).
class EstimatedInputs {
 public:
  struct Settings {
    OutputEstimate::Settings calibration;
    bool smooth = false;  ///< without a jump of value or slope, for subsystems that take cubics
  };
  /// The step of one subsystem for which inputs are wanted.
  struct Step {
    SubsystemId subsystem;
    Time from = 0.0;
    Duration size = 0.0;
  };
  using Estimates = std::span<const OutputEstimate>;  ///< by output

  void start(const CoupledSystem& system, const StepScheduler& scheduler, const Settings& settings);

  /// From what is known at the start of the step, carried on. Returns the degree.
  int extrapolate(CoupledSystem& system, Estimates estimates, const Step& step);

  /// For a subsystem that waits until its inputs are known: called at the start of its step ...
  void remember_start(const CoupledSystem& system, Estimates estimates, const Step& step);
  /// ... whenever a source has communicated for good ...
  void follow(const CoupledSystem& system, Estimates estimates, SubsystemId source);
  /// ... and at its end. Returns the degree.
  int interpolate(CoupledSystem& system, Estimates estimates, const Step& step);

  struct Polynomial {
    std::array<double, kMaxInputDegree + 1> coefficients{};  ///< by powers of the time since the start of the step
    int degree = 0;
    numerics::EndPoint at(Duration s) const;
    /// From the output's values to the input's, of a step that begins at `from`.
    void arrive(const coupling::TransferPlan& plan, InputId input, Time from);
    template <class Visitor>
    void fields(Visitor& visit) {
      visit(coefficients, degree);
    }
  };
  /// What a source has done since a step of a waiting subsystem began.
  struct Course {
    Time from = 0.0;              ///< where the step began
    Polynomial carried_on;        ///< from what was known then
    std::uint64_t cuts = 0;       ///< of the source's past, then
    Time latest = 0.0;            ///< sample
    double value = 0.0;           ///< and what it was
    std::uint64_t seen = 0;       ///< cuts up to it
    std::uint64_t samples = 0;    ///< since then
    bool jumped = false;          ///< before the latest sample
    numerics::MeanSquareFit fit;  ///< of straight lines between the samples

    void begin(const OutputEstimate& estimate, const Step& step);
    void go_on(const OutputEstimate& estimate);
    template <class Visitor>
    void fields(Visitor& visit) {
      visit(from, carried_on, cuts, latest, value, seen, samples, jumped, fit);
    }
  };
  /// A source that communicates far more often than its reader, sampled at the reader's steps.
  struct Distant {
    OutputEstimate estimate;  ///< from the samples that the reader met
    Polynomial from_source;   ///< what the source's own estimate foresaw for the step before
    Time from = 0.0;          ///< which began there
    std::uint64_t cuts = 0;   ///< of the source's past, then

    Polynomial carried_on(const OutputEstimate& source, const Polynomial& of_source, Time now,
                          const OutputEstimate::Settings& calibration);
    template <class Visitor>
    void fields(Visitor& visit) {
      visit(estimate, from_source, from, cuts);
    }
  };
  /// What is remembered of one input.
  struct OfInput {
    double end_slope = 0.0;         ///< of the polynomial used last, at its end
    std::uint64_t joined_cuts = 0;  ///< of its source's past, when that was made
    Distant distant;
    Course course;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(end_slope, joined_cuts, distant, course);
    }
  };
  using Memory = std::vector<OfInput>;
  const Memory& memory() const { return inputs_; }
  void restore(const Memory& memory) { inputs_ = memory; }
  /// Of one input alone, to take a step back.
  const OfInput& of(InputId input) const { return inputs_[input]; }
  void restore(InputId input, const OfInput& of_input) { inputs_[input] = of_input; }

 private:
  static Polynomial carried_on(const OutputEstimate& estimate, Time from);
  Polynomial between_samples(const OutputEstimate& estimate, const Step& step) const;
  Polynomial over_all_samples(const OutputEstimate& estimate, Course course, const Step& step) const;
  int write(CoupledSystem& system, const Step& step);

  Settings settings_;
  Memory inputs_;                              // per input
  std::vector<std::vector<InputId>> waiting_;  // per output: inputs of subsystems that wait for it
  std::vector<Polynomial> polynomials_;        // of the subsystem whose inputs are being made
};

}  // namespace entrain::method
