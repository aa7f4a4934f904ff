#pragma once

#include <span>

#include "entrain/export.hpp"
#include "entrain/subsystem.hpp"

namespace entrain {

/// A model written in C++: dx/dt = f(t, x, u), y = g(t, x, u[, u']), once. The engine makes a subsystem of it.
///
/// `integrate` depends on (t, x, input) and `memory` alone, so that a restored state replays to the same bits: a model
/// may keep caches, but no other trace of earlier steps.
class ENTRAIN_API Model {
 public:
  /// Where the model is evaluated. `du`, `ddu`: first and second time derivatives of the inputs.
  struct Point {
    Time t;
    std::span<const double> x, u, du, ddu;
  };

  virtual ~Model() = default;
  virtual const VariableTable& variables() const noexcept = 0;
  /// Parameters in the order of variables().parameters, called before anything below.
  /// Throws Error{InvalidSystem} naming the parameter when a value makes no sense.
  virtual void configure(std::span<const Value> parameters) = 0;
  virtual Feedthrough feedthrough() const = 0;

  virtual void derivatives(const Point& at, std::span<double> dx) const = 0;
  virtual void outputs(const Point& at, std::span<double> y) const = 0;
  /// The values of variables().discrete_outputs, each of its type.
  virtual void discrete_outputs(const Point&, std::span<Value>) const {}
  virtual void linearize(const Point& at, Linearization& result) const = 0;
  /// dy/dt along the motion. The default is C f + D u', right unless g depends on the time or on u'.
  virtual void output_rates(const Point& at, std::span<double> dy) const;
  /// Moves x from `from` to `from + size` under the inputs.
  virtual void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) = 0;

  /// The first time after `t` at which f or g is not smooth.
  virtual Time next_discontinuity(Time) const { return kNever; }
  /// True when g uses u': then there is no ODE form, and held inputs give it a zero slope.
  virtual bool reads_input_derivatives() const { return false; }

  /// True when y = g(u) and nothing else: such a model is evaluated wherever its inputs change.
  virtual bool is_function() const { return false; }

  /// State events: f and g are smooth as long as no indicator z(t, x, u) changes its sign.
  virtual std::size_t event_indicator_count() const { return 0; }
  virtual void event_indicators(const Point&, std::span<double>) const {}
  /// Called wherever an event may be: where an indicator changed its sign, at an announced time, where inputs may have
  /// jumped. May change `x` (the numbers of at.x) and the memory, and does nothing when nothing has happened. True when
  /// it caused another event at the same time and must be called again.
  virtual bool handle_event(const Point&, std::span<double>) { return false; }
  /// The discrete state, set to its start by `configure`, changed by `handle_event` and by restoring a saved one.
  virtual std::span<double> memory() noexcept { return {}; }
};

}  // namespace entrain
