#include "estimate/inner_steps.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace entrain::estimate {
namespace {

// Calls of each subsystem in a probe: of those of the run, and at least.
constexpr double kShareOfRun = 0.05;
constexpr std::uint64_t kLeastCalls = 64;
// Steps inside that are longer than this part of a macro step are seen.
constexpr int kMostDivided = 32;
constexpr std::size_t kLeastProbeRows = 2;
constexpr std::size_t kMostProbeRows = 16;
// Where nothing moves at once, up to the first motion: fewer calls, because it may be far.
constexpr int kFewDivided = 4;
// A clock is looked for in this many macro steps, each divided.
constexpr std::size_t kClockRows = 8;
constexpr int kLeastClock = 8;
constexpr int kMostClock = 64;
// Of the range: an output that has moved so far moves.
constexpr double kHasMoved = 0.01;
// Of the difference with most calls: from here on a smaller number of them shows it.
constexpr double kShowsInside = 0.4;
// Of each subsystem in the run that measures it.
constexpr std::uint64_t kMostCalls = 200'000;
constexpr double kInnerSafety = 2.0;

double calls_of_probe(std::uint64_t macro_steps) {
  return std::max(static_cast<double>(kLeastCalls), kShareOfRun * static_cast<double>(macro_steps));
}

/// Counts the macro steps in which an output of a subsystem moved.
class Moves final : public Observer {
 public:
  void begin(std::span<const Signal> signals, const RunSummary& summary) override {
    all_.assign(summary.subsystems.size(), {});
    signals_.assign(signals.begin(), signals.end());
  }
  void communicated(const Sample& sample, const RunSummary&) override {
    for (Of& of : all_) of.next.clear();
    for (std::size_t i = 0; i < signals_.size(); ++i) {
      if (signals_[i].causality != Causality::Output || signals_[i].discrete) continue;
      all_[signals_[i].subsystem].next.push_back(sample.values[i]);
    }
    for (Of& of : all_) take(of);
  }
  /// In macro steps. Nothing where it moves in most of them, hardly ever, or irregularly.
  std::optional<double> clock_of(std::size_t subsystem) const {
    constexpr std::uint64_t kFewMoves = 4;
    const Of& of = all_[subsystem];
    if (of.moves < kFewMoves || 2 * of.moves > of.steps || of.longest > of.shortest + 1) return std::nullopt;
    if (of.shortest < 2) return std::nullopt;  // it rested first, and moves in every step since
    return static_cast<double>(of.latest - of.first) / static_cast<double>(of.moves - 1);
  }

 private:
  struct Of {
    std::vector<double> row, next;
    std::uint64_t steps = 0;
    std::uint64_t moves = 0;
    std::uint64_t first = 0, latest = 0;  // steps in which it moved
    std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t longest = 0;
  };
  static void take(Of& of) {
    const bool moved = !of.row.empty() && of.row != of.next;
    of.row.swap(of.next);
    ++of.steps;
    if (!moved) return;
    if (++of.moves == 1) {
      of.first = of.steps;
    } else {
      of.shortest = std::min(of.shortest, of.steps - of.latest);
      of.longest = std::max(of.longest, of.steps - of.latest);
    }
    of.latest = of.steps;
  }

  std::vector<Of> all_;
  std::vector<Signal> signals_;
};

/// Of one output: the run minus the run with smaller steps inside, relative to the range.
struct InnerDifference {
  double squares = 0.0;
  double largest = 0.0;
  Duration length = 0.0;
  std::vector<double> squares_of_part, length_of_part;
};

InnerDifference difference_of(std::span<const Time> times, const std::vector<double>& own,
                              const std::vector<double>& other, double range, Time until, std::size_t parts) {
  InnerDifference result;
  result.squares_of_part.assign(parts, 0.0);
  result.length_of_part.assign(parts, 0.0);
  for (std::size_t k = 1; k < times.size() && times[k] <= until; ++k) {
    const double difference = (own[k] - other[k]) / range;
    if (!std::isfinite(difference)) continue;
    const Duration length = times[k] - times[k - 1];
    result.squares += length * difference * difference;
    result.length += length;
    result.largest = std::max(result.largest, std::abs(difference));
    if (parts == 0) continue;
    const double share = (times[k] - times.front()) / (times.back() - times.front());
    const auto part = std::min(parts - 1, static_cast<std::size_t>(share * static_cast<double>(parts)));
    result.squares_of_part[part] += length * difference * difference;
    result.length_of_part[part] += length;
  }
  return result;
}

double inner_rms(double squares, Duration length) {
  return length > 0.0 ? std::sqrt(squares / length) : 0.0;
}

}  // namespace

