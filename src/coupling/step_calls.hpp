#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "coupling/signal_store.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::coupling {

/// How one subsystem's task of a batch ended. A rejected step is an outcome like the others.
struct StepResult {
  StepOutcome outcome = StepOutcome::Completed;  ///< EndedEarly: at least once, and it was stepped on from there
  Time rejected_from = 0.0;                      ///< where the call began that was rejected ...
  Duration rejected_size = 0.0;                  ///< ... and its size
  std::optional<Time> stopped_at = {};           ///< it asked to end the run there
  std::optional<Time> event_at = {};             ///< before the end: it waits there for the other subsystems
};

/// What a step reads and writes of one subsystem besides its own state.
struct StepSlots {
  SignalStore::Slots slots;
  int input_degree = 0;                   ///< that the subsystem takes
  int substeps = 1;                       ///< where the degree is lowered
  int divided = 1;                        ///< every part is made in so many calls (StepExecutor::divide_steps)
  std::vector<double> part_coefficients;  ///< polynomials re-expanded for one part of a step
  Duration last_part = 0.0;               ///< size of the part that was made last; 0: the step was not cut

  /// The input that the subsystem itself holds. A method that lowered the degree may have replaced slots.inputs by what
  /// it meant.
  double held(std::size_t input) const {
    if (last_part == 0.0) return slots.inputs[input];
    return InputBlock(part_coefficients.data(), slots.inputs.size(), input_degree).value(input, last_part);
  }
};

/// The calls that make one task, one after the other: one for the whole step, or one for each part where the step is
/// cut, the degree of the inputs is lowered, or the subsystem returned early.
class StepCalls {
 public:
  StepCalls(const StepTask& task, const Capabilities& can, StepSlots& of);

  bool done() const { return done_; }
  /// What to call next; its inputs are valid until `take`.
  Subsystem::Step next();
  /// What the call brought.
  void take(const StepReport& report);
  const StepResult& result() const { return result_; }
  /// The event at which it waited has been handled.
  void go_on_after_event();
  /// It has been, and the subsystem asked to end the run there.
  void stop_at_event() { result_.stopped_at = std::exchange(result_.event_at, std::nullopt); }
  int early_returns() const { return early_returns_; }

 private:
  void go_on_in_parts(Time reached);

  const StepTask& task_;
  const Capabilities& can_;
  StepSlots& of_;
  StepResult result_;
  bool done_ = false;
  bool whole_ = true;  // one call for all
  int early_returns_ = 0;
  // Where it stands, in parts.
  int parts_ = 1;
  Duration part_size_ = 0.0;
  Duration covered_ = 0.0;  // since the start of the task
  int part_ = 0;
  // The call under way.
  Time from_ = 0.0;
  Duration size_ = 0.0;
  std::optional<InputBlock> inputs_;
};

}  // namespace entrain::coupling
