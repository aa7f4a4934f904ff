#include "record/uniform_rows.hpp"

#include <algorithm>
#include <cmath>

#include "entrain/fact_codes.hpp"

namespace entrain::recording {
namespace {

// Beyond this, neighbouring row times can be the same double.
constexpr double kMostIntervals = 1e15;

// A difference below this part of the interval is rounding. Relative to the interval, not to the time: near t = 0 the
// rounding is that of the start time.
constexpr double kRounding = 1e-9;

/// Cubic Hermite, or a straight line when a slope is not known; `share` in 0..1 of the piece.
double interpolated(const numerics::CubicHermite& piece, double share) {
  const bool slopes_known = std::isfinite(piece.left.slope) && std::isfinite(piece.right.slope);
  return slopes_known ? piece.at(share) : piece.left.value + share * (piece.right.value - piece.left.value);
}

double slope_of(const Sample& sample, std::size_t signal) {
  return sample.slopes.empty() ? std::nan("") : sample.slopes[signal];
}

}  // namespace

UniformRows::UniformRows(Time start, Time stop, const Written<double>& interval,
                         const std::vector<std::size_t>& signals, const std::vector<std::size_t>& subsystems)
    : start_(start), interval_(interval.value), values_(signals.size()), known_(signals.size()) {
  if (!(interval_ > 0.0) || !((stop - start) / interval_ < kMostIntervals)) {
    throw Error({problem_of({FactCode::NoUsableRows, {}, {{"interval", interval_, "s"}}},
                            "give an interval > 0 that is not tiny beside the run", interval.where)});
  }
  for (std::size_t column = 0; column < signals.size(); ++column) {
    auto group = std::find_if(groups_.begin(), groups_.end(),
                              [&](const Group& candidate) { return candidate.subsystem == subsystems[column]; });
    if (group == groups_.end()) {
      group = groups_.insert(groups_.end(), Group{});
      group->subsystem = subsystems[column];
    }
    group->columns.push_back(column);
    group->signals.push_back(signals[column]);
    group->last.push_back({});
  }
  for (auto& group : groups_) grow(group);
}

bool UniformRows::has_row(Time t, std::uint64_t row) const {
  return t >= row_time(row) - kRounding * interval_;
}

std::uint64_t UniformRows::rows_until(Time t) const {
  auto rows = static_cast<std::uint64_t>(std::max(0.0, std::floor((t - start_) / interval_)));
  while (rows > 0 && !has_row(t, rows - 1)) --rows;
  while (has_row(t, rows)) ++rows;
  return rows;
}

void UniformRows::add(const Sample& sample) {
  rows_reached_ = rows_until(sample.t);
  for (auto& group : groups_) {
    if (sample.communicated.empty() || sample.communicated[group.subsystem] != 0) add_knot(group, sample);
  }
}

void UniformRows::add_knot(Group& group, const Sample& sample) {
  if (rows_reached_ > group.rows_end) {
    append_piece(group, {group.started ? group.last_time : sample.t, sample.t, rows_reached_}, sample);
    group.rows_end = rows_reached_;
  }
  for (std::size_t i = 0; i < group.signals.size(); ++i) {
    group.last[i] = {sample.values[group.signals[i]], slope_of(sample, group.signals[i])};
  }
  group.last_time = sample.t;
  group.started = true;
}

void UniformRows::append_piece(Group& group, const Piece& piece, const Sample& sample) {
  if (group.count == group.pieces.size()) grow(group);
  const std::size_t slot = (group.first + group.count) % group.pieces.size();
  group.pieces[slot] = piece;
  Knot* knots = &group.knots[slot * 2 * group.columns.size()];
  for (std::size_t i = 0; i < group.columns.size(); ++i) {
    knots[2 * i + 1] = {sample.values[group.signals[i]], slope_of(sample, group.signals[i])};
    knots[2 * i] = group.started ? group.last[i] : knots[2 * i + 1];
  }
  ++group.count;
}

void UniformRows::grow(Group& group) {
  const std::size_t knots_per_piece = 2 * group.columns.size();
  // The oldest piece moves to the front, then doubling leaves the order alone.
  std::rotate(group.pieces.begin(), group.pieces.begin() + static_cast<std::ptrdiff_t>(group.first),
              group.pieces.end());
  std::rotate(group.knots.begin(), group.knots.begin() + static_cast<std::ptrdiff_t>(group.first * knots_per_piece),
              group.knots.end());
  group.first = 0;
  const std::size_t capacity = std::max<std::size_t>(16, 2 * group.pieces.size());
  group.pieces.resize(capacity);
  group.knots.resize(capacity * knots_per_piece);
}

bool UniformRows::row_is_complete() const {
  return next_row_ < rows_reached_ &&
         std::all_of(groups_.begin(), groups_.end(), [&](const Group& group) { return group.rows_end > next_row_; });
}

bool UniformRows::row_is_started() const {
  return std::any_of(groups_.begin(), groups_.end(), [&](const Group& group) { return group.rows_end > next_row_; });
}

UniformRows::Row UniformRows::take_row() {
  const Time t = row_time(next_row_);
  for (auto& group : groups_) {
    if (group.rows_end > next_row_) {
      evaluate(group, t);
    } else {
      for (const auto column : group.columns) known_[column] = 0;
    }
  }
  ++next_row_;
  return {t, values_, known_};
}

void UniformRows::evaluate(Group& group, Time t) {
  while (group.pieces[group.first].rows_end <= next_row_) {
    group.first = (group.first + 1) % group.pieces.size();
    --group.count;
  }
  const Piece& piece = group.pieces[group.first];
  const Knot* knots = &group.knots[group.first * 2 * group.columns.size()];
  const Duration size = piece.to - piece.from;
  const bool at_end = std::abs(t - piece.to) <= kRounding * interval_;
  for (std::size_t i = 0; i < group.columns.size(); ++i) {
    const Knot& from = knots[2 * i];
    const Knot& to = knots[2 * i + 1];
    values_[group.columns[i]] = at_end ? to.value : interpolated({from, to, size}, (t - piece.from) / size);
    // A piece without length is a subsystem's first communication: nothing is known before it.
    known_[group.columns[i]] = at_end || size > 0.0 ? 1 : 0;
  }
}

}  // namespace entrain::recording
