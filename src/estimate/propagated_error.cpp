#include "estimate/propagated_error.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/finally.hpp"
#include "base/grid.hpp"
#include "coupling/discrete_signals.hpp"
#include "coupling/engine.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWindow = LinearFlow::kMostRates;  // samples for the remainder
constexpr std::size_t kBefore = 2;                       // of them, before the step
constexpr std::size_t kAhead = 5;                        // samples behind the end of a step when it is made
constexpr std::size_t kLowered = 2;                      // samples left out for the motion that shows the doubt
// Of the range of the derivatives: a remainder that moved more asks for a new linearization.
constexpr double kDrift = 0.02;
constexpr std::uint64_t kMostSteps = 1024;  // without looking again where looking brought nothing new
constexpr double kSameMatrix = 1e-3;
// A linearization that changed less than this: the equations are taken as linear.
constexpr double kLinear = 0.05;
constexpr double kLinearSafety = 1.25;
constexpr double kSafety = 3.0;
// Of its range: beyond, the linearized error of a nonlinear motion means no more than "large".
constexpr double kSaturated = 0.3;

bool serves(CoupledSystem& system, SubsystemId s) {
  const Facets facets = system.facets(s);
  if (facets.linearizer == nullptr || facets.split != nullptr) return false;
  if (facets.equations != nullptr && facets.equations->reads_input_derivatives()) return false;
  return system.states_of(s).count == 0 || (facets.states != nullptr && system.capabilities(s).state_derivatives);
}

bool has_indicators(CoupledSystem& system) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    const Equations* equations = system.facets(SubsystemId{s}).equations;
    if (equations != nullptr && equations->event_indicator_count() > 0) return true;
  }
  return false;
}

}  // namespace

bool PropagatedError::serves(CoupledSystem& system, const Method& method) {
  if (method.traits().family == MethodFamily::Reference) return false;
  if (system.states() > kMostStates || system.engine().discrete() != nullptr || has_indicators(system)) return false;
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (!entrain::serves(system, SubsystemId{s})) return false;
  }
  return true;
}

void PropagatedError::begin(CoupledSystem& system, const RunSettings& settings) {
  *this = PropagatedError();
  settings_ = settings;
  system_ = &system;
  reached_ = settings.start;
  rates_.assign(system.states(), SignalRange::nothing());
  courses_.assign(system.graph().outputs(), {});
  error_.resize(system.graph().outputs());
  doubt_.resize(system.graph().outputs());
  change_.resize(system.states());
  rates_of_part_.resize(kWindow * system.states());
  try {
    take_sample(system, settings.start);
  } catch (const Error& error) {
    stop({FactCode::ErrorNotFollowed, {}, {{"time", settings.start, "s"}, {"why", error.what()}}});
    return;
  }
  w_ = w_low_ = samples_.front().at.x;
  note_errors(samples_.front(), 0.0);
}

void PropagatedError::after_step(CoupledSystem& system, Time from, Time to) {
  if (stopped_ || !(to > from)) return;
  if (from != reached_) {
    return stop({FactCode::ErrorNotFollowed, {}, {{"time", from, "s"}, {"why", "the run did not go on from there"}}});
  }
  const auto started = Clock::now();
  const Finally note([&] { seconds_ += std::chrono::duration<double>(Clock::now() - started).count(); });
  reached_ = to;
  try {
    note_breaks(system, from, to);
    if (!system.all_at(to)) return;  // some are in the middle of a longer step
    take_sample(system, to);
    continue_motion(kAhead);
  } catch (const Error& error) {
    stop({FactCode::ErrorNotFollowed, {}, {{"time", to, "s"}, {"why", error.what()}}});
  }
}

void PropagatedError::end(const RunSummary&) {
  if (!stopped_ && system_ != nullptr) continue_motion(0);
}

void PropagatedError::stop(Fact reason) {
  stopped_ = true;
  reasons_.push_back(std::move(reason));
}

