#pragma once

#include <atomic>

namespace entrain::running {

/// Requests from outside to a run that goes on, attended to by its thread between two macro steps.
class ControlHook {
 public:
  enum class Outcome { GoOn, GoOnAfterPause, Stop };

  virtual ~ControlHook() = default;
  /// Read before every macro step: all that it costs as long as nothing is requested.
  bool waits() const { return waits_.load(std::memory_order_relaxed); }
  virtual Outcome attend() = 0;

 protected:
  void call(bool waits) { waits_.store(waits, std::memory_order_relaxed); }

 private:
  std::atomic<bool> waits_{false};
};

}  // namespace entrain::running
