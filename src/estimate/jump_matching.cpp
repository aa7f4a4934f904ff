#include "estimate/jump_matching.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::estimate {
namespace {

// Of the range: jumps to be matched, and jumps that must be.
constexpr double kNoticed = 0.02;
constexpr double kLarge = 0.1;

bool alike(const Jump& a, const Jump& b) {
  constexpr double kAlike = 2.0;
  return a.size * b.size > 0.0 && std::abs(a.size) <= kAlike * std::abs(b.size) &&
         std::abs(b.size) <= kAlike * std::abs(a.size);
}

}  // namespace

std::vector<Jump> jumps_of(std::span<const double> values, double least_size) {
  constexpr double kFarMore = 8.0;
  std::vector<Jump> jumps;
  for (std::size_t k = 1; k + 2 < values.size(); ++k) {
    const double change = values[k + 1] - values[k];
    const double around = std::max(std::abs(values[k] - values[k - 1]), std::abs(values[k + 2] - values[k + 1]));
    if (std::abs(change) >= least_size && std::abs(change) > kFarMore * around) jumps.push_back({k, change});
  }
  return jumps;
}

MatchedJumps match_jumps(std::span<const double> one, std::span<const double> other, double range) {
  const auto a = jumps_of(one, kNoticed * range);
  const auto b = jumps_of(other, kNoticed * range);
  const auto is_large = [&](const Jump& jump) { return std::abs(jump.size) > kLarge * range; };
  MatchedJumps result;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (alike(a[i], b[j])) {
      const auto [first, last] = std::minmax(a[i].row, b[j].row);
      result.pairs.push_back({first + 1, last + 1});
      ++i;
      ++j;
    } else if (a[i].row <= b[j].row) {
      result.unmatched += is_large(a[i++]) ? 1 : 0;
    } else {
      result.unmatched += is_large(b[j++]) ? 1 : 0;
    }
  }
  for (; i < a.size(); ++i) result.unmatched += is_large(a[i]) ? 1 : 0;
  for (; j < b.size(); ++j) result.unmatched += is_large(b[j]) ? 1 : 0;
  return result;
}

}  // namespace entrain::estimate
