#include "methods/asynchronous/waveform.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/bytes.hpp"
#include "base/grid.hpp"
#include "coupling/engine.hpp"
#include "coupling/not_finite.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::method {
namespace {

constexpr double kRemainder = 1e-9;  // of a step: a remainder below is none
// A window has at least so many of the longest imposed steps, so that samples lie on both sides of what is read.
constexpr double kLeastImposedSteps = 2.0;
constexpr double kWindowAgain = 0.5;  // a window whose error is too large is made again, this much shorter or more

bool same_step(Duration a, Duration b) {
  return std::abs(a - b) <= kRemainder * b;
}

}  // namespace

const MethodTraits& Waveform::traits() const {
  static const MethodTraits kTraits{
      .name = "waveform",
      .summary =
          "iterates over windows of several steps, each subsystem with steps of its own; inputs are interpolated",
      .family = MethodFamily::Asynchronous,
      .order = 4,
      .calls_per_step = 9.0,
      .iterates = true,
      .knobs = {.tolerances = {"relative_tolerance", "absolute_tolerance"}}};
  return kTraits;
}

Requirements Waveform::requirements() const {
  Requirements needs;
  needs.common_grid = false;
  needs.start_gains = true;
  return needs;
}

std::vector<std::string> Waveform::step_tolerances() const {
  return options_.adaptive ? traits().knobs.tolerances : std::vector<std::string>{};
}

// Start.

void Waveform::start(CoupledSystem& system, const RunSettings& settings) {
  settings_ = settings;
  engine_ = &system.engine();
  step_ = 0;
  now_ = solved_until_ = settings.start;
  longest_imposed_ = 0.0;
  StepSettings steps;
  steps.relative_tolerance = options_.relative_tolerance;
  steps.absolute_tolerance = options_.absolute_tolerance;
  steps.min_step = options_.min_step;
  steps.max_step = options_.max_step;
  steps.order = options_.degree;
  steps.safety = 0.9;
  steps.most_growth = 2.0;
  controller_ = StepController(steps, steps.limits(kHermiteLimits, settings.step));
  members_.clear();
  members_.resize(system.size());
  ranges_.assign(system.graph().outputs(), {});
  for (std::size_t y = 0; y < ranges_.size(); ++y) ranges_[y].begin(system.outputs()[y]);
  tried_.clear();
  estimated_.clear();
  columns_.reset();
  layout_.clear();
  for (std::size_t s = 0; s < system.size(); ++s) join(system, SubsystemId{s});
  make_chains();
  free_step_ = settings.step / options_.samples;
  swept_.assign(system.size(), {});
  events_.start(system, now_);
}

void Waveform::join(CoupledSystem& system, SubsystemId s) {
  const Graph& graph = system.graph();
  const Capabilities& can = system.capabilities(s);
  Member& member = members_[s];
  member.imposed = can.imposed_step;
  member.offset = can.step_offset;
  member.limits = {can.min_step.value_or(0.0), can.max_step.value_or(kNever)};
  if (!settings_.prescribed.empty() && !member.imposed) {
    member.prescribed = settings_.prescribed[settings_.prescribed.size() == 1 ? 0 : static_cast<std::size_t>(s)];
  }
  if (member.imposed) longest_imposed_ = std::max(longest_imposed_, *member.imposed);
  member.inputs = graph.inputs_of(s);
  member.outputs_range = graph.outputs_of(s);
  member.read.assign(member.outputs_range.count, 0);
  for (const auto& connection : graph.connections()) {
    if (graph.owner(connection.output) == s) member.read[connection.output - member.outputs_range.first] = 1;
  }
  member.iterates = std::any_of(member.read.begin(), member.read.end(), [](auto read) { return read != 0; });
  member.lowered = can.input_degree < options_.degree && member.inputs.count > 0;
  const auto& participant = engine_->executor().of(s);
  member.outputs.start(now_, participant.outputs());
  member.held.assign(participant.inputs().begin(), participant.inputs().end());
  member.raw.assign(participant.outputs().begin(), participant.outputs().end());
  const bool replaced = engine_->estimator(s).replaces_linearization();
  const bool goes_back =
      engine_->trial_kinds().empty() ? can.rollback : engine_->trial_kinds()[s] == coupling::TrialKind::Rollback;
  if (can.rollback && goes_back && !replaced) {
    member.tried = Tried::Rollback;
  } else {
    if (member.iterates) member.kind = trials::chain_kind(*engine_, s);
    member.tried = member.kind != trials::ChainKind::None ? Tried::Chain : Tried::Continued;
    member.follows_at_once = member.tried == Tried::Chain && member.lowered && can.feedthrough.any();
  }
  if (!member.iterates) return;
  (member.tried == Tried::Rollback ? tried_ : estimated_).push_back(s);
}

