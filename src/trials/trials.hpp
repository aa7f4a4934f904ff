#pragma once

#include <array>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.hpp"
#include "coupling/engine.hpp"
#include "coupling/trial_kind.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/fact_codes.hpp"
#include "trials/estimator.hpp"
#include "trials/stand_in.hpp"

namespace entrain::trials {

/// A subsystem that failed so may make a shorter step from a state that was saved before: its integrator gave up, or an
/// FMU returned an error. Not behind a fatal one, after which no call of it is allowed.
bool may_be_retried(const Error& error);

/// What a batch of trials, or a commit, brought.
struct TrialBlock {
  std::vector<double> signals;        ///< laid out as CoupledSystem::signals()
  std::vector<double> slopes;         ///< their time derivatives at the end of the step; zero for constants
  std::vector<StepOutcome> outcomes;  ///< per subsystem
};

/// Steps that do not count (docs/theory/trials.md). With rollback a trial is a real step that is taken back when the
/// next one comes; without, it is the COSTARICA estimate. The caller sees no difference.
///
/// Per macro step: `begin`, any number of `run`, `commit`. Batches of all subsystems; each writes its own slots, so the
/// result does not depend on the number of threads.
///
/// Over several processes an estimator is where its subsystem lives; its process passes on what it makes of a step
/// (docs/adr/0126).
class Trials {
 public:
  Trials(CoupledSystem& system, std::vector<coupling::TrialKind> kinds, const EstimatorOptions& options);
  ~Trials();
  Trials(const Trials&) = delete;
  Trials& operator=(const Trials&) = delete;

  TrialBlock make_block() const;
  coupling::TrialKind kind(SubsystemId s) const { return kinds_[s]; }
  /// Null unless the trials of `s` are estimates and it lives in this process, where its estimator is.
  Estimator* estimator(SubsystemId s);
  /// What estimates `s` in its place, likewise; null where nothing does.
  const StandIn* stand_in(SubsystemId s) const;
  /// Of what an output is made of where the latest `begin` found it (Estimator::size_of_terms).
  double size_of_terms(OutputId y) const;
  /// Of the estimators, as the latest `run` used them (Estimator::gains_revision); 0 for others.
  std::span<const std::uint64_t> gains_revisions() const { return gains_revisions_; }

  /// Remembers where everyone is; estimated subsystems are asked for states and, if need be, linearized, with a step of
  /// about this size in view. `slopes` (of all outputs) receives those of estimated subsystems, as they really are
  /// here.
  void begin(Time from, Duration expected, std::span<double> slopes);
  /// Outputs with feedthrough belong to the inputs that the last step ended with. Where the next one begins with others
  /// (what `values` and `slopes` of all signals deliver), estimated outputs follow, by their linearization; outputs in
  /// loops stay.
  void follow_inputs(Time now, std::span<double> values, std::span<double> slopes) const;
  /// All subsystems, under the polynomials in CoupledSystem::coefficients. One task per subsystem, in their order.
  void run(std::span<const StepTask> tasks, TrialBlock& result);
  /// Why the first subsystem that did refused the latest trials: rejected, or its integrator gave up. Empty if none
  /// did.
  std::string refusal() const;
  /// Makes the step for good. A trial that was just made with the same inputs becomes the step. `result` receives the
  /// outputs as they are; slopes of estimated subsystems stay as they were.
  void commit(std::span<const StepTask> tasks, TrialBlock& result);
  /// Before a commit that may be taken back, and after its subsystems were put back to where the step began: so are
  /// the trials.
  void keep_before_commit();
  void take_back(Time from);
  /// Throws what the first subsystem threw whose latest trial failed; nothing where none did.
  void rethrow_failure() const;
  /// These estimates only predict what others try out and commit: not counted as trials.
  void only_predict() { counted_ = false; }
  /// What the latest commit, made by `others`, leaves to be known: how its inputs ended.
  void follow(const Trials& others);
  /// The signals jump here: no history is continued across.
  void forget_past();

