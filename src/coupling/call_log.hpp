#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "entrain/graph.hpp"

namespace entrain::coupling {

/// When the first steps of a run were made, by the wall clock: which subsystem computed while which others waited. It
/// has room for so many; what comes later is not recorded. Several threads may add at the same time.
class CallLog {
 public:
  using Clock = std::chrono::steady_clock;
  struct Call {
    SubsystemId subsystem{};
    std::uint64_t batch = 0;  ///< calls of one batch may be made at the same time
    bool trial = false;
    Time from = 0.0;  ///< in the simulation
    Duration size = 0.0;
    Clock::time_point begun = {};
    Clock::time_point ended = {};
  };

  explicit CallLog(std::size_t subsystems) : calls_(std::clamp(4 * subsystems, kFewest, kMost)) {}

  bool has_room() const { return next_.load(std::memory_order_relaxed) < calls_.size(); }
  void add(const Call& call) {
    const std::size_t place = next_.fetch_add(1, std::memory_order_relaxed);
    if (place < calls_.size()) calls_[place] = call;
  }
  /// When no step is under way.
  std::vector<Call> calls() const {
    const std::size_t size = std::min(next_.load(std::memory_order_relaxed), calls_.size());
    return {calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(size)};
  }
  void clear() { next_ = 0; }

 private:
  static constexpr std::size_t kFewest = 512;
  static constexpr std::size_t kMost = 4096;

  std::vector<Call> calls_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace entrain::coupling