/// Where they live.
void Waveform::make_chains() {
  engine_->executor().for_everyone([&](SubsystemId s) {
    Member& member = members_[s];
    if (member.tried != Tried::Chain) return;
    std::vector<double> gains;
    if (member.kind == trials::ChainKind::Identified) gains = engine_->start_gains(s);
    at_home(s, [&] { member.chain = trials::make_step_chain(*engine_, s, gains); });
  });
}

template <class Work, class... Results>
void Waveform::at_home(SubsystemId s, Work&& work, Results... results) const {
  engine_->executor().at_home(s, std::forward<Work>(work), results...);
}

std::span<std::uint64_t> Waveform::linearizations(SubsystemId s) const {
  return {&engine_->executor().of(s).counters.linearizations, 1};
}

// Windows.

/// The first time of an imposed grid that is not before t.
Time Waveform::grid_time_from(const Member& member, Time t) const {
  const Time first = settings_.start + member.offset;
  const double k = std::max(0.0, std::ceil((t - first) / *member.imposed - kRemainder));
  return first + k * *member.imposed;
}

Time Waveform::end_of_window() const {
  Duration length = options_.window > 0.0 ? options_.window : std::max(settings_.step, options_.samples * free_step_);
  if (options_.adaptive) length = options_.samples * free_step_;
  length = std::max(length, kLeastImposedSteps * longest_imposed_);
  Time end = now_ + length;
  // With the slowest one ends a step there, all others have samples up to it, and beyond.
  for (const Member& member : members_) {
    if (member.imposed == longest_imposed_) {
      end = grid_time_from(member, end);
      break;
    }
  }
  for (std::size_t s = 0; s < members_.size(); ++s) {
    const Time event = events_.next(SubsystemId{s});
    if (!base::reached(now_, event)) end = std::min(end, event);
  }
  if (!base::reached(events_.instant(), end)) return events_.instant();
  const Duration least = 0.5 * (members_.empty() ? 0.0 : free_step_);
  return end > settings_.stop - least ? settings_.stop : end;
}

void Waveform::plan(Time end) {
  for (Member& member : members_) plan_member(member, end);
}

void Waveform::plan_member(Member& member, Time end) {
  SampledOutputs& outputs = member.outputs;
  if (member.imposed) {
    while (!base::reached(outputs.last(), end)) {
      const bool first_is_offset = member.offset > 0.0;
      const std::uint64_t planned = member.made + (outputs.samples() - outputs.known());
      const auto multiple = static_cast<double>(first_is_offset ? planned : planned + 1);
      Time next = settings_.start + member.offset + multiple * *member.imposed;
      if (std::abs(next - settings_.stop) <= kRemainder * *member.imposed) next = settings_.stop;
      if (next > settings_.stop) return;
      outputs.plan(next);
    }
    return;
  }
  if (!member.prescribed.empty()) {
    for (const Time next : member.prescribed) {
      if (base::reached(outputs.last(), end)) return;
      if (next > outputs.last() && !base::same_time(next, outputs.last())) outputs.plan(next);
    }
    return;
  }
  const Time from = outputs.last();
  if (base::reached(from, end)) return;
  const Duration rest = end - from;
  const Duration step = member.limits.within(free_step_);
  double count = std::max(1.0, std::ceil(rest / step - kRemainder));
  if (member.limits.min > 0.0)
    count = std::max(1.0, std::min(count, std::floor(rest / member.limits.min + kRemainder)));
  for (double k = 1.0; k <= count; ++k) outputs.plan(k == count ? end : from + rest * (k / count));
}

bool Waveform::can_go_back() const {
  return estimated_.empty();
}

void Waveform::solve(CoupledSystem& system, MacroStepReport& report) {
  while (true) {
    for (Member& member : members_) {
      if (!member.imposed && can_go_back()) member.outputs.drop_planned();
    }
    const Time end = end_of_window();
    plan(end);
    iterate(system, report);
    follow_chains(system);
    solved_until_ = end;
    if (!can_go_back()) {  // until an estimate can be compared with what came
      for (const SubsystemId s : estimated_) {
        const auto& outputs = members_[s].outputs;
        if (outputs.samples() > outputs.known()) solved_until_ = std::min(solved_until_, outputs.time(outputs.known()));
      }
    }
    if (!options_.adaptive || !shortened()) break;
    ++report.rejected;
  }
}

