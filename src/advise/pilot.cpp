#include "advise/pilot.hpp"

#include <algorithm>
#include <cmath>

#include "analysis/linearize.hpp"
#include "base/signal_range.hpp"
#include "coupling/engine.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::advising {
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

bool alike(const Linearization& a, const Linearization& b) {
  return alike(a.A, b.A) && alike(a.B, b.B) && alike(a.C, b.C) && alike(a.D, b.D);
}

bool alike(const LinearNetwork& a, const LinearNetwork& b) {
  for (std::size_t s = 0; s < a.subsystems.size(); ++s) {
    if (!alike(a.subsystems[s].matrices, b.subsystems[s].matrices)) return false;
  }
  return true;
}

/// What remains of rates and outputs when the linear part is taken off: constant unless the subsystem depends on time.
struct Remainder {
  std::vector<double> values;
  std::vector<double> sizes;  // of what it is the difference of
};

void add_product(const Matrix& matrix, std::span<const double> factor, std::size_t first, Remainder& to) {
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    for (std::size_t j = 0; j < matrix.cols; ++j) {
      to.values[first + i] -= matrix(i, j) * factor[j];
      to.sizes[first + i] += std::abs(matrix(i, j) * factor[j]);
    }
  }
}

constexpr double kSame = 1e-3;  // inputs and outputs of a step agree no better in every method

/// A subsystem that takes less than cubics has inputs that differ from those given by up to `unsure`.
void add_doubt(const Matrix& matrix, std::span<const double> unsure, std::size_t first, Remainder& to) {
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    for (std::size_t j = 0; j < matrix.cols; ++j) to.sizes[first + i] += std::abs(matrix(i, j)) * unsure[j] / kSame;
  }
}

bool apart(const Remainder& a, const Remainder& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (std::abs(a.values[i] - b.values[i]) > kSame * std::max(a.sizes[i], b.sizes[i])) return true;
  }
  return false;
}

class PilotRun {
 public:
  /// `ends_agree`: the inputs of a step end where its outputs do.
  PilotRun(CoupledSystem& system, bool ends_agree)
      : system_(system),
        ends_agree_(ends_agree),
        inputs_(system.inputs().begin(), system.inputs().end()),
        moved_(system.outputs().size()) {
    for (std::size_t y = 0; y < moved_.size(); ++y) moved_[y].begin(system.outputs()[y]);
  }

  /// False when a subsystem provides no linearization.
  bool take_point(Time t) {
    auto linear = analysis::linearized(system_);
    if (!linear.network) {
      if (pilot_.obstacles.empty()) pilot_.obstacles = std::move(linear.obstacles);
      return false;
    }
    look_for_drives(*linear.network);
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
    std::swap(inputs_before_, inputs_);
    inputs_.assign(system_.inputs().begin(), system_.inputs().end());
    finite_ = finite_ && std::all_of(outputs.begin(), outputs.end(), [](double y) { return std::isfinite(y); });
    for (std::size_t y = 0; y < outputs.size(); ++y) moved_[y].take(outputs[y]);
  }
  /// What happens at an event no linearization shows, and the pilot may end before the first.
  void note_events(Time start, Time stop) {
    for (std::size_t s = 0; s < system_.size(); ++s) {
      const auto& name = system_.graph().name(SubsystemId{s});
      const Equations* equations = system_.facets(SubsystemId{s}).equations;
      auto& eventful = eventful_.emplace_back();
      if (equations != nullptr && equations->event_indicator_count() > 0) {
        eventful = Fact{FactCode::HasEvents, {name}};
      } else if (system_.next_event(SubsystemId{s}, start) < stop) {
        eventful = Fact{FactCode::AnnouncesEvents, {name}};
      }
    }
  }
  /// How far the outputs have moved by now.
  void note_extents(Time t) {
    extents_.push_back({t, {}});
    for (const auto& range : moved_) extents_.back().of_outputs.push_back(range.span());
  }
  bool finite() const { return finite_; }
  void fail(Fact why) {
    pilot_.remarks.push_back(std::move(why));
    pilot_.failed = true;
  }
  Pilot take(Time stop, bool linear) {
    take_ranges();
    pilot_.active_by = active_by();
    if (!linear) return std::move(pilot_);
    path_.stop = stop;
    path_.ranges = pilot_.ranges;
    pilot_.path = std::move(path_);
    for (std::size_t s = 0; s < drives_.size(); ++s) {
      if (drives_[s]) {
        pilot_.driven.push_back({FactCode::DependsOnTime, {system_.graph().name(SubsystemId{s})}});
      } else if (eventful_[s]) {
        pilot_.driven.push_back(*eventful_[s]);
      }
    }
    pilot_.rates_known = rates_known_;
    return std::move(pilot_);
  }

