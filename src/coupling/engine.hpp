#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "coupling/bonds.hpp"
#include "coupling/discrete_signals.hpp"
#include "coupling/event_phase.hpp"
#include "coupling/scenario.hpp"
#include "coupling/scheduled_input.hpp"
#include "coupling/signal_store.hpp"
#include "coupling/step_executor.hpp"
#include "coupling/trial_kind.hpp"
#include "entrain/coupled_system.hpp"

namespace entrain::coupling {

class SignalEvaluation;

/// What a CoupledSystem is made of: the graph, the signal store, the executor of the steps, the exchange of values that
/// are no real numbers. Methods see CoupledSystem; what a run does besides (start, reset, checkpoints, values set from
/// outside) is here.
class Engine {
 public:
  struct Setup {
    std::vector<std::unique_ptr<Subsystem>> subsystems;
    Graph graph;
    std::vector<double> start_inputs;  ///< one value per input; those of connected inputs are first guesses
    int threads = 1;
    std::vector<TrialKind> trial_kinds = {};       ///< per subsystem; empty = natural_trial_kind
    std::vector<EstimatorChoice> estimators = {};  ///< per subsystem; empty = as they come
    std::vector<PowerBond> bonds = {};
    bool has_discrete = false;  ///< a subsystem has values that are no real numbers
    std::vector<DiscreteConnection> discrete_connections = {};
    std::vector<DiscreteStart> discrete_starts = {};
    std::vector<ScheduledInput> scheduled_inputs = {};  ///< in the order of time
    std::vector<ScenarioEntry> scenario = {};           ///< what happens during the run
    bool shares_events = false;                         ///< subsystems handle events together
    std::vector<ClockConnection> clock_connections = {};
    std::shared_ptr<SharedCalls> shared = {};  ///< null: all subsystems live in this process
  };
  explicit Engine(Setup setup);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  std::size_t size() const { return executor_.size(); }
  const Graph& graph() const { return graph_; }
  SignalStore& store() { return store_; }
  const SignalStore& store() const { return store_; }
  StepExecutor& executor() { return executor_; }
  const StepExecutor& executor() const { return executor_; }
  const TransferPlan& transfer() const { return store_.transfer(); }
  const Subsystem& subsystem(SubsystemId s) const { return executor_.subsystem(s); }
  Facets facets(SubsystemId s) { return executor_.subsystem(s).facets(); }
  const std::vector<TrialKind>& trial_kinds() const { return trial_kinds_; }
  const EstimatorChoice& estimator(SubsystemId s) const { return estimators_[s]; }
  /// Pairs of connections that carry a power.
  const std::vector<PowerBond>& bonds() const { return bonds_; }
  /// Values that are no real numbers; null where there are none.
  DiscreteSignals* discrete() { return discrete_ ? &*discrete_ : nullptr; }
  bool has_discrete() const { return discrete_.has_value(); }

  /// The events that subsystems handle together; null where there are none.
  EventPhase* events() { return events_.get(); }
  const EventPhase* events() const { return events_.get(); }

  /// What happens to connections and parameters during the run; null where nothing does.
  Scenario* scenario() { return scenario_.get(); }
  const Scenario* scenario() const { return scenario_.get(); }
  /// The first time after `t` at which the scenario is known to change something; kNever if there is none.
  Time next_instant(Time t) const { return scenario_ ? scenario_->next_instant(t) : kNever; }
  /// The next event of this subsystem alone.
  Time next_event(SubsystemId s, Time t);