/// Of all outputs that are read, whose subsystems choose their steps, in units of the tolerance.
double Waveform::interpolation_error() const {
  double error = 0.0;
  for (const Member& member : members_) {
    if (member.imposed || !member.prescribed.empty()) continue;
    for (std::size_t o = 0; o < member.read.size(); ++o) {
      if (member.read[o] == 0) continue;
      const auto& range = ranges_[member.outputs_range.first + o];
      const double allowed = std::max(controller_.allowed(range.size(base::size_floor::kResting)), 1e-300);
      error = std::max(error, member.outputs.interpolation_error(o, options_.degree) / allowed);
    }
  }
  return error;
}

/// The next steps by the error of these; true when these must be made again.
bool Waveform::shortened() {
  const double error = interpolation_error();
  const double growth = safe_growth(error, options_.degree, controller_.settings());
  const StepLimits limits = controller_.limits();
  const Duration before = free_step_;
  const Duration wanted = before * std::max(growth, controller_.settings().least_growth);
  const Duration next = limits.within(options_.samples * wanted) / options_.samples;
  if (!(error > 1.0) || !can_go_back() || !(next < before)) {
    free_step_ = next;
    return false;
  }
  free_step_ = limits.within(options_.samples * std::min(next, kWindowAgain * before)) / options_.samples;
  return free_step_ < before;
}

// The iteration.

void Waveform::collect(std::vector<double>& values) const {
  values.clear();
  for (const Member& member : members_) {
    if (!member.iterates) continue;
    for (std::size_t k = member.outputs.known(); k < member.outputs.samples(); ++k) {
      for (std::size_t o = 0; o < member.read.size(); ++o) {
        if (member.read[o] != 0) values.push_back(member.outputs.value(k, o));
      }
    }
  }
}

void Waveform::put(const std::vector<double>& values) {
  auto next = values.begin();
  for (Member& member : members_) {
    if (!member.iterates) continue;
    for (std::size_t k = member.outputs.known(); k < member.outputs.samples(); ++k) {
      for (std::size_t o = 0; o < member.read.size(); ++o) {
        if (member.read[o] != 0) member.outputs.set(k, o, *next++);
      }
    }
  }
}

double Waveform::residual(std::size_t& worst) const {
  double largest = 0.0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const double miss = std::abs(images_[i] - values_[i]) / scales_[i];
    if (miss <= largest) continue;
    largest = miss;
    worst = outputs_of_values_[i];
    if (!std::isfinite(miss)) return miss;
  }
  return largest;
}

/// How large the outputs are, those of the window included: at the start of a run there are no others.
void Waveform::find_scales() {
  std::vector<base::SignalRange>& ranges = window_ranges_;
  ranges = ranges_;
  for (std::size_t i = 0; i < images_.size(); ++i) {
    ranges[outputs_of_values_[i]].take(values_[i]);
    ranges[outputs_of_values_[i]].take(images_[i]);
  }
  scales_.clear();
  for (const std::size_t y : outputs_of_values_) {
    scales_.push_back(base::divisible_size(ranges[y].size(base::size_floor::kResting)));
  }
}

/// z = g(z) for the samples of all outputs in the window that are read, by IQN-ILS on the whole waveform.
void Waveform::iterate(CoupledSystem& system, MacroStepReport& report) {
  look_at_all(system);
  collect(values_);
  new_layout_.clear();
  outputs_of_values_.clear();
  for (const Member& member : members_) {
    if (!member.iterates) continue;
    new_layout_.push_back(member.outputs.samples() - member.outputs.known());
    for (std::size_t k = member.outputs.known(); k < member.outputs.samples(); ++k) {
      for (std::size_t o = 0; o < member.read.size(); ++o) {
        if (member.read[o] == 0) continue;
        const std::size_t y = member.outputs_range.first + o;
        outputs_of_values_.push_back(y);
      }
    }
  }
  if (values_.empty()) return;
  if (new_layout_ != layout_ || !columns_) columns_.emplace(values_.size());
  unknowns_ = values_.size();
  std::swap(layout_, new_layout_);
  columns_->begin();
  const std::size_t size = values_.size();
  scaled_residual_.resize(size);
  scaled_image_.resize(size);
  next_.resize(size);
  if (!tried_.empty()) system.save(tried_, saved_);
  double missed = 0.0;
  std::size_t worst = 0;
  for (int k = 0; k < options_.max_iterations; ++k) {
    sweep(system);
    ++report.iterations;
    if (k == 0) find_scales();
    missed = residual(worst);
    if (missed <= options_.iteration_tolerance || k + 1 == options_.max_iterations) break;
    for (std::size_t i = 0; i < size; ++i) {
      scaled_residual_[i] = (images_[i] - values_[i]) / scales_[i];
      scaled_image_[i] = images_[i] / scales_[i];
    }
    columns_->evaluated(scaled_residual_, scaled_image_, next_);
    for (std::size_t i = 0; i < size; ++i) values_[i] = next_[i] * scales_[i];
    put(values_);
  }
  if (!tried_.empty()) system.release(saved_);
  if (!std::isfinite(missed)) {
    const auto at = static_cast<std::size_t>(std::find(outputs_of_values_.begin(), outputs_of_values_.end(), worst) -
                                             outputs_of_values_.begin());
    throw coupling::not_finite(system.graph(), OutputId{worst}, images_[at], now_);
  }
  put(images_);
  if (!(missed <= options_.iteration_tolerance)) fail(system, worst, missed);
}

