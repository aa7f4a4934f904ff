#include "cli/sparkline.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace entrain::cli {
namespace {

constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

/// The middle between lowest and highest of some spans; NaN when nothing is known.
double middle(const Envelope& course, std::size_t channel, std::size_t first, std::size_t end) {
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = low;
  for (std::size_t span = first; span < end; ++span) {
    low = std::fmin(low, course.low(span, channel));
    high = std::fmax(high, course.high(span, channel));
  }
  return 0.5 * (low + high);
}

}  // namespace

std::string sparkline(const Envelope& course, std::size_t channel, std::size_t width) {
  const std::size_t characters = std::min(width, course.size());
  std::vector<double> heights;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (std::size_t i = 0; i < characters; ++i) {
    heights.push_back(middle(course, channel, i * course.size() / characters, (i + 1) * course.size() / characters));
    low = std::fmin(low, heights.back());
    high = std::fmax(high, heights.back());
  }
  std::string text;
  for (const double height : heights) {
    if (!std::isfinite(height)) {
      text += ' ';
      continue;
    }
    const double part = high > low ? (height - low) / (high - low) : 0.5;
    text += kBlocks[static_cast<std::size_t>(part * (kBlocks.size() - 1) + 0.5)];
  }
  return text;
}

}  // namespace entrain::cli