 private:
  void take_ranges() {
    base::UnitSizes sizes;
    std::vector<std::string> units;
    for (std::size_t s = 0; s < system_.size(); ++s) {
      for (const auto& output : system_.variables(SubsystemId{s}).outputs) units.push_back(output.unit);
    }
    for (std::size_t y = 0; y < moved_.size(); ++y) {
      pilot_.ranges.push_back(moved_[y].span_or_magnitude());
      sizes.take(units[y], moved_[y].span());
    }
    for (std::size_t y = 0; y < moved_.size(); ++y) {
      pilot_.ranges[y] = std::max(pilot_.ranges[y], sizes.least(units[y]));
    }
  }
  Remainder remainder(SubsystemId s, const LinearSubsystem& linear) {
    const auto states = system_.states_of(s);
    const auto outputs = system_.graph().outputs_of(s);
    all_states_.resize(system_.states());
    system_.read_states(all_states_);
    all_rates_.resize(system_.states());
    system_.read_state_derivatives(all_rates_);
    const auto x = std::span<const double>(all_states_).subspan(states.first, states.count);
    const bool limited = linear.capabilities.input_degree < kMaxInputDegree && !inputs_before_.empty();
    std::vector<double> u;
    std::vector<double> unsure;
    for (const InputId input : system_.graph().inputs_of(s)) {
      if (system_.graph().source(input) == nullptr) continue;
      u.push_back(system_.inputs()[input]);
      unsure.push_back(limited ? std::abs(inputs_[input] - inputs_before_[input]) : 0.0);
    }
    Remainder result;
    const auto rates = all_rates_.begin() + static_cast<std::ptrdiff_t>(states.first);
    result.values.assign(rates, rates + static_cast<std::ptrdiff_t>(states.count));
    for (const OutputId output : outputs) result.values.push_back(system_.outputs()[output]);
    for (const double value : result.values) result.sizes.push_back(std::abs(value));
    add_product(linear.matrices.A, x, 0, result);
    add_product(linear.matrices.B, u, 0, result);
    add_product(linear.matrices.C, x, states.count, result);
    add_product(linear.matrices.D, u, states.count, result);
    add_doubt(linear.matrices.B, unsure, 0, result);
    add_doubt(linear.matrices.D, unsure, states.count, result);
    return result;
  }
  /// A subsystem that is as linear as before, and yet elsewhere.
  void look_for_drives(const LinearNetwork& network) {
    drives_.resize(network.subsystems.size(), false);
    before_.resize(network.subsystems.size());
    for (std::size_t s = 0; s < network.subsystems.size(); ++s) {
      if (!ends_agree_ && !network.subsystems[s].inputs.empty()) continue;
      auto here = remainder(SubsystemId{s}, network.subsystems[s]);
      const auto& linear = network.subsystems[s].matrices;
      const auto& last = before_[s];
      if (last && alike(last->linear, linear) && apart(last->remainder, here)) drives_[s] = true;
      before_[s] = LinearPart{linear, std::move(here)};
    }
  }
  Time active_by() const {
    constexpr double kMoved = 0.1;
    for (const auto& [time, moved] : extents_) {
      bool all = true;
      for (std::size_t y = 0; y < moved.size(); ++y) all = all && moved[y] >= kMoved * moved_[y].span();
      if (all) return time;
    }
    return extents_.empty() ? 0.0 : extents_.back().time;
  }

  struct Extents {
    Time time;
    std::vector<double> of_outputs;
  };
  struct LinearPart {
    Linearization linear;
    Remainder remainder;
  };
  CoupledSystem& system_;
  bool ends_agree_;
  std::vector<std::optional<LinearPart>> before_;
  std::vector<bool> drives_;
  std::vector<std::optional<Fact>> eventful_;  // by subsystem; nullopt where nothing is known of events
  std::vector<double> all_states_, all_rates_;
  std::vector<double> inputs_, inputs_before_;  // at the end of the last step and of the one before
  bool finite_ = true;
  std::vector<Extents> extents_;
  Pilot pilot_;
  analysis::RunPath path_;
  bool rates_known_ = true;
  std::vector<base::SignalRange> moved_;  // by output
};

}  // namespace

Pilot run_pilot(CoupledSystem& system, Method& method, const RunSettings& run, const PilotSettings& settings) {
  system.engine().initialize(run.start, run.stop);
  method.start(system, run);
  PilotRun pilot(system, method.traits().family == MethodFamily::Implicit);
  pilot.note_events(run.start, run.stop);
  bool linear = pilot.take_point(run.start);
  const Time end = run.start + settings.share * (run.stop - run.start);
  // Enough to see when something begins to happen.
  constexpr int kExtents = 128;
  const Duration between = (end - run.start) / settings.points;
  int points = 1;
  int extents = 1;
  try {
    for (Time t = run.start; t < end && t < run.stop;) {
      settings.interruption.check();
      t = method.advance(system).reached;
      pilot.take_outputs();
      if (!pilot.finite()) {
        pilot.fail({FactCode::PilotNotFinite, {method.name()}, {{"time", t, "s"}}});
        break;
      }
      if (t >= run.start + (end - run.start) / kExtents * extents) {
        pilot.note_extents(t);
        ++extents;
      }
      if (!linear || t < run.start + between * points || t >= run.stop) continue;
      linear = pilot.take_point(t);
      ++points;
    }
  } catch (const PartInterrupted&) {
    throw;
  } catch (const std::exception& error) {
    pilot.fail({FactCode::PilotFailed, {method.name()}, {{"why", error.what()}}});
  }
  return pilot.take(run.stop, linear);
}

}  // namespace entrain::advising
