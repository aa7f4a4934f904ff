#include "record/octave_counts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace entrain::recording {
namespace {

constexpr int kLowest = -128;  // the exponent of all that counts as 0
constexpr int kHighest = 127;  // with all that is larger, and infinity
constexpr std::size_t kOctaves = kHighest - kLowest + 1;

/// Of a double: its exponent, as std::ilogb, counted from the lowest; 0 and what is nearly 0 lie below that, infinity
/// and NaN far above the highest.
int octave_of(double size) {
  constexpr unsigned kFraction = 52;
  constexpr int kBias = 1023;
  return static_cast<int>(std::bit_cast<std::uint64_t>(size) >> kFraction) - kBias - kLowest;
}

}  // namespace

OctaveCounts::OctaveCounts(std::size_t channels) : counts_(channels * kOctaves) {}

void OctaveCounts::add(std::span<const double> sizes) {
  std::uint64_t* counts = counts_.data();
  constexpr int kLast = kHighest - kLowest;
  for (const double size : sizes) {
    const int octave = std::max(octave_of(size), 0);
    if (octave <= kLast) {
      ++counts[octave];
    } else if (!std::isnan(size)) {
      ++counts[kLast];
    }
    counts += kOctaves;
  }
}

double OctaveCounts::quantile(std::size_t channel, double part) const {
  const auto counts = std::span(counts_).subspan(channel * kOctaves, kOctaves);
  const auto all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (all == 0) return std::numeric_limits<double>::quiet_NaN();
  double left = std::max(1.0, std::ceil(part * static_cast<double>(all)));
  std::size_t octave = 0;
  for (; octave + 1 < kOctaves && left > static_cast<double>(counts[octave]); ++octave) {
    left -= static_cast<double>(counts[octave]);
  }
  if (octave == 0) return 0.0;
  if (octave + 1 == kOctaves) return std::numeric_limits<double>::infinity();
  return std::exp2(kLowest + static_cast<double>(octave) + left / static_cast<double>(counts[octave]));
}

}  // namespace entrain::recording
