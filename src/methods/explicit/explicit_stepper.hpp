#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "entrain/method.hpp"
#include "methods/calendar.hpp"
#include "methods/event_tracker.hpp"
#include "methods/explicit/defect_control.hpp"
#include "methods/explicit/event_grid.hpp"
#include "methods/explicit/extrapolated_inputs.hpp"
#include "methods/explicit/jump_watch.hpp"
#include "methods/explicit/macro_step_control.hpp"
#include "methods/explicit/prescribed_steps.hpp"

namespace entrain::method {

/// What stands for the history that a run has not yet.
enum class HistoryStart { Grow, Constant };

}  // namespace entrain::method

namespace entrain {
template <>
struct ChoiceNames<method::HistoryStart> {
  static constexpr std::array<ChoiceName<method::HistoryStart>, 2> all{
      {{method::HistoryStart::Grow, "grow"}, {method::HistoryStart::Constant, "constant"}}};
};

}  // namespace entrain

namespace entrain::method {

/// Algebraic loops at communication times.
enum class LoopTreatment { Delay, Solve };

}  // namespace entrain::method

namespace entrain {
template <>
struct ChoiceNames<method::LoopTreatment> {
  static constexpr std::array<ChoiceName<method::LoopTreatment>, 2> all{
      {{method::LoopTreatment::Delay, "delay"}, {method::LoopTreatment::Solve, "solve"}}};
};

}  // namespace entrain

namespace entrain::method {

/// The options of all explicit methods.
struct ExplicitOptions {
  int degree = 0;
  HistoryStart start = HistoryStart::Grow;
  LoopTreatment loops = LoopTreatment::Delay;
  bool adaptive = false;
  double relative_tolerance = 1e-3;
  double absolute_tolerance = 1e-9;
  double min_step = 0.0;
  double max_step = 0.0;
  bool locate_jumps = false;

  void bind(OptionBinder& binder);
  Requirements requirements() const;
  /// `chooses_steps`: also without `adaptive` the steps are not fixed, so that min_step and max_step do something.
  void check(const std::string& method, bool chooses_steps, const WrittenOptions& written,
             std::vector<Problem>& problems) const;
  std::vector<Fact> notes(const CoupledSystem& system) const;
};

/// One macro step of an explicit method, part by part: one step of every subsystem on a common grid, or of a size by a
/// MacroStepControl, under inputs extrapolated from the history. The method calls
///
///     advance with a sweep: for each batch of its order: prepare, commit
///
/// and is that order.
///
/// With `locate_jumps`, where every subsystem can be rolled back, a macro step in which a subsystem fails, or that ends
/// behind an unannounced jump, is taken back and made again, half as long.
class ExplicitStepper {
 public:
  /// What a method brings of its own.
  struct Parts {
    const InputFilter* filter = nullptr;
    MacroStepControl* control = nullptr;  ///< in place of `adaptive`
    bool refresh = false;                 ///< all signals are evaluated again at every communication time
    bool remembers = false;               ///< a sweep changes what the method remembers: it cannot be taken back
  };
  ExplicitStepper() = default;
  ExplicitStepper(const ExplicitStepper&) = delete;  // its control may be one of its own
  ExplicitStepper& operator=(const ExplicitStepper&) = delete;
  void start(CoupledSystem& system, const RunSettings& settings, const ExplicitOptions& options, const Parts& parts);

  /// Held inputs, and every subsystem makes one step per macro step of a fixed size: a method that gives all of them
  /// one step under the outputs before it, and does nothing else, needs no more than CoupledSystem::hold_all_inputs and
  /// commit_everyone.
  bool in_lockstep() const { return in_lockstep_; }
  /// The step of all subsystems under way.
  const Calendar::Window& window() { return calendar_.window_of(memory_.step); }
  /// In place of end_step, in lockstep: the step to this time is made.
  MacroStepReport count_step(Time reached) {
    ++memory_.step;
    return {.reached = reached};
  }

  /// One macro step. `sweep()` prepares and commits every subsystem.
  template <class Sweep>
  MacroStepReport advance(CoupledSystem& system, const Sweep& sweep) {
    if (!locates_jumps_) {
      begin_step();
      sweep();
      return end_step(system);
    }
    std::uint64_t rejected = 0;
    for (keep(system); !stays(system, sweep); take_back(system)) ++rejected;
    if (goes_back_) system.release(kept_.system);
    const Calendar::Window made = window();
    const bool announced = met_event_;
    MacroStepReport report = end_step(system);
    pass_jumps(system, made, announced);
    report.rejected = rejected;
    return report;
  }
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

