#pragma once

#include <optional>
#include <span>
#include <vector>

#include "entrain/graph.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::coupling {

class EventPhase;

/// Outputs that change when the initialization of their subsystem ends. Others were initialised with the values before,
/// so all begin again, with the late values in place of what the subsystem returns before its end; a few times at most.
class EndOfInitialization {
 public:
  /// Borrows all.
  EndOfInitialization(const Graph& graph, std::vector<Subsystem*> subsystems);

  /// Outputs while the initialization goes on, with those that are known to change later as they will be.
  void evaluate(SubsystemId s, std::span<const double> inputs, std::span<double> outputs);
  /// Ends it for all. `signals` begin with the outputs. True when all should begin again: they have been reset.
  bool finish(std::span<double> signals);
  /// After the first phase of events that subsystems share, which may change outputs, too: true likewise, where they
  /// pass through a subsystem that takes no part in events.
  bool follow(std::span<const double> signals, const EventPhase& events);
  /// Some output has changed.
  bool anything_changed() const { return changed_; }

 private:
  bool finish(SubsystemId s, std::span<double> outputs);
  bool is_used(OutputId output) const;
  bool passes_through(OutputId output, const EventPhase& events) const;
  bool begin_again(const std::vector<SubsystemId>& late);

  const Graph& graph_;
  std::vector<Subsystem*> subsystems_;
  std::vector<std::optional<double>> late_;  ///< by output
  std::vector<bool> by_events_;              ///< which of them the first phase of events has set
  std::vector<double> used_;                 ///< what all were initialised with
  bool changed_ = false;
  int rounds_ = 0;
};

}  // namespace entrain::coupling
