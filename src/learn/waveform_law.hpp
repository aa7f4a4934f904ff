#pragma once

#include <array>
#include <span>
#include <vector>

#include "learn/algebraic_part.hpp"
#include "learn/learned_connections.hpp"
#include "learn/learning_law.hpp"
#include "learn/repeated_run.hpp"
#include "numerics/cubic_hermite.hpp"

namespace entrain::learning {

/// Corrects the inputs to the interpolation of the outputs behind them, which is known after a run
/// (docs/theory/learning.md, "Waveforms"):
///     u = E[y] + c,    c <- c + gain (Pi[y^] - u - E[y^ - y])
/// with E what the method extrapolates, Pi the line or cubic between the outputs at both ends of a step, or its mean
/// for subsystems that take constants, and y^ the outputs with their algebraic part corrected.
class WaveformLaw final : public LearningLaw, private Observer {
 public:
  /// Borrows the run. `followers`: outputs with feedthrough.
  enum class Source {
    Runs,
    Records,          ///< of runs: the algebraic part is that of the start
    RecordsOfABench,  ///< nothing is initialised: there is no algebraic part
  };
  WaveformLaw(RepeatedRun& run, LearnInputs kind, std::vector<OutputId> followers, Source source = Source::Runs);

  static std::size_t orders_of(LearnInputs kind);
  const std::vector<LearnedWire>& wires() const { return wires_; }
  const AlgebraicPart& algebraic() const { return algebraic_; }
  /// The largest spectral radius of the algebraic part in the run recorded.
  double largest_radius() const { return largest_radius_; }

  Observer& observer() override { return *this; }
  void clear() override;
  void take(const RecordedRows& rows, const std::vector<double>& applied) override;
  std::size_t steps() const override { return times_.empty() ? 0 : times_.size() - 1; }
  std::size_t numbers() const override { return wires_.size() * orders_; }
  std::size_t orders() const override { return orders_; }
  LearnIteration judged() override;
  const WireErrors& errors() const override { return errors_; }
  std::vector<Duration> intervals() const override;
  std::vector<LearnedCourse> courses() const override;
  running::CorrectionSchedule schedule(const std::vector<double>& corrections) const override;
  std::vector<OutputId> guarded() const override { return outputs_of(wires_); }
  std::vector<double> live() const override;
  std::vector<double> sent() const override { return found_; }
  Repeatability compared(const std::vector<double>& earlier, Compared part) const override;
  void update(std::vector<double>& corrections, const LearningTuning& tuning) override;

 private:
  using Polynomial = std::array<double, 4>;  // in the share of the step

  Needs needs() const override;
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;

  void find_outputs();
  void correct_outputs();
  void take_answers();
  void find_slopes();
  double difference_slope(OutputId output, std::size_t k) const;
  numerics::EndPoint output_at(OutputId output, std::size_t k) const;
  std::size_t end_of(const LearnedWire& wire, std::size_t k) const;
  Polynomial meant(std::size_t w, std::size_t k) const;
  Polynomial received(std::size_t w, std::size_t k) const;
  double step_share(const LearnedWire& wire, std::size_t k) const;
  static double value(const Polynomial& polynomial, double share);

  RepeatedRun& run_;
  LearnInputs kind_;
  std::size_t orders_;
  std::size_t outputs_, inputs_;
  std::vector<LearnedWire> wires_;
  std::vector<std::size_t> output_spans_;  // by output: macro steps per step of its subsystem
  std::vector<int> degrees_;               // by wire: that its consumer takes
  AlgebraicPart algebraic_;
  running::CorrectionSchedule::Waveforms waveforms_;
  double largest_radius_ = 0.0;
  std::vector<std::string> units_;

  // Of the run: by communication time, of all outputs or inputs.
  std::vector<Time> times_;
  std::vector<double> sent_, ended_, slopes_, gains_;
  std::vector<double> received_;  // by macro step: the coefficients of all wires
  // Found after it.
  std::vector<double> found_, found_slopes_;
  WireErrors errors_;  // in the middle of each step
};

}  // namespace entrain::learning