  void constants_changed(const CoupledSystem& system);
  void instant_passed(CoupledSystem& system, Time now);
  std::uint64_t steps() const { return memory_.step; }
  std::vector<Fact> warnings(const CoupledSystem& system) const;

  /// Call between start and the first step: the history as if the run had begun earlier. value(input, k): what the
  /// input received k macro steps before the start.
  void seed_history(const std::function<double(InputId, int)>& value) { inputs_.seed(value); }
  /// Per input; empty where inputs are held.
  const ExtrapolatedInputs::Memory& histories() const { return inputs_.memory(); }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(memory_, inputs_, events_, defect_, event_grid_, jumps_);
  }

 private:
  struct Memory {
    std::uint64_t step = 0;
    std::vector<int> degree;             // per subsystem: of the polynomials in force
    std::vector<double> sample_at;       // per subsystem: when its outputs were, in the unit of clock()
    std::uint64_t events_seen_late = 0;  // announced between two communication times
    SubsystemId first_late;              // whose was the first of them ...
    Time first_late_event = 0.0;         // ... and when

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(step, degree, sample_at, events_seen_late, first_late, first_late_event);
    }
  };

  /// What changes in a sweep.
  struct Kept {
    CoupledSystem::Saved system;
    Memory memory;
    ExtrapolatedInputs::Memory inputs;
    EventTracker::Memory events;
  };

  /// Chooses the size of the macro step.
  void begin_step();
  /// Judges the step; evaluates signals again and solves loops where that is asked for.
  MacroStepReport end_step(CoupledSystem& system);
  void keep(CoupledSystem& system);
  void take_back(CoupledSystem& system);
  bool can_be_shorter(const Calendar::Window& step) const { return goes_back_ && step.size >= 2.0 * shortest_; }
  bool shortened_after(const Error& error);
  bool jump_to_be_located(const CoupledSystem& system);
  void pass_jumps(const CoupledSystem& system, const Calendar::Window& step, bool announced);
  /// Makes the step. False when it is to be taken back, and a shorter one made.
  template <class Sweep>
  bool stays(CoupledSystem& system, const Sweep& sweep) {
    begin_step();
    try {
      sweep();
    } catch (const Error& error) {
      if (!shortened_after(error)) throw;
      return false;
    }
    return !jump_to_be_located(system);
  }

  std::size_t collect_tasks(std::span<const SubsystemId> batch);
  /// The start of the macro step: in macro steps; in s since the start of the run when they vary.
  double clock() const { return control_ != nullptr ? control_->now() - start_ : static_cast<double>(memory_.step); }
  void pass_events(CoupledSystem& system, const StepTask& task);
  void find_functions(const CoupledSystem& system);
  void evaluate_functions(CoupledSystem& system);
  void commit_to_event(CoupledSystem& system, std::span<StepTask> tasks);

  Calendar calendar_;
  ExtrapolatedInputs inputs_;
  EventTracker events_;
  DefectControl defect_;                 // with `adaptive`
  PrescribedSteps prescribed_;           // in place of any other control
  EventGrid event_grid_;                 // where subsystems handle events together, or with a scenario
  JumpWatch jumps_;                      // with `locate_jumps`
  MacroStepControl* control_ = nullptr;  // null: the grid
  Time start_ = 0.0;
  bool locates_jumps_ = false;
  bool goes_back_ = false;     // with `locate_jumps`: a macro step can be taken back
  Duration shortest_ = 0.0;    // of the steps that are made in place of one taken back
  Duration longest_ = kNever;  // of the macro step under way, behind one that was taken back
  Kept kept_;                  // where the macro step under way began
  std::vector<SubsystemId> everyone_;
  bool refresh_ = false;
  bool solve_loops_ = false;
  bool in_lockstep_ = false;
  bool waveforms_ = false;              // polynomials from outside are added to the inputs
  bool met_event_ = false;              // the macro step under way
  bool ends_at_events_ = false;         // a macro step is left where a subsystem finds an event
  bool ends_at_instants_ = false;       // a macro step ends where the scenario changes something
  bool any_committed_ = false;          // in the macro step under way
  std::vector<StepTask> tasks_;         // of the batch under way
  std::vector<SubsystemId> functions_;  // in the order of evaluation
  std::vector<unsigned char> jumped_;   // by subsystem: an event ends its step in the macro step under way
  Memory memory_;
};

}  // namespace entrain::method
