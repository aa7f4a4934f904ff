#pragma once

#include <array>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "masters/output_estimate.hpp"
#include "masters/rendezvous.hpp"
#include "numerics/mean_square_fit.hpp"
#include "numerics/polynomial.hpp"

namespace entrain {

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

  void start(const CoupledSystem& system, const Rendezvous& rendezvous, const Settings& settings);

  /// From what is known at the start of the step, carried on. Returns the degree.
  int extrapolate(CoupledSystem& system, Estimates estimates, const Step& step);

  /// For a subsystem that waits until its inputs are known: called at the start of its step ...
  void remember_start(const CoupledSystem& system, Estimates estimates, const Step& step);
  /// ... whenever a source has communicated for good ...
  void follow(const CoupledSystem& system, Estimates estimates, SubsystemId source);
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
  /// What a source has done since a step of a waiting subsystem began.
  struct Course {
    Time from = 0.0;            // where the step began
    Polynomial carried_on;      // from what was known then
    std::uint64_t cuts = 0;     // of the source's past, then
    Time latest = 0.0;          // sample
    double value = 0.0;         // and what it was
    std::uint64_t seen = 0;     // cuts up to it
    std::uint64_t samples = 0;  // since then
    bool jumped = false;        // before the latest sample
    MeanSquareFit fit;          // of straight lines between the samples

    void begin(const OutputEstimate& estimate, const Step& step);
    void go_on(const OutputEstimate& estimate);
    template <class Visitor>
    void each_number(Visitor&& visit) {
      visit(from), visit(carried_on.degree), visit(cuts), visit(latest), visit(value), visit(seen), visit(samples);
      visit(jumped), fit.each_number(visit);
      for (auto& coefficient : carried_on.coefficients) visit(coefficient);
    }
  };
  /// A source that tells far more often than its reader reads, seen with the reader's steps.
  struct Distant {
    OutputEstimate estimate;  // from the samples that the reader met
    Polynomial from_source;   // what the source's own estimate foresaw for the step before
    Time from = 0.0;          // which began there
    std::uint64_t cuts = 0;   // of the source's past, then

    Polynomial carried_on(const OutputEstimate& source, const Polynomial& of_source, Time now,
                          const OutputEstimate::Settings& calibration);
    template <class Visitor>
    void each_number(Visitor&& visit) {
      visit(from), visit(cuts), visit(from_source.degree);
      for (auto& coefficient : from_source.coefficients) visit(coefficient);
    }
  };
  static Polynomial carried_on(const OutputEstimate& estimate, Time from);
  Polynomial between_samples(const OutputEstimate& estimate, const Step& step) const;
  Polynomial over_all_samples(const OutputEstimate& estimate, Course course, const Step& step) const;
  int write(CoupledSystem& system, const Step& step);

  Settings settings_;
  std::vector<double> end_slopes_;             // per input: of the polynomial used last, at its end
  std::vector<std::uint64_t> joined_cuts_;     // per input: of its source's past, when that was made
  std::vector<Distant> distant_;               // per input
  std::vector<Course> courses_;                // per input
  std::vector<std::vector<InputId>> waiting_;  // per output: inputs of those who wait for it
  std::vector<Polynomial> polynomials_;        // of the subsystem whose inputs are being made
};

}  // namespace entrain
