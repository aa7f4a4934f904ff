#include "verify/output_courses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/grid.hpp"
#include "numerics/lagrange.hpp"

namespace entrain::verifying {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void OutputCourses::begin(std::span<const Signal> signals, const RunSummary& summary) {
  groups_.resize(summary.subsystems.size());
  for (std::size_t i = 0; i < signals.size(); ++i) {
    if (signals[i].causality != Causality::Output || signals[i].discrete) continue;
    auto& group = groups_[signals[i].subsystem];
    group.outputs.push_back(outputs.size());
    group.signals.push_back(i);
    outputs.push_back({signals[i].name, signals[i].unit, {}});
  }
}

void OutputCourses::communicated(const Sample& sample, const RunSummary&) {
  for (std::size_t s = 0; s < groups_.size(); ++s) {
    if (sample.communicated[s] == 0) continue;
    auto& group = groups_[s];
    if (first_ == nullptr) {
      group.times.push_back(sample.t);
      for (std::size_t i = 0; i < group.signals.size(); ++i) {
        outputs[group.outputs[i]].values.push_back(sample.values[group.signals[i]]);
      }
      continue;
    }
    add_knot(group, sample);
    // A cubic has a knot on either side of its piece, so the piece before the latest is the one to be used.
    if (group.known >= 3) fill(s, group.knots[group.known - 2].t, group.known - 3);
  }
}

void OutputCourses::add_knot(Group& group, const Sample& sample) {
  const bool again =
      group.known > 0 && base::same_time(group.knots[group.known - 1].t, sample.t);  // the later value counts
  if (!again && group.known == group.knots.size()) {
    std::rotate(group.knots.begin(), group.knots.begin() + 1, group.knots.end());
  } else if (!again) {
    ++group.known;
  }
  auto& knot = group.knots[group.known - 1];
  knot.t = sample.t;
  knot.values.resize(group.signals.size());
  for (std::size_t i = 0; i < group.signals.size(); ++i) knot.values[i] = sample.values[group.signals[i]];
}

/// Of the knots, in the value at `t`: by the polynomial through those from `begin` to `end`.
std::array<double, 4> OutputCourses::weights_at(Time t, const Group& group, std::size_t begin, std::size_t end) {
  const auto& knots = group.knots;
  std::array<double, 4> weights{};
  for (std::size_t k = 0; k < group.known; ++k) {
    if (!base::same_time(knots[k].t, t)) continue;
    weights[k] = 1.0;
    return weights;
  }
  std::array<double, 4> nodes{};
  for (std::size_t k = begin; k < end; ++k) nodes[k] = knots[k].t;
  const std::size_t count = end - begin;
  if (t < knots[begin].t) {  // nothing is known before the first communication
    std::fill_n(weights.begin() + static_cast<std::ptrdiff_t>(begin), count, kUnknown);
  } else {
    numerics::lagrange_weights(std::span(nodes).subspan(begin, count), t, std::span(weights).subspan(begin, count));
  }
  return weights;
}

/// Over the piece behind `left` the output changes far more than its neighbours would have it: a step that ends at an
/// event shows only what is behind it.
bool OutputCourses::jumps(const Group& group, std::size_t left, std::size_t output) {
  constexpr double kFarMore = 8.0;
  constexpr double kMore =
      2.0;  // behind a jump much may happen, but where something only begins to move, it goes on so
  if (left == 0 || left + 2 >= group.known) return false;
  const auto& knots = group.knots;
  const auto change = [&](std::size_t k) { return std::abs(knots[k + 1].values[output] - knots[k].values[output]); };
  const auto length = [&](std::size_t k) { return knots[k + 1].t - knots[k].t; };
  const double slope = change(left) / length(left);
  return slope > kFarMore * change(left - 1) / length(left - 1) && slope > kMore * change(left + 1) / length(left + 1);
}

double OutputCourses::before_the_jump(Time t, const Group& group, std::size_t left, std::size_t output) {
  const auto& here = group.knots[left];
  const auto& earlier = group.knots[left - 1];
  const double slope = (here.values[output] - earlier.values[output]) / (here.t - earlier.t);
  return here.values[output] + slope * (t - here.t);
}

void OutputCourses::fill(std::size_t subsystem, Time until, std::size_t left) {
  // Neighbours much nearer than the piece is long would make the cubic swing.
  constexpr double kLeastSpacing = 0.25;
  auto& group = groups_[subsystem];
  const auto& knots = group.knots;
  const std::size_t right = std::min(left + 1, group.known - 1);
  const Duration nearest = kLeastSpacing * (knots[right].t - knots[left].t);
  const bool one_before = left > 0 && knots[left].t - knots[left - 1].t >= nearest;
  const bool one_behind = right + 1 < group.known && knots[right + 1].t - knots[right].t >= nearest;
  const auto& wanted = first_->groups_[subsystem].times;
  for (; group.next < wanted.size() && base::reached(until, wanted[group.next]); ++group.next) {
    const auto weights =
        weights_at(wanted[group.next], group, left - (one_before ? 1 : 0), right + 1 + (one_behind ? 1 : 0));
    const bool at_a_knot = std::count(weights.begin(), weights.end(), 0.0) == 3;
    for (std::size_t i = 0; i < group.outputs.size(); ++i) {
      double value = 0.0;
      if (!at_a_knot && jumps(group, left, i)) {
        value = before_the_jump(wanted[group.next], group, left, i);
      } else {
        for (std::size_t k = 0; k < group.known; ++k) {
          if (weights[k] != 0.0) value += weights[k] * knots[k].values[i];
        }
      }
      outputs[group.outputs[i]].values.push_back(value);
    }
  }
}

void OutputCourses::end(const RunSummary&) {
  if (first_ == nullptr) return;
  for (std::size_t s = 0; s < groups_.size(); ++s) {
    const auto& group = groups_[s];
    if (group.known > 0) fill(s, group.knots[group.known - 1].t, group.known - std::min<std::size_t>(group.known, 2));
  }
}

}  // namespace entrain::verifying