void Waveform::fail(const CoupledSystem& system, std::size_t worst, double missed) const {
  const Graph& graph = system.graph();
  const std::string name = graph.name(OutputId{worst});
  throw Error(ErrorCode::SolverFailed,
              {FactCode::IterationNotConverged,
               {name},
               {{"method", traits().name},
                {"tolerance", options_.iteration_tolerance},
                {"step", end_of_window() - now_, "s"},
                {"residuals", fmt::format("{} {:.3g}", name, missed)}}},
              {.subsystem = {},
               .variable = {},
               .time = now_,
               .remedy = "Choose a smaller window, more max_iterations or a larger iteration_tolerance"});
}

/// All planned steps of all subsystems under the waveforms as they are; `images_` are those that result.
void Waveform::sweep(CoupledSystem& system) {
  for (std::size_t s = 0; s < members_.size(); ++s) {
    const Member& member = members_[s];
    if (!member.iterates) continue;
    swept_[s].resize((member.outputs.samples() - member.outputs.known()) * member.outputs_range.count);
  }
  try_steps(system);
  const auto estimate = [&](std::size_t i) {
    const SubsystemId s = estimated_[i];
    at_home(
        s, [&] { estimate_steps(system, s); }, linearizations(s), std::span(swept_[s]));
  };
  if (!estimated_.empty()) engine_->executor().for_each(estimated_, estimate);
  images_.clear();
  for (std::size_t s = 0; s < members_.size(); ++s) {
    const Member& member = members_[s];
    if (!member.iterates) continue;
    for (std::size_t at = 0; at < swept_[s].size(); ++at) {
      if (member.read[at % member.read.size()] != 0) images_.push_back(swept_[s][at]);
    }
  }
}

/// By rollback: round by round, for the steps of a subsystem follow each other.
void Waveform::try_steps(CoupledSystem& system) {
  if (tried_.empty()) return;
  for (std::size_t round = 0;; ++round) {
    tasks_.clear();
    for (const SubsystemId s : tried_) {
      const SampledOutputs& outputs = members_[s].outputs;
      const std::size_t sample = outputs.known() + round;
      if (sample < outputs.samples()) tasks_.push_back(task_of(system, s, sample));
    }
    if (tasks_.empty()) break;
    for (const StepTask& task : tasks_) ++engine_->executor().of(task.subsystem).counters.trials;
    engine_->executor().run({.tasks = tasks_, .purpose = coupling::StepBatch::Purpose::Trial});
    for (const StepTask& task : tasks_) {
      const auto& participant = engine_->executor().of(task.subsystem);
      if (participant.result.outcome == StepOutcome::Rejected) throw engine_->executor().rejection(task.subsystem);
      const std::size_t count = members_[task.subsystem].outputs_range.count;
      const std::span<double> to = std::span(swept_[task.subsystem]).subspan(round * count, count);
      std::copy(participant.outputs().begin(), participant.outputs().end(), to.begin());
      bring_to_end(system, task.subsystem, task.to, to);
    }
  }
  // What was tried out stays counted.
  for (std::size_t i = 0; i < tried_.size(); ++i) {
    const auto& tried = engine_->executor().of(tried_[i]).counters;
    auto& saved = saved_.counters[i];
    saved.trials = tried.trials;
    saved.trial_seconds = tried.trial_seconds;
    saved.sampled_trials = tried.sampled_trials;
  }
  system.restore(saved_);
}

