#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/grid.hpp"
#include "entrain/method.hpp"
#include "methods/hermite/coupling_equations.hpp"
#include "methods/hermite/hermite_inputs.hpp"
#include "methods/hermite/jump_detector.hpp"
#include "methods/step_control.hpp"
#include "trials/trials.hpp"

namespace entrain {

/// What the inputs of a step begin with.
enum class HermiteRestart { Real, C1 };
template <>
struct ChoiceNames<HermiteRestart> {
  static constexpr std::array<ChoiceName<HermiteRestart>, 2> all{
      {{HermiteRestart::Real, "real"}, {HermiteRestart::C1, "c1"}}};
};

/// A step without slopes and a past, at the start or behind a jump.
enum class FirstStep { Plain, Short };
template <>
struct ChoiceNames<FirstStep> {
  static constexpr std::array<ChoiceName<FirstStep>, 2> all{{{FirstStep::Plain, "plain"}, {FirstStep::Short, "short"}}};
};

/// The first guess of the values at the end of a step.
enum class Predictor { Hold, Linear, Hermite, Missiles };
template <>
struct ChoiceNames<Predictor> {
  static constexpr std::array<ChoiceName<Predictor>, 4> all{{{Predictor::Hold, "hold"},
                                                             {Predictor::Linear, "linear"},
                                                             {Predictor::Hermite, "hermite"},
                                                             {Predictor::Missiles, "missiles"}}};
};

struct HermiteOptions {
  bool adaptive = false;
  double min_step = 0.0;
  double max_step = 0.0;
  HermiteRestart restart = HermiteRestart::Real;
  FirstStep start = FirstStep::Plain;
  EstimatorOptions estimator;

  /// `adaptive_help`: what the macro step follows.
  void bind(OptionBinder& binder, std::string_view adaptive_help);
};

/// What ifosmondi and missiles share: all subsystems over one step together, under inputs that are cubic Hermite
/// polynomials between values and slopes at both ends; events, jumps, the grid. They differ in how the values and
/// slopes at the right end are found.
class HermiteMethod : public Method {
 public:
  Requirements requirements() const override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  void start(CoupledSystem& system, const RunSettings& settings) final;
  MacroStepReport advance(CoupledSystem& system) final;
  void constants_changed(CoupledSystem& system) final;
  MethodMemory memory() const final;
  void restore(const MethodMemory& memory) final;
  std::vector<Fact> warnings(const CoupledSystem& system) const override;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(memory_, jumps_, *trials_);
  }

 protected:
  struct Window {
    Time to = 0.0;
    Duration size = 0.0;
  };

  virtual std::vector<TrialKind> trial_kinds(const CoupledSystem& system) const { return system.trial_kinds(); }
  /// Those that do nothing while the macro step is fixed.
  virtual std::vector<AdaptiveOption> adaptive_options() const;
  virtual EstimatorOptions estimator_options() const { return common_.estimator; }
  /// Called once, when the unknowns are known.
  virtual void start_solving(CoupledSystem& system) = 0;
  /// Finds `right_` and leaves its inputs written and its tasks set. The window may be made shorter, by shorten().
  virtual void find_right_end(CoupledSystem& system, Window& window, MacroStepReport& report) = 0;
  /// The step was made; `block_` holds the outputs as they are, `left` still begins the step.
  virtual void look_back(const CoupledSystem&, const Window&) {}
  /// What the method itself remembers between macro steps.
  virtual Bytes own_memory() const { return {}; }
  virtual void restore_own(std::span<const std::byte>) {}
  /// The signals jump here.
  virtual void begin_anew() {}