/// Announced discontinuities of the step, each once and in order.
void PropagatedError::note_breaks(CoupledSystem& system, Time from, Time to) {
  const std::size_t known = breaks_.size();
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    for (Time t = system.next_event(id, from); t <= to || same_time(t, to); t = system.next_event(id, t)) {
      breaks_.push_back(same_time(t, to) ? to : t);
    }
  }
  if (breaks_.size() == known) return;
  std::sort(breaks_.begin(), breaks_.end());
  breaks_.erase(std::unique(breaks_.begin(), breaks_.end()), breaks_.end());
}

void PropagatedError::take_sample(CoupledSystem& system, Time t) {
  Sample sample;
  if (samples_.size() > 2 * kWindow + kAhead) {  // its storage serves again
    sample = std::move(samples_.front());
    samples_.pop_front();
    --next_;
  }
  sample.at.t = t;
  sample.of = nullptr;
  read(system, sample);
  sample.loop = loop_;
  if (needs_linearization(sample)) linearize(system, sample);
  samples_.push_back(std::move(sample));
}

void PropagatedError::read(CoupledSystem& system, Sample& sample) {
  const Graph& graph = system.graph();
  SystemSample& at = sample.at;
  at.x.resize(system.states());
  at.dx.resize(system.states());
  system.read_states(at.x);
  system.read_state_derivatives(at.dx);
  at.u.assign(system.inputs().begin(), system.inputs().end());
  sample.recorded.assign(system.outputs().begin(), system.outputs().end());
  at.y = sample.recorded;
  if (system.engine().store().has_replaced_outputs()) read_true_outputs(system, sample);
  at.given.resize(graph.inputs());
  const TransferPlan& plan = system.engine().transfer();
  for (std::size_t i = 0; i < graph.inputs(); ++i) {
    const InputId input{i};
    if (const Connection* connection = graph.source(input)) {
      at.given[i] = connection->offset;
      continue;
    }
    at.given[i] = at.u[i];
    const double now = plan.uncorrected(input, system.signals());
    if (now != at.u[i] && (breaks_.empty() || breaks_.back() != at.t)) breaks_.push_back(at.t);
  }
}

/// Where a method passes outputs on late, what observers see is not what the subsystem has now.
void PropagatedError::read_true_outputs(CoupledSystem& system, Sample& sample) {
  const std::vector<double> no_slopes(system.graph().inputs(), 0.0);
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const auto in = system.graph().inputs_of(id);
    const auto out = system.graph().outputs_of(id);
    const auto states = system.states_of(id);
    Equations* equations = system.facets(id).equations;
    if (equations == nullptr) {
      throw Error(ErrorCode::MissingCapability, "outputs are passed on late",
                  {.subsystem = system.graph().name(id), .variable = {}, .time = {}, .remedy = {}});
    }
    equations->outputs({sample.at.t, std::span(sample.at.x).subspan(states.first, states.count),
                        std::span(sample.at.u).subspan(in.first, in.count), std::span(no_slopes).first(in.count)},
                       std::span(sample.at.y).subspan(out.first, out.count));
  }
}

void PropagatedError::update_remainder(Sample& sample, const std::shared_ptr<ClosedLoop>& loop) {
  if (sample.of == loop) return;
  const Matrix& a = loop->a();
  sample.remainder = sample.dx;
  const double* row = a.values.data();
  for (double& value : sample.remainder) {
    double sum = 0.0;
    for (std::size_t j = 0; j < a.cols; ++j) sum += row[j] * sample.at.x[j];
    value -= sum;
    row += a.cols;
  }
  sample.of = loop;
}

/// By how far the remainder moved since the linearization; where looking brought nothing new, it is looked less often.
bool PropagatedError::needs_linearization(Sample& sample) {
  if (loop_ == nullptr) return true;
  sample.dx.resize(sample.at.x.size());
  sample.y.resize(sample.at.y.size());
  loop_->make_consistent(sample.at, sample.dx, sample.y);
  update_remainder(sample, loop_);
  bool moved = false;
  for (std::size_t i = 0; i < rates_.size(); ++i) {
    rates_[i].take(sample.dx[i]);
    moved = moved || std::abs(sample.remainder[i] - base_remainder_[i]) > kDrift * rates_[i].span();
  }
  return ++steps_since_ >= least_steps_ && moved;
}