void Waveform::estimate_steps(CoupledSystem& system, SubsystemId s) {
  Member& member = members_[s];
  const std::size_t count = member.outputs_range.count;
  const std::size_t inputs = member.inputs.count;
  if (member.tried == Tried::Chain) member.chain->begin();
  member.polynomials.resize(inputs * static_cast<std::size_t>(options_.degree + 1));
  for (std::size_t sample = member.outputs.known(); sample < member.outputs.samples(); ++sample) {
    const std::size_t round = sample - member.outputs.known();
    const std::span<double> to = std::span(swept_[s]).subspan(round * count, count);
    if (member.tried == Tried::Continued) {
      for (std::size_t o = 0; o < count; ++o) to[o] = member.outputs.value(sample, o);
      continue;
    }
    write_inputs(system, s, sample, member.polynomials);
    member.chain->step(size_of(member, sample), InputBlock(member.polynomials.data(), inputs, options_.degree), to);
  }
}

// Steps.

Duration Waveform::size_of(const Member& member, std::size_t sample) const {
  const Duration size = member.outputs.time(sample) - member.outputs.time(sample - 1);
  // To the last bit, so that it can keep what it computed for a step of this size.
  if (member.imposed && same_step(size, *member.imposed)) return *member.imposed;
  return !member.imposed && same_step(size, free_step_) ? free_step_ : size;
}

/// The polynomials of all inputs of `s` over the step that ends with this sample.
void Waveform::write_inputs(CoupledSystem& system, SubsystemId s, std::size_t sample, std::span<double> to) const {
  const Member& member = members_[s];
  const Graph& graph = system.graph();
  const auto& transfer = engine_->transfer();
  const Time from = member.outputs.time(sample - 1);
  const Duration size = size_of(member, sample);
  const std::size_t count = member.inputs.count;
  for (std::size_t j = 0; j < count; ++j) {
    const InputId input{member.inputs.first + j};
    const Connection* connection = graph.source(input);
    SampledOutputs::Polynomial polynomial{};
    if (connection == nullptr) {
      polynomial[0] = system.incoming(input) + transfer.moved(input, from);
    } else {
      const SubsystemId source = graph.owner(connection->output);
      const Member& other = members_[source];
      polynomial = other.outputs.over(connection->output - other.outputs_range.first, from, size, options_.degree);
      polynomial[0] = transfer.transferred(input, polynomial[0]) + transfer.moved(input, from);
      for (std::size_t p = 1; p < polynomial.size(); ++p) polynomial[p] *= transfer.factor(input);
    }
    if (const double slope = transfer.slope(input); slope != 0.0 && options_.degree > 0) polynomial[1] += slope;
    for (int p = 0; p <= options_.degree; ++p) {
      to[static_cast<std::size_t>(p) * count + j] = polynomial[static_cast<std::size_t>(p)];
    }
  }
}

StepTask Waveform::task_of(CoupledSystem& system, SubsystemId s, std::size_t sample) {
  Member& member = members_[s];
  const std::size_t count = member.inputs.count;
  const int degree = count > 0 ? options_.degree : 0;
  member.polynomials.resize(count * static_cast<std::size_t>(options_.degree + 1));
  write_inputs(system, s, sample, member.polynomials);
  for (int p = 0; p <= degree && count > 0; ++p) {
    const auto from = member.polynomials.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(p) * count);
    std::copy_n(from, count, system.coefficients(s, degree, p).begin());
  }
  return {s, member.outputs.time(sample - 1), size_of(member, sample), degree, 1, member.outputs.time(sample)};
}

/// A subsystem that takes inputs of a lower degree holds others at the end of a step than were meant: outputs with
/// feedthrough follow.
void Waveform::bring_to_end(CoupledSystem& system, SubsystemId s, Time end, std::span<double> outputs) const {
  const Member& member = members_[s];
  if (!member.lowered || member.direct.empty()) return;
  const auto& participant = engine_->executor().of(s);
  for (std::size_t j = 0; j < member.inputs.count; ++j) {
    const InputId input{member.inputs.first + j};
    const Connection* connection = system.graph().source(input);
    if (connection == nullptr) continue;
    const Member& source = members_[system.graph().owner(connection->output)];
    const double there = source.outputs.at(connection->output - source.outputs_range.first, end, options_.degree);
    const double gap = engine_->transfer().transferred(input, there) + engine_->transfer().moved(input, end) -
                       participant.step.held(j);
    for (std::size_t o = 0; o < outputs.size(); ++o) outputs[o] += member.direct[o * member.inputs.count + j] * gap;
  }
}

