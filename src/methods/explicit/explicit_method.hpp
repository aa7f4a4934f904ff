#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "entrain/method.hpp"
#include "methods/calendar.hpp"
#include "methods/explicit/defect_control.hpp"
#include "methods/explicit/extrapolated_inputs.hpp"

namespace entrain {

/// What stands for the history that a run has not yet.
enum class HistoryStart { Grow, Constant };
template <>
struct ChoiceNames<HistoryStart> {
  static constexpr std::array<ChoiceName<HistoryStart>, 2> all{
      {{HistoryStart::Grow, "grow"}, {HistoryStart::Constant, "constant"}}};
};

/// Algebraic loops at communication times.
enum class LoopTreatment { Delay, Solve };
template <>
struct ChoiceNames<LoopTreatment> {
  static constexpr std::array<ChoiceName<LoopTreatment>, 2> all{
      {{LoopTreatment::Delay, "delay"}, {LoopTreatment::Solve, "solve"}}};
};

struct ExplicitOptions {
  int degree = 0;
  HistoryStart start = HistoryStart::Grow;
  LoopTreatment loops = LoopTreatment::Delay;
  bool adaptive = false;
  double relative_tolerance = 1e-3;
  double absolute_tolerance = 1e-9;
  double min_step = 0.0;
  double max_step = 0.0;

  void bind(OptionBinder& binder);
};

/// What jacobi, gauss-seidel and nepce share: one step of every subsystem per macro step on a common grid (or,
/// adaptive, of a size by the connection defect), under inputs extrapolated from the history. They differ in the order
/// of the calls and in the filter of the samples.
class ExplicitMethod : public Method {
 public:
  void bind(OptionBinder& binder) override { options_.bind(binder); }
  Requirements requirements() const override;
  void check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const override;
  std::vector<std::string> step_tolerances() const override;
  void start(CoupledSystem& system, const RunSettings& settings) override;
  MacroStepReport advance(CoupledSystem& system) final;
  void constants_changed(CoupledSystem& system) final { inputs_.cut_constants(system); }
  MethodMemory memory() const final;
  void restore(const MethodMemory& memory) final;
  std::vector<Fact> notes(const CoupledSystem& system) const override;
  std::vector<Fact> warnings(const CoupledSystem& system) const override;

  /// Call between start and the first advance: the history as if the run had begun earlier. value(input, k): what the
  /// input received k macro steps before the start.
  void seed_history(const std::function<double(InputId, int)>& value) { inputs_.seed(value); }
  /// Per input; empty where inputs are held.
  const ExtrapolatedInputs::Memory& histories() const { return inputs_.memory(); }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(memory_, inputs_, control_);
  }

 protected:
  /// All subsystems once, in this method's order.
  virtual void advance_subsystems(CoupledSystem& system) = 0;
  /// What the method itself remembers between macro steps.
  virtual Bytes own_memory() const { return {}; }
  virtual void restore_own(std::span<const std::byte>) {}
  /// True when advance_subsystems gives everyone one step under the outputs before it, and does nothing else.
  virtual bool steps_all_at_once() const { return false; }
  /// Per input, empty = none.
  virtual std::vector<double> gains(const Graph&) const { return {}; }

  /// Fixes the inputs of all steps that start with this macro step, from the same outputs.
  void prepare_all(CoupledSystem& system);
  /// Fixes the inputs of `s` if a step of it starts with this macro step.
  void prepare(CoupledSystem& system, SubsystemId s);
  /// Commits the steps that end with this macro step, together.
  void commit(CoupledSystem& system, std::span<const SubsystemId> batch);

  // Of the macro step under way.
  bool starts_step(SubsystemId s) const { return calendar_.starts(s, memory_.step); }
  bool ends_step(SubsystemId s) const { return calendar_.ends(s, memory_.step); }
  int degree_in_force(SubsystemId s) const { return memory_.degree[s]; }
  Time next_time() const { return calendar_.time(memory_.step + 1); }
  /// Before the inputs are fixed, for who adapts the macro step. Needs degree 0, unless this class does it: histories
  /// count equal macro steps.
  void choose_step(Time from, Duration size) { calendar_.choose(memory_.step, from, size); }
  int input_degree() const { return options_.degree; }
  bool adaptive() const { return options_.adaptive; }
  Duration min_step() const { return options_.min_step; }
  Duration max_step() const { return options_.max_step; }
  /// False where the size of the macro step is fixed: min_step and max_step do nothing.
  virtual bool chooses_steps() const { return options_.adaptive; }

 private:
  struct Memory {
    std::uint64_t step = 0;
    std::vector<int> degree;             // per subsystem: of the polynomials in force
    std::vector<double> sample_at;       // per subsystem: when its outputs were, in the unit of clock()
    std::vector<Time> next_event;        // per subsystem: announced; kNever if none
    std::uint64_t events_seen_late = 0;  // announced between two communication times
    SubsystemId first_late;              // whose was the first of them ...
    Time first_late_event = 0.0;         // ... and when

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(step, degree, sample_at, next_event, events_seen_late, first_late, first_late_event);
    }
  };

  std::size_t collect_tasks(std::span<const SubsystemId> batch);
  void adapt_step();
  /// The start of the macro step: in macro steps; in s since the start of the run when they are adaptive.
  double clock() const { return options_.adaptive ? control_.elapsed() : static_cast<double>(memory_.step); }
  void notice_event(CoupledSystem& system, const StepTask& task);

  ExplicitOptions options_;
  Calendar calendar_;
  DefectControl control_;  // of the step, when it is adaptive
  ExtrapolatedInputs inputs_;
  Memory memory_;
  bool events_announced_ = false;
  bool one_step_for_all_ = false;  // under held inputs, and nothing else happens in a macro step
  bool solve_loops_ = false;
  std::vector<StepTask> tasks_;  // of the batch under way
};

}  // namespace entrain
