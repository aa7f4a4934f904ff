#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/executor.hpp"
#include "base/function_ref.hpp"
#include "base/ids.hpp"
#include "coupling/bonds.hpp"
#include "coupling/discrete_signals.hpp"
#include "coupling/evaluation.hpp"
#include "coupling/graph.hpp"
#include "coupling/transfer.hpp"
#include "entrain/error.hpp"
#include "entrain/subsystem.hpp"

namespace entrain {

/// One subsystem's share of a batch: a step under the polynomials in CoupledSystem::coefficients(subsystem, degree).
struct StepTask {
  SubsystemId subsystem;
  Time from = 0.0;
  Duration size = 0.0;
  int degree = 0;  ///< of the polynomials; lowered to what the subsystem takes by the best fit over each part
  int parts = 1;   ///< equal sub-steps; more where the degree is lowered and the user asked for more
  Time to = 0.0;   ///< the communication time this step ends on: from + size up to rounding
};

/// A step that all subsystems make together.
struct CommonStep {
  Time from = 0.0;
  Duration size = 0.0;
  Time to = 0.0;
};

/// How a subsystem is tried out (coupling/trials.hpp).
enum class TrialKind {
  None,
  Rollback,
  Costarica,
  Continued,  ///< an estimate without linearization: from state derivatives or past outputs alone
};

/// Rollback where it can, the estimate where it cannot, none without either.
TrialKind natural_trial_kind(const Capabilities& can);

/// A subsystem refused a step: an error, unless a trial can ask for a smaller one.
class StepRejected : public Error {
 public:
  using Error::Error;
};

/// The subsystems, their connections and the signals between them at the latest communication times.
///
/// Methods work on flat arrays and call subsystems in batches only. Inside a batch subsystems run concurrently, each
/// writing its own slots, so the result does not depend on the number of threads.
class CoupledSystem {
 public:
  /// `start_inputs`: one value per input; those of connected inputs are first guesses.
  CoupledSystem(std::vector<std::unique_ptr<Subsystem>> subsystems, Graph graph, std::vector<double> start_inputs,
                int threads);

  std::size_t size() const { return participants_.size(); }
  const Graph& graph() const { return graph_; }
  const TransferPlan& transfer() const { return transfer_; }
  const Subsystem& subsystem(SubsystemId s) const { return *participants_[s].subsystem; }
  const Capabilities& capabilities(SubsystemId s) const { return participants_[s].subsystem->capabilities(); }
  const VariableTable& variables(SubsystemId s) const { return participants_[s].subsystem->variables(); }
  Facets facets(SubsystemId s) { return participants_[s].subsystem->facets(); }
  std::vector<std::string> warnings(SubsystemId s) const { return participants_[s].subsystem->warnings(); }

  /// Subsystems initialised, signals consistent, loops solved.
  void initialize(Time start, Time stop);

  // Signals.
  std::span<const double> outputs() const { return {signals_.data(), graph_.outputs()}; }
  std::span<const double> signals() const { return signals_; }   ///< outputs, then constants: what is transferred
  std::span<const double> inputs() const { return input_end_; }  ///< as they ended their last step
  Time time_of(SubsystemId s) const { return common_steps_ > 0 ? common_time_ : times_[s]; }
  /// True when this is the latest communication time of everyone.
  bool all_at(Time t) const { return common_steps_ > 0 ? common_time_ == t : each_at(t); }
  double incoming(InputId input) const { return transfer_.incoming(input, signals_); }
  /// Where coefficient p of the input polynomials of a step goes, in local time of the step. Held inputs (degree 0) are
  /// their own polynomials: they lie where `inputs` does.
  std::span<double> coefficients(SubsystemId s, int degree, int p);
  /// Held inputs for everyone: each is what its connection delivers now.
  void hold_all_inputs() { transfer_.deliver(signals_, input_end_); }
  /// What the connections add from now on, one number per input in its unit (learned, or found by the method).
  void set_corrections(std::span<const double> by_input) { transfer_.set_corrections(by_input); }
  /// For methods that pass outputs on late: what the output is from now on.
  void replace_output(OutputId output, double value) { signals_[output] = value; }

