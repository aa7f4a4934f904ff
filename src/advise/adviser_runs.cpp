// What the adviser measures in runs of its own: where there is no forecast, and whether a forecast holds.

#include <algorithm>
#include <cmath>
#include <limits>

#include "advise/adviser.hpp"
#include "advise/candidates.hpp"
#include "advise/choose_method.hpp"
#include "advise/method_kinds.hpp"
#include "coupling/engine.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "verify/verification.hpp"

namespace entrain::advising {
namespace {

constexpr double kRunSurprise = 3.0;  // a forecast exceeded by this factor is not used

}  // namespace

/// Long enough to see what is announced and what moves: 200 macro steps, as many behind the first event, and until
/// every output has covered a tenth of its range, but for that no more than 2000.
Duration Adviser::time_to_probe() {
  constexpr double kSteps = 200.0;
  constexpr double kMostSteps = 2000.0;  // a longer run would cost more than it is worth
  CoupledSystem& system = *prepared_.system;
  Time event = kNever;
  try {
    system.engine().initialize(advice_.start, advice_.stop);
    for (std::size_t s = 0; s < system.size(); ++s) {
      event = std::min(event, system.next_event(SubsystemId{s}, advice_.start));
    }
  } catch (const Error& error) {
    remark_failure(FactCode::StartFailed, error);
  }
  has_events_ = event < advice_.stop;
  const double unit = std::max(advice_.step, longest_imposed_step());
  const Duration active = std::min(pilot_.active_by - advice_.start, kMostSteps * advice_.step);
  double steps = std::max(kSteps, active / unit);
  if (event < advice_.stop) steps = std::max(steps, (event - advice_.start) / unit + kSteps);
  const Duration length = length_of(steps);
  return std::min(length, whole_run());
}

/// Where not every subsystem is linearized: all methods are run briefly at equal cost, against one of them with finer
/// steps.
void Adviser::probe() {
  const Candidate* reference = nullptr;
  // Explicit methods first: iterations on estimates can settle, at every step, on a motion that a subsystem does not
  // make.
  for (const auto& [kind, degree] :
       {std::pair{MethodKind{is_plain}, 1}, {is_plain, 0}, {is_estimating, 0}, {is_iterative, 0}}) {
    const auto finest = std::find_if(
        advice_.candidates.begin(), advice_.candidates.end(), [&, wanted = kind, at = degree](const Candidate& of) {
          return wanted(traits(of)) && of.degree.value_or(0) == at && of.obstacles.empty() && of.calls_per_step;
        });
    if (finest == advice_.candidates.end() || !runs_->refine(*finest, advice_.step)) continue;
    reference = &*finest;
    break;
  }
  has_reference_ = reference != nullptr;
  if (!has_reference_) return;
  constexpr double kClear = 4.0;  // times the doubt: below, it is the reference that is measured
  probe_those_below(std::numeric_limits<double>::infinity());
  const auto order = ranking();
  if (order.empty() || *advice_.candidates[order.front()].merit() > kClear * runs_->doubt()) return;
  const auto& best = advice_.candidates[order.front()];
  const double contenders = kClear * *best.merit();
  if (&best != reference && runs_->refine(best, advice_.step)) probe_those_below(contenders);
}

void Adviser::probe_those_below(double error) {
  for (auto& candidate : advice_.candidates) {
    if (!candidate.obstacles.empty() || !candidate.calls_per_step || has_own_steps(candidate)) continue;
    if (candidate.probed_error && *candidate.probed_error > error) continue;
    const Duration step =
        candidate.equal_cost_step > 0.0 ? nearest_fitting(imposed_, candidate.equal_cost_step) : advice_.step;
    const auto outcome = runs_->error(candidate, step);
    candidate.probed_error.reset();
    candidate.probed_defect.reset();
    if (!outcome) continue;
    candidate.probed_error = std::max(outcome->error, runs_->doubt());
    if (!imposing_.empty()) candidate.probed_defect = outcome->defect;
  }
}

/// There is no forecast for a method with steps of its own: it runs against the best of the others, at its own cost.
void Adviser::match() {
  const auto order = ranking();
  const auto own = std::find_if(advice_.candidates.begin(), advice_.candidates.end(), [&](const Candidate& of) {
    return has_own_steps(of) && of.obstacles.empty() && of.calls_per_step;
  });
  if (order.empty() || own == advice_.candidates.end()) return;
  const auto& rival = advice_.candidates[order.front()];
  if (!rival.calls_per_step) return;
  constexpr double kFewest = 8.0;  // steps of the rival in the run
  try {
    if (!has_reference_) {
      const Duration step =
          rival.equal_cost_step > 0.0 ? nearest_fitting(imposed_, rival.equal_cost_step) : advice_.step;
      has_reference_ = runs_->refine(rival, std::min(step, runs_->length() / kFewest));
    }
    const auto ours = has_reference_ ? runs_->error(*own, advice_.step) : std::nullopt;
    if (!ours) return;
    Duration equal =
        nearest_fitting(imposed_, std::min(*rival.calls_per_step / ours->calls, runs_->length() / kFewest));
    // A whole part of the step asked for, or a multiple of it, meets whatever happens on that grid; with events the
    // next longer one, so that the rival does not call more often.
    constexpr double kFine = 4.0;
    constexpr double kRounding = 1e-9;
    if (imposed_.empty() && equal > advice_.step && has_events_) {
      equal = advice_.step * std::ceil(equal / advice_.step - kRounding);
    } else if (imposed_.empty() && equal < advice_.step && (has_events_ || kFine * equal < advice_.step)) {
      const double parts = advice_.step / equal;
      equal = advice_.step / (has_events_ ? std::floor(parts + kRounding) : std::round(parts));
    }
    const auto theirs = runs_->error(rival, equal);
    advice_.match = Match{.candidate = static_cast<std::size_t>(own - advice_.candidates.begin()),
                          .rival = order.front(),
                          .error = ours->error,
                          .rival_error = theirs ? theirs->error : std::numeric_limits<double>::infinity(),
                          .rival_step = equal,
                          .doubt = runs_->doubt(),
                          .length = runs_->length()};
  } catch (const Error& error) {
    remark({FactCode::NotCompared, {own->title()}, {{"why", error.what()}}});
  }
}

/// Of the runs: rms of the worst output, relative to its range over the whole run.
double Adviser::worst_error(const Verification& of) const {
  double worst = 0.0;
  for (std::size_t y = 0; y < of.outputs.size(); ++y) {
    const double range = pilot_.path->ranges[y] > 0.0 ? pilot_.path->ranges[y] : 1.0;
    worst = std::max(worst, of.outputs[y].rms_error / range);
  }
  return worst;
}

/// A short run beside the forecast for the same part; nullopt when it does not complete.
std::optional<Measured> Adviser::measured(std::size_t i) const {
  constexpr double kSteps = 256.0;
  auto description = with_config(methods_, description_, advice_.candidates[i]);
  description.stop->value = std::min(advice_.stop, advice_.start + length_of(kSteps));
  description.record = {};
  analysis::RunPath part = *pilot_.path;
  part.stop = description.stop->value;
  std::erase_if(part.points, [&](const analysis::OperatingPoint& point) { return point.time >= part.stop; });
  const auto result = verifying::verify_chosen(description, {}, extensions_);
  if (result.failure || !result.unrefined.empty()) return std::nullopt;  // what they have in common is not seen
  const double forecast = forecast_of(advice_.candidates[i]).forecast(part, advice_.step)->error;
  return Measured{i, forecast, worst_error(result)};
}

/// Subsystems that integrate less exactly than a forecast assumes make it worthless; the best of it is put to the test.
bool Adviser::forecast_holds() {
  constexpr double kNegligible = 1e-6;  // of the range: smaller errors need not be ranked
  const auto order = ranking();
  if (order.empty()) return false;
  try {
    const auto best = measured(order.front());
    if (!best || best->measured <= std::max(kNegligible, kRunSurprise * best->forecast)) return true;
    Fact refuted{FactCode::ForecastRefuted,
                 {advice_.candidates[order.front()].title()},
                 {{"error", best->measured}, {"forecast", best->forecast}}};
    if (advice_.operating_points > 1) refuted.values.emplace_back("points", advice_.operating_points);
    remark(std::move(refuted));
    return false;
  } catch (const Error&) {  // a part of the step that does not fit an imposed one: it cannot be tested so
    return true;
  }
}

/// The three best, and what was searched, in short runs beside the forecast for the same part.
void Adviser::measure_the_best() {
  constexpr std::size_t kBest = 3;
  auto order = ranking();
  std::erase_if(order, [&](std::size_t i) { return !advice_.candidates[i].error; });
  const auto rest = order.begin() + static_cast<std::ptrdiff_t>(std::min(kBest, order.size()));
  order.erase(std::remove_if(rest, order.end(), [&](std::size_t i) { return !advice_.candidates[i].searched; }),
              order.end());
  if (order.empty()) remark({FactCode::NothingToVerify});
  for (const std::size_t i : order) {
    try {
      if (const auto found = measured(i)) {
        advice_.measured.push_back(*found);
      } else {
        remark({FactCode::NoErrorShown, {advice_.candidates[i].title()}});
      }
    } catch (const Error& error) {  // a part of the step that does not fit an imposed one
      remark({FactCode::NotMeasured, {advice_.candidates[i].title()}, {{"why", error.what()}}});
    }
  }
}

}  // namespace entrain::advising
