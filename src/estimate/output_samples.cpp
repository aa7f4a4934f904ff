#include "estimate/output_samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/grid.hpp"
#include "estimate/replay.hpp"
#include "record/selection.hpp"

namespace entrain::estimate {
namespace {

constexpr double kNotThere = std::numeric_limits<double>::quiet_NaN();

}  // namespace

void OutputSamples::Rhythm::take(bool moved) {
  ++steps;
  if (!moved) return;
  ++moves;
  const std::uint64_t now = steps - latest;
  if (now == spacing) ++regular;
  spacing = now;
  latest = steps;
}

std::uint64_t OutputSamples::Rhythm::inner_steps() const {
  constexpr std::uint64_t kFewMoves = 8;
  constexpr double kMost = 0.7;
  const bool is_regular = static_cast<double>(regular) >= kMost * static_cast<double>(moves);
  return moves >= kFewMoves && 2 * moves <= steps + 1 && spacing > 1 && is_regular ? spacing : 0;
}

void OutputSamples::begin(std::span<const Signal> signals, const RunSummary& summary) {
  outputs_.clear();
  groups_.assign(summary.subsystems.size(), {});
  stride_ = 1;
  numbers_ = 0;
  if (!options_.off) choose(signals, summary);
  for (std::size_t s = 0; s < groups_.size(); ++s) {
    auto& group = groups_[s];
    group.row.assign(group.outputs.size(), kNotThere);
    if (run_ == nullptr) continue;
    group.times = run_->groups_[s].times;
    group.values.assign(group.times.size() * group.outputs.size(), kNotThere);
  }
}

void OutputSamples::choose(std::span<const Signal> signals, const RunSummary& summary) {
  std::set<std::string> connected;
  for (const auto& connection : summary.connections) connected.insert(connection.output);
  std::vector<bool> chosen(signals.size(), false);
  for (const auto index : recording::select_signals(signals, options_.recorded)) chosen[index] = true;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    const auto& signal = signals[i];
    if (signal.causality != Causality::Output || signal.discrete) continue;
    if (!chosen[i] && connected.count(signal.name) == 0) continue;
    auto& group = groups_[signal.subsystem];
    outputs_.push_back(
        {.name = signal.name, .unit = signal.unit, .group = signal.subsystem, .column = group.outputs.size()});
    group.outputs.push_back(outputs_.size() - 1);
    group.signals.push_back(i);
  }
}

void OutputSamples::communicated(const Sample& sample, const RunSummary& summary) {
  if (options_.off) return;
  for (std::size_t s = 0; s < groups_.size(); ++s) {
    auto& group = groups_[s];
    if (sample.communicated[s] == 0) continue;
    look_at(group, sample);
    if (run_ != nullptr) {
      match(s, sample.t);
    } else {
      keep(group, sample.t, summary);
    }
  }
  if (run_ == nullptr && numbers_ > options_.most_numbers) leave_out_every_second();
}

void OutputSamples::look_at(Group& group, const Sample& sample) {
  bool moved = false;
  for (std::size_t i = 0; i < group.signals.size(); ++i) {
    const double value = sample.values[group.signals[i]];
    moved = moved || value != group.row[i];
    group.row[i] = value;
    auto& output = outputs_[group.outputs[i]];
    output.range.take(value);
    output.last = value;
  }
  group.rhythm.take(moved);
}

/// Where the steps are fixed, the number of the step; the stop and what is behind an event are kept in any case. None
/// for a time between the steps, which other runs do not have.
std::optional<std::uint64_t> OutputSamples::place_of(Group& group, Time t, const RunSummary& summary) {
  if (base::reached(t, summary.stop)) return 0;
  if (options_.chooses_steps) {
    const bool crossed = crosses_event(group.accepted, group.accepted.size() - 1);
    group.since_event = crossed ? 0 : group.since_event + 1;
    return group.since_event;
  }
  const double step = std::round((t - summary.start) / summary.step);
  const auto place = static_cast<std::uint64_t>(std::max(0.0, step));
  return base::same_time(t, summary.start + step * summary.step) ? std::optional(place) : std::nullopt;
}

void OutputSamples::keep(Group& group, Time t, const RunSummary& summary) {
  if (options_.chooses_steps) group.accepted.push_back(t);
  const auto place = t == summary.start ? std::optional<std::uint64_t>(0) : place_of(group, t, summary);
  if (!place || *place % stride_ != 0) return;
  const bool again = !group.times.empty() && base::same_time(group.times.back(), t);  // the later value counts
  if (again) {
    std::copy(group.row.begin(), group.row.end(), group.values.end() - std::ssize(group.row));
    return;
  }
  group.times.push_back(t);
  group.places.push_back(*place);
  group.values.insert(group.values.end(), group.row.begin(), group.row.end());
  numbers_ += group.row.size() + 2;
}

void OutputSamples::match(std::size_t subsystem, Time t) {
  auto& group = groups_[subsystem];
  while (group.next < group.times.size() && group.times[group.next] < t &&
         !base::same_time(group.times[group.next], t)) {
    ++group.next;
  }
  if (group.next == group.times.size() || !base::same_time(group.times[group.next], t)) return;
  std::copy(group.row.begin(), group.row.end(),
            group.values.begin() + static_cast<std::ptrdiff_t>(group.next * group.row.size()));
}

void OutputSamples::leave_out_every_second() {
  stride_ *= 2;
  numbers_ = 0;
  for (auto& group : groups_) {
    const std::size_t width = group.row.size();
    std::size_t kept = 0;
    for (std::size_t k = 0; k < group.times.size(); ++k) {
      if (group.places[k] % stride_ != 0) continue;
      group.times[kept] = group.times[k];
      group.places[kept] = group.places[k];
      std::copy_n(group.values.begin() + static_cast<std::ptrdiff_t>(k * width), width,
                  group.values.begin() + static_cast<std::ptrdiff_t>(kept * width));
      ++kept;
    }
    group.times.resize(kept);
    group.places.resize(kept);
    group.values.resize(kept * width);
    numbers_ += kept * (width + 2);
  }
}

std::vector<double> OutputSamples::course(const Output& output) const {
  const auto& group = groups_[output.group];
  std::vector<double> values(group.times.size());
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = group.values[k * group.row.size() + output.column];
  return values;
}

}  // namespace entrain::estimate