  /// Something per subsystem, in parallel; each writes its own slots.
  void for_all(base::FunctionRef<void(SubsystemId)> work) const;
  /// Inside of it: work that needs the estimator of `s`. What it leaves in `results`, or throws, comes to all.
  template <class Work>
  void at_home(SubsystemId s, Work&& work, std::span<double> results) {
    engine_.executor().at_home(s, std::forward<Work>(work), results);
  }

  /// How everyone is tried out, for the summary.
  std::vector<Fact> notes() const;
  /// What is lost and where.
  std::vector<Fact> losses() const;
  /// How well the stand-ins predicted.
  std::vector<Fact> closing_notes() const;

  /// Outputs of a subsystem at the starts of its latest steps, the newest first.
  struct PastOutputs {
    static constexpr std::size_t kMost = 3;  ///< with the new one: a cubic
    std::array<Time, kMost> times{};
    std::vector<double> values;  ///< of all outputs, time by time
    std::size_t count = 0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(times, values, count);
    }
  };
  struct OfSubsystem {
    std::vector<double> gap;
    std::optional<Estimator::Memory> estimator;
    std::optional<PastOutputs> past;
    base::Bytes stand_in;
    std::vector<double> held, raw;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(gap, estimator, past, stand_in, held, raw);
    }
  };
  struct Memory {
    std::vector<double> input_slopes;
    std::vector<OfSubsystem> subsystems;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(input_slopes, subsystems);
    }
  };
  Memory memory() const;
  void restore(const Memory& memory);

 private:
  struct ByRollback;
  struct Own;

  void join(SubsystemId s, bool identifies);
  void make_estimator(Own& own, const EstimatorOptions& options);
  void find_fed_through();
  template <class Work, class... Results>
  void at_home(const Own& own, Work&& work, Results... results) const;
  template <class Work, class... Results>
  void at_home_and_count(Own& own, Work&& work, Results... results);
  void pass_on(Own& own) const;
  void pass_on_quality(Own& own) const;
  Estimator::InputGain gain_at_point(const Own& own, std::size_t output, std::size_t input) const;
  PredictionQuality quality(const Own& own) const;
  std::span<double> of_outputs(std::vector<double>& signals, const Own& own) const;
  void begin_rollback(Own& own, Time from);
  void begin_estimate(Own& own, Time from, Duration expected, std::span<double> slopes);
  void look(Own& own, Time from, Duration expected, std::span<double> slopes);
  OfSubsystem memory_of(const Own& own) const;
  void observe_stand_in(Own& own, Time from);
  void look_ahead(Own& own, Duration size);
  void go_back(Own& own);
  void estimate(Own& own, const StepTask& task, TrialBlock& result);
  void begin_trial(Own& own, const StepTask& task);
  void end_trial(Own& own, const StepTask& task, TrialBlock& result);
  void take_trial(Own& own, const StepTask& task, TrialBlock& result);
  void finish_lowered(Own& own, const StepTask& task);
  void correct(Own& own, const StepTask& task, const InputBlock& meant, const InputBlock& held);
  void read_slopes(Own& own, const StepTask& task, std::span<double> slopes);
  void find_slopes(Own& own, const StepTask& task, std::span<double> slopes);
  void take_step(Own& own, const StepTask& task, TrialBlock& result);
  void adopt_trial(Own& own, const StepTask& task);
  std::optional<FactCode> loss(const Own& own) const;
  bool depends_on_time_alone(SubsystemId s) const;
  bool is_last_trial(const ByRollback& kept, const StepTask& task) const;
  std::span<const double> polynomials(const StepTask& task) const;

  coupling::Engine& engine_;
  std::vector<coupling::TrialKind> kinds_;
  std::vector<Own> own_;
  std::vector<SubsystemId> everyone_;
  std::vector<StepReadings> readings_;          // per subsystem: what is read after its steps
  std::vector<OutputId> fed_through_;           // estimated outputs with feedthrough, in an order of evaluation
  std::vector<double> input_slopes_;            // of the polynomials of all inputs, where the last step ended
  std::vector<std::uint64_t> gains_revisions_;  // per estimated subsystem, after the latest `run`
  std::vector<double> kept_input_slopes_;       // before a commit that may be taken back
  bool counted_ = true;
};

}  // namespace entrain::trials