  /// A start value, before `initialize`.
  void set_start(SubsystemId s, VariableTable::Place place, const Value& value);
  /// Subsystems initialised, signals consistent, loops solved. `start_gains`: those of subsystems whose outputs cannot
  /// be evaluated later are looked at before their initialization ends.
  void initialize(Time start, Time stop, bool start_gains = false);
  /// How outputs follow inputs at once where the run starts, outputs over inputs, by differences. Before the first
  /// step. Empty where that is not known: without feedthrough, where events are shared (values would set them off), and
  /// where outputs can be evaluated during initialization alone and were not looked at then.
  std::vector<double> start_gains(SubsystemId s);
  /// Before `initialize` again, as new: for another run. Every subsystem needs the facet Reset.
  void reset();
  /// max |input - output| / (1 + |output|) of each algebraic loop, as solved last.
  const std::vector<double>& loop_residuals() const;

  /// The value of an input that no output feeds, from now on.
  void set_constant(InputId input, double value) { store_.set_constant(input, value); }
  /// See CoupledSystem.
  void follow_inputs(SubsystemId s);
  /// The outputs of a subsystem whose parameters changed, where it can provide them without a step.
  void refresh_outputs(SubsystemId s);
  /// Passes discrete values on at a communication time; all outputs are read, or those that are connected. True when
  /// real inputs that no output feeds got other values.
  bool exchange_discrete(Time now, bool read_all);
  /// Sets the inputs that are scheduled after `before` and not after `now`, a communication time. True when there were
  /// any.
  bool apply_schedule(Time before, Time now);
  bool has_schedule() const { return !scheduled_inputs_.empty(); }
  /// See CoupledSystem::commit_to_event.
  Time commit_to_event(std::span<StepTask> tasks);
  Time lead(const StepTask& leader, std::span<const StepTask> others);
  std::optional<SubsystemId> stop_request() const { return executor_.stop_request(); }

  // See CoupledSystem.
  void evaluate_all(std::span<const SubsystemId> batch, std::span<const double> all_inputs,
                    std::span<double> all_outputs);
  void linearize_all(std::span<const SubsystemId> batch, std::span<Linearization> results);
  void refresh_signals(Time t);
  void solve_loops(Time t);
  void publish(Time t, std::span<const double> all_inputs, std::span<const double> all_outputs);
  void read_states(std::span<double> all);
  void read_state_derivatives(std::span<double> all);
  void read_output_slopes(std::span<double> all);
  std::size_t states() const { return first_state_.back(); }
  IdRange<std::size_t> states_of(SubsystemId s) const {
    return {first_state_[s], first_state_[s + 1] - first_state_[s]};
  }

  using Saved = CoupledSystem::Saved;
  Saved save();
  void save(std::span<const SubsystemId> some, Saved& saved);
  void restore(const Saved& saved);
  void release(const Saved& saved);
  /// A save of all for another process; every subsystem needs Rollback::can_serialize.
  base::Bytes serialize(const Saved& saved);
  /// After `initialize`: goes on where the saving system was, counters included.
  void resume(std::span<const std::byte> bytes);

 private:
  void evaluate_signals(Time t);
  void pass_on_late_outputs(Time start);
  bool has_start_gains(SubsystemId s) const;
  void look_at_start_gains();
  std::vector<double> gains_by_differences(SubsystemId s);
  void settle_discrete(Time start);
  bool exchange_reals();
  const double* put_back(const Saved& saved, std::size_t i, const double* numbers);
  void put_back_others(const Saved& saved);

  std::shared_ptr<SharedCalls> shared_;
  Graph graph_;
  SignalStore store_;
  std::unique_ptr<SignalEvaluation> evaluation_;
  std::vector<TrialKind> trial_kinds_;
  std::vector<EstimatorChoice> estimators_;
  StepExecutor executor_;
  std::vector<PowerBond> bonds_;
  std::optional<DiscreteSignals> discrete_;
  std::unique_ptr<EventPhase> events_;
  std::unique_ptr<Scenario> scenario_;
  std::vector<ScheduledInput> scheduled_inputs_;
  std::vector<std::size_t> first_state_{0};
  std::vector<std::vector<double>> start_gains_;  // by subsystem, of those that initialization alone shows
};

}  // namespace entrain::coupling
