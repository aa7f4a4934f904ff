#include "learn/learner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/signal_range.hpp"
#include "entrain/fact_codes.hpp"
#include "learn/noise.hpp"

namespace entrain::learning {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Errors may grow for a few runs before they fall, so a run that is better than the one before is never the end.
constexpr double kHopeless = 1e3;  // times the error of the first run
constexpr double kWorse = 10.0;    // times the best error ...
constexpr int kWorseRuns = 3;      // ... in as many runs
constexpr int kRunsWithoutProgress = 8;
constexpr double kProgress = 0.99;       // a better run has at most this share of the other's error
constexpr double kHorizons = 20.0;       // of a progressive horizon, by default
constexpr double kNoise = 2.0;           // times the repeatability: what is left is noise
constexpr double kMostDisturbed = 0.05;  // of the steps of a run that is learned from: without new outputs, or late
constexpr int kMostNotUsed = 5;          // runs that nothing is learned from
constexpr int kMostHalvings = 6;         // of the growth of a horizon that does not converge
constexpr double kSameStart = 5.0;       // times the repeatability, at least kLeastDistance: starts that are the same
constexpr double kLeastDistance = 1e-9;  // of the range
constexpr double kLimit = 10.0;          // times what the first run missed at most: the largest correction

/// The largest distance of two runs, of the range of each signal.
std::optional<double> distance(const std::vector<double>& one, const std::vector<double>& other, std::size_t signals) {
  if (one.size() != other.size() || one.empty() || signals == 0) return std::nullopt;
  double largest = 0.0;
  for (std::size_t i = 0; i < signals; ++i) {
    base::SignalRange values = base::SignalRange::nothing();
    double most = 0.0;
    for (std::size_t k = i; k < one.size(); k += signals) {
      values.take(one[k]);
      most = std::max(most, std::abs(one[k] - other[k]));
    }
    largest = std::max(largest, most / base::divisible_size(values.span_or_magnitude()));
  }
  return largest;
}

std::vector<double> ranges_of(const std::vector<double>& rows, std::size_t signals) {
  std::vector<double> ranges;
  for (std::size_t i = 0; i < signals; ++i) {
    base::SignalRange values = base::SignalRange::nothing();
    for (std::size_t k = i; k < rows.size(); k += signals) values.take(rows[k]);
    ranges.push_back(base::divisible_size(values.span_or_magnitude()));
  }
  return ranges;
}

}  // namespace

std::optional<LearnEnd> LearningTrend::take(double error, double tolerance, int iterations) {
  ++runs;
  if (error <= tolerance) return LearnEnd::Converged;
  if (runs == 1) first = error;
  const bool better = error < kProgress * best || error < kProgress * previous;
  worse_runs = better || error <= kWorse * best ? 0 : worse_runs + 1;
  without_progress = better ? 0 : without_progress + 1;
  previous = error;
  if (error < best) best = error;
  if (!std::isfinite(error) || !(error <= kHopeless * first) || worse_runs >= kWorseRuns) return LearnEnd::Diverged;
  if (without_progress >= kRunsWithoutProgress) return LearnEnd::Stalled;
  if (runs >= iterations) return LearnEnd::Iterations;
  return std::nullopt;
}

Learner::Learner(RepeatedRun& run, const LearnOptions& options, const LearnProgress& progress, LearningLaw& law)
    : run_(run),
      options_(options),
      progress_(progress),
      law_(law),
      grid_(run.settings().start, run.settings().stop, run.settings().step),
      bench_(run.on_a_bench()),
      acceleration_(options.memory, law.numbers()) {
  at_.corrections.assign(grid_.steps() * law.numbers(), 0.0);
  result().cutoff = options.cutoff.value_or(0.0);
  result().forgetting = options.forgetting.value_or(0.0);
}

void Learner::resume(LearningPosition position, const std::string& name) {
  const auto refuse = [&](std::string_view end, std::string remedy) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::LearningEnded, {name}, {{"end", end}}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = std::move(remedy)});
  };
  if (position.end) refuse(to_string(*position.end), "Learn anew, without --resume");
  if (position.trend.runs >= options_.iterations) {
    refuse(to_string(LearnEnd::Iterations), fmt::format("Allow more than {} --iterations", position.trend.runs));
  }
  at_ = std::move(position);
  acceleration_.restore(at_.past);
  note({FactCode::LearningResumed, {name}, {{"runs", result().iterations.size()}}});
}

