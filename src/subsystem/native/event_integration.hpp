#pragma once

#include <optional>
#include <vector>

#include "entrain/model.hpp"
#include "numerics/ode.hpp"

namespace entrain::subsystem {

/// Lets the model handle what happens at `at` until nothing more does. Throws Error{SubsystemFailed} after
/// kMostEventRounds.
void settle_events(Model& model, const Model::Point& at, std::span<double> x);

/// Integrates a model from its derivatives, from event to event: those it announces and those of its state. A model
/// holds one and calls it in its `integrate`; an FMU holds one when it is exported with a solver.
class EventIntegration {
 public:
  /// As many states, inputs and indicators as the model has; at least one state.
  explicit EventIntegration(const Model& model, numerics::OdeMethod method = numerics::OdeMethod::ExplicitRungeKutta,
                            double tolerance = numerics::OdeOptions().relative_tolerance);
  void integrate(Model& model, Time from, Duration size, const InputBlock& inputs, std::span<double> x);
  /// To the first state event, which is left to the caller, and to the end at most: the time that was made.
  struct Made {
    Duration size;
    bool event;
  };
  Made integrate_to_event(Model& model, Time from, Duration size, const InputBlock& inputs, std::span<double> x);

 private:
  Made advance(Model& model, Time from, Duration size, const InputBlock& inputs, std::span<double> x, bool stops);
  /// The point at the local time s.
  Model::Point point(Time from, Duration s, const InputBlock& inputs, std::span<const double> x);

  numerics::OdeSolver solver_;
  std::vector<double> u_, du_, ddu_;
};

}  // namespace entrain::subsystem
