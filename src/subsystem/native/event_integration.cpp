#include "subsystem/native/event_integration.hpp"

#include <fmt/format.h>

#include "base/grid.hpp"
#include "entrain/error.hpp"
#include "subsystem/event_limits.hpp"

namespace entrain {
namespace {

OdeOptions options_for(const Model& model) {
  OdeOptions options;
  options.indicators = model.event_indicator_count();
  return options;
}

}  // namespace

void settle_events(Model& model, const Model::Point& at, std::span<double> x) {
  for (int round = 0; round < kMostEventRounds; ++round) {
    if (!model.handle_event(at, x)) return;
  }
  throw Error(ErrorCode::SubsystemFailed,
              fmt::format("its events cause each other without end ({} rounds at one time)", kMostEventRounds),
              {"", "", at.t, ""});
}

EventIntegration::EventIntegration(const Model& model)
    : solver_(model.variables().states.size(), options_for(model)),
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
  const auto derivatives = [&](Duration s, std::span<const double> at, std::span<double> dx) {
    model.derivatives(point(from, s, inputs, at), dx);
  };
  const auto indicators = [&](Duration s, std::span<const double> at, std::span<double> z) {
    model.event_indicators(point(from, s, inputs, at), z);
  };
  // In the local time, so that small steps at large times lose no digits.
  Duration s = 0.0;
  settle_events(model, point(from, s, inputs, x), x);  // the inputs may have jumped
  for (int events = 0; !reached(s, size); ++events) {
    require_few_events(events, from + s);
    s = solver_.advance(s, size, x, {.derivatives = derivatives, .indicators = indicators}).time;
    settle_events(model, point(from, s, inputs, x), x);
  }
}

}  // namespace entrain
