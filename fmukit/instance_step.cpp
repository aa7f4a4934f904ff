// The step of an instance: how the inputs inside it are found, and where it ends.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "fmukit/guard.hpp"
#include "fmukit/instance.hpp"
#include "numerics/polynomial.hpp"

namespace entrain::fmukit {

void Instance::require_step(Time from, Duration size) {
  // The importer may have computed the time on another path: compared with what rounding can do, not exactly.
  const double tolerance = 1e-9 * std::max({std::abs(from), std::abs(now_[0]), size});
  if (!(std::abs(from - now_[0]) <= tolerance)) {
    refuse(fmt::format("a step from t = {} s, but the FMU is at t = {} s", from, now_[0]));
  }
  if (!(size > 0.0)) refuse(fmt::format("a step of {} s; it must be greater than 0", size));
  if (from + size > stop_ + tolerance) {
    refuse(fmt::format("a step to t = {} s, past the stop time {} s", from + size, stop_));
  }
  if (!event_mode_used_) return;
  if (at_event()) refuse(fmt::format("a step from t = {} s, where an event must be handled first", from));
  if (from + size > next_event() + tolerance) {
    refuse(fmt::format("a step to t = {} s, past the event announced for {} s", from + size, next_event()));
  }
}

Time Instance::step(Time from, Duration size, const InputRequest* ask) {
  if (definition_.options.strict) {
    count(Counter::DoStep);
    require_step(from, size);
  }
  configure_if_changed();
  Time reached = from + size;
  if (definition_.options.internal_step > 0.0) {
    reached = advance_in_internal_steps(from, size, ask);
  } else {
    const int degree = ask != nullptr ? coefficients_from_samples(from, size, *ask) : coefficients_from_derivatives();
    advance_with_polynomials(from, size, degree);
  }
  now_[0] = reached;
  set_since_step_ = false;
  forget_results();
  return reached;
}

void Instance::require_intermediate_inputs(std::span<const Reference> references) const {
  if (definition_.options.input_degree == 0) refuse("this FMU has no intermediate update");
  for (const Reference reference : references) {
    const auto place = references_.find(reference);
    if (place && place->group == Group::Input) continue;
    refuse(fmt::format("the value reference {} cannot be set inside a step", reference));
  }
}

bool Instance::asked(const InputRequest& ask, Time t, bool finished) {
  const unsigned before = std::exchange(phase_, kIntermediate);
  const bool wants_to_stop = ask(t, finished);
  if (phase_ != kIntermediate) refuse("a call inside the intermediate update failed");
  phase_ = before;
  return wants_to_stop;
}

/// Intermediate update lets the importer set inputs at single times. Four of them determine a cubic, so that an
/// importer that has cubics loses nothing, and without a call the inputs are constant, to the bit.
int Instance::coefficients_from_samples(Time from, Duration size, const InputRequest& ask) {
  constexpr std::array<double, kMaxInputDegree + 1> kNodes{0.0, 1.0, 2.0, 3.0};  // in thirds of the step
  const Duration third = size / 3.0;
  std::copy(u(), u() + inputs_, coefficients_.begin());
  for (std::size_t k = 1; k < kNodes.size(); ++k) {
    asked(ask, k == 3 ? from + size : from + third * static_cast<double>(k), false);
    std::copy(u(), u() + inputs_, coefficients_.begin() + static_cast<std::ptrdiff_t>(k * inputs_));
  }
  int degree = 0;
  for (std::size_t i = 0; i < inputs_; ++i) {
    std::array<double, kNodes.size()> samples{};
    for (std::size_t k = 0; k < samples.size(); ++k) samples[k] = coefficients_[k * inputs_ + i];
    std::array<double, kNodes.size()> by_thirds{};
    numerics::interpolate(kNodes, samples, by_thirds);
    double scale = 1.0;
    for (std::size_t p = 0; p < by_thirds.size(); ++p, scale /= third) {
      coefficients_[p * inputs_ + i] = by_thirds[p] * scale;
      if (by_thirds[p] != 0.0) degree = std::max(degree, static_cast<int>(p));
    }
  }
  return degree;
}

Time Instance::advance_in_internal_steps(Time from, Duration size, const InputRequest* ask) {
  const Duration inner = definition_.options.internal_step;
  const auto count = static_cast<long>(std::max(1.0, std::ceil(size / inner - 1e-9)));
  std::fill(du(), du() + 2 * inputs_, 0.0);
  for (long k = 0; k < count; ++k) {
    const Duration begin = inner * static_cast<double>(k);
    const Duration end = k + 1 == count ? size : inner * static_cast<double>(k + 1);
    integrate(from + begin, end - begin, InputBlock(u(), inputs_, 0));
    if (ask != nullptr && asked(*ask, from + end, true)) return from + end;
  }
  return from + size;
}

/// Derivatives given for this step; none are left for the next one.
int Instance::coefficients_from_derivatives() {
  std::copy(u(), u() + inputs_, coefficients_.begin());
  if (ahead_degree_ == 0) return 0;
  double factorial = 1.0;
  for (int order = 1; order <= ahead_degree_; ++order) {
    factorial *= order;
    const double* derivatives = ahead(order);
    for (std::size_t i = 0; i < inputs_; ++i) {
      coefficients_[static_cast<std::size_t>(order) * inputs_ + i] = derivatives[i] / factorial;
    }
  }
  std::fill(ahead(1), ahead(1) + kMaxInputDegree * inputs_, 0.0);
  return std::exchange(ahead_degree_, 0);
}

void Instance::integrate(Time from, Duration size, const InputBlock& inputs) {
  if (integration_) {
    integration_->integrate(*model_, from, size, inputs, {x(), states_});
  } else {
    model_->integrate(from, size, inputs, {x(), states_});
  }
}

void Instance::advance_with_polynomials(Time from, Duration size, int degree) {
  const InputBlock inputs(coefficients_.data(), inputs_, degree);
  integrate(from, size, inputs);
  if (degree == 0) {
    std::fill(du(), du() + 2 * inputs_, 0.0);
    return;
  }
  for (std::size_t i = 0; i < inputs_; ++i) {
    u()[i] = inputs.value(i, size);
    du()[i] = inputs.slope(i, size);
    ddu()[i] = inputs.curvature(i, size);
  }
}

}  // namespace entrain::fmukit
