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

#include "base/bytes.hpp"
#include "base/executor.hpp"
#include "base/function_ref.hpp"
#include "coupling/bonds.hpp"
#include "coupling/discrete_signals.hpp"
#include "coupling/end_of_initialization.hpp"
#include "coupling/evaluation.hpp"
#include "coupling/transfer.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/error.hpp"
#include "entrain/graph.hpp"
#include "entrain/ids.hpp"
#include "entrain/subsystem.hpp"

namespace entrain {

/// What a CoupledSystem is made of: subsystems, transfer plan, signals, executor.
struct CoupledSystem::Parts {
  // What CoupledSystem passes on; see there.
  Parts(std::vector<std::unique_ptr<Subsystem>> subsystems, Graph graph, std::vector<double> start_inputs, int threads);

  std::size_t size() const { return participants_.size(); }
  const Graph& graph() const { return graph_; }
  const TransferPlan& transfer() const { return transfer_; }
  const Subsystem& subsystem(SubsystemId s) const { return *participants_[s].subsystem; }
  const Capabilities& capabilities(SubsystemId s) const { return participants_[s].subsystem->capabilities(); }
  const VariableTable& variables(SubsystemId s) const { return participants_[s].subsystem->variables(); }
  Facets facets(SubsystemId s) { return participants_[s].subsystem->facets(); }
  std::vector<std::string> warnings(SubsystemId s) const { return participants_[s].subsystem->warnings(); }

  void initialize(Time start, Time stop);
  void pass_on_late_outputs(Time start);
  void set_start(SubsystemId s, VariableTable::Place place, const Value& value);
  void set_constant(InputId input, double value);
  void refresh_outputs(SubsystemId s);

  // Signals.
  std::span<const double> outputs() const { return {signals_.data(), graph_.outputs()}; }
  std::span<const double> signals() const { return signals_; }
  std::span<const double> inputs() const { return input_end_; }
  Time time_of(SubsystemId s) const { return common_steps_ > 0 ? common_time_ : times_[s]; }
  bool all_at(Time t) const { return common_steps_ > 0 ? common_time_ == t : each_at(t); }
  double incoming(InputId input) const { return transfer_.incoming(input, signals_); }
  std::span<double> coefficients(SubsystemId s, int degree, int p);
  void hold_all_inputs() { transfer_.deliver(signals_, input_end_); }
  void set_corrections(std::span<const double> by_input) { transfer_.set_corrections(by_input); }
  void replace_output(OutputId output, double value) { signals_[output] = value; }

  // Batches.
  void commit_all(std::span<const StepTask> tasks);
  void commit_everyone(const CommonStep& common);
  void evaluate_all(std::span<const SubsystemId> batch, std::span<const double> all_inputs,
                    std::span<double> all_outputs);
  void linearize_all(std::span<const SubsystemId> batch, std::span<Linearization> results);
  void refresh_signals(Time t);
  void solve_loops(Time t);
  Time next_event(SubsystemId s, Time t);
  // Signals that are no real numbers; none unless connect_discrete was called.
  void connect_discrete(const std::vector<DiscreteConnection>& connections);
  DiscreteSignals* discrete() { return discrete_.get(); }
  bool exchange_discrete(Time now, bool read_all);
  void publish(Time t, std::span<const double> all_inputs, std::span<const double> all_outputs);

  // Of all subsystems, in the order of the graph; NaN where one cannot tell.
  void read_states(std::span<double> all);
  void read_state_derivatives(std::span<double> all);
  void read_output_slopes(std::span<double> all);
  std::size_t states() const { return first_state_.back(); }
  IdRange<std::size_t> states_of(SubsystemId s) const {
    return {first_state_[s], first_state_[s + 1] - first_state_[s]};
  }

  Counters counters(SubsystemId s) const {
    Counters counters = participants_[s].counters;
    counters.steps = steps_[s] + common_steps_;
    return counters;
  }
  const std::vector<double>& loop_residuals() const { return evaluation_.loop_residuals(); }
  std::optional<SubsystemId> stop_request() const { return stop_request_; }
  void request_stop(SubsystemId s) {
    if (!stop_request_ || time_of(s) < time_of(*stop_request_)) stop_request_ = s;
  }

  const std::vector<TrialKind>& trial_kinds() const { return trial_kinds_; }
  void set_trial_kinds(std::vector<TrialKind> kinds) { trial_kinds_ = std::move(kinds); }

  const std::vector<PowerBond>& bonds() const { return bonds_; }
  void set_bonds(std::vector<PowerBond> bonds) { bonds_ = std::move(bonds); }

  void reset();
  Saved save();
  void save(std::span<const SubsystemId> some, Saved& saved);
  void restore(const Saved& saved);
  void release(const Saved& saved);
  Bytes serialize(const Saved& saved);
  void resume(std::span<const std::byte> bytes);
  const double* put_back(const Saved& saved, std::size_t i, const double* numbers);
  void put_back_others(const Saved& saved);

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
