#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/signal_range.hpp"
#include "entrain/error_estimate.hpp"
#include "estimate/closed_loop.hpp"
#include "estimate/error_course.hpp"
#include "estimate/sample_polynomial.hpp"
#include "run/step_watcher.hpp"

namespace entrain::estimate {

/// The error of a run, found beside it (docs/theory/error_estimate.md). The motion of the coupled system is continued
/// by the linearized equations with connections that are exact; what they miss of the equations (the remainder) is
/// taken from the samples of the run. The run minus this motion is its error: held, lowered, late and unconverged
/// inputs and the subsystems' own integration errors are all in it.
class PropagatedError : public running::StepWatcher {
 public:
  static constexpr std::size_t kMostStates = 300;  ///< matrices are dense

  /// Every subsystem provides its states, their derivatives and its linearization, and the method couples subsystems.
  static bool serves(CoupledSystem& system, const Method& method);

  void begin(CoupledSystem& system, const RunSettings& settings) override;
  void after_step(CoupledSystem& system, Time from, Time to) override;
  void end(const RunSummary& summary) override;

  /// After the run; the system may be gone. None where the run left what this can follow; `reasons` says why.
  const std::optional<ErrorEstimate>& estimate() const { return result_; }
  const std::vector<Fact>& reasons() const { return reasons_; }
  std::uint64_t linearizations() const { return linearizations_; }

 private:
  /// Where all subsystems communicated.
  struct Sample {
    SystemSample at;
    std::vector<double> recorded;   // outputs as observers see them
    std::vector<char> signs;        // of the indicators of state events
    std::vector<double> dx, y;      // were the inputs consistent
    std::vector<double> remainder;  // of dx, by the linearization `of` ...
    std::vector<double> offset;     // ... and of y
    std::shared_ptr<const ClosedLoop> of;
    std::shared_ptr<ClosedLoop> loop;  // in force here
  };
  /// Where some of them communicated.
  struct Between {
    Time t = 0.0;
    std::vector<double> recorded;
    std::vector<char> communicated;  // by output
  };
  /// Samples of one smooth piece.
  struct Window {
    std::size_t first = 0, end = 0;
  };

  void take_sample(CoupledSystem& system, Time t);
  void take_between(CoupledSystem& system, Time t);
  void note_breaks(CoupledSystem& system, Time from, Time to);
  void read(CoupledSystem& system, Sample& sample);
  void read_true_outputs(CoupledSystem& system, Sample& sample);
  Equations::Point point_of(SubsystemId s, const Sample& sample, std::span<const double> inputs) const;
  void read_signs(CoupledSystem& system, Sample& sample);
  bool has_switched() const;
  void linearize(CoupledSystem& system, Sample& sample);
  bool needs_linearization(Sample& sample);
  static void update_remainder(Sample& sample, const std::shared_ptr<ClosedLoop>& loop);
  void continue_motion(std::size_t ahead);
  void make_step();
  Window window(Time from) const;
  void make_part(Time from, Time to, const std::shared_ptr<ClosedLoop>& loop);
  std::span<const double> rates(const Window& of, std::span<const double> weights);
  void note_errors(Time t, std::span<const double> recorded, const ClosedLoop& loop, const char* communicated);
  void stop(Time t, std::string_view why);
  void keep_result();

  RunSettings settings_;
  CoupledSystem* system_ = nullptr;
  std::deque<Sample> samples_;  // those that are needed still; w_ belongs to samples_[next_]
  std::size_t next_ = 0;
  std::deque<Between> between_;  // from there on
  Time reached_ = 0.0;           // by the run
  bool stopped_ = false;
  std::vector<Time> breaks_;  // where the equations are not smooth, those that matter still

  std::shared_ptr<ClosedLoop> loop_, first_loop_;
  std::vector<double> base_remainder_;
  std::vector<base::SignalRange> rate_ranges_;  // of the state derivatives
  std::uint64_t steps_since_ = 0, least_steps_ = 1, linearizations_ = 0;
  double most_changed_ = 0.0;  // of the linearization, since the first

  std::vector<double> w_, w_low_;  // the better motion, and with fewer samples for the remainder
  SamplePolynomial polynomial_, low_polynomial_;
  std::vector<double> rates_of_part_, offset_, better_, doubt_, difference_, no_slopes_, indicators_;
  std::vector<ErrorCourse> courses_;
  std::vector<Fact> reasons_;
  std::optional<ErrorEstimate> result_;
  double seconds_ = 0.0;
};

}  // namespace entrain::estimate
