#include "masters/calendar.hpp"

#include <cmath>

namespace entrain {

std::optional<std::uint64_t> whole_ratio(Duration a, Duration b) {
  const double ratio = std::round(a / b);
  if (!(ratio >= 1.0) || std::abs(a / b - ratio) > 1e-9 * ratio) return std::nullopt;
  return static_cast<std::uint64_t>(ratio);
}

void Calendar::start(const CoupledSystem& system, const RunSettings& settings) {
  grid_ = Grid(settings.start, settings.stop, settings.step);
  span_.assign(system.size(), 1);
  parts_.assign(system.size(), 1);
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    if (can.imposed_step) {
      span_[s] = static_cast<std::uint32_t>(whole_ratio(*can.imposed_step, settings.step).value_or(1));
      parts_[s] = static_cast<int>(whole_ratio(settings.step, *can.imposed_step).value_or(1));
    } else if (can.max_step && *can.max_step < settings.step) {
      parts_[s] = static_cast<int>(std::ceil(settings.step / *can.max_step - 1e-9));
    }
  }
}

Duration Calendar::size(SubsystemId s, std::uint64_t step) const {
  return span_[s] == 1 ? grid_.size(step) : static_cast<double>(span_[s]) * grid_.step();
}

StepTask Calendar::task(SubsystemId s, std::uint64_t step, int degree) const {
  const std::uint64_t begin = begin_of(s, step);
  const Duration step_size = size(s, begin);
  int parts = parts_[s];
  if (parts > 1 && step_size < grid_.step()) {  // a shorter last step holds fewer parts
    parts = std::max(1, static_cast<int>(std::ceil(parts * step_size / grid_.step() - 1e-9)));
  }
  return {s, grid_.time(begin), step_size, degree, parts, grid_.time(step + 1)};
}

}  // namespace entrain