LearnResult Learner::learn() {
  if (at_.phase == LearningPosition::Phase::NotBegun) {
    at_.phase = LearningPosition::Phase::Whole;
    if (options_.progressive == ProgressiveLearning::Always) {
      begin_progressive();
    } else {
      begin_horizon(run_.settings().stop);
    }
  }
  while (!at_.end) {
    keep();
    iterate();
    if (interrupted_) {
      at_.end = LearnEnd::Interrupted;
      return finished();
    }
    digest(result().iterations.back());
  }
  if (at_.end != LearnEnd::Iterations) keep();  // with more of them it can go on
  return finished();
}

/// What was learned is worth more than the possibility to go on: a disk that is full later is reported, no more.
void Learner::keep() {
  if (!keep_) return;
  at_.past = acceleration_.memory();
  try {
    keep_(at_);
  } catch (const Error& error) {
    if (result().iterations.empty()) throw;
    if (!std::exchange(not_kept_, true)) note(error.fact());
  }
}

void Learner::note(Fact fact) {
  result().notes.push_back(std::move(fact));
  if (progress_.noted) progress_.noted(result().notes.back());
}

void Learner::begin_horizon(Time horizon) {
  at_.horizon = horizon;
  at_.best.reset();
  acceleration_.forget();
  at_.first = result().iterations.size();
  at_.trend = {};
}

void Learner::begin_progressive() {
  const auto& settings = run_.settings();
  at_.phase = LearningPosition::Phase::Progressive;
  at_.growth = options_.horizon > 0.0 ? options_.horizon : (settings.stop - settings.start) / kHorizons;
  at_.growth = std::max(at_.growth, settings.step);
  note({FactCode::ProgressiveHorizon, {}, {{"growth", at_.growth, "s"}}});
  std::fill(at_.corrections.begin(), at_.corrections.end(), 0.0);
  at_.kept.reset();
  at_.halvings = 0;
  at_.learned = settings.start;
  next_horizon();
}

void Learner::next_horizon() {
  const Time stop = run_.settings().stop;
  at_.corrections_before = at_.corrections;
  begin_horizon(base::reached(at_.learned + at_.growth, stop) ? stop : at_.learned + at_.growth);
}

void Learner::end_horizon(LearnEnd end) {
  if (at_.phase == LearningPosition::Phase::Whole) {
    if (end == LearnEnd::Diverged && options_.progressive != ProgressiveLearning::Never) return begin_progressive();
    at_.end = end;
    return;
  }
  // What rounding leaves is as good as it gets; the next horizon is learned all the same.
  const bool learned = end == LearnEnd::Converged || end == LearnEnd::Stalled;
  // A longer horizon that is only half learned is worse than a shorter one that is.
  if (learned || !at_.kept) at_.kept = std::exchange(at_.best, std::nullopt);
  if (learned) {
    at_.learned = at_.kept->reached;
    if (at_.learned < run_.settings().stop) return next_horizon();
    at_.end = end;
    return;
  }
  if (end != LearnEnd::Diverged || ++at_.halvings > kMostHalvings) {
    at_.end = end;
    return;
  }
  at_.corrections = at_.corrections_before;
  at_.growth = std::max(0.5 * at_.growth, run_.settings().step);
  next_horizon();
}

double Learner::tolerance() const {
  return std::max(options_.tolerance, kNoise * at_.result.repeatability.value_or(0.0));
}

/// With the outputs that are expected, once it is known by how much they change from run to run.
running::CorrectionSchedule Learner::schedule() const {
  running::CorrectionSchedule schedule = law_.schedule(at_.corrections);
  if (!bench_ || options_.fade == 0.0 || !at_.moved || !at_.result.repeatability) return schedule;
  const auto outputs = law_.guarded();
  const double allowed = options_.fade * (*at_.result.repeatability + *at_.moved);
  schedule.set_guard({outputs, ranges_of(at_.live, outputs.size()), at_.live, std::max(allowed, kLeastDistance)});
  return schedule;
}

