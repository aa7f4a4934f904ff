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

namespace entrain::estimate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWindow = LinearFlow::kMostRates;  // samples for the remainder
constexpr std::size_t kBefore = 2;                       // of them, before the step
constexpr std::size_t kAhead = 5;                        // samples behind the end of a step when it is made
constexpr std::size_t kLowered = 2;                      // samples left out for the motion that shows the doubt
// Of the range of the derivatives: a remainder that moved more asks for a new linearization.
constexpr double kDrift = 0.0005;
constexpr std::uint64_t kMostSteps = 1024;  // without looking again where looking brought nothing new
constexpr double kSameMatrix = 1e-5;
// A linearization that changed less than this: the equations are taken as linear.
constexpr double kLinear = 0.05;
constexpr std::size_t kMostBetween = 10'000;

bool provides_equations(CoupledSystem& system, SubsystemId s) {
  const Facets facets = system.facets(s);
  if (facets.linearizer == nullptr) return false;
  if (facets.equations != nullptr && facets.equations->reads_input_derivatives()) return false;
  if (system.states_of(s).count > 0) return facets.states != nullptr && system.capabilities(s).state_derivatives;
  if (facets.equations != nullptr) return true;
  // It may have states that it does not provide; one that follows no other does not propagate an error.
  for (const InputId input : system.graph().inputs_of(s)) {
    if (system.graph().source(input) != nullptr) return false;
  }
  return true;
}

}  // namespace

bool PropagatedError::serves(CoupledSystem& system, const Method& method) {
  if (method.traits().family == MethodFamily::Reference) return false;
  if (system.states() > kMostStates || system.engine().discrete() != nullptr) return false;
  for (std::size_t s = 0; s < system.size(); ++s) {
    if (!provides_equations(system, SubsystemId{s})) return false;
  }
  return true;
}

void PropagatedError::begin(CoupledSystem& system, const RunSettings& settings) {
  *this = PropagatedError();
  const std::size_t outputs = system.graph().outputs();
  settings_ = settings;
  system_ = &system;
  reached_ = settings.start;
  rate_ranges_.assign(system.states(), base::SignalRange::nothing());
  courses_.assign(outputs, {});
  for (auto* of_outputs : {&offset_, &better_, &doubt_}) of_outputs->resize(outputs);
  difference_.resize(system.states());
  no_slopes_.assign(system.graph().inputs(), 0.0);
  rates_of_part_.resize(kWindow * system.states());
  try {
    take_sample(system, settings.start);
  } catch (const Error& error) {
    return stop(settings.start, error.what());
  }
  const Sample& first = samples_.front();
  w_ = w_low_ = first.at.x;
  for (std::size_t y = 0; y < outputs; ++y) {
    courses_[y].begin(settings, {settings.start, first.recorded[y], first.recorded[y] - first.y[y], 0.0});
  }
}

void PropagatedError::after_step(CoupledSystem& system, Time from, Time to) {
  if (stopped_ || !(to > from)) return;
  if (from != reached_) return stop(from, "the run did not go on from there");
  const auto started = Clock::now();
  const base::Finally note([&] { seconds_ += std::chrono::duration<double>(Clock::now() - started).count(); });
  reached_ = to;
  try {
    note_breaks(system, from, to);
    if (!system.all_at(to)) return take_between(system, to);
    take_sample(system, to);
    if (has_switched()) return stop(to, "a state event");
    continue_motion(kAhead);
  } catch (const Error& error) {
    stop(to, error.what());
  }
}

void PropagatedError::end(const RunSummary&) {
  if (!stopped_ && system_ != nullptr) continue_motion(0);
  if (!stopped_ && system_ != nullptr && samples_.size() >= 2) keep_result();
}

void PropagatedError::stop(Time t, std::string_view why) {
  stopped_ = true;
  reasons_.push_back({FactCode::ErrorNotFollowed, {}, {{"time", t, "s"}, {"why", why}}});
}

