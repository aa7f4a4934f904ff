#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/grid.hpp"
#include "entrain/method.hpp"
#include "methods/event_tracker.hpp"
#include "methods/hermite/hermite_step.hpp"
#include "methods/jump_detector.hpp"
#include "methods/step_controller.hpp"

namespace entrain::method {

/// A step without slopes and a past, at the start or behind a jump.
enum class FirstStep { Plain, Short };

}  // namespace entrain::method

namespace entrain {
template <>
struct ChoiceNames<method::FirstStep> {
  static constexpr std::array<ChoiceName<method::FirstStep>, 2> all{
      {{method::FirstStep::Plain, "plain"}, {method::FirstStep::Short, "short"}}};
};

}  // namespace entrain

namespace entrain::method {

/// The options of all Hermite methods.
struct MarcherOptions {
  bool adaptive = false;
  double min_step = 0.0;
  double max_step = 0.0;
  HermiteRestart restart = HermiteRestart::Real;
  FirstStep start = FirstStep::Plain;
  bool locate_jumps = false;
  double relative_tolerance = 1e-6;
  trials::EstimatorOptions estimator;

  /// `adaptive_help`: what the macro step follows.
  void bind(OptionBinder& binder, std::string_view adaptive_help);
  Requirements requirements() const;
  /// `idle`: options of the method that do nothing while the macro step is fixed.
  void check(const std::string& method, std::vector<AdaptiveOption> idle, const WrittenOptions& written,
             std::vector<Problem>& problems) const;
  /// Of adaptive steps.
  StepSettings step_settings() const;
};

/// How the values and slopes at the end of a step are found: what Hermite methods differ in. The marcher asks in this
/// order: propose, solve until an attempt is good, accepted.
class CouplingStrategy {
 public:
  /// One attempt at a step.
  struct Attempt {
    bool good = true;
    double share = 1.0;  ///< otherwise: of the window, to be tried next
    std::uint64_t evaluations = 0;
  };
  /// How a step came about.
  struct Taken {
    bool was_cut = false;    ///< after an attempt that was not good
    bool shortened = false;  ///< for an event or the stop time: its size has no meaning for the next
    bool at_min_step = false;
    Duration start_until = 0.0;  ///< on the way from a first step: to this size; else 0
  };

  virtual ~CouplingStrategy() = default;
  /// A step begins, about as long as its window.
  virtual void propose(CoupledSystem& system, HermiteStep& step) = 0;
  /// Finds `step.right()` over the window; leaves its inputs written and its tasks set.
  virtual Attempt solve(CoupledSystem& system, HermiteStep& step) = 0;
  /// The step was made and can be taken back; `block` holds the outputs as they are. A share of its window where a
  /// shorter one is to be made in its place.
  virtual std::optional<double> judge(const HermiteStep&) { return std::nullopt; }
  /// The attempt was not good, and a shorter one is not possible: throws, or leaves the step as it is.
  virtual void cannot_shorten(const CoupledSystem& system, const HermiteStep& step) = 0;
  /// The step was made; `block` holds the outputs as they are, `left` still begins the step. Adaptive: the size of the
  /// next step, none if it stays.
  virtual std::optional<Duration> accepted(const CoupledSystem& system, HermiteStep& step, const Taken& taken) = 0;
  /// The signals jump here.
  virtual void restarted() {}
};

/// The size of the next step by the error of this one, where its errors allow this growth. None if it stays.
std::optional<Duration> next_by_error(const StepController& controller, double growth, const HermiteStep& step,
                                      const CouplingStrategy::Taken& taken);
/// Of the window, to be tried next where this growth is below 1.
double shrinkage(double growth);
/// An error, in units of the tolerance: a step that is only a little beyond it costs less than to make it again with
/// all its calls.
inline constexpr double kWorthRepeating = 2.0;

/// Goes along the run for a Hermite method: grid, announced events and their crossing, restarts, imposed steps, the
/// short pieces of a first step, the window of the next step, jumps, the commit.
///
/// Where every subsystem can be rolled back, a step is made again, shorter: half as long behind a jump, until it is
/// located, and where a subsystem fails; as long as the strategy says where what came is beyond the tolerance.
class Marcher {
 public:
  void start(CoupledSystem& system, const RunSettings& settings, const MarcherOptions& options,
             std::vector<coupling::TrialKind> kinds, const trials::EstimatorOptions& estimator);
  MacroStepReport advance(CoupledSystem& system, CouplingStrategy& strategy);
  void constants_changed(CoupledSystem& system, CouplingStrategy& strategy);
  void instant_passed(CoupledSystem& system, CouplingStrategy& strategy, Time now);

  /// The macro step follows the errors: it is neither fixed nor prescribed.
  bool adapts() const { return adapts_; }
  HermiteStep& step() { return step_; }
  const HermiteStep& step() const { return step_; }
  std::uint64_t steps() const { return memory_.steps; }
  std::vector<Fact> warnings() const;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(memory_, jumps_, events_, step_);
  }
  /// After its fields were read.
  void restored() { step_.restored(); }

 private:
  using Window = HermiteStep::Window;
  /// Between macro steps.
  struct Memory {
    std::uint64_t steps = 0;
    std::uint64_t grid_step = 0;  // communication times of the grid that were reached
    Duration next_size = 0.0;     // adaptive
    bool restart_due = false;     // the step before ended with a jump
    bool starting = true;         // adaptive: on the way from a first step
    Time jump_by = 0.0;           // a jump was seen in a step to this time, which was taken back
    std::uint64_t jumps_found = 0;
    std::uint64_t late_jumps = 0;  // on a step that could not be taken back
    Time first_jump = 0.0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(steps, grid_step, next_size, restart_due, starting, jump_by, jumps_found, late_jumps, first_jump);
    }
  };

  std::uint64_t grid_steps() const { return prescribed_.empty() ? grid_.steps() : prescribed_.size() - 1; }
  Time grid_time(std::uint64_t k) const;
  Duration grid_size(std::uint64_t k) const;
  Duration first_size() const;
  Window next_window() const;
  Time goal() const;
  Time before(Time event) const;
  std::optional<Window> shortened(const Window& window, Duration size) const;
  void step_in_pieces(CoupledSystem& system, CouplingStrategy& strategy, MacroStepReport& report);
  void step_once(CoupledSystem& system, CouplingStrategy& strategy, const Window& window, MacroStepReport& report);
  bool shorten_until_good(CoupledSystem& system, CouplingStrategy& strategy, MacroStepReport& report);
  void predict_lines();
  std::optional<double> commit(CouplingStrategy& strategy);
  bool can_be_shorter() const { return step_.window().size >= 2.0 * limits_.min; }
  std::optional<Time> event_to_cross() const;
  void notice_jumps();
  void restart(CoupledSystem& system, CouplingStrategy& strategy);

  MarcherOptions options_;
  RunSettings settings_;
  base::Grid grid_;
  std::vector<Time> prescribed_;  // in place of the grid
  bool adapts_ = false;
  bool goes_back_ = false;  // a step can be taken back
  std::vector<SubsystemId> everyone_;
  CoupledSystem::Saved saved_;  // where the step began
  StepLimits limits_;
  HermiteStep step_;
  EventTracker events_;
  JumpDetector jumps_;
  std::vector<double> predicted_;  // signals: by a line from the left end, for the jump detector
  Memory memory_;
};

}  // namespace entrain::method