  // Batches.
  void commit_all(std::span<const StepTask> tasks);
  /// With held inputs.
  void commit_everyone(const CommonStep& common);
  /// Outputs of these subsystems where they are, with these inputs (of all subsystems), into `all_outputs`. Needs
  /// output_refresh; the steps that follow must be made with the same inputs at their start.
  void evaluate_all(std::span<const SubsystemId> batch, std::span<const double> all_inputs,
                    std::span<double> all_outputs);
  /// Linearizations of these subsystems where they are, one of `results` each.
  void linearize_all(std::span<const SubsystemId> batch, std::span<Linearization> results);
  /// All signals anew at the time reached, loops solved; nothing happens unless every subsystem has output_refresh.
  void refresh_signals(Time t);
  /// Solves the loops all of whose subsystems communicate at `t`; needs output_refresh in them.
  void solve_loops(Time t);
  /// The next discontinuity this subsystem announces after `t`; kNever if none.
  Time next_event(SubsystemId s, Time t);
  // Signals that are no real numbers; none unless connect_discrete was called.
  void connect_discrete(const std::vector<DiscreteConnection>& connections);
  DiscreteSignals* discrete() { return discrete_.get(); }
  /// Passes them on at a communication time; all outputs are read, or those that are connected. True when real inputs
  /// that no output feeds got other values.
  bool exchange_discrete(Time now, bool read_all);
  /// For methods that integrate the equations themselves: what the signals are now.
  void publish(Time t, std::span<const double> all_inputs, std::span<const double> all_outputs);

  // Of all subsystems, in the order of the graph; NaN where one cannot tell.
  void read_states(std::span<double> all);
  void read_state_derivatives(std::span<double> all);
  void read_output_slopes(std::span<double> all);
  std::size_t states() const { return first_state_.back(); }
  IdRange<std::size_t> states_of(SubsystemId s) const {
    return {first_state_[s], first_state_[s + 1] - first_state_[s]};
  }

  struct Counters {
    std::uint64_t steps = 0;
    std::uint64_t early_returns = 0;
    std::uint64_t rollbacks = 0;
    std::uint64_t trials = 0;
    std::uint64_t linearizations = 0;
    double first_seconds = 0.0;  ///< of the first step, which often prepares what later ones reuse
    double sampled_seconds = 0.0;
    std::uint64_t sampled_steps = 0;
    double trial_seconds = 0.0;  ///< of the sampled trials
    std::uint64_t sampled_trials = 0;
    double seconds() const;  ///< extrapolated from the samples
  };
  Counters counters(SubsystemId s) const {
    Counters counters = participants_[s].counters;
    counters.steps = steps_[s] + common_steps_;
    return counters;
  }
  const std::vector<double>& loop_residuals() const { return evaluation_.loop_residuals(); }
  /// The subsystem that asked to end the run, if one did: where it stands, which may be before the end of its step.
  std::optional<SubsystemId> stop_request() const { return stop_request_; }
  /// For methods that integrate the equations themselves: `s` wants the run to end where it stands. The earliest one
  /// counts, and the first of those.
  void request_stop(SubsystemId s) {
    if (!stop_request_ || time_of(s) < time_of(*stop_request_)) stop_request_ = s;
  }

  /// How each subsystem is tried out; natural_trial_kind unless told otherwise.
  const std::vector<TrialKind>& trial_kinds() const { return trial_kinds_; }
  void set_trial_kinds(std::vector<TrialKind> kinds) { trial_kinds_ = std::move(kinds); }

  /// Pairs of connections that carry a power; none unless told.
  const std::vector<PowerBond>& bonds() const { return bonds_; }
  void set_bonds(std::vector<PowerBond> bonds) { bonds_ = std::move(bonds); }

  /// Of some subsystems: states and signals; the state ids belong to the saving system.
  struct Saved {
    std::vector<SubsystemId> subsystems;
    std::vector<StateId> states;
    std::vector<Time> times;
    std::vector<Counters> counters;
    std::vector<double> numbers;  ///< outputs, inputs and input polynomials, one subsystem after the other
    std::optional<DiscreteSignals::Memory> discrete;  ///< of a save of all
  };
  /// Before `initialize` again, as new: for another run. Every subsystem needs the facet Reset.
  void reset();
  Saved save();  ///< of everyone
  /// Of these only, in the storage of `saved`.
  void save(std::span<const SubsystemId> some, Saved& saved);
  void restore(const Saved& saved);
  void release(const Saved& saved);

 private:
  friend class Trials;