/// Announced discontinuities of the step, each once and in order.
void PropagatedError::note_breaks(CoupledSystem& system, Time from, Time to) {
  const std::size_t known = breaks_.size();
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    for (Time t = system.next_event(id, from); t <= to || base::same_time(t, to); t = system.next_event(id, t)) {
      breaks_.push_back(base::same_time(t, to) ? to : t);
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

/// Some subsystems are in the middle of a longer step.
void PropagatedError::take_between(CoupledSystem& system, Time t) {
  if (between_.size() == kMostBetween) return stop(t, "the subsystems have no common communication times");
  Between& now = between_.emplace_back();
  now.t = t;
  now.recorded.assign(system.outputs().begin(), system.outputs().end());
  for (std::size_t y = 0; y < now.recorded.size(); ++y) {
    now.communicated.push_back(system.time_of(system.graph().owner(OutputId{y})) == t ? 1 : 0);
  }
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
  at.held.resize(graph.inputs());
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto in = graph.inputs_of(SubsystemId{s});
    const coupling::StepSlots& slots = system.engine().executor().of(SubsystemId{s}).step;
    for (std::size_t i = 0; i < in.count; ++i) at.held[in.first + i] = slots.held(i);
  }
  const coupling::TransferPlan& plan = system.engine().transfer();
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
  read_signs(system, sample);
}

/// What the equations are asked for, of one subsystem.
Equations::Point PropagatedError::point_of(SubsystemId s, const Sample& sample, std::span<const double> inputs) const {
  const auto in = system_->graph().inputs_of(s);
  const auto states = system_->states_of(s);
  return {sample.at.t, std::span(sample.at.x).subspan(states.first, states.count), inputs.subspan(in.first, in.count),
          std::span(no_slopes_).first(in.count)};
}

/// Signs of the indicators of state events.
void PropagatedError::read_signs(CoupledSystem& system, Sample& sample) {
  sample.signs.clear();
  for (std::size_t s = 0; s < system.size(); ++s) {
    Equations* equations = system.facets(SubsystemId{s}).equations;
    if (equations == nullptr || equations->event_indicator_count() == 0) continue;
    indicators_.resize(equations->event_indicator_count());
    equations->event_indicators(point_of(SubsystemId{s}, sample, sample.at.held), indicators_);
    for (const double value : indicators_) sample.signs.push_back(value > 0.0 ? 1 : 0);
  }
}

bool PropagatedError::has_switched() const {
  return samples_.size() > 1 && samples_.back().signs != samples_[samples_.size() - 2].signs;
}

/// Where a method passes outputs on late, what observers see is not what the subsystem has now.
void PropagatedError::read_true_outputs(CoupledSystem& system, Sample& sample) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const auto out = system.graph().outputs_of(id);
    Equations* equations = system.facets(id).equations;
    if (equations == nullptr) {
      throw Error(ErrorCode::MissingCapability, "outputs are passed on late",
                  {.subsystem = system.graph().name(id), .variable = {}, .time = {}, .remedy = {}});
    }
    equations->outputs(point_of(id, sample, sample.at.u), std::span(sample.at.y).subspan(out.first, out.count));
  }
}

void PropagatedError::update_remainder(Sample& sample, const std::shared_ptr<ClosedLoop>& loop) {
  if (sample.of == loop) return;
  sample.remainder = sample.dx;
  for (std::size_t i = 0; i < sample.dx.size(); ++i) sample.remainder[i] -= loop->a().times(i, sample.at.x);
  sample.offset.assign(sample.y.size(), 0.0);
  loop->add_outputs(sample.at.x, sample.offset);
  for (std::size_t y = 0; y < sample.y.size(); ++y) sample.offset[y] = sample.y[y] - sample.offset[y];
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
  for (std::size_t i = 0; i < rate_ranges_.size(); ++i) {
    rate_ranges_[i].take(sample.dx[i]);
    moved = moved || std::abs(sample.remainder[i] - base_remainder_[i]) > kDrift * rate_ranges_[i].span();
  }
  return ++steps_since_ >= least_steps_ && moved;
}

