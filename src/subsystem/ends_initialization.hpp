#pragma once

#include <span>

#include "entrain/subsystem.hpp"

namespace entrain::subsystem {

/// A subsystem whose initialization has an end of its own, at which outputs may change: some FMUs compute theirs on
/// leaving the initialization mode, or in the events that follow.
class EndsInitialization {
 public:
  /// Ends the initialization, unless it has ended, and returns the outputs as they are then.
  virtual void finish_initialization(std::span<double> outputs) = 0;
  /// Its outputs changed there, and subsystems that use them were initialised with those before.
  virtual void note_used_before() = 0;

 protected:
  ~EndsInitialization() = default;
};

/// What a wrapper passes on to `inner`, which may be one or not.
inline void finish_initialization_of(Subsystem& inner, std::span<double> outputs) {
  if (auto* late = dynamic_cast<EndsInitialization*>(&inner)) late->finish_initialization(outputs);
}
inline void note_used_before_of(Subsystem& inner) {
  if (auto* late = dynamic_cast<EndsInitialization*>(&inner)) late->note_used_before();
}

}  // namespace entrain::subsystem