void PropagatedError::linearize(CoupledSystem& system, Sample& sample) {
  std::vector<Linearization> parts(system.size());
  for (std::size_t s = 0; s < system.size(); ++s) {
    system.facets(SubsystemId{s}).linearizer->linearize(parts[s]);  // not counted as one of the run
  }
  linearizations_ += system.size();
  auto made = std::make_shared<ClosedLoop>(system.graph(), system.engine().transfer(), std::move(parts));
  if (!made->is_solvable()) throw Error(ErrorCode::LoopNotSolved, "the linearized algebraic loops have no solution");
  steps_since_ = 0;
  const double changed = loop_ == nullptr ? 0.0 : made->difference(*loop_);
  most_changed_ = std::max(most_changed_, changed);
  least_steps_ = loop_ != nullptr && changed < kSameMatrix ? std::min(2 * least_steps_, kMostSteps) : 1;
  if (loop_ == nullptr || changed > 0.0) {
    sample.loop = loop_ = std::move(made);
    sample.dx.resize(sample.at.x.size());
    sample.y.resize(sample.at.y.size());
    loop_->make_consistent(sample.at, sample.dx, sample.y);
    for (std::size_t i = 0; i < rates_.size(); ++i) rates_[i].take(sample.dx[i]);
  }
  update_remainder(sample, loop_);
  base_remainder_ = sample.remainder;
}

/// Steps that have this many samples behind their end.
void PropagatedError::continue_motion(std::size_t ahead) {
  while (next_ + 1 + ahead < samples_.size()) make_step();
}

void PropagatedError::make_step() {
  const Time from = samples_[next_].at.t;
  const Time to = samples_[next_ + 1].at.t;
  const auto loop = samples_[next_ + 1].loop;
  Time at = from;
  for (const Time next : breaks_) {
    if (next <= from || next >= to) continue;
    make_part(at, next, loop);
    at = next;
  }
  make_part(at, to, loop);
  ++next_;
  note_errors(samples_[next_], to - from);
  const auto past = std::lower_bound(breaks_.begin(), breaks_.end(), samples_.front().at.t);
  if (past - breaks_.begin() > 1) breaks_.erase(breaks_.begin(), past - 1);
}

/// A part of a step without a discontinuity; the remainder is taken from samples of the same smooth piece.
void PropagatedError::make_part(Time from, Time to, const std::shared_ptr<ClosedLoop>& loop) {
  const auto after = std::upper_bound(breaks_.begin(), breaks_.end(), from);
  const Time low = after == breaks_.begin() ? -kNever : *std::prev(after);
  const Time high = after == breaks_.end() ? kNever : *after;
  const auto is_usable = [&](const Sample& sample) { return sample.at.t >= low && sample.at.t < high; };
  std::size_t first = next_ - std::min(next_, kBefore);
  std::size_t end = std::min(first + kWindow, samples_.size());
  while (end - first < kWindow && first > 0) --first;
  while (first < end && !is_usable(samples_[first])) ++first;
  while (end > first && !is_usable(samples_[end - 1])) --end;
  while (end > first && end - first < kWindow && end < samples_.size() && is_usable(samples_[end])) ++end;
  while (end > first && end - first < kWindow && first > 0 && is_usable(samples_[first - 1])) --first;
  if (first == end) {  // two discontinuities within a step: the nearest sample must do
    first = next_;
    end = next_ + 1;
  }
  const std::size_t n = w_.size();
  std::array<Time, kWindow> nodes{};
  for (std::size_t j = first; j < end; ++j) {
    update_remainder(samples_[j], loop);
    nodes[j - first] = samples_[j].at.t;
  }
  const auto move = [&](std::size_t left, std::size_t count, SamplePolynomial& polynomial, std::vector<double>& w) {
    const auto weights = polynomial.weights(std::span(nodes).subspan(left, count), from, to - from);
    const std::span rates = std::span(rates_of_part_).first(count * n);
    std::fill(rates.begin(), rates.end(), 0.0);
    for (std::size_t p = 0; p < count; ++p) {
      for (std::size_t j = 0; j < count; ++j) {
        const double weight = weights[p * count + j];
        const double* remainder = samples_[first + left + j].remainder.data();
        for (std::size_t i = 0; i < n; ++i) rates[p * n + i] += weight * remainder[i];
      }
    }
    loop->flow().advance(to - from, rates, w);
  };
  const std::size_t count = end - first;
  move(0, count, polynomial_, w_);
  const std::size_t lowered = count > kLowered ? count - kLowered : 1;
  const std::size_t before = next_ > first ? next_ - first : 0;
  move(std::min(before > 0 ? before - 1 : 0, count - lowered), lowered, low_polynomial_, w_low_);
}

