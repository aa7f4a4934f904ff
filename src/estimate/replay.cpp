#include "estimate/replay.hpp"

namespace entrain::estimate {

bool crosses_event(std::span<const Time> times, std::size_t k) {
  constexpr double kCrossing = 1e-6;  // step controls go down to a thousandth of a step
  return k >= 2 && times[k] - times[k - 1] < kCrossing * (times[k - 1] - times[k - 2]);
}

std::vector<Time> merged_steps(std::span<const Time> times, std::size_t of) {
  std::vector<Time> merged;
  std::size_t since_kept = 0;
  for (std::size_t k = 0; k < times.size(); ++k, ++since_kept) {
    const bool ends_at_event = k + 1 < times.size() && crosses_event(times, k + 1);
    const bool keep = k == 0 || k + 1 == times.size() || since_kept == of || ends_at_event || crosses_event(times, k);
    if (!keep) continue;
    merged.push_back(times[k]);
    since_kept = 0;
  }
  return merged;
}

std::vector<Time> divided_steps(std::span<const Time> times, std::size_t into) {
  std::vector<Time> divided;
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (k > 0 && !crosses_event(times, k)) {
      for (std::size_t i = 1; i < into; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(into);
        divided.push_back(times[k - 1] + share * (times[k] - times[k - 1]));
      }
    }
    divided.push_back(times[k]);
  }
  return divided;
}

}  // namespace entrain::estimate