/// One run, judged.
void Learner::iterate() {
  law_.clear();
  running::CorrectionSchedule corrections = schedule();
  const RunSummary summary = run_.run(at_.horizon, &corrections, law_.observer());
  if (law_.steps() > grid_.steps()) {
    throw Error(ErrorCode::SolverFailed,
                {FactCode::StepsBeyondPlan, {}, {{"steps", law_.steps()}, {"planned", grid_.steps()}}});
  }
  interrupted_ = summary.termination == Termination::Interrupted;
  LearnIteration iteration = law_.judged();
  iteration.number = static_cast<int>(result().iterations.size());
  iteration.horizon = summary.reached;
  iteration.limited = at_.limited;
  if (summary.termination == Termination::Failed || interrupted_) {
    iteration.error = kInfinity;
    iteration.failure = summary.message;
  }
  if (corrections.faded()) {
    iteration.faded = grid_.time(corrections.faded()->step);
    iteration.not_used = fmt::format("its corrections were faded out from t = {} s on", *iteration.faded);
  }
  judge_bench(iteration, summary);
  compare_with_last(iteration);
  const Duration whole = run_.settings().stop - run_.settings().start;
  result().full_runs += (summary.reached - run_.settings().start) / whole;
  if (result().iterations.empty()) result().before = law_.courses();
  keep_if_best(iteration);
  result().iterations.push_back(iteration);
  if (progress_.iterated) progress_.iterated(iteration);
  if (iteration.gamma && !std::exchange(at_.measured, true)) {  // what was predicted is seen in the first runs
    note({FactCode::ConvergenceMeasured,
          {},
          {{"from", iteration.number - 1}, {"to", iteration.number}, {"gamma", *iteration.gamma}}});
  }
}

/// Of two runs with the same corrections the ratio is noise.
void Learner::compare_with_last(LearnIteration& iteration) {
  if (!at_.changed || !iteration.not_used.empty() || !std::isfinite(iteration.error)) return;
  iteration.gamma = measured_gamma(at_.errors, law_.errors());
  const double left = iteration.error / tolerance();
  if (!iteration.gamma || !(*iteration.gamma < 1.0) || !(*iteration.gamma > 0.0) || !std::isfinite(left)) return;
  const double runs = left <= 1.0 ? 0.0 : std::ceil(std::log(left) / -std::log(*iteration.gamma));
  if (runs <= 1e6) iteration.runs_left = static_cast<int>(runs);
}

/// What went wrong on the bench in this run; nothing is learned from it then.
void Learner::judge_bench(LearnIteration& iteration, const RunSummary& summary) {
  if (!bench_) return;
  std::uint64_t steps = 0;
  for (const auto& subsystem : summary.subsystems) {
    if (!subsystem.datagrams) continue;
    iteration.held_steps += subsystem.datagrams->held;
    iteration.lost_datagrams += subsystem.datagrams->lost;
    steps += subsystem.steps;
  }
  if (summary.pacing) iteration.missed_deadlines = summary.pacing->missed;
  const auto beyond = [](std::uint64_t count, std::uint64_t of) {
    return static_cast<double>(count) > kMostDisturbed * static_cast<double>(of);
  };
  if (beyond(iteration.held_steps, steps)) {
    iteration.not_used = fmt::format("{} of {} steps ended without new outputs", iteration.held_steps, steps);
  } else if (beyond(iteration.missed_deadlines, summary.macro_steps)) {
    iteration.not_used = fmt::format("{} of {} deadlines were missed", iteration.missed_deadlines, summary.macro_steps);
  }
  if (iteration.not_used.empty()) judge_start(iteration);
  if (iteration.not_used.empty()) return;
  note({FactCode::IterationNotUsed, {}, {{"number", iteration.number}, {"why", iteration.not_used}}});
}

/// A correction belongs to one start.
void Learner::judge_start(LearnIteration& iteration) {
  if (at_.sent_first.empty() || law_.steps() == 0) return;
  const auto start = law_.compared(at_.sent_first, LearningLaw::Compared::Start);
  const double allowed = std::max(kLeastDistance, kSameStart * result().repeatability.value_or(0.0));
  if (start.difference <= allowed) return;
  iteration.not_used =
      fmt::format("it started {:.3g} of the range of {} away from the first run", start.difference, start.worst);
}

/// Of the runs to one horizon the one that went further is better; of those that went as far, the nearer one.
void Learner::keep_if_best(const LearnIteration& iteration) {
  auto& best = at_.best;
  if (!iteration.not_used.empty() && best) return;
  if (best && (!std::isfinite(iteration.error) || iteration.horizon < best->reached ||
               (iteration.horizon == best->reached && !(iteration.error < best->error)))) {
    return;
  }
  best = {at_.corrections,
          law_.steps(),
          iteration.horizon,
          iteration.error,
          iteration.number,
          law_.courses(),
          bench_ ? law_.live() : std::vector<double>()};
}