  /// Estimates for everyone, from what each can tell.
  static std::vector<TrialKind> estimated_kinds(const CoupledSystem& system);
  /// First guess of `right_`: the last values held, their slopes followed, or the last polynomials continued.
  void predict(Predictor predictor, Duration size);
  /// `right_` as it is when everyone is estimated: one linear system. Leaves the estimates in `block_` and tasks set.
  void solve_estimated(CoupledSystem& system, const Window& window, EstimatedCoupling& coupling);
  void set_tasks(const Window& window);
  /// The inputs of everyone over the window, from `left` to `right_`.
  void write_inputs(CoupledSystem& system, const Window& window);
  /// About this long, at least the shortest step, and so that no shorter one is left to the time that must be met next.
  /// False where that makes it no shorter.
  bool shorten(Window& window, Duration size) const;
  Duration least_step() const;
  Duration most_step() const;
  /// Shortened for an event or the stop time: its size tells nothing about the next.
  bool was_shortened(const Window& window) const { return window.size < memory_.step; }
  void set_next_step(Duration size);
  /// Of all signals, as they really are at the start of the step; those of `left` unless restart = "c1".
  std::span<const double> real_slopes() const {
    return common_.restart == HermiteRestart::Real ? memory_.left.slopes : told_slopes_;
  }
  /// The size of a connected signal so far, 1 if it was always zero or next to it: sizes are divided by each other, and
  /// a signal that an excitation far away has hardly reached may be as small as numbers get.
  double magnitude(std::size_t signal) const {
    return memory_.magnitude[signal] > 1e-100 ? memory_.magnitude[signal] : 1.0;
  }

  struct End {
    std::vector<double> values, slopes;  // of all signals
    SignalEnd view() const { return {values, slopes}; }
    template <class Visitor>
    void fields(Visitor& visit) {
      visit(values, slopes);
    }
  };
  /// Between macro steps.
  struct Memory {
    std::uint64_t steps = 0;
    std::uint64_t grid_step = 0;  // communication times of the grid that were reached
    Time now = 0.0;
    Duration step = 0.0;            // adaptive: the next one
    End left;                       // where the next step begins
    bool slopes_known = false;      // of left
    bool restart_due = false;       // the step before ended with a jump
    Duration previous_size = 0.0;   // 0: no step before to extrapolate from
    End previous;                   // at the start of the step before
    std::vector<double> magnitude;  // per signal: largest so far
    std::vector<Time> next_event;   // per subsystem
    std::uint64_t jumps_found = 0;
    Time first_jump = 0.0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(steps, grid_step, now, step, left, slopes_known, restart_due, previous_size, previous, magnitude,
            next_event, jumps_found, first_jump);
    }
  };
  HermiteOptions common_;
  RunSettings settings_;
  std::optional<Trials> trials_;
  std::vector<OutputId> unknowns_;  // connected outputs
  std::vector<StepTask> tasks_;
  TrialBlock block_;    // of the last trial or commit
  bool rigid_ = false;  // somebody imposes a step: it cannot be cut
  End right_;
  Memory memory_;

 private:
  void start_tasks(const CoupledSystem& system);
  Window next_window() const;
  Time goal() const;
  Time before(Time event) const;
  void cut(Window& window, Duration size) const;
  void step_in_pieces(CoupledSystem& system, MacroStepReport& report);
  void step_once(CoupledSystem& system, Window window, MacroStepReport& report);
  std::optional<Time> event_to_cross() const;
  void cross(CoupledSystem& system, Time event);
  void accept(CoupledSystem& system, const Window& window);
  void restart_inputs(CoupledSystem& system);
  void take_constants(std::span<const double> signals);
  [[noreturn]] void throw_beyond_numbers(const CoupledSystem& system, OutputId y, Duration size) const;
  void note_events(CoupledSystem& system);
  void find_earliest_event();

  Grid grid_;
  std::vector<Duration> longest_part_;  // per subsystem: imposed or maximal step; infinite if none
  Duration shortest_ = 0.0;             // that everybody takes
  std::size_t first_constant_ = 0;      // among the signals, behind the outputs
  std::vector<double> predicted_;       // signals: by a line from the left end, for the jump detector
  std::vector<double> told_slopes_;     // restart = "c1": of the signals, as they really are at the left end

  Time earliest_event_ = kNever;  // of those that were announced
  JumpDetector jumps_;
};

}  // namespace entrain