void Waveform::look_at_all(CoupledSystem& system) {
  some_.clear();
  for (std::size_t s = 0; s < members_.size(); ++s) {
    const SubsystemId id{s};
    Member& member = members_[s];
    if (std::exchange(member.observed, true)) continue;
    const Capabilities& can = system.capabilities(id);
    const bool needs_direct = member.lowered && can.linearization && can.feedthrough.any();
    if (member.tried == Tried::Chain || needs_direct) some_.push_back(id);
  }
  if (some_.empty()) return;
  engine_->executor().for_each(some_, [&](std::size_t i) { look(system, some_[i]); });
}

/// What is known of a subsystem where it is, before steps are tried out.
void Waveform::look(CoupledSystem& system, SubsystemId s) {
  Member& member = members_[s];
  if (member.tried == Tried::Chain) {
    const auto observe = [&] {
      std::vector<double> met(member.outputs_range.count);
      for (std::size_t o = 0; o < met.size(); ++o) met[o] = member.outputs.value(member.outputs.known() - 1, o);
      try {
        member.chain->observe({member.outputs.last_known(), member.held, member.raw, met});
      } catch (...) {
        member.quality = member.chain->quality().numbers();
        throw;
      }
      member.quality = member.chain->quality().numbers();
    };
    at_home(s, observe, linearizations(s), std::span<double>(member.quality));
    return;
  }
  member.direct.assign(member.outputs_range.count * member.inputs.count, 0.0);
  const auto linearize = [&] {
    Linearization here;
    engine_->facets(s).linearizer->linearize(here);
    ++engine_->executor().of(s).counters.linearizations;
    take_direct(system, s, [&](std::size_t o, std::size_t j) { return here.D(o, j); });
  };
  at_home(s, linearize, linearizations(s), std::span(member.direct));
}

/// How their outputs follow inputs at once, as it was estimated last.
void Waveform::follow_chains(CoupledSystem& system) {
  some_.clear();
  for (const SubsystemId s : estimated_) {
    if (!members_[s].follows_at_once) continue;
    members_[s].direct.assign(members_[s].outputs_range.count * members_[s].inputs.count, 0.0);
    some_.push_back(s);
  }
  if (some_.empty()) return;
  engine_->executor().for_each(some_, [&](std::size_t i) {
    const SubsystemId s = some_[i];
    const auto take = [&] {
      take_direct(system, s, [&](std::size_t o, std::size_t j) { return members_[s].chain->direct_gain(o, j); });
    };
    at_home(s, take, std::span(members_[s].direct));
  });
}

template <class Gain>
void Waveform::take_direct(const CoupledSystem& system, SubsystemId s, const Gain& gain) {
  Member& member = members_[s];
  const Feedthrough& feedthrough = system.capabilities(s).feedthrough;
  for (std::size_t o = 0; o < member.outputs_range.count; ++o) {
    for (std::size_t j = 0; j < member.inputs.count; ++j) {
      if (feedthrough(o, j)) member.direct[o * member.inputs.count + j] = gain(o, j);
    }
  }
}

MacroStepReport Waveform::advance(CoupledSystem& system) {
  MacroStepReport report;
  if (base::reached(now_, solved_until_)) solve(system, report);
  Time next = settings_.stop;
  for (const Member& member : members_) {
    if (member.outputs.samples() > member.outputs.known()) {
      next = std::min(next, member.outputs.time(member.outputs.known()));
    }
  }
  now_ = next;
  due_.clear();
  for (std::size_t s = 0; s < members_.size(); ++s) {
    const auto& outputs = members_[s].outputs;
    if (outputs.samples() > outputs.known() && base::reached(now_, outputs.time(outputs.known()))) due_.emplace_back(s);
  }
  commit(system);
  ++step_;
  report.reached = now_;
  return report;
}

void Waveform::commit(CoupledSystem& system) {
  tasks_.clear();
  for (const SubsystemId s : due_) {
    tasks_.push_back(task_of(system, s, members_[s].outputs.known()));
    tasks_.back().to = now_;
  }
  if (tasks_.empty()) return;
  expect_steps();
  system.commit_all(tasks_);
  for (const SubsystemId s : due_) take_outputs(system, s);
  bool event = false;
  for (const SubsystemId s : due_) event = events_.pass(system, s, now_).has_value() || event;
  Time needed = now_;
  some_.clear();
  for (std::size_t s = 0; s < members_.size(); ++s) {
    needed = std::min(needed, members_[s].outputs.last_known());
    if (!event) continue;
    members_[s].outputs.break_here();
    some_.emplace_back(s);
  }
  forget_past(some_);
  if (event) solved_until_ = now_;
  for (Member& member : members_) member.outputs.forget_before(needed);
}

