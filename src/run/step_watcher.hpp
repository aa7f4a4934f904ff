#pragma once

#include "entrain/coupled_system.hpp"
#include "entrain/method.hpp"
#include "entrain/simulation.hpp"

namespace entrain::running {

/// Looks at the coupled system itself between the macro steps of a run. Unlike an Observer it reads states, derivatives
/// and linearizations; it must leave the subsystems as they are, so that the results are the same bits without it.
class StepWatcher {
 public:
  virtual ~StepWatcher() = default;
  /// The system is initialized and the method has started.
  virtual void begin(CoupledSystem& system, const RunSettings& settings) = 0;
  /// A macro step was made, and discrete values were passed on.
  virtual void after_step(CoupledSystem& system, Time from, Time to) = 0;
  /// The run has ended, for whatever reason.
  virtual void end(const RunSummary& summary) = 0;
};

}  // namespace entrain::running
