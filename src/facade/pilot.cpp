#include "facade/pilot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "analysis/linearize.hpp"

namespace entrain {
namespace {

bool alike(const Matrix& a, const Matrix& b) {
  constexpr double kSame = 1e-9;  // of the largest entry: differences of an FMU's own differences are no change
  double largest = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    largest = std::max({largest, std::abs(a.values[i]), std::abs(b.values[i])});
    difference = std::max(difference, std::abs(a.values[i] - b.values[i]));
  }
  return difference <= kSame * largest;
}

bool alike(const LinearNetwork& a, const LinearNetwork& b) {
  for (std::size_t s = 0; s < a.subsystems.size(); ++s) {
    const auto& left = a.subsystems[s].matrices;
    const auto& right = b.subsystems[s].matrices;
    if (!alike(left.A, right.A) || !alike(left.B, right.B) || !alike(left.C, right.C) || !alike(left.D, right.D)) {
      return false;
    }
  }
  return true;
}

class PilotRun {
 public:
  explicit PilotRun(CoupledSystem& system)
      : system_(system), low_(system.outputs().begin(), system.outputs().end()), high_(low_) {}

  /// False when somebody cannot tell.
  bool take_point(Time t) {
    auto linear = linearized(system_);
    if (!linear.network) {
      if (pilot_.obstacles.empty()) pilot_.obstacles = std::move(linear.obstacles);
      return false;
    }
    if (!path_.points.empty() && alike(path_.points.back().network, *linear.network)) return true;
    std::vector<double> rates(system_.states());
    system_.read_state_derivatives(rates);
    rates_known_ =
        rates_known_ && std::none_of(rates.begin(), rates.end(), [](double rate) { return std::isnan(rate); });
    path_.points.push_back({t, std::move(*linear.network), std::move(rates)});
    return true;
  }
  void take_outputs() {
    const auto outputs = system_.outputs();
    for (std::size_t y = 0; y < outputs.size(); ++y) {
      low_[y] = std::min(low_[y], outputs[y]);
      high_[y] = std::max(high_[y], outputs[y]);
    }
  }
  /// How far the outputs have moved by now.
  void note_extents(Time t) {
    extents_.push_back({t, {}});
    for (std::size_t y = 0; y < low_.size(); ++y) extents_.back().of_outputs.push_back(high_[y] - low_[y]);
  }
  void remark(std::string text) { pilot_.remarks.push_back(std::move(text)); }
  Pilot take(Time stop, bool linear) {
    for (std::size_t y = 0; y < low_.size(); ++y) {
      const double range = high_[y] - low_[y];
      pilot_.ranges.push_back(range > 0.0 ? range : std::abs(high_[y]));
    }
    pilot_.lively = lively();
    if (!linear) return std::move(pilot_);
    path_.stop = stop;
    path_.ranges = pilot_.ranges;
    pilot_.path = std::move(path_);
    pilot_.rates_known = rates_known_;
    return std::move(pilot_);
  }

 private:
  Time lively() const {
    constexpr double kMoved = 0.1;
    for (const auto& [time, moved] : extents_) {
      bool all = true;
      for (std::size_t y = 0; y < moved.size(); ++y) all = all && moved[y] >= kMoved * (high_[y] - low_[y]);
      if (all) return time;
    }
    return extents_.empty() ? 0.0 : extents_.back().time;
  }

  struct Extents {
    Time time;
    std::vector<double> of_outputs;
  };
  CoupledSystem& system_;
  std::vector<Extents> extents_;
  Pilot pilot_;
  RunPath path_;
  bool rates_known_ = true;
  std::vector<double> low_, high_;
};

}  // namespace

Pilot fly_pilot(CoupledSystem& system, Method& method, const RunSettings& run, const PilotSettings& settings) {
  system.initialize(run.start, run.stop);
  method.start(system, run);
  PilotRun pilot(system);
  bool linear = pilot.take_point(run.start);
  const Time end = run.start + settings.share * (run.stop - run.start);
  // Enough to see when something begins to happen.
  constexpr int kExtents = 128;
  const Duration between = (end - run.start) / settings.points;
  int points = 1;
  int extents = 1;
  try {
    for (Time t = run.start; t < end && t < run.stop;) {
      t = method.advance(system).reached;
      pilot.take_outputs();
      if (t >= run.start + (end - run.start) / kExtents * extents) {
        pilot.note_extents(t);
        ++extents;
      }
      if (!linear || t < run.start + between * points || t >= run.stop) continue;
      linear = pilot.take_point(t);
      ++points;
    }
  } catch (const std::exception& error) {
    pilot.remark(fmt::format("the pilot run with {} failed: {}", method.name(), error.what()));
  }
  return pilot.take(run.stop, linear);
}

}  // namespace entrain