/// The first row at which every black box that moves in the run has moved.
std::size_t InnerSteps::first_motion() const {
  std::size_t row = 0;
  for (const std::size_t s : options_.black_boxes) {
    const auto& group = run_.groups()[s];
    std::size_t of_group = group.times.size();
    for (const std::size_t i : group.outputs) {
      const auto& output = run_.outputs()[i];
      const double least = kHasMoved * output.range.span();
      if (!(least > 0.0)) continue;
      const auto values = run_.course(output);
      const auto moved =
          std::find_if(values.begin(), values.end(), [&](double value) { return std::abs(value - values[0]) > least; });
      of_group = std::min(of_group, static_cast<std::size_t>(moved - values.begin()));
    }
    if (of_group < group.times.size()) row = std::max(row, of_group);
  }
  return row;
}

std::vector<InnerSteps::Clock> InnerSteps::find_clocks() {
  std::vector<Clock> clocks;
  if (!options_.fixed_steps) return clocks;
  const auto& times = run_.groups()[options_.black_boxes.front()].times;
  const std::size_t motion = first_motion();
  const std::size_t rows = motion + kClockRows;
  if (rows >= times.size()) return clocks;
  const double affordable = calls_of_probe(options_.macro_steps) / static_cast<double>(rows);
  const int divided = std::clamp(static_cast<int>(affordable), motion == 0 ? kLeastClock : kFewDivided, kMostClock);
  Moves moves;
  if (!repeat_({.macro = divided, .until = times[rows]}, moves)) return clocks;
  const Duration macro_step = times[1] - times[0];
  for (const std::size_t s : options_.black_boxes) {
    const auto steps = moves.clock_of(s);
    if (steps && *steps < divided) clocks.push_back({s, *steps * macro_step / divided});
  }
  return clocks;
}

/// From the run itself at the last rows up to `how.until`, of any output; nothing where it cannot be made.
std::optional<double> InnerSteps::largest_difference(const InnerRun& how) {
  OutputSamples probe(&run_);
  if (!repeat_(how, probe)) return std::nullopt;
  double largest = 0.0;
  for (std::size_t i = 0; i < run_.outputs().size(); ++i) {
    const auto& output = run_.outputs()[i];
    const double range = base::divisible_size(output.range.span());
    const auto& times = run_.groups()[output.group].times;
    const auto difference =
        difference_of(times, run_.course(output), probe.course(probe.outputs()[i]), range, *how.until, 0);
    if (output.range.span() > base::size_floor::kResting * output.range.magnitude()) {
      largest = std::max(largest, difference.largest);
    }
  }
  return largest;
}

bool InnerSteps::add_errors(std::span<OutputError> errors) {
  const auto& times = run_.groups()[options_.black_boxes.front()].times;
  const std::size_t motion = first_motion();
  const double affordable = calls_of_probe(options_.macro_steps) / kMostDivided;
  const std::size_t rows = std::clamp(static_cast<std::size_t>(affordable), kLeastProbeRows, kMostProbeRows);
  const bool moves_at_once = motion <= rows;
  const std::size_t last = moves_at_once ? rows : motion + kLeastProbeRows;
  if (last >= times.size()) return true;
  const int most = moves_at_once ? kMostDivided : kFewDivided;
  const InnerRun probe{.calls = most, .tighter = true, .until = times[last]};
  const auto shown = largest_difference(probe);
  if (!shown) return true;  // smaller steps do not fit: nothing is known of them
  // An error that is never damped grows in proportion to the time.
  const double from = times[std::min(motion, last - 1)];
  const double at_most =
      *shown * std::max(1.0, (times.back() - times.front()) / (times[last] - std::min(from, times[last - 1])));
  if (at_most <= options_.negligible) return true;
  int calls = most;
  double share = 1.0;
  for (const int fewer : {2, 4, 8}) {
    if (fewer >= most) break;
    const auto some = largest_difference({.calls = fewer, .tighter = true, .until = times[last]});
    if (!some || !(*some >= kShowsInside * *shown)) continue;
    calls = fewer;
    share = *some / *shown;
    break;
  }
  if (static_cast<std::uint64_t>(calls) * options_.macro_steps > kMostCalls) return false;
  return add_whole_run(calls, std::min(share, 1.0), errors);
}

/// `share`: of the whole difference that so many calls show.
bool InnerSteps::add_whole_run(int calls, double share, std::span<OutputError> errors) {
  OutputSamples other(&run_);
  if (!repeat_({.calls = calls, .tighter = true}, other)) return false;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    OutputError& error = errors[i];
    if (error.estimate == EstimateKind::Unknown || !(error.range > 0.0)) continue;
    const auto& output = run_.outputs()[i];
    const auto found =
        difference_of(run_.groups()[output.group].times, run_.course(output), other.course(other.outputs()[i]),
                      error.range, error.valid_until, error.course.size());
    const double inside = inner_rms(found.squares, found.length) / share;
    error.error = std::hypot(error.error, inside);
    error.inside = kInnerSafety * inside;
    error.bound += error.inside;
    error.max_error += found.largest / share;
    for (std::size_t part = 0; part < error.course.size(); ++part) {
      error.course[part] =
          std::hypot(error.course[part], inner_rms(found.squares_of_part[part], found.length_of_part[part]) / share);
    }
  }
  return true;
}

}  // namespace entrain::estimate
