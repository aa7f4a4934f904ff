#include "methods/calendar.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::method {

std::optional<std::uint64_t> whole_ratio(Duration a, Duration b) {
  const double ratio = std::round(a / b);
  if (!(ratio >= 1.0) || std::abs(a / b - ratio) > 1e-9 * ratio) return std::nullopt;
  return static_cast<std::uint64_t>(ratio);
}

Rhythm rhythm_of(const Capabilities& can, Duration macro_step) {
  if (can.imposed_step) {
    return {static_cast<std::uint32_t>(whole_ratio(*can.imposed_step, macro_step).value_or(1)),
            static_cast<int>(whole_ratio(macro_step, *can.imposed_step).value_or(1))};
  }
  if (can.max_step && *can.max_step < macro_step) {
    return {1, static_cast<int>(std::ceil(macro_step / *can.max_step - 1e-9))};
  }
  return {};
}

void Calendar::start(const CoupledSystem& system, const RunSettings& settings) {
  grid_ = base::Grid(settings.start, settings.stop, settings.step);
  window_ = {{settings.start, 0.0, settings.start}};  // as if one had ended there
  stop_ = settings.stop;
  span_.assign(system.size(), 1);
  parts_.assign(system.size(), 1);
  in_step_ = true;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const Rhythm rhythm = rhythm_of(system.capabilities(SubsystemId{s}), settings.step);
    span_[s] = rhythm.span;
    parts_[s] = rhythm.parts;
    in_step_ = in_step_ && span_[s] == 1 && parts_[s] == 1;
  }
}

void Calendar::choose(std::uint64_t step, Time from, Duration size) {
  // A rest too small to be a step of its own is taken with the last one.
  constexpr double kRest = 1e-6;
  const bool last = base::reached(from + (1.0 + kRest) * size, stop_);
  window_ = {{from, last ? stop_ - from : size, last ? stop_ : from + size}, step};
}

StepTask Calendar::unusual_task(SubsystemId s, int degree) const {
  if (span_[s] > 1) {
    const std::uint64_t begin = window_.step + 1 - span_[s];
    return {s, grid_.time(begin), static_cast<double>(span_[s]) * grid_.step(), degree, 1, window_.to};
  }
  // A shorter last step holds fewer parts.
  const double share = window_.size / grid_.step();
  const int parts = std::max(1, static_cast<int>(std::ceil(parts_[s] * share - 1e-9)));
  return {s, window_.from, window_.size, degree, parts, window_.to};
}

}  // namespace entrain::method
