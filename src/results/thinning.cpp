#include "results/thinning.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace entrain {
namespace {

constexpr std::size_t kPerSpan = 4;

void add_span(std::span<const double> values, std::size_t first, std::size_t end, std::vector<std::size_t>& chosen) {
  std::size_t lowest = end;
  std::size_t highest = end;
  std::size_t gap = end;
  for (std::size_t i = first; i < end; ++i) {
    if (!std::isfinite(values[i])) {
      gap = i;
    } else {
      if (lowest == end || values[i] < values[lowest]) lowest = i;
      if (highest == end || values[i] > values[highest]) highest = i;
    }
  }
  const auto or_first = [&](std::size_t found) { return found == end ? first : found; };
  std::array picked{first, or_first(lowest), or_first(highest), or_first(gap), end - 1};
  std::sort(picked.begin(), picked.end());
  chosen.insert(chosen.end(), picked.begin(), std::unique(picked.begin(), picked.end()));
}

}  // namespace

std::vector<std::size_t> drawn_samples(std::span<const double> values, std::size_t most) {
  std::vector<std::size_t> chosen;
  if (values.size() <= most) {
    chosen.resize(values.size());
    std::iota(chosen.begin(), chosen.end(), std::size_t{0});
    return chosen;
  }
  const std::size_t spans = std::max<std::size_t>(1, most / kPerSpan);
  for (std::size_t span = 0; span < spans; ++span) {
    add_span(values, span * values.size() / spans, (span + 1) * values.size() / spans, chosen);
  }
  return chosen;
}

}  // namespace entrain