  struct Participant {
    std::unique_ptr<Subsystem> subsystem;
    std::span<double> outputs;       // in signals_
    std::span<double> input_end;     // in input_end_
    double* coefficients = nullptr;  // in coefficients_; polynomials of degree 1 and more
    Counters counters;               // but for the steps, which are in steps_
    int input_degree = 0;
    int substeps = 1;
    std::optional<Time> stopped_at;  // asked to end the run there
    std::exception_ptr failure;
    std::vector<double> part_coefficients;  // polynomials re-expanded for one part of a step
    Duration last_part = 0.0;               // size of the part that was made last
  };
  /// What a step under held inputs touches of a participant, apart from it so that many fit into a cache.
  struct HeldPart {
    HeldStep step;
    const double* inputs;
    double* outputs;

    const StepReport* make(Time from, Duration size) const {
      return step.function(step.context, from, size, inputs, outputs);
    }
  };

  template <class SubsystemAt, class Commit>
  void commit_each(std::size_t count, const SubsystemAt& subsystem_at, const Commit& commit);
  [[gnu::noinline]] void commit_everyone_at_length(const CommonStep& common);
  void make_held_steps(const HeldPart* first, const HeldPart* end, const CommonStep& common);
  [[gnu::noinline]] void continue_held_step(const HeldPart& part, const CommonStep& common, const StepReport& report);
  [[gnu::noinline]] void settle_common_step(Time reached_time);
  SubsystemId subsystem_of(const HeldPart& part) const {
    return SubsystemId{static_cast<std::size_t>(&part - held_parts_.data())};
  }
  void spread_common_steps();
  [[gnu::noinline]] bool each_at(Time t) const;
  void commit_one(const StepTask& task, bool timed);
  /// Runs the work of each task of a batch, on any thread; the first failure in the order of the batch is thrown.
  void for_each(std::span<const SubsystemId> batch, FunctionRef<void(std::size_t)> work);
  bool is_timed(SubsystemId s) const;
  void note_step(SubsystemId s, Time reached_time);
  void note_failure(SubsystemId s);
  [[gnu::noinline]] void step(const StepTask& task, Participant& participant);
  [[gnu::noinline]] void step_timed(const StepTask& task, Participant& participant);
  /// Counted and timed as a trial, not as a step.
  void step_in_trial(const StepTask& task, Participant& participant);
  [[gnu::noinline]] void continue_step(const StepTask& task, Participant& participant, const StepReport& report);
  [[gnu::noinline]] void step_in_parts(const StepTask& task, Participant& participant, Time reached_time);
  void note_stop_request(Participant& participant, Time reached_time);
  static void keep_end(Participant& participant, const InputBlock& inputs, Duration size);
  void check_outputs(SubsystemId s, Time t) const;
  [[noreturn]] void throw_not_finite(SubsystemId s, Time t) const;
  void settle_trouble(SubsystemId s);
  /// What a saved state holds besides the subsystem's own: outputs, inputs, input polynomials.
  static std::array<std::span<double>, 3> numbers_of(const Participant& participant);
  void settle_discrete(Time start);
  bool exchange_reals();

  Graph graph_;
  TransferPlan transfer_;
  SignalEvaluation evaluation_;
  Executor executor_;
  std::vector<Participant> participants_;
  std::vector<std::size_t> first_state_{0};
  std::vector<HeldPart> held_parts_;  // of everyone
  bool all_held_ = true;              // every one of them has a function
  std::vector<Time> times_;           // latest communication times ...
  std::vector<std::uint64_t> steps_;  // ... and steps made up to there
  std::uint64_t common_steps_ = 0;    // made by everyone since ...
  Time common_time_ = 0.0;            // ... and the time they led to
  std::vector<double> signals_;       // outputs, then constants
  std::vector<double> input_end_;     // inputs at the end of their last step
  std::vector<double> coefficients_;  // per subsystem: (kMaxInputDegree + 1) orders of all its inputs
  std::atomic<bool> trouble_{false};  // a task of the batch under way failed or asked to stop
  std::optional<SubsystemId> stop_request_;
  std::vector<TrialKind> trial_kinds_;
  std::vector<double> start_inputs_;
  std::vector<PowerBond> bonds_;
  std::unique_ptr<DiscreteSignals> discrete_;
};

}  // namespace entrain
