#include "masters/hermite_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace entrain {
namespace {

constexpr double kLeastShare = 1e-3;        // of the step: what it may be cut to, unless min_step says otherwise
constexpr double kMostTimes = 10.0;         // the step: what it may grow to, unless max_step says otherwise
constexpr double kFirstPiece = 1.0 / 16.0;  // of a step that begins without slopes, when it is made in pieces
constexpr double kHair = 1e-9;              // of a step: how far before an event a step ends

}  // namespace

void HermiteOptions::bind(OptionBinder& binder, std::string_view adaptive_help) {
  binder.boolean("adaptive", adaptive, adaptive_help);
  binder.number("min_step", min_step, "smallest step in s; 0: a thousandth of the step of the run", {0.0});
  binder.number("max_step", max_step, "adaptive: largest step in s; 0: ten times the step of the run", {0.0});
  binder.choice("restart", restart,
                "next step from the outputs as they really are, or strictly C1 from what the inputs ended with");
  binder.choice(
      "start", start,
      "short: a step at the start or behind a jump, of low order for want of slopes and of a past, is made in "
      "pieces that double from a sixteenth; they are not recorded");
  estimator.bind(binder);
}

Requirements HermiteMethod::requirements() const {
  Requirements needs;
  needs.steps_together = true;
  needs.free_step = common_.adaptive;
  return needs;
}

void HermiteMethod::check(const Graph&, const WrittenOptions& written, std::vector<Problem>& problems) const {
  common_.estimator.check(name(), written, problems);
  if (common_.max_step > 0.0 && common_.min_step > common_.max_step) {
    problems.push_back(
        {fmt::format("min_step ({} s) must be at most max_step ({} s)", common_.min_step, common_.max_step), "",
         position_of(written, "min_step")});
  }
  if (!common_.adaptive) warn_of_idle(adaptive_options(), name(), written, problems);
}

std::vector<AdaptiveOption> HermiteMethod::adaptive_options() const {
  return {{"max_step", common_.max_step, 0.0}};
}

void HermiteMethod::start(CoupledSystem& system, const RunSettings& settings) {
  settings_ = settings;
  grid_ = Grid(settings.start, settings.stop, settings.step);
  trials_.emplace(system, trial_kinds(system), estimator_options());
  unknowns_.clear();
  std::vector<bool> connected(system.graph().outputs(), false);
  for (const auto& connection : system.graph().connections()) connected[connection.output] = true;
  for (std::size_t y = 0; y < connected.size(); ++y) {
    if (connected[y]) unknowns_.emplace_back(y);
  }
  block_ = trials_->make_block();
  left_ = right_ = previous_ = {block_.signals, block_.slopes};
  first_constant_ = system.graph().outputs();
  predicted_ = block_.signals;
  magnitude_.assign(block_.signals.size(), 0.0);
  steps_ = grid_step_ = 0;
  now_ = settings.start;
  slopes_known_ = restart_due_ = false;
  previous_size_ = 0.0;
  jumps_.start(left_.values, unknowns_);
  jumps_found_ = 0;
  start_tasks(system);
  set_next_step(settings.step);
  next_event_.assign(system.size(), now_);
  earliest_event_ = now_;
  note_events(system);
  start_solving(system);
}

void HermiteMethod::start_tasks(const CoupledSystem& system) {
  tasks_.assign(system.size(), {});
  longest_part_.assign(system.size(), kNever);
  rigid_ = false;
  shortest_ = 0.0;
  for (std::size_t s = 0; s < system.size(); ++s) {
    tasks_[s].subsystem = SubsystemId{s};
    const auto& can = system.capabilities(SubsystemId{s});
    shortest_ = std::max(shortest_, can.min_step.value_or(0.0));
    longest_part_[s] = can.imposed_step.value_or(can.max_step.value_or(kNever));
    rigid_ = rigid_ || can.imposed_step.has_value();
  }
}

MacroStepReport HermiteMethod::advance(CoupledSystem& system) {
  MacroStepReport report;
  if (restart_due_) restart_inputs(system);
  if (const auto event = event_to_cross()) {
    cross(system, *event);
  } else if (common_.start == FirstStep::Short && !slopes_known_ && !rigid_ && !common_.adaptive) {
    step_in_pieces(system, report);
  } else {
    step_once(system, next_window(), report);
  }
  note_events(system);
  while (grid_step_ < grid_.steps() && reached(now_, grid_.time(grid_step_ + 1))) ++grid_step_;
  ++steps_;
  report.reached = now_;
  return report;
}