/// Where signals grow without bound so does their range, and an error relative to it has no meaning.
bool Learner::is_exploded(const LearnIteration& now) const {
  const auto& first = at_.result.iterations[at_.first];
  for (std::size_t c = 0; c < std::min(now.connections.size(), first.connections.size()); ++c) {
    if (now.connections[c].norm > kHopeless * first.connections[c].norm) return true;
  }
  return false;
}

/// What the next run is.
void Learner::digest(const LearnIteration& iteration) {
  if (!iteration.not_used.empty()) {  // once more, with the same corrections
    if (++at_.not_used > kMostNotUsed) end_horizon(LearnEnd::Stalled);
    if (iteration.faded && at_.moved) *at_.moved *= 2.0;  // it may have changed more than the one before
    return;
  }
  if (bench_ && !result().repeatability && std::isfinite(iteration.error)) {
    if (at_.sent_first.empty()) {
      at_.sent_first = law_.sent();
      at_.errors_first = law_.errors();
      return;
    }
    measure_repeatability(iteration);
  }
  if (is_exploded(iteration)) return end_horizon(LearnEnd::Diverged);
  const auto end = at_.trend.take(iteration.error, tolerance(), options_.iterations);
  if (end && *end != LearnEnd::Iterations) return end_horizon(*end);
  remember();
  prepare_next();
  if (!end) return;
  keep();  // so that it can go on with more of them
  end_horizon(*end);
}

/// Two runs without change bound what can be learned, and show what is noise.
void Learner::measure_repeatability(const LearnIteration& iteration) {
  const auto difference = law_.compared(at_.sent_first, LearningLaw::Compared::Whole);
  result().repeatability = difference.difference;
  note({FactCode::RepeatabilityMeasured, {difference.worst}, {{"difference", difference.difference}}});
  for (const auto& connection : iteration.connections) {
    result().limits.push_back(kLimit * connection.max_error);
  }
  if (!options_.cutoff) {
    result().cutoff = cutoff_against_noise(at_.errors_first, law_.errors(), law_.intervals());
    if (result().cutoff > 0.0) note({FactCode::NoiseFiltered, {}, {{"cutoff", result().cutoff, "Hz"}}});
  }
  if (!options_.forgetting) {
    result().forgetting = forgetting_against_noise(difference.difference, iteration.error);
    if (result().forgetting > 0.0) note({FactCode::NoiseForgotten, {}, {{"forgetting", result().forgetting}}});
  }
}

/// Of the run that was learned from, for the next one.
void Learner::remember() {
  at_.errors = law_.errors();
  if (!bench_) return;
  auto live = law_.live();
  if (at_.changed) at_.moved = distance(live, at_.live, law_.guarded().size());
  at_.live = std::move(live);
}

void Learner::prepare_next() {
  const auto ran_with = at_.corrections;
  law_.update(at_.corrections, {options_.gain, result().cutoff, result().forgetting});
  acceleration_.combine(ran_with, at_.corrections);
  at_.limited = limit(at_.corrections);
  at_.changed = true;
}

std::uint64_t Learner::limit(std::vector<double>& corrections) const {
  if (at_.result.limits.empty()) return 0;
  std::uint64_t limited = 0;
  for (std::size_t k = 0; k < corrections.size(); ++k) {
    const double most = at_.result.limits[k % law_.numbers() / law_.orders()];
    if (std::abs(corrections[k]) <= most) continue;
    corrections[k] = std::clamp(corrections[k], -most, most);
    ++limited;
  }
  return limited;
}

LearnResult Learner::finished() {
  LearnResult result = std::move(at_.result);
  KeptRun kept = at_.kept ? std::move(*at_.kept) : std::move(*at_.best);
  result.end = *at_.end;
  result.stop = run_.settings().stop;
  result.learned_to = kept.reached;
  result.best = kept.number;
  result.after = std::move(kept.courses);
  result.learned.error = kept.error;
  result.learned.steps = kept.steps;
  result.learned.corrections = std::move(kept.corrections);
  result.learned.corrections.resize(kept.steps * law_.numbers());
  if (result.repeatability && options_.fade > 0.0 && !kept.live.empty()) {
    Learned::Guard guard;
    guard.repeatability = *result.repeatability;
    guard.allowed = std::max(options_.fade * *result.repeatability, kLeastDistance);
    for (const OutputId output : law_.guarded()) guard.outputs.push_back(run_.system().graph().name(output));
    guard.ranges = ranges_of(kept.live, guard.outputs.size());
    guard.expected = std::move(kept.live);
    guard.expected.resize(kept.steps * guard.outputs.size());
    result.learned.guard = std::move(guard);
  }
  return result;
}

}  // namespace entrain::learning
