#include "analysis/stable_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "numerics/golden_section.hpp"

namespace entrain::analysis {
namespace {

constexpr double kVisible = 1e-7;  // changes of the radius below are rounding, as of a double eigenvalue
constexpr int kParts = 8;          // of the spacing, near the limits
constexpr double kLargestPhase = std::numbers::pi / 24.0;  // the radius has a period of about pi

struct Point {
  double value = 0.0;
  StabilityAt at;

  bool stable() const { return at.radius < 1.0; }
};

/// One after the other from below, with what lies between them.
class Scan {
 public:
  Scan(const SearchRange& search, base::FunctionRef<StabilityAt(double)> stability)
      : search_(search), stability_(stability) {}

  /// Up to the next point of the grid; false where the search ends.
  bool advance() {
    if (next_ == search_.points) return false;
    const Point to = judged(search_.at(next_++));
    if (points_.empty()) {
      points_.push_back(to);
      return true;
    }
    Point from = points_.back();
    const double parts = std::max(1.0, std::ceil(std::abs(to.at.phase - from.at.phase) / kLargestPhase));
    if (judged_ + parts > search_.most) return false;
    const double width = (to.value - from.value) / parts;
    for (double left = parts - 1.0; left > 0.0; --left) {
      const Point next = judged(to.value - left * width);
      bridge(from, next);
      from = next;
    }
    bridge(from, to);
    return true;
  }

  /// The ranges between the first point and the last.
  StableRanges ranges() const {
    StableRanges result{{}, {points_.front().value, points_.back().value}};
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const Point& here = points_[i];
      const bool before = i > 0 && points_[i - 1].stable();
      if (here.stable() && !before) {
        result.ranges.push_back({i == 0 ? here.value : limit_between(here, points_[i - 1]), here.value});
      }
      if (here.stable()) result.ranges.back().high = here.value;
      if (!here.stable() && before) result.ranges.back().high = limit_between(points_[i - 1], here);
    }
    return result;
  }
  bool left_stability() const {
    return std::any_of(points_.begin(), points_.end(), [](const Point& of) { return !of.stable(); });
  }

 private:
  Point judged(double value) const {
    ++judged_;
    Point point{value, stability_(value)};
    if (std::isnan(point.at.radius)) point.at.radius = std::numeric_limits<double>::infinity();
    return point;
  }
  /// Goes on from one point to the next; in smaller steps where the radius comes near to 1, because another eigenvalue
  /// may take over there.
  void bridge(const Point& from, const Point& to) {
    const double change = std::abs(to.at.radius - from.at.radius);
    const double nearest = std::min(std::abs(from.at.radius - 1.0), std::abs(to.at.radius - 1.0));
    const double steepest = std::max(change, last_change_);
    if (steepest > kVisible && nearest < steepest) {
      for (int part = 1; part < kParts; ++part) add(judged(from.value + (to.value - from.value) * part / kParts));
    }
    last_change_ = change;
    add(to);
  }
  void add(const Point& point) {
    points_.push_back(point);
    if (points_.size() > 2) look_behind(points_.size() - 3);
  }

  /// Between three points on the same side of 1: an extremum can reach over to the other side.
  void look_behind(std::size_t first) {
    const Point& low = points_[first];
    const Point& middle = points_[first + 1];
    const Point& high = points_[first + 2];
    const double sign = middle.stable() ? 1.0 : -1.0;
    const auto height = [&](const Point& of) { return sign * (of.at.radius - 1.0); };
    if (!(height(middle) >= height(low) && height(middle) >= height(high))) return;
    // A peak rises above the highest of its points by no more than this falls to its neighbours, or little more.
    constexpr double kSteepest = 4.0;
    const double fall = height(middle) - std::min(height(low), height(high));
    if (!(fall > kVisible && -height(middle) <= kSteepest * fall)) return;
    constexpr double kWidth = 1e-4;
    const auto rise = [&](double value) { return height(judged(value)); };
    const numerics::Peak peak =
        numerics::golden_section(low.value, high.value, kWidth * (high.value - low.value), rise, 0.0);
    const Point found = judged(peak.at);
    if (found.stable() == middle.stable()) return;
    const bool behind = found.value > middle.value;
    points_.insert(points_.begin() + static_cast<std::ptrdiff_t>(first + (behind ? 2 : 1)), found);
  }

  /// To rounding, by secants that are kept near enough to the middle to need no more than halving does (ITP).
  double limit_between(const Point& stable, const Point& unstable) const {
    double a = stable.value;
    double b = unstable.value;
    double below = stable.at.radius - 1.0;
    double above = std::min(1.0, unstable.at.radius - 1.0);
    const double rounding = 2.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(a), std::abs(b));
    const double whole = std::abs(b - a);
    double reach = 2.0 * rounding * std::exp2(std::ceil(std::log2(whole / rounding)));
    while (std::abs(b - a) > rounding) {
      reach *= 0.5;
      const double middle = 0.5 * (a + b);
      const double secant = a + (b - a) * (below / (below - above));
      const double towards = middle > secant ? 1.0 : -1.0;
      const double margin = std::max(0.5 * rounding, 0.2 / whole * (b - a) * (b - a));
      const double inner = std::abs(middle - secant) > margin ? secant + towards * margin : middle;
      const double most = reach - 0.5 * std::abs(b - a);
      const double value = std::abs(inner - middle) <= most ? inner : middle - towards * most;
      const Point at = judged(value);
      if (value == a || value == b) break;
      (at.stable() ? a : b) = value;
      (at.stable() ? below : above) = std::min(1.0, at.at.radius - 1.0);
    }
    return a;
  }

  SearchRange search_;
  base::FunctionRef<StabilityAt(double)> stability_;
  int next_ = 0;
  mutable int judged_ = 0;
  double last_change_ = 0.0;  // of the radius
  std::vector<Point> points_;
};

}  // namespace

double SearchRange::at(int point) const {
  if (point + 1 == points) return high;
  const double share = point / (points - 1.0);
  return low > 0.0 ? low * std::pow(high / low, share) : low + share * (high - low);
}

StableRanges stable_ranges(const SearchRange& search, base::FunctionRef<StabilityAt(double)> stability) {
  Scan scan(search, stability);
  while (scan.advance()) continue;
  return scan.ranges();
}

double first_limit(const SearchRange& search, base::FunctionRef<StabilityAt(double)> stability) {
  Scan scan(search, stability);
  while (scan.advance() && !scan.left_stability()) continue;
  return scan.ranges().ranges.front().high;
}

}  // namespace entrain::analysis