/// The first piece is short, each next one as long as all before together.
void HermiteMethod::step_in_pieces(CoupledSystem& system, MacroStepReport& report) {
  const Time from = now_;
  const Window whole = next_window();
  while (!reached(now_, whole.to)) {
    if (restart_due_) restart_inputs(system);
    Window window = next_window();
    const Duration piece = std::max(now_ == from ? kFirstPiece * whole.size : now_ - from, shortest_);
    const bool rest_is_long_enough = window.size - piece >= std::max(0.5 * piece, shortest_);
    if (rest_is_long_enough) cut(window, piece);
    step_once(system, window, report);
    jumps_.forget_past();  // a piece misses more than the shorter one before: that is no jump
  }
}

void HermiteMethod::step_once(CoupledSystem& system, Window window, MacroStepReport& report) {
  if (common_.restart == HermiteRestart::Real) {
    trials_->begin(now_, window.size, left_.slopes);
    if (slopes_known_) trials_->follow_inputs(left_.values, left_.slopes);
  } else {  // the polynomials go on with their own slopes; who tells no other keeps those
    told_slopes_ = left_.slopes;
    trials_->begin(now_, window.size, told_slopes_);
  }
  find_right_end(system, window, report);
  accept(system, window);
}

/// To the next time of the grid, or by the adaptive step; never onto an announced event but a hair before it.
HermiteMethod::Window HermiteMethod::next_window() const {
  const Window all{goal(), goal() - now_};
  if (!common_.adaptive) {
    const bool whole = all.to == grid_.time(grid_step_ + 1) && now_ == grid_.time(grid_step_);
    return {all.to, whole ? grid_.size(grid_step_) : all.size};
  }
  Window window = all;
  shorten(window, step_);
  return window;
}

/// The time that the steps must meet next.
Time HermiteMethod::goal() const {
  const Time end = common_.adaptive ? settings_.stop : grid_.time(grid_step_ + 1);
  return !rigid_ && reached(end, earliest_event_) ? before(earliest_event_) : end;
}

/// Where a step ends that must not see the event: a hair before it, or a step that everybody takes.
Time HermiteMethod::before(Time event) const {
  return event -
         std::max({kHair * settings_.step, 1000 * std::numeric_limits<double>::epsilon() * std::abs(event), shortest_});
}

bool HermiteMethod::shorten(Window& window, Duration size) const {
  const Duration shorter = step_without_crumb(std::max(size, least_step()), goal() - now_, least_step());
  if (!(shorter < window.size)) return false;
  cut(window, shorter);
  return true;
}

std::optional<Time> HermiteMethod::event_to_cross() const {
  if (rigid_ || earliest_event_ == kNever) return std::nullopt;
  // Twice the hair: what is left of a step that ended before the event may be a rounding longer.
  const bool near = earliest_event_ - now_ <= 2.0 * (earliest_event_ - before(earliest_event_));
  return near ? std::optional(earliest_event_) : std::nullopt;
}

/// From just before an event to the event itself, under held inputs; then everything begins anew.
void HermiteMethod::cross(CoupledSystem& system, Time event) {
  system.hold_all_inputs();
  // A rounding before the stop is the stop: nothing could be stepped on from there.
  const Time to = same_time(event, settings_.stop) ? settings_.stop : event;
  for (auto& task : tasks_) task = {task.subsystem, now_, to - now_, 0, 1, to};
  system.commit_all(tasks_);
  now_ = to;
  restart_inputs(system);
}

void HermiteMethod::restart_inputs(CoupledSystem& system) {
  restart_due_ = false;
  system.refresh_signals(now_);
  std::copy(system.signals().begin(), system.signals().end(), left_.values.begin());
  std::fill(left_.slopes.begin(), left_.slopes.end(), 0.0);
  slopes_known_ = false;
  previous_size_ = 0.0;
  trials_->forget_past();
  jumps_.forget_past();
  begin_anew();
}