/// What the estimators of users make of the steps that come.
void Waveform::expect_steps() {
  some_.clear();
  for (const SubsystemId s : due_) {
    if (members_[s].kind == trials::ChainKind::Named) some_.push_back(s);
  }
  if (some_.empty()) return;
  engine_->executor().for_each(some_, [&](std::size_t i) {
    Member& member = members_[some_[i]];
    const auto task =
        std::find_if(tasks_.begin(), tasks_.end(), [&](const StepTask& each) { return each.subsystem == some_[i]; });
    at_home(some_[i], [&] {
      member.chain->expect(task->size, InputBlock(member.polynomials.data(), member.inputs.count, task->degree));
    });
  });
}

/// Of their chains.
void Waveform::forget_past(std::span<const SubsystemId> some) {
  std::vector<SubsystemId> chained;
  for (const SubsystemId s : some) {
    if (members_[s].tried == Tried::Chain) chained.push_back(s);
  }
  if (chained.empty()) return;
  engine_->executor().for_each(
      chained, [&](std::size_t i) { at_home(chained[i], [&] { members_[chained[i]].chain->forget_past(); }); });
}

void Waveform::take_outputs(CoupledSystem& system, SubsystemId s) {
  Member& member = members_[s];
  const auto& participant = engine_->executor().of(s);
  const Duration size = now_ - member.outputs.last_known();
  member.smallest = std::min(member.smallest, size);
  member.largest = std::max(member.largest, size);
  member.raw.assign(participant.outputs().begin(), participant.outputs().end());
  for (std::size_t j = 0; j < member.held.size(); ++j) member.held[j] = participant.step.held(j);
  met_ = member.raw;
  bring_to_end(system, s, now_, met_);
  for (std::size_t o = 0; o < met_.size(); ++o) {
    const OutputId y{member.outputs_range.first + o};
    if (met_[o] != member.raw[o]) system.replace_output(y, met_[o]);
    ranges_[y].take(met_[o]);
  }
  member.outputs.make_first(now_, met_);
  ++member.made;
  member.observed = false;
  const auto returns = system.counters(s).early_returns;
  if (returns > std::exchange(member.early_returns, returns)) {
    member.outputs.break_here();
    forget_past(std::span(&s, 1));
  }
}

void Waveform::instant_passed(CoupledSystem& system, Time t) {
  for (std::size_t s = 0; s < members_.size(); ++s) {
    Member& member = members_[s];
    if (!base::same_time(member.outputs.last_known(), t)) continue;
    member.outputs.drop_planned();
    for (std::size_t o = 0; o < member.outputs_range.count; ++o) {
      member.outputs.set(member.outputs.known() - 1, o, system.outputs()[member.outputs_range.first + o]);
    }
    member.outputs.break_here();
    const SubsystemId id{s};
    forget_past(std::span(&id, 1));
    member.raw.assign(engine_->executor().of(SubsystemId{s}).outputs().begin(),
                      engine_->executor().of(SubsystemId{s}).outputs().end());
    member.observed = false;
    events_.put_back(SubsystemId{s}, engine_->next_event(SubsystemId{s}, t));
  }
  events_.pass_instant(system, t);
  solved_until_ = t;
}

MethodMemory Waveform::memory() const {
  std::vector<base::Bytes> chains(members_.size());
  const auto add = [&](SubsystemId s) {
    if (members_[s].tried != Tried::Chain) return;
    chains[s] = engine_->executor().bytes_of(s, [&] { return members_[s].chain->memory(); });
  };
  if (!members_.empty()) engine_->executor().for_everyone(add);
  const auto columns = columns_ ? columns_->memory() : numerics::InterfaceColumns::Memory{};
  return {step_, {}, base::to_bytes(*this, chains, columns)};
}

void Waveform::restore(const MethodMemory& memory) {
  std::vector<base::Bytes> chains(members_.size());
  numerics::InterfaceColumns::Memory columns;
  base::ByteReader reader(memory.bytes);
  reader(*this);
  reader(chains);
  reader(columns);
  engine_->executor().for_everyone([&](SubsystemId s) {
    Member& member = members_[s];
    if (member.tried != Tried::Chain) return;
    const auto restore = [&] {
      member.chain->restore(chains[s]);
      member.quality = member.chain->quality().numbers();
    };
    at_home(s, restore, std::span<double>(member.quality));
  });
  columns_.reset();
  if (columns.residuals.empty()) return;
  columns_.emplace(unknowns_);
  columns_->restore(columns);
}

