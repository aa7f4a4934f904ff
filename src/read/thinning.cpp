#include "read/thinning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace entrain::reading {
namespace {

constexpr std::size_t kMostPerSpan = 5;  // samples
constexpr std::size_t kEvenShare = 8;    // of the samples, one in so many is spread evenly, however smooth the curve is
constexpr std::size_t kShortest = 8;     // samples of a span that is worth splitting

/// The spans of a curve, the roughest of which is split until there are enough.
class Spans {
 public:
  Spans(std::span<const Time> times, std::span<const double> values) : times_(times), values_(values) {}

  std::vector<std::size_t> drawn(std::size_t most) {
    const std::size_t even = std::max<std::size_t>(1, most / (kMostPerSpan * kEvenShare));
    for (std::size_t i = 0; i < even; ++i) add(i * values_.size() / even, (i + 1) * values_.size() / even);
    constexpr std::size_t kMostAdded = 2 * kMostPerSpan - 1;
    while (picked_ + kMostAdded <= most && spans_.top().roughness > 0.0) split();
    return chosen();
  }

 private:
  struct Span {
    std::size_t first, end;
    std::size_t picked;
    double roughness;  // how far samples are from the lines that are drawn
    bool operator<(const Span& other) const { return roughness < other.roughness; }
  };

  std::vector<std::size_t> picked(std::size_t first, std::size_t end) const {
    std::size_t lowest = end;
    std::size_t highest = end;
    std::size_t gap = end;
    for (std::size_t i = first; i < end; ++i) {
      if (!std::isfinite(values_[i])) {
        gap = i;
      } else {
        if (lowest == end || values_[i] < values_[lowest]) lowest = i;
        if (highest == end || values_[i] > values_[highest]) highest = i;
      }
    }
    const auto or_first = [&](std::size_t found) { return found == end ? first : found; };
    std::vector<std::size_t> picked{first, or_first(lowest), or_first(highest), or_first(gap), end - 1};
    std::sort(picked.begin(), picked.end());
    picked.erase(std::unique(picked.begin(), picked.end()), picked.end());
    return picked;
  }

  void add(std::size_t first, std::size_t end) {
    double roughness = 0.0;
    const auto ends = picked(first, end);
    if (end - first >= kShortest) {
      for (std::size_t k = 1; k < ends.size(); ++k) roughness = std::max(roughness, distance(ends[k - 1], ends[k]));
    }
    spans_.push({first, end, ends.size(), roughness});
    picked_ += ends.size();
  }

  /// Of the samples between two from the line that joins them; where one is not finite, from the other.
  double distance(std::size_t from, std::size_t to) const {
    const double start = std::isfinite(values_[from]) ? values_[from] : values_[to];
    const double end = std::isfinite(values_[to]) ? values_[to] : start;
    const Duration length = times_[to] - times_[from];
    const double slope = length > 0.0 ? (end - start) / length : 0.0;
    double largest = 0.0;
    for (std::size_t i = from + 1; i < to; ++i) {
      const double away = std::abs(values_[i] - (start + slope * (times_[i] - times_[from])));
      if (away > largest) largest = away;  // never NaN
    }
    return largest;
  }

  void split() {
    const Span span = spans_.top();
    spans_.pop();
    picked_ -= span.picked;
    const std::size_t middle = span.first + (span.end - span.first) / 2;
    add(span.first, middle);
    add(middle, span.end);
  }

  std::vector<std::size_t> chosen() {
    std::vector<Span> all;
    all.reserve(spans_.size());
    for (; !spans_.empty(); spans_.pop()) all.push_back(spans_.top());
    std::sort(all.begin(), all.end(), [](const Span& a, const Span& b) { return a.first < b.first; });
    std::vector<std::size_t> chosen;
    for (const Span& span : all) {
      const auto samples = picked(span.first, span.end);
      chosen.insert(chosen.end(), samples.begin(), samples.end());
    }
    return chosen;
  }

  std::span<const Time> times_;
  std::span<const double> values_;
  std::priority_queue<Span> spans_;
  std::size_t picked_ = 0;  // of all
};

}  // namespace

std::vector<std::size_t> drawn_samples(std::span<const Time> times, std::span<const double> values, std::size_t most) {
  if (values.size() > most) return Spans(times, values).drawn(most);
  std::vector<std::size_t> all(values.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace entrain::reading
