#include "estimate/error_course.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::estimate {
namespace {

constexpr double kLinearSafety = 1.25;
constexpr double kNonlinearSafety = 3.0;
// Of the range: beyond, the linearized error of a nonlinear motion means no more than "large".
constexpr double kSaturated = 0.3;

double rms(double squares, double length) {
  return length > 0.0 ? std::sqrt(squares / length) : 0.0;
}

}  // namespace

void ErrorCourse::begin(const RunSettings& settings, const Point& point) {
  *this = ErrorCourse();
  settings_ = settings;
  latest_ = point.t;
  take(point);
}

void ErrorCourse::take(const Point& point) {
  const Duration length = point.t - latest_;
  latest_ = point.t;
  last_ = point.value;
  run_.take(point.value);
  better_.take(point.value - point.error);
  const double share = (point.t - settings_.start) / (settings_.stop - settings_.start);
  const auto part = std::min(static_cast<std::size_t>(share * static_cast<double>(kParts)), kParts - 1);
  const double square = length * point.error * point.error;
  squares_ += square;
  squares_of_part_[part] += square;
  length_ += length;
  length_of_part_[part] += length;
  doubts_ += length * point.doubt * point.doubt;
  if (!(std::abs(point.error) <= largest_)) largest_ = std::abs(point.error);
}

OutputError ErrorCourse::result(bool linear) const {
  OutputError result;
  result.estimate = EstimateKind::Propagated;
  result.last = last_;
  result.valid_until = latest_;
  // A run that has blown up is measured by the motion that it missed, and the other way round.
  result.range = std::min(run_.span(), better_.span());
  const double resting = base::size_floor::kResting * std::min(run_.magnitude(), better_.magnitude());
  const double size = base::divisible_size(std::max(result.range, resting));
  result.error = rms(squares_, length_) / size;
  result.max_error = largest_ / size;
  result.bound = (linear ? kLinearSafety : kNonlinearSafety) * result.error + rms(doubts_, length_) / size;
  const Duration length = (settings_.stop - settings_.start) / kParts;
  for (std::size_t part = 0; part < kParts; ++part) {
    const Time from = settings_.start + length * static_cast<double>(part);
    if (from >= latest_) break;
    const double before = result.course.empty() ? 0.0 : result.course.back();
    const bool empty = length_of_part_[part] == 0.0;  // a step longer than a part
    result.course.push_back(empty ? before : rms(squares_of_part_[part], length_of_part_[part]) / size);
    if (!linear && result.course.back() > kSaturated) result.valid_until = std::min(result.valid_until, from);
  }
  return result;
}

}  // namespace entrain::estimate
