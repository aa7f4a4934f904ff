#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/graph.hpp"
#include "entrain/ids.hpp"
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

namespace coupling {
class Engine;
}  // namespace coupling

/// The subsystems, their connections and the signals between them at the latest communication times: what a coupling
/// method works on.
///
/// Methods read and write flat arrays and call subsystems in batches only. Inside a batch subsystems run concurrently,
/// each writing its own slots, so the result does not depend on the number of threads.
class ENTRAIN_API CoupledSystem {
 public:
  explicit CoupledSystem(std::unique_ptr<coupling::Engine> engine);
  ~CoupledSystem();
  CoupledSystem(const CoupledSystem&) = delete;
  CoupledSystem& operator=(const CoupledSystem&) = delete;
  /// What it is made of, for the engine itself; no public header declares more.
  coupling::Engine& engine() { return *engine_; }
  const coupling::Engine& engine() const { return *engine_; }

  std::size_t size() const { return graph_->subsystems(); }
  const Graph& graph() const { return *graph_; }
  const Capabilities& capabilities(SubsystemId s) const;
  const VariableTable& variables(SubsystemId s) const;
  Facets facets(SubsystemId s);

  // Signals at the latest communication times.
  std::span<const double> outputs() const { return outputs_; }
  std::span<const double> signals() const { return signals_; }  ///< outputs, then constants: what is transferred
  std::span<const double> inputs() const { return inputs_; }    ///< as they ended their last step
  Time time_of(SubsystemId s) const;
  /// True when this is the latest communication time of every subsystem.
  bool all_at(Time t) const;
  /// What the connection of an input delivers now; its start value where it has none.
  double incoming(InputId input) const;
  /// Where coefficient p of the input polynomials of a step goes, in local time of the step. Held inputs (degree 0) are
  /// their own polynomials: they lie where `inputs` does.
  std::span<double> coefficients(SubsystemId s, int degree, int p);
  /// Held inputs for all subsystems: each is what its connection delivers now.
  void hold_all_inputs();
  /// What the connections add from now on, one number per input in its unit (learned, or found by the method).
  void set_corrections(std::span<const double> by_input);
  /// For methods that pass outputs on late: what the output is from now on.
  void replace_output(OutputId output, double value);

  // Batches. A step that a subsystem rejects is an error here; trials can ask for a smaller one.
  /// Sends the steps. `tasks` must live, and inputs stay as they are, until `wait` returns.
  void post(std::span<const StepTask> tasks);
  /// Until all that was posted is made.
  void wait();
  /// Both together.
  void commit_all(std::span<const StepTask> tasks);
  /// All subsystems, with held inputs.
  void commit_everyone(const CommonStep& common);
  /// The same as commit_all, at most to the first event that a subsystem finds on its way and that waits for the
  /// others: `tasks` are shortened to the time returned.
  Time commit_to_event(std::span<StepTask> tasks);
  /// Subsystems handle events together: all must meet at the times that next_event returns.
  bool has_instants() const;
  /// Outputs of these subsystems where they are, with these inputs (of all subsystems), into `all_outputs`. Needs
  /// output_refresh; the steps that follow must be made with the same inputs at their start.
  void evaluate_all(std::span<const SubsystemId> batch, std::span<const double> all_inputs,
                    std::span<double> all_outputs);
  /// The inputs of this one are what its connections deliver now, and its outputs follow. Needs output_refresh.
  void follow_inputs(SubsystemId s);
  /// Linearizations of these subsystems where they are, one of `results` each.
  void linearize_all(std::span<const SubsystemId> batch, std::span<Linearization> results);
  /// All signals anew at the time reached, loops solved; nothing happens unless every subsystem has output_refresh.
  void refresh_signals(Time t);
  /// Solves the loops all of whose subsystems communicate at `t`; needs output_refresh in them.
  void solve_loops(Time t);
  /// The next discontinuity this subsystem announces after `t`, or the next instant of the scenario; kNever if none.
  Time next_event(SubsystemId s, Time t);
  /// For methods that integrate the equations themselves: what the signals are now.
  void publish(Time t, std::span<const double> all_inputs, std::span<const double> all_outputs);
  /// For methods that integrate the equations themselves: `s` asks to end the run where it stands. The earliest one
  /// counts, and the first of those.
  void request_stop(SubsystemId s);

  // Of all subsystems, in the order of the graph; NaN where a subsystem does not provide them.
  void read_states(std::span<double> all);
  void read_state_derivatives(std::span<double> all);
  void read_output_slopes(std::span<double> all);
  std::size_t states() const;
  IdRange<std::size_t> states_of(SubsystemId s) const;

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
  Counters counters(SubsystemId s) const;

  /// Of some subsystems: states and signals; the state ids belong to the saving system.
  struct Saved {
    std::vector<SubsystemId> subsystems;
    std::vector<StateId> states;
    std::vector<Time> times;
    std::vector<Counters> counters;
    std::vector<double> numbers;  ///< outputs, inputs and input polynomials, one subsystem after the other
    std::optional<std::vector<Value>> discrete;  ///< of a save of all
    std::vector<double> constants;               ///< the same; what is transferred besides the outputs
    std::vector<std::byte> instants;             ///< the same; when clocks tick next
    std::vector<std::byte> scenario;             ///< the same; what is in force of the scenario
  };
  Saved save();  ///< of all subsystems; each needs rollback
  /// Of these only, in the storage of `saved`.
  void save(std::span<const SubsystemId> some, Saved& saved);
  void restore(const Saved& saved);
  void release(const Saved& saved);

 private:
  std::unique_ptr<coupling::Engine> engine_;
  const Graph* graph_;
  std::span<const double> outputs_, signals_, inputs_;
};

}  // namespace entrain
