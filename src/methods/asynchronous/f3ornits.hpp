#pragma once

#include <array>
#include <string>
#include <vector>

#include "entrain/method.hpp"
#include "methods/asynchronous/estimated_inputs.hpp"
#include "methods/asynchronous/output_estimate.hpp"
#include "methods/asynchronous/step_scheduler.hpp"
#include "methods/event_tracker.hpp"
#include "methods/step_controller.hpp"

namespace entrain::method {

/// How estimates are fitted to the samples.
enum class Calibration { Extrapolation, LeastSquares };

}  // namespace entrain::method

namespace entrain {
template <>
struct ChoiceNames<method::Calibration> {
  static constexpr std::array<ChoiceName<method::Calibration>, 2> all{
      {{method::Calibration::Extrapolation, "extrapolation"}, {method::Calibration::LeastSquares, "cls"}}};
};

}  // namespace entrain

namespace entrain::method {

struct F3ornitsOptions {
  Calibration calibration = Calibration::Extrapolation;
  bool smooth = false;
  Normalisation normalisation = Normalisation::DampedAmplitude;
  double damping = 0.05;
  double relative_tolerance = 1e-4;
  double absolute_tolerance = 1e-4;
  int max_order = 2;
  double initial_step = 0.0;
  double min_step = 0.0;
  double max_step = 0.0;
  std::vector<double> growth{0.1, 1.05};
  bool memory = true;
  bool detect_jumps = true;
  bool locate_jumps = true;
  int substeps = 1;

  void bind(OptionBinder& binder);
  StepSettings step_settings() const;
};

/// Explicit and asynchronous: each subsystem has steps of its own, each output an order of its own. Needs nothing of a
/// subsystem but a step with constant inputs.
///
/// Y. Eguillon, B. Lacabanne, D. Tromeur-Dervout: "F3ORNITS: a flexible variable step size non-iterative co-simulation
/// method handling subsystems with hybrid advanced capabilities", 2021: order by (18)-(20), step by (32) with errors
/// relative to (33)-(36) (docs/theory/f3ornits.md).
///
/// A macro step ends at one synchronization point: the earliest end of all steps under way, where one or more
/// subsystems communicate.
class F3ornits final : public Method {
 public:
  const MethodTraits& traits() const override;
  void bind(OptionBinder& binder) override { options_.bind(binder); }
  Requirements requirements() const override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  void check_times(const RunSettings& settings, const WrittenOptions& written,
                   std::vector<Problem>& problems) const override;
  std::vector<std::string> step_tolerances() const override { return traits().knobs.tolerances; }
  void start(CoupledSystem& system, const RunSettings& settings) override;
  MacroStepReport advance(CoupledSystem& system) override;
  void instant_passed(CoupledSystem& system, Time now) override;
  MethodMemory memory() const override;
  void restore(const MethodMemory& memory) override;

  std::vector<Fact> notes(const CoupledSystem& system) const override;
  std::vector<Fact> closing_notes(const CoupledSystem& system) const override;
  std::span<const SubsystemId> communicated() const override { return due_; }
  std::optional<OwnSteps> own_steps(SubsystemId s) const override;
  std::vector<Signal> own_signals(const Graph& graph) const override;
  void own_values(std::span<double> values) const override;

  /// What it remembers; of the members only their progress.
  template <class Visitor>
  void fields(Visitor& visit) {
    visit(step_, now_, due_, members_, requests_, outputs_, estimates_, inputs_, events_, scheduler_);
  }

