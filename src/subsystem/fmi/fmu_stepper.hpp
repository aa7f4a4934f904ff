#pragma once

#include <algorithm>
#include <functional>

#include "base/bytes.hpp"
#include "base/function_ref.hpp"
#include "entrain/subsystem.hpp"
#include "subsystem/fmi/fmu.hpp"

namespace entrain::subsystem {

/// Calls of one instance that must succeed. Remembers the warnings among them.
class FmuReporter {
 public:
  /// Borrows `log`. `subsystem` is for messages.
  FmuReporter(FmuLog& log, std::string subsystem) : log_(log), subsystem_(std::move(subsystem)) {}

  FmuLog& log() const { return log_; }
  ErrorContext context(Time t) const { return {.subsystem = subsystem_, .variable = {}, .time = t, .remedy = {}}; }
  void require(const FmuResult& result, Time t) {
    if (result.status != FmuStatus::Ok) require_despite(result, t);
  }
  void note_warning(const FmuResult& result, Time t);
  /// How often a call returned one, and the first; nullopt when none did.
  std::optional<Fact> warning() const;
  void note_refusal(const FmuResult& result) { refusal_ = result; }
  /// Reported at the end of the run, once.
  void note(Fact fact) {
    if (std::find(notes_.begin(), notes_.end(), fact) == notes_.end()) notes_.push_back(std::move(fact));
  }
  const std::vector<Fact>& notes() const { return notes_; }
  /// The call that refused the last step, and what the FMU said.
  std::string refusal() const {
    return render(call_fact(refusal_, log_)) + (refusal_.done() ? " without advancing" : "");
  }
  bool failed() const { return failed_; }  ///< a call has; no other may follow

 private:
  void require_despite(const FmuResult& result, Time t);

  FmuLog& log_;
  std::string subsystem_;
  std::uint64_t warnings_ = 0;
  std::optional<Fact> first_warning_;
  std::vector<Fact> notes_;
  FmuResult refusal_;
  bool failed_ = false;
};

/// How an instance is advanced and asked: by steps of its own (co-simulation), or by our integrator (model exchange).
class FmuStepper : public States, public Linearizer, public OutputDerivatives, public Events {
 public:
  /// Takes an instance that is in initialization mode, and leaves that mode when it is first asked for more than
  /// outputs.
  virtual void start(FmuInstance& instance, const FmuAbilities& abilities, Time start, Time stop) = 0;
  /// Before the start: nothing will be saved and restored.
  virtual void never_goes_back() {}
  virtual void evaluate(std::span<const double> inputs, std::span<double> outputs) = 0;
  /// Leaves the initialization mode, if it is still there, and reads the outputs.
  virtual void finish_initialization(std::span<double> outputs) = 0;
  virtual StepReport step(const Subsystem::Step& step, std::span<double> outputs) = 0;
  virtual HeldStep held_step() noexcept { return {}; }
  /// What a step depends on besides the state inside the FMU, kept under a number: small ones, used again.
  virtual void save(std::size_t slot) = 0;
  virtual void restore(std::size_t slot) = 0;
  /// The same for another process. `deserialize` leaves the initialization mode, as `save` does.
  virtual base::Bytes serialize(std::size_t slot) = 0;
  virtual void deserialize(std::size_t slot, std::span<const std::byte> bytes) = 0;
  virtual Equations* equations() noexcept { return nullptr; }
  /// Calls `set` where the standard allows discrete inputs and tunable parameters to be set, and lets the FMU settle
  /// what follows from them.
  virtual void change(base::FunctionRef<FmuResult()> set) = 0;
  /// Values may not be set now: `set` is called where they may, before they are needed. False: `change` does it.
  virtual bool sets_later() const { return false; }
  virtual void set_later(const std::function<FmuResult()>& /*set*/) {}
  /// See EventMode.
  virtual bool watch_steps(const std::function<bool(Time)>* /*watch*/) { return false; }

  // See EventMode.
  /// `at_end` is called at the end of the initialization mode, in it.
  void share_events(std::function<void()> at_end) {
    shared_ = true;
    at_end_of_initialization_ = std::move(at_end);
  }
  virtual bool finds_events() const = 0;
  virtual bool event_waits() const = 0;
  virtual void enter_events() = 0;
  virtual EventMode::Update update_events() = 0;
  virtual void leave_events() = 0;
  virtual void set_inputs(std::span<const double> inputs) = 0;
  virtual void read_outputs(std::span<double> outputs) = 0;
  /// False when the clocks are to be set in the FMU.
  virtual bool activate(std::span<const ValueReference> /*clocks*/) { return false; }
  /// Before anything is read in an event phase.
  virtual void before_reading() {}

 protected:
  bool shared_ = false;  ///< events are handled together with those of other subsystems
  std::function<void()> at_end_of_initialization_;
};

}  // namespace entrain::subsystem
