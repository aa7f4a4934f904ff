// Events of an instance, and what model exchange adds: an integrator outside moves time and states.
#include <fmt/format.h>

#include <algorithm>

#include "base/grid.hpp"
#include "fmukit/guard.hpp"
#include "fmukit/instance.hpp"

namespace entrain::fmukit {
namespace {

void require_count(std::size_t given, std::size_t own, const char* what) {
  if (given == own) return;
  refuse(fmt::format("{} {} were passed, there are {}", given, what, own));
}

}  // namespace

Time Instance::smooth_time() {
  return phase_ == kContinuous && next_event() < kNever ? std::min(now_[0], base::just_before(next_event())) : now_[0];
}

Duration Instance::until_event(Time from, Duration size) {
  const Time event = next_event();
  const bool inside = event_mode_used_ && !base::reached(from, event) && !base::reached(event, from + size);
  return inside ? event - from : size;
}

bool Instance::at_event() {
  return event_mode_used_ && base::reached(now_[0], next_event());
}

void Instance::enter_event_mode() {
  if (kind_ == Kind::CoSimulation && !event_mode_used_) refuse("this instance was made without event mode");
  phase_ = kEvent;
}

EventUpdate Instance::update_discrete_states() {
  configure_if_changed();
  EventUpdate update;
  const std::vector<double> before(x(), x() + states_);
  update.again = model_->handle_event(here(), {x(), states_});
  update.states_changed = !std::equal(before.begin(), before.end(), x());
  update.next_event = next_event() = model_->next_discontinuity(now_[0]);
  forget_results();
  return update;
}

void Instance::set_time(Time t) {
  now_[0] = t;
  forget_results();
}

void Instance::set_continuous_states(std::span<const double> given) {
  require_count(given.size(), states_, "continuous states");
  std::copy(given.begin(), given.end(), x());
  forget_results();
}

void Instance::get_continuous_states(std::span<double> result) {
  require_count(result.size(), states_, "continuous states");
  std::copy(x(), x() + states_, result.begin());
}

void Instance::get_derivatives(std::span<double> result) {
  require_count(result.size(), states_, "derivatives");
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = derivative(i);
}

void Instance::get_event_indicators(std::span<double> result) {
  require_count(result.size(), indicators_, "event indicators");
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = indicator(i);
}

double Instance::indicator(std::size_t index) {
  if (!indicators_known_) {
    configure_if_changed();
    model_->event_indicators(here(), z_);
    indicators_known_ = true;
  }
  return z_[index];
}

}  // namespace entrain::fmukit