 private:
  struct Output {
    base::SignalRange range;
    double error = 0.0;     // of the latest sample, in units of the tolerance
    bool controls = false;  // the step size: a subsystem reads it, or none reads any output of its subsystem
    bool doubted = false;   // imposed steps: the latest sample may lie behind a jump, which the next one shows

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(range, error, controls, doubted);
    }
  };
  /// What the run changes of a subsystem.
  struct Progress {
    // Of the step under way, then of the latest one.
    Time from = 0.0;
    Duration size = 0.0;
    int degree = 0;               // of the input polynomials
    Duration cut_proposal = 0.0;  // what had been proposed when the scheduler shortened it; 0 if it did not
    bool starting = false;        // on the way from a first step
    std::uint64_t early_returns = 0;
    // So far.
    std::uint64_t steps = 0;
    Duration smallest = kNever;
    Duration largest = 0.0;
    std::array<std::uint64_t, kMaxInputDegree + 1> orders{};
    std::uint64_t beyond_tolerance = 0;
    std::uint64_t at_min_step = 0;
    std::uint64_t reads_past_validity = 0;
    std::uint64_t jumps = 0;
    std::uint64_t late_jumps = 0;  // on a step that is imposed, or could have been shorter

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(from, size, degree, cut_proposal, starting, early_returns, steps, smallest, largest, orders,
            beyond_tolerance, at_min_step, reads_past_validity, jumps, late_jumps);
    }
  };
  struct Member : Progress {
    // Fixed.
    StepLimits limits;
    int input_degree = 0;
    int parts = 1;  // of a step under inputs of a higher degree than it takes
    bool imposed = false;
    bool rollback = false;
    IdRange<InputId> inputs;
    IdRange<OutputId> outputs;

    bool at_its_shortest() const;
  };
  /// Of the latest step of a subsystem, over its outputs.
  struct Verdict {
    double growth = kNever;
    bool beyond_tolerance = false;
    bool jumped = false;
  };

  StepScheduler::Constraints join(CoupledSystem& system, SubsystemId s);
  void reach_next(CoupledSystem& system);
  void keep_before_plan();
  void keep_before_steps(CoupledSystem& system);
  bool shorter_is_possible() const;
  bool taken_back(CoupledSystem& system);
  void plan(CoupledSystem& system);
  void begin_step(CoupledSystem& system, SubsystemId s);
  void commit(CoupledSystem& system, bool only_readers);
  void take_outputs(CoupledSystem& system, SubsystemId s);
  bool returned_early(const CoupledSystem& system, SubsystemId s);
  void begin_new_past(const CoupledSystem& system, SubsystemId s);
  Verdict judge_outputs(const CoupledSystem& system, SubsystemId s);
  bool jumped(OutputId y, const OutputEstimate::PredictionError& prediction, double error_before, bool imposed);
  void propose(SubsystemId s, const Verdict& verdict);

  void keep(SubsystemId s);
  void put_back_changed();

  F3ornitsOptions options_;
  OutputEstimate::Settings calibration_;
  StepController controller_;  // limits are those of the members
  ErrorNorm norm_;
  RunSettings settings_;
  StepScheduler scheduler_;
  EstimatedInputs inputs_;
  EventTracker events_;
  std::uint64_t step_ = 0;
  Time now_ = 0.0;
  std::vector<SubsystemId> due_;  // have just communicated and have no step under way
  std::vector<Member> members_;
  std::vector<StepScheduler::Request> requests_;  // per subsystem
  std::vector<Output> outputs_;                   // per output
  std::vector<OutputEstimate> estimates_;         // per output
  std::vector<StepTask> tasks_;                   // of the batch under way
  std::vector<SubsystemId> jumped_;               // at the latest synchronization point; all where a step failed

  /// What the macro step under way changes, so that it can be taken back.
  struct Before {
    Time now = 0.0;
    std::vector<SubsystemId> due;      // planned a step
    std::vector<SubsystemId> changed;  // they, and whose steps ended
    // Of those, one after the other.
    std::vector<Progress> progress;
    std::vector<Time> events;
    std::vector<StepScheduler::Request> requests;
    std::vector<EstimatedInputs::OfInput> inputs;
    std::vector<Output> outputs;
    std::vector<OutputEstimate> estimates;
    std::vector<SubsystemId> stepped;  // whose steps ended, without those that only read
    CoupledSystem::Saved steps;        // of those
    bool kept = false;                 // all of them can be rolled back
    Time taken_back_end = kNever;      // where it ended when it was last taken back
  };
  Before before_;
};

}  // namespace entrain::method
