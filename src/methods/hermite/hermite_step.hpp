#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/options.hpp"
#include "trials/trials.hpp"

namespace entrain::method {

/// What the inputs of a step begin with.
enum class HermiteRestart { Real, C1 };

}  // namespace entrain::method

namespace entrain {
template <>
struct ChoiceNames<method::HermiteRestart> {
  static constexpr std::array<ChoiceName<method::HermiteRestart>, 2> all{
      {{method::HermiteRestart::Real, "real"}, {method::HermiteRestart::C1, "c1"}}};
};

}  // namespace entrain

namespace entrain::method {

/// The first guess of the values at the end of a step.
enum class Predictor { Hold, Linear, Hermite, Missiles };

}  // namespace entrain::method

namespace entrain {
template <>
struct ChoiceNames<method::Predictor> {
  static constexpr std::array<ChoiceName<method::Predictor>, 4> all{{{method::Predictor::Hold, "hold"},
                                                                     {method::Predictor::Linear, "linear"},
                                                                     {method::Predictor::Hermite, "hermite"},
                                                                     {method::Predictor::Missiles, "missiles"}}};
};

}  // namespace entrain

namespace entrain::method {

/// A step of all subsystems together, in progress: values and slopes of all signals (as CoupledSystem::signals) at its
/// start, those sought at its end, the inputs between them, and the trials that are made with these.
///
/// Inputs are cubic Hermite polynomials, so that they are C1 over the run; where the slopes at the start are not known
/// (a start, a jump) parabolas through the value there and value and slope at the end.
class HermiteStep {
 public:
  struct Window {
    Time to = 0.0;
    Duration size = 0.0;
  };
  struct End {
    std::vector<double> values, slopes;  ///< of all signals

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(values, slopes);
    }
  };

  void start(CoupledSystem& system, Time now, HermiteRestart restart, std::vector<coupling::TrialKind> kinds,
             const trials::EstimatorOptions& estimator);

  /// Connected outputs: their values and slopes at the end are what is sought.
  std::span<const OutputId> unknowns() const { return unknowns_; }
  trials::Trials& trials() { return *trials_; }
  const trials::Trials& trials() const { return *trials_; }
  /// What to report of the trials; nothing where the run ended before they began.
  std::vector<Fact> closing_notes() const { return trials_ ? trials_->closing_notes() : std::vector<Fact>(); }
  /// A subsystem imposes a step: it cannot be cut.
  bool imposed() const { return imposed_; }
  /// That every subsystem can make.
  Duration shortest() const { return shortest_; }

  Time now() const { return memory_.now; }
  const Window& window() const { return window_; }
  void set_window(const Window& window) { window_ = window; }
  /// To `now + size`.

  const End& left() const { return memory_.left; }
  bool slopes_known() const { return memory_.slopes_known; }  ///< of left
  /// Of all signals, as they are at the start of the step; those of `left` unless restart = "c1".
  std::span<const double> real_slopes() const;
  std::span<const double> real_values(const CoupledSystem& system) const;
  End& right() { return right_; }
  const End& right() const { return right_; }
  /// What the latest trial or the commit brought.
  trials::TrialBlock& block() { return block_; }
  const trials::TrialBlock& block() const { return block_; }
  /// The size of a connected signal so far, 1 if it was always zero or next to it.
  double magnitude(OutputId y) const;
  /// Over the step in progress; `terms`: what the signal is the sum of.
  double size(OutputId y, double terms = 0.0) const;
  /// How far the input of the step is from the output in the middle, beyond what both differ at its start (restart =
  /// "c1"): a cubic misses it by order h^4 there. `middle`: of run_half.
  double middle_defect(const CoupledSystem& system, const trials::TrialBlock& middle, OutputId y) const;
  /// The same without a trial, by what the cubic of the step before misses at the end of this one. None where there is
  /// no step before.
  std::optional<double> continued_defect(OutputId y) const;

  /// Trials begin here, for a step of the size of the window.
  void begin();
  /// First guess of `right`: the last values held, their slopes followed, or the last polynomials continued.
  void predict(Predictor predictor);
  /// The inputs of all subsystems over the window, from `left` to `right`.
  void write_inputs(CoupledSystem& system) const;
  /// The tasks of the window.
  void set_tasks();
  /// Into `block`, with these trials.
  void run(trials::Trials& with) { with.run(tasks_, block_); }
  /// To the middle of the window.
  void run_half(trials::TrialBlock& middle);
  /// Makes the step for good; `block` receives the outputs as they are.
  void commit();
  /// Before a commit that may be taken back, and after the subsystems were put back.
  void keep_before_commit();
  void take_back();
  /// What was committed becomes the start of the next step.
  void move_on();

  /// To this time under held inputs.
  void cross(CoupledSystem& system, Time to);
  /// The signals jump here: nothing is continued across.
  void restart(CoupledSystem& system);
  /// Inputs that no output feeds have other values.
  void take_constants(std::span<const double> signals);

  struct Memory {
    Time now = 0.0;
    End left;                       // where the next step begins
    bool slopes_known = false;      // of left
    Duration previous_size = 0.0;   // 0: no step before to extrapolate from
    End previous;                   // at the start of the step before
    std::vector<double> magnitude;  // per signal: largest so far

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(now, left, slopes_known, previous_size, previous, magnitude);
    }
  };
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(memory_, *trials_);
  }
  /// After its fields were read.
  void restored();

 private:
  void start_tasks(const CoupledSystem& system);

  HermiteRestart restart_ = HermiteRestart::Real;
  std::optional<trials::Trials> trials_;
  std::vector<OutputId> unknowns_;
  std::vector<StepTask> tasks_;
  std::vector<Duration> longest_part_;  // per subsystem: imposed or maximal step; infinite if none
  Duration shortest_ = 0.0;
  bool imposed_ = false;
  std::size_t first_constant_ = 0;   // among the signals, behind the outputs
  std::vector<double> real_slopes_;  // restart = "c1": of the signals, as they really are at the left end
  Window window_;
  End right_;
  trials::TrialBlock block_;
  Time kept_now_ = 0.0;  // before a commit that may be taken back
  Memory memory_;
};

}  // namespace entrain::method
