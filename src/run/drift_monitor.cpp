#include "run/drift_monitor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "entrain/fact_codes.hpp"

namespace entrain::running {
namespace {

constexpr std::uint64_t kSeldom = 16;     // macro steps between measurements that nothing depends on
constexpr std::uint64_t kLookAgain = 64;  // macro steps between looks at the linearizations
// Of the drift that a step takes back. Extrapolated by polynomials of degree 3 as inputs are, the correction is an
// Adams-Bashforth method of order 4, which is stable below 0.3.
constexpr double kDriftShare = 0.25;

}  // namespace

void DriftMonitor::begin(CoupledSystem& system, const RunSettings& settings) {
  start_ = settings.start;
  stop_ = settings.stop;
  memory_ = {};
  integrals_ = redundant_integrals(system);
  std::size_t most = 0;
  for (const auto& integral : integrals_) {
    for (const auto& share : integral.shares) most = std::max(most, share.weights.size());
  }
  states_.assign(most, 0.0);
  for (const auto& integral : integrals_) {
    still_holds(integral, system, linearization_);  // room for the looks that follow
    const Sides sides = sides_of(system, integral);
    memory_.courses.push_back(
        {.at_start = sides.first + sides.rest, .low = sides.first, .high = sides.first, .measured = start_});
  }
}

DriftMonitor::Sides DriftMonitor::sides_of(CoupledSystem& system, const RedundantIntegral& integral) {
  Sides sides;
  for (std::size_t s = 0; s < integral.shares.size(); ++s) {
    const auto& share = integral.shares[s];
    const auto states = std::span(states_).first(share.weights.size());
    system.facets(share.subsystem).states->states(states);
    (s == 0 ? sides.first : sides.rest) += std::inner_product(states.begin(), states.end(), share.weights.begin(), 0.0);
  }
  return sides;
}

void DriftMonitor::follow(CoupledSystem& system, Time now) {
  ++memory_.steps;
  const bool is_last = now >= stop_;
  if (!corrects_ && memory_.steps % kSeldom != 0 && !is_last) return;
  const bool looks_again = memory_.steps % kLookAgain == 0 || is_last;
  for (std::size_t i = 0; i < integrals_.size(); ++i) {
    Course& course = memory_.courses[i];
    if (course.ended) continue;
    course.ended = looks_again && !still_holds(integrals_[i], system, linearization_);
    if (course.ended) {
      course.correction = 0.0;
    } else {
      measure(system, i, now);
    }
  }
}

/// Where all subsystems of it communicate; elsewhere what was measured last stays, and its correction.
void DriftMonitor::measure(CoupledSystem& system, std::size_t which, Time now) {
  const RedundantIntegral& integral = integrals_[which];
  Course& course = memory_.courses[which];
  const Duration interval = now - course.measured;
  const bool together = std::all_of(integral.shares.begin(), integral.shares.end(),
                                    [&](const auto& share) { return system.time_of(share.subsystem) == now; });
  if (!together || !(interval > 0.0)) return;
  const Sides sides = sides_of(system, integral);
  course.drift = sides.first + sides.rest - integral.slope * (now - start_) - course.at_start;
  course.most = std::max(course.most, std::abs(course.drift));
  course.low = std::min(course.low, sides.first);
  course.high = std::max(course.high, sides.first);
  course.measured = now;
  if (corrects_) course.correction = std::isfinite(course.drift) ? -kDriftShare * course.drift / interval : 0.0;
}

void DriftMonitor::add_to(std::span<double> corrections) const {
  for (std::size_t i = 0; i < integrals_.size(); ++i) {
    const RedundantIntegral& integral = integrals_[i];
    const double square = std::inner_product(integral.gains.begin(), integral.gains.end(), integral.gains.begin(), 0.0);
    for (std::size_t c = 0; c < integral.connections.size(); ++c) {
      corrections[integral.connections[c].input] += memory_.courses[i].correction * integral.gains[c] / square;
    }
  }
}

std::vector<Fact> DriftMonitor::notes(const Graph& graph) const {
  std::vector<Fact> notes;
  for (std::size_t i = 0; i < integrals_.size(); ++i) {
    const Course& course = memory_.courses[i];
    Fact fact{FactCode::IntegralDrift, subjects_of(integrals_[i], graph), {{"drift", course.most}}};
    if (course.high > course.low) fact.values.emplace_back("share", course.most / (course.high - course.low));
    if (corrects_) fact.values.emplace_back("corrected", 1.0);
    if (course.ended) fact.values.emplace_back("ended", course.measured, "s");
    notes.push_back(std::move(fact));
  }
  if (corrects_ && integrals_.empty()) notes.push_back({FactCode::NoRedundantIntegral});
  return notes;
}

}  // namespace entrain::running