void PropagatedError::linearize(CoupledSystem& system, Sample& sample) {
  std::vector<Linearization> parts(system.size());
  for (std::size_t s = 0; s < system.size(); ++s) {
    system.facets(SubsystemId{s}).linearizer->linearize(parts[s]);  // not counted as one of the run
    if (parts[s].A.rows == system.states_of(SubsystemId{s}).count) continue;
    throw Error(ErrorCode::MissingCapability, "the linearization is not that of the states",
                {.subsystem = system.graph().name(SubsystemId{s}), .variable = {}, .time = {}, .remedy = {}});
  }
  linearizations_ += system.size();
  auto made = std::make_shared<ClosedLoop>(system.graph(), system.engine().transfer(), std::move(parts));
  if (!made->is_solvable()) throw Error(ErrorCode::LoopNotSolved, "the linearized algebraic loops have no solution");
  steps_since_ = 0;
  const double changed = loop_ == nullptr ? 0.0 : made->difference(*loop_);
  if (loop_ == nullptr) first_loop_ = made;
  most_changed_ = std::max(most_changed_, made->difference(*first_loop_));
  least_steps_ = loop_ != nullptr && changed < kSameMatrix ? std::min(2 * least_steps_, kMostSteps) : 1;
  if (loop_ == nullptr || changed > 0.0) {
    sample.loop = loop_ = std::move(made);
    sample.dx.resize(sample.at.x.size());
    sample.y.resize(sample.at.y.size());
    loop_->make_consistent(sample.at, sample.dx, sample.y);
    for (std::size_t i = 0; i < rate_ranges_.size(); ++i) rate_ranges_[i].take(sample.dx[i]);
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
  const auto next_break = [&] {
    const auto after = std::upper_bound(breaks_.begin(), breaks_.end(), at);
    return after == breaks_.end() ? kNever : *after;
  };
  while (at < to) {
    const bool stops_between = !between_.empty() && between_.front().t < to;
    const Time end = std::min({to, next_break(), stops_between ? between_.front().t : to});
    make_part(at, end, loop);
    at = end;
    if (!stops_between || between_.front().t != end) continue;
    note_errors(end, between_.front().recorded, *loop, between_.front().communicated.data());
    between_.pop_front();
  }
  ++next_;
  offset_ = samples_[next_].offset;
  note_errors(to, samples_[next_].recorded, *loop, nullptr);
  const auto past = std::lower_bound(breaks_.begin(), breaks_.end(), samples_.front().at.t);
  if (past - breaks_.begin() > 1) breaks_.erase(breaks_.begin(), past - 1);
}

/// Of the smooth piece in which `from` lies. A sample where it begins belongs to it: subsystems return what holds from
/// then on.
PropagatedError::Window PropagatedError::window(Time from) const {
  const auto after = std::upper_bound(breaks_.begin(), breaks_.end(), from);
  const Time low = after == breaks_.begin() ? -kNever : *std::prev(after);
  const Time high = after == breaks_.end() ? kNever : *after;
  const auto is_usable = [&](const Sample& sample) { return sample.at.t >= low && sample.at.t < high; };
  std::size_t first = next_ - std::min(next_, kBefore);
  std::size_t end = std::min(first + kWindow, samples_.size());
  while (first < end && !is_usable(samples_[first])) ++first;
  while (end > first && !is_usable(samples_[end - 1])) --end;
  if (first == end) return {next_, next_ + 1};  // two discontinuities within a step: the nearest sample must do
  while (end - first < kWindow && end < samples_.size() && is_usable(samples_[end])) ++end;
  while (end - first < kWindow && first > 0 && is_usable(samples_[first - 1])) --first;
  return {first, end};
}

/// A part of a step without a discontinuity; offset_ becomes that of its end.
void PropagatedError::make_part(Time from, Time to, const std::shared_ptr<ClosedLoop>& loop) {
  const Window all = window(from);
  std::array<Time, kWindow> nodes{};
  const std::size_t count = all.end - all.first;
  for (std::size_t j = 0; j < count; ++j) {
    update_remainder(samples_[all.first + j], loop);
    nodes[j] = samples_[all.first + j].at.t;
  }
  const auto weights = polynomial_.weights(std::span(nodes).first(count), from, to - from);
  loop->flow().advance(to - from, rates(all, weights), w_);
  if (!between_.empty() && between_.front().t == to) {
    std::fill(offset_.begin(), offset_.end(), 0.0);
    for (std::size_t j = 0; j < count; ++j) {
      double weight = 0.0;  // of the sample at the end
      for (std::size_t p = 0; p < count; ++p) weight += weights[p * count + j];
      for (std::size_t y = 0; y < offset_.size(); ++y) offset_[y] += weight * samples_[all.first + j].offset[y];
    }
  }
  const std::size_t lowered = count > kLowered ? count - kLowered : 1;
  const std::size_t before = next_ > all.first ? next_ - all.first - 1 : 0;
  const Window some{all.first + std::min(before, count - lowered),
                    all.first + std::min(before, count - lowered) + lowered};
  const auto fewer = std::span(nodes).subspan(some.first - all.first, lowered);
  loop->flow().advance(to - from, rates(some, low_polynomial_.weights(fewer, from, to - from)), w_low_);
}

/// Of the polynomial of the remainder through these samples.
std::span<const double> PropagatedError::rates(const Window& of, std::span<const double> weights) {
  const std::size_t count = of.end - of.first;
  const std::size_t n = w_.size();
  const std::span result = std::span(rates_of_part_).first(count * n);
  std::fill(result.begin(), result.end(), 0.0);
  for (std::size_t p = 0; p < count; ++p) {
    for (std::size_t j = 0; j < count; ++j) {
      const double weight = weights[p * count + j];
      const double* remainder = samples_[of.first + j].remainder.data();
      for (std::size_t i = 0; i < n; ++i) result[p * n + i] += weight * remainder[i];
    }
  }
  return result;
}

/// Of those outputs that were communicated; null: all. offset_ is that of this time.
void PropagatedError::note_errors(Time t, std::span<const double> recorded, const ClosedLoop& loop,
                                  const char* communicated) {
  better_ = offset_;
  loop.add_outputs(w_, better_);
  for (std::size_t i = 0; i < w_.size(); ++i) difference_[i] = w_low_[i] - w_[i];
  std::fill(doubt_.begin(), doubt_.end(), 0.0);
  loop.add_outputs(difference_, doubt_);
  for (std::size_t y = 0; y < better_.size(); ++y) {
    if (communicated != nullptr && communicated[y] == 0) continue;
    courses_[y].take({t, recorded[y], recorded[y] - better_[y], doubt_[y]});
  }
}

void PropagatedError::keep_result() {
  const Graph& graph = system_->graph();
  ErrorEstimate& result = result_.emplace();
  for (std::size_t y = 0; y < courses_.size(); ++y) {
    const SubsystemId owner = graph.owner(OutputId{y});
    OutputError& output = result.outputs.emplace_back(courses_[y].result(most_changed_ < kLinear));
    output.name = graph.name(OutputId{y});
    output.unit = system_->variables(owner).outputs[y - graph.outputs_of(owner).first].unit;
  }
  result.extra_seconds = seconds_;
}

}  // namespace entrain::estimate
