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
  trials::EstimatorOptions estimator;

  /// `adaptive_help`: what the macro step follows.
  void bind(OptionBinder& binder, std::string_view adaptive_help);
  Requirements requirements() const;
  /// `idle`: options of the method that do nothing while the macro step is fixed.
  void check(const std::string& method, std::vector<AdaptiveOption> idle, const WrittenOptions& written,
             std::vector<Problem>& problems) const;
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
  };

  virtual ~CouplingStrategy() = default;
  /// A step begins, about as long as its window.
  virtual void propose(CoupledSystem& system, HermiteStep& step) = 0;
  /// Finds `step.right()` over the window; leaves its inputs written and its tasks set.
  virtual Attempt solve(CoupledSystem& system, HermiteStep& step) = 0;
  /// The attempt was not good, and a shorter one is not possible: throws, or leaves the step as it is.
  virtual void cannot_shorten(const CoupledSystem& system, const HermiteStep& step) = 0;
  /// The step was made; `block` holds the outputs as they are, `left` still begins the step. Adaptive: the size of the
  /// next step, none if it stays.
  virtual std::optional<Duration> accepted(const CoupledSystem& system, HermiteStep& step, const Taken& taken) = 0;
  /// The signals jump here.
  virtual void restarted() {}
};

/// Goes along the run for a Hermite method: grid, announced events and their crossing, restarts, imposed steps, the
/// short pieces of a first step, the window of the next step, jumps, the commit.
class Marcher {
 public:
  void start(CoupledSystem& system, const RunSettings& settings, const MarcherOptions& options,
             std::vector<coupling::TrialKind> kinds, const trials::EstimatorOptions& estimator);
  MacroStepReport advance(CoupledSystem& system, CouplingStrategy& strategy);
  void constants_changed(CoupledSystem& system, CouplingStrategy& strategy);

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
    std::uint64_t jumps_found = 0;
    Time first_jump = 0.0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(steps, grid_step, next_size, restart_due, jumps_found, first_jump);
    }
  };

  Window next_window() const;
  Time goal() const;
  Time before(Time event) const;
  std::optional<Window> shortened(const Window& window, Duration size) const;
  void step_in_pieces(CoupledSystem& system, CouplingStrategy& strategy, MacroStepReport& report);
  void step_once(CoupledSystem& system, CouplingStrategy& strategy, const Window& window, MacroStepReport& report);
  bool shorten_until_good(CoupledSystem& system, CouplingStrategy& strategy, MacroStepReport& report);
  std::optional<Time> event_to_cross() const;
  void notice_jumps();
  void restart(CoupledSystem& system, CouplingStrategy& strategy);

  MarcherOptions options_;
  RunSettings settings_;
  base::Grid grid_;
  StepLimits limits_;
  HermiteStep step_;
  EventTracker events_;
  JumpDetector jumps_;
  std::vector<double> predicted_;  // signals: by a line from the left end, for the jump detector
  Memory memory_;
};

}  // namespace entrain::method