void PropagatedError::note_errors(const Sample& sample, Duration weight) {
  for (std::size_t i = 0; i < w_.size(); ++i) change_[i] = sample.at.x[i] - w_[i];
  for (std::size_t y = 0; y < error_.size(); ++y) error_[y] = sample.recorded[y] - sample.y[y];
  sample.loop->add_outputs(change_, error_);
  for (std::size_t i = 0; i < w_.size(); ++i) change_[i] = w_low_[i] - w_[i];
  std::fill(doubt_.begin(), doubt_.end(), 0.0);
  sample.loop->add_outputs(change_, doubt_);
  const double share = (sample.at.t - settings_.start) / (settings_.stop - settings_.start);
  const auto part = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0 - 1e-9) * static_cast<double>(kParts));
  weight_ += weight;
  for (std::size_t y = 0; y < error_.size(); ++y) {
    OutputCourse& course = courses_[y];
    const double square = weight * error_[y] * error_[y];
    course.run.take(sample.recorded[y]);
    course.better.take(sample.recorded[y] - error_[y]);
    course.squares += square;
    course.parts[part] += square;
    course.doubt += weight * doubt_[y] * doubt_[y];
    course.largest = std::max(course.largest, std::abs(error_[y]));
  }
  last_ = sample.recorded;
}

OutputError PropagatedError::output_error(std::size_t output, const RunSummary& summary) const {
  const OutputCourse& course = courses_[output];
  const Graph& graph = system_->graph();
  const SubsystemId owner = graph.owner(OutputId{output});
  OutputError result;
  result.name = graph.name(OutputId{output});
  result.unit = system_->variables(owner).outputs[output - graph.outputs_of(owner).first].unit;
  result.estimate = EstimateKind::Propagated;
  result.last = last_[output];
  result.valid_until = summary.reached;
  result.range = std::min(course.run.span(), course.better.span());
  const double size = divisible_size(
      std::max(result.range, size_floor::kResting * std::min(course.run.magnitude(), course.better.magnitude())));
  const double over = weight_ > 0.0 ? weight_ : 1.0;
  result.error = std::sqrt(course.squares / over) / size;
  result.max_error = course.largest / size;
  const double doubt = std::sqrt(course.doubt / over) / size;
  result.bound = (most_changed_ < kLinear ? kLinearSafety : kSafety) * result.error + doubt;
  const double length = (settings_.stop - settings_.start) / kParts;
  for (std::size_t part = 0; part < kParts && settings_.start + length * static_cast<double>(part) < summary.reached;
       ++part) {
    result.course.push_back(std::sqrt(course.parts[part] / length) / size);
    if (most_changed_ >= kLinear && result.course.back() > kSaturated && result.valid_until == summary.reached) {
      result.valid_until = settings_.start + length * static_cast<double>(part);
    }
  }
  return result;
}

std::optional<ErrorEstimate> PropagatedError::estimate(const RunSummary& summary) const {
  if (stopped_ || last_.empty()) return std::nullopt;
  ErrorEstimate result;
  for (std::size_t y = 0; y < courses_.size(); ++y) result.outputs.push_back(output_error(y, summary));
  result.extra_seconds = seconds_;
  return result;
}

}  // namespace entrain
