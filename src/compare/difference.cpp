#include "compare/difference.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/signal_range.hpp"
#include "numerics/lagrange.hpp"

namespace entrain::comparing {
namespace {

Course inside(const Course& course, Time from, Time to) {
  const auto first = std::lower_bound(course.times.begin(), course.times.end(), from) - course.times.begin();
  const auto last = std::upper_bound(course.times.begin(), course.times.end(), to) - course.times.begin();
  const auto begin = static_cast<std::size_t>(first);
  const auto size = static_cast<std::size_t>(std::max(last - first, std::ptrdiff_t{0}));
  return {course.times.subspan(begin, size), course.values.subspan(begin, size)};
}

/// Two samples at almost the same time are the sides of a jump. The other run may have recorded the later one only.
bool is_before_a_jump(std::span<const Time> times, std::size_t i) {
  constexpr double kSame = 1e-6;  // of a step, in the mean
  const double steps = static_cast<double>(times.size()) - 1.0;
  return i + 1 < times.size() && times[i + 1] - times[i] <= kSame * (times.back() - times.front()) / steps;
}

/// Walks forward: asked for ascending times only.
class Interpolation {
 public:
  Interpolation(const Course& course, Between between) : course_(course), between_(between) {}

  double at(Time t) {
    while (next_ < course_.times.size() && course_.times[next_] <= t) ++next_;
    if (next_ == 0) return course_.values.front();
    const std::size_t left = next_ - 1;
    if (course_.times[left] == t || next_ == course_.times.size()) return course_.values[left];
    const std::size_t before = between_ == Between::Cubics && has_neighbour(left, -1) ? left - 1 : left;
    const std::size_t behind = between_ == Between::Cubics && has_neighbour(next_, 1) ? next_ + 1 : next_;
    return polynomial(before, behind, t);
  }

 private:
  /// A neighbour much nearer than the piece is long would make the cubic swing.
  bool has_neighbour(std::size_t knot, int side) const {
    constexpr double kLeastSpacing = 0.25;
    if (side < 0 ? knot == 0 : knot + 1 == course_.times.size()) return false;
    const std::size_t neighbour = side < 0 ? knot - 1 : knot + 1;
    const Duration piece = course_.times[next_] - course_.times[next_ - 1];
    return std::abs(course_.times[neighbour] - course_.times[knot]) >= kLeastSpacing * piece;
  }
  /// Through the samples from `first` to `last`.
  double polynomial(std::size_t first, std::size_t last, Time t) const {
    std::array<double, 4> weights{};
    numerics::lagrange_weights(course_.times.subspan(first, last - first + 1), t, weights);
    double value = 0.0;
    for (std::size_t k = first; k <= last; ++k) value += weights[k - first] * course_.values[k];
    return value;
  }

  const Course& course_;
  Between between_;
  std::size_t next_ = 0;  // the first sample after the time asked for
};

}  // namespace

double size_of(std::span<const double> values) {
  const auto range = base::SignalRange::of(values);
  if (!(range.low <= range.high)) return 0.0;  // no number among them
  return range.span_or_magnitude();
}

DifferenceCourse difference_course(const Course& run, const Course& reference, Between between) {
  if (run.times.empty() || reference.times.empty()) return {};
  const Time from = std::max(run.times.front(), reference.times.front());
  const Time to = std::min(run.times.back(), reference.times.back());
  const auto run_inside = inside(run, from, to);
  const auto reference_inside = inside(reference, from, to);
  const bool run_is_coarser = run_inside.times.size() <= reference_inside.times.size();
  const Course& coarse = run_is_coarser ? run_inside : reference_inside;
  const double sign = run_is_coarser ? 1.0 : -1.0;
  DifferenceCourse course;
  Interpolation fine(run_is_coarser ? reference : run, between);
  for (std::size_t i = 0; i < coarse.times.size(); ++i) {
    if (is_before_a_jump(coarse.times, i)) continue;
    course.times.push_back(coarse.times[i]);
    course.values.push_back(sign * (coarse.values[i] - fine.at(coarse.times[i])));
  }
  return course;
}

std::optional<Difference> difference(const Course& run, const Course& reference, double least_size, Between between) {
  const auto [times, values] = difference_course(run, reference, between);
  if (times.empty()) return std::nullopt;
  Difference result;
  double integral = 0.0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (i > 0) {
      const double squares = values[i - 1] * values[i - 1] + values[i] * values[i];
      integral += 0.5 * squares * (times[i] - times[i - 1]);
    }
    const double distance = std::abs(values[i]);
    if (distance <= result.max || std::isnan(result.max)) continue;
    result.max = distance;
    result.at = times[i];
  }
  const double length = times.back() - times.front();
  result.rms = length > 0.0 ? std::sqrt(integral / length) : result.max;
  const double size = std::max(size_of(reference.values), least_size);
  if (result.rms == 0.0) {
    result.relative = 0.0;
  } else if (size > 0.0 || std::isnan(result.rms)) {
    result.relative = result.rms / size;
  }
  return result;
}

}  // namespace entrain::comparing
