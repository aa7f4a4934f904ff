#include "sweep/bands.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace entrain::sweeping {
namespace {

/// Between the two nearest of the sorted values.
double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

std::vector<SweepBand> bands_of(const Courses& courses, const std::vector<std::pair<std::string, std::string>>& signals,
                                std::size_t times) {
  std::vector<SweepBand> bands;
  std::vector<double> values;
  for (std::size_t s = 0; s < signals.size(); ++s) {
    SweepBand& band = bands.emplace_back();
    std::tie(band.signal, band.unit) = signals[s];
    const std::array<std::pair<std::vector<double>*, double>, 5> lines{
        {{&band.p5, 0.05}, {&band.p25, 0.25}, {&band.p50, 0.5}, {&band.p75, 0.75}, {&band.p95, 0.95}}};
    for (std::size_t t = 0; t < times; ++t) {
      values.clear();
      for (const auto& [number, course] : courses) {
        if (const double value = course[s * times + t]; std::isfinite(value)) values.push_back(value);
      }
      std::sort(values.begin(), values.end());
      for (const auto& [line, share] : lines) line->push_back(percentile(values, share));
    }
  }
  return bands;
}

}  // namespace entrain::sweeping
