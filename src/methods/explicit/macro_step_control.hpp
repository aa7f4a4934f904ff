#pragma once

#include "entrain/coupled_system.hpp"

namespace entrain::method {

/// Chooses the macro steps of an explicit method. A step that was too long is followed by a shorter one.
class MacroStepControl {
 public:
  virtual ~MacroStepControl() = default;
  /// Where the next step begins.
  virtual Time now() const = 0;
  /// Its size. `event`: the earliest that a subsystem has announced.
  virtual Duration next(Time event) const = 0;
  /// After every subsystem made the step, to `reached`.
  virtual void judge(const CoupledSystem& system, Time reached) = 0;
  /// The step ended with an event: no past is continued behind it.
  virtual void restart() {}
  /// A subsystem failed in the step, which was taken back: the next ones are at most as long as this.
  virtual void failed(Duration /*shorter*/) {}
};

}  // namespace entrain::method