/// They lie in all that holds signals.
void HermiteMethod::take_constants(std::span<const double> signals) {
  const auto first = static_cast<std::ptrdiff_t>(first_constant_);
  for (auto* values : {&left_.values, &right_.values, &previous_.values, &block_.signals}) {
    std::copy(signals.begin() + first, signals.end(), values->begin() + first);
  }
}

void HermiteMethod::constants_changed(CoupledSystem& system) {
  take_constants(system.signals());
  restart_inputs(system);
}

void HermiteMethod::note_events(CoupledSystem& system) {
  if (!reached(now_, earliest_event_)) return;
  for (std::size_t s = 0; s < next_event_.size(); ++s) {
    if (reached(now_, next_event_[s])) next_event_[s] = system.next_event(SubsystemId{s}, now_);
  }
  find_earliest_event();
}

void HermiteMethod::find_earliest_event() {
  earliest_event_ = *std::min_element(next_event_.begin(), next_event_.end());
}

void HermiteMethod::set_tasks(const Window& window) {
  const int degree = hermite_degree(slopes_known_);
  for (std::size_t s = 0; s < tasks_.size(); ++s) {
    const int parts = std::max(1, static_cast<int>(std::ceil(window.size / longest_part_[s] - 1e-9)));
    tasks_[s] = {tasks_[s].subsystem, now_, window.size, degree, parts, window.to};
  }
}

void HermiteMethod::write_inputs(CoupledSystem& system, const Window& window) {
  write_hermite_inputs(system, left_.view(), right_.view(), window.size, slopes_known_);
}

std::vector<TrialKind> HermiteMethod::estimated_kinds(const CoupledSystem& system) {
  std::vector<TrialKind> kinds;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    kinds.push_back(can.states && can.linearization ? TrialKind::Costarica : TrialKind::Continued);
  }
  return kinds;
}

void HermiteMethod::predict(Predictor predictor, Duration size) {
  const bool extrapolates = predictor == Predictor::Hermite && previous_size_ > 0.0;
  for (const OutputId y : unknowns_) {
    const double left = left_.values[y];
    const double slope = left_.slopes[y];
    right_.values[y] = predictor == Predictor::Hold ? left : left + size * slope;
    right_.slopes[y] = slope;
    if (extrapolates) {
      // The cubic of the step before, about its end: left + slope s + c2 s^2 + c3 s^3.
      const double h = previous_size_;
      const double rise = left - previous_.values[y];
      const double c3 = (h * (previous_.slopes[y] + slope) - 2.0 * rise) / (h * h * h);
      const double c2 = (h * (previous_.slopes[y] + 2.0 * slope) - 3.0 * rise) / (h * h);
      right_.values[y] = left + size * (slope + size * (c2 + size * c3));
      right_.slopes[y] = slope + size * (2.0 * c2 + 3.0 * size * c3);
    }
    magnitude_[y] = std::max({magnitude_[y], std::abs(left), std::abs(size * slope)});
  }
}

void HermiteMethod::solve_estimated(CoupledSystem& system, const Window& window, EstimatedCoupling& coupling) {
  predict(Predictor::Hermite, window.size);
  set_tasks(window);
  write_inputs(system, window);
  coupling.trials.run(tasks_, block_);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const OutputId y = unknowns_[k];
    coupling.magnitudes[k] = magnitude(y);
    coupling.values[k] = block_.signals[y] - right_.values[y];
    coupling.slopes[k] = block_.slopes[y] - right_.slopes[y];
    if (!std::isfinite(coupling.values[k] + coupling.slopes[k])) throw_beyond_numbers(system, y, window.size);
  }
  coupling.equations.update(coupling.trials, {now_, window.size, slopes_known_}, coupling.magnitudes);
  coupling.equations.solve(coupling.values, coupling.slopes);
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    const OutputId y = unknowns_[k];
    right_.values[y] += coupling.values[k];
    right_.slopes[y] += coupling.slopes[k];
    if (!std::isfinite(right_.values[y] + right_.slopes[y])) throw_beyond_numbers(system, y, window.size);
  }
}