// Options and what is known of a run.

void WaveformOptions::bind(OptionBinder& binder) {
  constexpr OptionBinder::Limits kNotNegative{0.0};
  binder.integer("degree", degree, "of the polynomials through the samples", {1, kMaxInputDegree});
  binder.integer("samples", samples, "steps of a window, of subsystems that impose none", {1, 100});
  binder.number("window", window,
                "length of a window in s; 0: the step of the run, and at least two of the longest imposed steps",
                kNotNegative);
  binder.number("iteration_tolerance", iteration_tolerance, "of the waveforms, relative to the range of each output",
                {1e-15, 1.0});
  binder.integer("max_iterations", max_iterations, "sweeps over a window", {1, 1000});
  binder.boolean("adaptive", adaptive,
                 "the window, and with it the steps that no subsystem imposes, follows the error of interpolation");
  binder.number("relative_tolerance", relative_tolerance, "of the interpolation, relative to the range of each output",
                kNotNegative);
  binder.number("absolute_tolerance", absolute_tolerance, "the same, in the unit of each output", kNotNegative);
  binder.number("min_step", min_step, "shortest window in s; 0: a thousandth of the step of the run", kNotNegative);
  binder.number("max_step", max_step, "longest window in s; 0: ten times the step of the run", kNotNegative);
}

void Waveform::check(const Graph&, const WrittenOptions& written, std::vector<Problem>& problems) const {
  if (options_.adaptive && options_.relative_tolerance + options_.absolute_tolerance == 0.0) {
    problems.push_back(problem_of(Fact{FactCode::TolerancesZero, {"method.waveform.relative_tolerance"}},
                                  "nothing can be predicted exactly", position_of(written, "relative_tolerance")));
  }
  if (options_.max_step > 0.0 && options_.min_step > options_.max_step) {
    problems.push_back(
        problem_of(Fact{FactCode::StepsOutOfOrder, {"method.waveform.max_step"}, {{"bound", "min_step"}}}, {},
                   position_of(written, "max_step")));
  }
  const WaveformOptions unwritten;
  const std::vector<AdaptiveOption> adaptive_only{
      {"relative_tolerance", options_.relative_tolerance, unwritten.relative_tolerance},
      {"absolute_tolerance", options_.absolute_tolerance, unwritten.absolute_tolerance},
      {"min_step", options_.min_step, unwritten.min_step},
      {"max_step", options_.max_step, unwritten.max_step}};
  if (!options_.adaptive) warn_of_idle(adaptive_only, traits().name, written, problems);
}

std::vector<Fact> Waveform::notes(const CoupledSystem& system) const {
  std::vector<Fact> notes;
  for (const SubsystemId s : estimated_) {
    const Member& member = members_[s];
    const bool continued = member.tried == Tried::Continued;
    const bool linearized = member.kind == trials::ChainKind::Linearized;
    if (member.inputs.count == 0 || (!continued && !linearized)) continue;  // a closing note
    notes.push_back({continued ? FactCode::OutputsContinued : FactCode::TrialsEstimated, {system.graph().name(s)}});
  }
  return notes;
}

std::vector<Fact> Waveform::closing_notes(const CoupledSystem& system) const {
  std::vector<Fact> notes;
  for (std::size_t s = 0; s < members_.size(); ++s) {
    const Member& member = members_[s];
    const auto& name = system.graph().name(SubsystemId{s});
    if (member.kind == trials::ChainKind::Named || member.kind == trials::ChainKind::Identified) {
      const auto quality = trials::PredictionQuality::of(member.quality);
      auto note = trials::note_of(quality, engine_->estimator(SubsystemId{s}), name);
      if (note) notes.push_back(std::move(*note));
    }
    if (const Time last = system.time_of(SubsystemId{s}); last < settings_.stop && now_ >= settings_.stop) {
      notes.push_back(
          {FactCode::EndsEarly, {name}, {{"time", last, "s"}, {"which", member.imposed ? "imposed" : "minimal"}}});
    }
  }
  return notes;
}

std::optional<OwnSteps> Waveform::own_steps(SubsystemId s) const {
  if (members_.empty()) return std::nullopt;
  OwnSteps steps;
  steps.smallest = members_[s].made > 0 ? members_[s].smallest : 0.0;
  steps.largest = members_[s].largest;
  return steps;
}

}  // namespace entrain::method
