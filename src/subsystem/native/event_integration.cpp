#include "subsystem/native/event_integration.hpp"

#include <algorithm>

#include "base/grid.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/event_limits.hpp"

namespace entrain::subsystem {
namespace {

numerics::OdeOptions options_for(const Model& model, numerics::OdeMethod method, double tolerance) {
  numerics::OdeOptions options;
  options.method = method;
  options.relative_tolerance = options.absolute_tolerance = tolerance;
  options.indicators = model.event_indicator_count();
  return options;
}

}  // namespace

void settle_events(Model& model, const Model::Point& at, std::span<double> x) {
  for (int round = 0; round < kMostEventRounds; ++round) {
    if (!model.handle_event(at, x)) return;
  }
  throw Error(ErrorCode::SubsystemFailed, {FactCode::EndlessEvents, {}, {{"rounds", kMostEventRounds}}},
              {"", "", at.t, ""});
}

EventIntegration::EventIntegration(const Model& model, numerics::OdeMethod method, double tolerance)
    : solver_(model.variables().states.size(), options_for(model, method, tolerance)),
      u_(model.variables().inputs.size()),
      du_(u_.size()),
      ddu_(u_.size()) {}

Model::Point EventIntegration::point(Time from, Duration s, const InputBlock& inputs, std::span<const double> x) {
  for (std::size_t i = 0; i < u_.size(); ++i) {
    u_[i] = inputs.value(i, s);
    du_[i] = inputs.slope(i, s);
    ddu_[i] = inputs.curvature(i, s);
  }
  return {from + s, x, u_, du_, ddu_};
}

void EventIntegration::integrate(Model& model, Time from, Duration size, const InputBlock& inputs,
                                 std::span<double> x) {
  advance(model, from, size, inputs, x, false);
}

EventIntegration::Made EventIntegration::integrate_to_event(Model& model, Time from, Duration size,
                                                            const InputBlock& inputs, std::span<double> x) {
  return advance(model, from, size, inputs, x, true);
}

EventIntegration::Made EventIntegration::advance(Model& model, Time from, Duration size, const InputBlock& inputs,
                                                 std::span<double> x, bool stops) {
  // In the local time, so that small steps at large times lose no digits.
  Duration s = 0.0;
  Time smooth_until = kNever;  // up to there the model is what it was before the discontinuity
  const auto smooth_point = [&](Duration at_time, std::span<const double> at) {
    Model::Point result = point(from, at_time, inputs, at);
    result.t = std::min(result.t, smooth_until);
    return result;
  };
  const auto derivatives = [&](Duration at_time, std::span<const double> at, std::span<double> dx) {
    model.derivatives(smooth_point(at_time, at), dx);
  };
  const auto indicators = [&](Duration at_time, std::span<const double> at, std::span<double> z) {
    model.event_indicators(smooth_point(at_time, at), z);
  };
  settle_events(model, point(from, s, inputs, x), x);  // the inputs may have jumped
  for (int events = 0; !base::reached(s, size); ++events) {
    require_few_events(events, {"", "", from + s, ""});
    Time announced = model.next_discontinuity(from + s);
    if (base::reached(from + s, announced))
      announced = model.next_discontinuity(announced);  // there already, but for rounding
    const bool inside = !base::reached(announced, from + size);
    smooth_until = announced < kNever ? base::just_before(announced) : kNever;
    const Duration end = inside ? announced - from : size;
    const auto made = solver_.advance(s, end, x, {.derivatives = derivatives, .indicators = indicators});
    s = made.time;
    // One where the step began has been met already.
    if (stops && made.cause == numerics::OdeReached::Cause::Indicator && !base::same_time(from, from + s))
      return {s, true};
    settle_events(model, point(from, s, inputs, x), x);
  }
  return {size, false};
}

}  // namespace entrain::subsystem
