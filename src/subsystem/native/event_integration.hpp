#pragma once

#include <vector>

#include "entrain/model.hpp"
#include "numerics/ode.hpp"

namespace entrain {

/// Lets the model handle what happens at `at` until nothing more does. Throws Error{SubsystemFailed} after
/// kMostEventRounds.
void settle_events(Model& model, const Model::Point& at, std::span<double> x);

/// Integrates a model with state events from event to event. A model holds one and calls it in its `integrate`.
class EventIntegration {
 public:
  /// As many states, inputs and indicators as the model has; at least one state.
  explicit EventIntegration(const Model& model);
  void integrate(Model& model, Time from, Duration size, const InputBlock& inputs, std::span<double> x);

 private:
  /// The point at the local time s.
  Model::Point point(Time from, Duration s, const InputBlock& inputs, std::span<const double> x);

  OdeSolver solver_;
  std::vector<double> u_, du_, ddu_;
};

}  // namespace entrain