void HermiteMethod::throw_beyond_numbers(const CoupledSystem& system, OutputId y, Duration size) const {
  throw Error(
      ErrorCode::SolverFailed,
      fmt::format("the estimate of '{}' grows beyond all numbers over a step of {:g} s", system.graph().name(y), size),
      {.subsystem = {}, .variable = {}, .time = now_, .remedy = "Choose a smaller step, or adaptive = true"});
}

void HermiteMethod::cut(Window& window, Duration size) const {
  window.size = size;
  window.to = now_ + size;
}

void HermiteMethod::accept(CoupledSystem& system, const Window& window) {
  for (std::size_t y = 0; y < predicted_.size(); ++y) {
    predicted_[y] = left_.values[y] + window.size * left_.slopes[y];
  }
  trials_->commit(tasks_, block_);
  now_ = window.to;
  look_back(system, window);
  std::swap(previous_, left_);
  previous_size_ = slopes_known_ ? window.size : 0.0;
  const bool c1 = common_.restart == HermiteRestart::C1;
  left_.values = c1 ? right_.values : block_.signals;
  left_.slopes = c1 ? right_.slopes : block_.slopes;

  const bool returned_early = std::any_of(block_.outcomes.begin(), block_.outcomes.end(),
                                          [](StepOutcome outcome) { return outcome == StepOutcome::EndedEarly; });
  const bool jumped = jumps_.jumped(predicted_, block_.signals);
  // Imposed steps are not cut for an event: it is met where the step ends.
  const bool announced = rigid_ && reached(now_, earliest_event_);
  slopes_known_ = true;
  // With the next step: until then the signals tell what this one missed.
  restart_due_ = jumped || returned_early || announced;
  if (restart_due_ && !announced && jumps_found_++ == 0) first_jump_ = now_;
}

Duration HermiteMethod::least_step() const {
  if (common_.min_step > 0.0) return std::max(shortest_, common_.min_step);
  const Duration largest = common_.max_step > 0.0 ? std::min(common_.max_step, settings_.step) : settings_.step;
  return std::max(shortest_, kLeastShare * largest);
}

Duration HermiteMethod::most_step() const {
  return std::max(least_step(), common_.max_step > 0.0 ? common_.max_step : kMostTimes * settings_.step);
}

void HermiteMethod::set_next_step(Duration size) {
  step_ = std::clamp(size, least_step(), most_step());
}

MethodMemory HermiteMethod::memory() const {
  MethodMemory memory{steps_, {}};
  auto& numbers = memory.numbers;
  numbers = {static_cast<double>(grid_step_),
             now_,
             step_,
             slopes_known_ ? 1.0 : 0.0,
             restart_due_ ? 1.0 : 0.0,
             previous_size_,
             static_cast<double>(jumps_found_),
             first_jump_};
  for (const auto* values :
       {&left_.values, &left_.slopes, &previous_.values, &previous_.slopes, &magnitude_, &next_event_}) {
    numbers.insert(numbers.end(), values->begin(), values->end());
  }
  jumps_.save(numbers);
  trials_->save(numbers);
  save(numbers);
  return memory;
}

void HermiteMethod::restore(const MethodMemory& memory) {
  steps_ = memory.step;
  const double* next = memory.numbers.data();
  grid_step_ = static_cast<std::uint64_t>(*next++);
  now_ = *next++;
  step_ = *next++;
  slopes_known_ = *next++ != 0.0;
  restart_due_ = *next++ != 0.0;
  previous_size_ = *next++;
  jumps_found_ = static_cast<std::uint64_t>(*next++);
  first_jump_ = *next++;
  for (auto* values : {&left_.values, &left_.slopes, &previous_.values, &previous_.slopes, &magnitude_, &next_event_}) {
    std::copy_n(next, values->size(), values->begin());
    next += values->size();
  }
  find_earliest_event();
  const std::vector<double> signals = left_.values;
  take_constants(signals);
  take_back(trials_->restore(jumps_.restore(next)));
}

std::vector<std::string> HermiteMethod::warnings(const CoupledSystem&) const {
  if (jumps_found_ == 0) return {};
  return {fmt::format(
      "{} jump{} of the signals that nobody announced, the first before t = {} s; the inputs were restarted "
      "there, but the step across has order 1. Give the times: events = [...]",
      jumps_found_, jumps_found_ > 1 ? "s" : "", first_jump_)};
}

}  // namespace entrain
