#include "methods/hermite/hermite_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "entrain/fact_codes.hpp"

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
    problems.push_back(problem_of({FactCode::MinAboveMaxStep,
                                   {"method." + name()},
                                   {{"min_step", common_.min_step, "s"}, {"max_step", common_.max_step, "s"}}},
                                  "", position_of(written, "min_step")));
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
  memory_.left = right_ = memory_.previous = {block_.signals, block_.slopes};
  first_constant_ = system.graph().outputs();
  predicted_ = block_.signals;
  memory_.magnitude.assign(block_.signals.size(), 0.0);
  memory_.steps = memory_.grid_step = 0;
  memory_.now = settings.start;
  memory_.slopes_known = memory_.restart_due = false;
  memory_.previous_size = 0.0;
  jumps_.start(memory_.left.values, unknowns_);
  memory_.jumps_found = 0;
  start_tasks(system);
  set_next_step(settings.step);
  memory_.next_event.assign(system.size(), memory_.now);
  earliest_event_ = memory_.now;
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
  if (memory_.restart_due) restart_inputs(system);
  if (const auto event = event_to_cross()) {
    cross(system, *event);
  } else if (common_.start == FirstStep::Short && !memory_.slopes_known && !rigid_ && !common_.adaptive) {
    step_in_pieces(system, report);
  } else {
    step_once(system, next_window(), report);
  }
  note_events(system);
  while (memory_.grid_step < grid_.steps() && reached(memory_.now, grid_.time(memory_.grid_step + 1)))
    ++memory_.grid_step;
  ++memory_.steps;
  report.reached = memory_.now;
  return report;
}

/// The first piece is short, each next one as long as all before together.
void HermiteMethod::step_in_pieces(CoupledSystem& system, MacroStepReport& report) {
  const Time from = memory_.now;
  const Window whole = next_window();
  while (!reached(memory_.now, whole.to)) {
    if (memory_.restart_due) restart_inputs(system);
    Window window = next_window();
    const Duration piece = std::max(memory_.now == from ? kFirstPiece * whole.size : memory_.now - from, shortest_);
    const bool rest_is_long_enough = window.size - piece >= std::max(0.5 * piece, shortest_);
    if (rest_is_long_enough) cut(window, piece);
    step_once(system, window, report);
    jumps_.forget_past();  // a piece misses more than the shorter one before: that is no jump
  }
}

void HermiteMethod::step_once(CoupledSystem& system, Window window, MacroStepReport& report) {
  if (common_.restart == HermiteRestart::Real) {
    trials_->begin(memory_.now, window.size, memory_.left.slopes);
    if (memory_.slopes_known) trials_->follow_inputs(memory_.left.values, memory_.left.slopes);
  } else {  // the polynomials go on with their own slopes; who tells no other keeps those
    told_slopes_ = memory_.left.slopes;
    trials_->begin(memory_.now, window.size, told_slopes_);
  }
  find_right_end(system, window, report);
  accept(system, window);
}

/// To the next time of the grid, or by the adaptive step; never onto an announced event but a hair before it.
HermiteMethod::Window HermiteMethod::next_window() const {
  const Window all{goal(), goal() - memory_.now};
  if (!common_.adaptive) {
    const bool whole = all.to == grid_.time(memory_.grid_step + 1) && memory_.now == grid_.time(memory_.grid_step);
    return {all.to, whole ? grid_.size(memory_.grid_step) : all.size};
  }
  Window window = all;
  shorten(window, memory_.step);
  return window;
}

/// The time that the steps must meet next.
Time HermiteMethod::goal() const {
  const Time end = common_.adaptive ? settings_.stop : grid_.time(memory_.grid_step + 1);
  return !rigid_ && reached(end, earliest_event_) ? before(earliest_event_) : end;
}

/// Where a step ends that must not see the event: a hair before it, or a step that everybody takes.
Time HermiteMethod::before(Time event) const {
  return event -
         std::max({kHair * settings_.step, 1000 * std::numeric_limits<double>::epsilon() * std::abs(event), shortest_});
}

bool HermiteMethod::shorten(Window& window, Duration size) const {
  const Duration shorter = step_without_crumb(std::max(size, least_step()), goal() - memory_.now, least_step());
  if (!(shorter < window.size)) return false;
  cut(window, shorter);
  return true;
}

std::optional<Time> HermiteMethod::event_to_cross() const {
  if (rigid_ || earliest_event_ == kNever) return std::nullopt;
  // Twice the hair: what is left of a step that ended before the event may be a rounding longer.
  const bool near = earliest_event_ - memory_.now <= 2.0 * (earliest_event_ - before(earliest_event_));
  return near ? std::optional(earliest_event_) : std::nullopt;
}

/// From just before an event to the event itself, under held inputs; then everything begins anew.
void HermiteMethod::cross(CoupledSystem& system, Time event) {
  system.hold_all_inputs();
  // A rounding before the stop is the stop: nothing could be stepped on from there.
  const Time to = same_time(event, settings_.stop) ? settings_.stop : event;
  for (auto& task : tasks_) task = {task.subsystem, memory_.now, to - memory_.now, 0, 1, to};
  system.commit_all(tasks_);
  memory_.now = to;
  restart_inputs(system);
}

void HermiteMethod::restart_inputs(CoupledSystem& system) {
  memory_.restart_due = false;
  system.refresh_signals(memory_.now);
  std::copy(system.signals().begin(), system.signals().end(), memory_.left.values.begin());
  std::fill(memory_.left.slopes.begin(), memory_.left.slopes.end(), 0.0);
  memory_.slopes_known = false;
  memory_.previous_size = 0.0;
  trials_->forget_past();
  jumps_.forget_past();
  begin_anew();
}

/// They lie in all that holds signals.
void HermiteMethod::take_constants(std::span<const double> signals) {
  const auto first = static_cast<std::ptrdiff_t>(first_constant_);
  for (auto* values : {&memory_.left.values, &right_.values, &memory_.previous.values, &block_.signals}) {
    std::copy(signals.begin() + first, signals.end(), values->begin() + first);
  }
}

void HermiteMethod::constants_changed(CoupledSystem& system) {
  take_constants(system.signals());
  restart_inputs(system);
}

void HermiteMethod::note_events(CoupledSystem& system) {
  if (!reached(memory_.now, earliest_event_)) return;
  for (std::size_t s = 0; s < memory_.next_event.size(); ++s) {
    if (reached(memory_.now, memory_.next_event[s]))
      memory_.next_event[s] = system.next_event(SubsystemId{s}, memory_.now);
  }
  find_earliest_event();
}

void HermiteMethod::find_earliest_event() {
  earliest_event_ = *std::min_element(memory_.next_event.begin(), memory_.next_event.end());
}

void HermiteMethod::set_tasks(const Window& window) {
  const int degree = hermite_degree(memory_.slopes_known);
  for (std::size_t s = 0; s < tasks_.size(); ++s) {
    const int parts = std::max(1, static_cast<int>(std::ceil(window.size / longest_part_[s] - 1e-9)));
    tasks_[s] = {tasks_[s].subsystem, memory_.now, window.size, degree, parts, window.to};
  }
}

void HermiteMethod::write_inputs(CoupledSystem& system, const Window& window) {
  write_hermite_inputs(system, memory_.left.view(), right_.view(), window.size, memory_.slopes_known);
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
  const bool extrapolates = predictor == Predictor::Hermite && memory_.previous_size > 0.0;
  for (const OutputId y : unknowns_) {
    const double left = memory_.left.values[y];
    const double slope = memory_.left.slopes[y];
    right_.values[y] = predictor == Predictor::Hold ? left : left + size * slope;
    right_.slopes[y] = slope;
    if (extrapolates) {
      // The cubic of the step before, about its end: left + slope s + c2 s^2 + c3 s^3.
      const double h = memory_.previous_size;
      const double rise = left - memory_.previous.values[y];
      const double c3 = (h * (memory_.previous.slopes[y] + slope) - 2.0 * rise) / (h * h * h);
      const double c2 = (h * (memory_.previous.slopes[y] + 2.0 * slope) - 3.0 * rise) / (h * h);
      right_.values[y] = left + size * (slope + size * (c2 + size * c3));
      right_.slopes[y] = slope + size * (2.0 * c2 + 3.0 * size * c3);
    }
    memory_.magnitude[y] = std::max({memory_.magnitude[y], std::abs(left), std::abs(size * slope)});
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
  coupling.equations.update(coupling.trials, {memory_.now, window.size, memory_.slopes_known}, coupling.magnitudes);
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
      {.subsystem = {}, .variable = {}, .time = memory_.now, .remedy = "Choose a smaller step, or adaptive = true"});
}

void HermiteMethod::cut(Window& window, Duration size) const {
  window.size = size;
  window.to = memory_.now + size;
}

void HermiteMethod::accept(CoupledSystem& system, const Window& window) {
  for (std::size_t y = 0; y < predicted_.size(); ++y) {
    predicted_[y] = memory_.left.values[y] + window.size * memory_.left.slopes[y];
  }
  trials_->commit(tasks_, block_);
  memory_.now = window.to;
  look_back(system, window);
  std::swap(memory_.previous, memory_.left);
  memory_.previous_size = memory_.slopes_known ? window.size : 0.0;
  const bool c1 = common_.restart == HermiteRestart::C1;
  memory_.left.values = c1 ? right_.values : block_.signals;
  memory_.left.slopes = c1 ? right_.slopes : block_.slopes;

  const bool returned_early = std::any_of(block_.outcomes.begin(), block_.outcomes.end(),
                                          [](StepOutcome outcome) { return outcome == StepOutcome::EndedEarly; });
  const bool jumped = jumps_.jumped(predicted_, block_.signals);
  // Imposed steps are not cut for an event: it is met where the step ends.
  const bool announced = rigid_ && reached(memory_.now, earliest_event_);
  memory_.slopes_known = true;
  // With the next step: until then the signals tell what this one missed.
  memory_.restart_due = jumped || returned_early || announced;
  if (memory_.restart_due && !announced && memory_.jumps_found++ == 0) memory_.first_jump = memory_.now;
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
  memory_.step = std::clamp(size, least_step(), most_step());
}

MethodMemory HermiteMethod::memory() const {
  return {memory_.steps, {}, to_bytes(*this, own_memory())};
}

void HermiteMethod::restore(const MethodMemory& memory) {
  Bytes own;
  from_bytes(memory.bytes, *this, own);
  find_earliest_event();
  const std::vector<double> signals = memory_.left.values;
  take_constants(signals);
  restore_own(own);
}

std::vector<Fact> HermiteMethod::warnings(const CoupledSystem&) const {
  if (memory_.jumps_found == 0) return {};
  return {{FactCode::SignalJumps, {}, {{"count", memory_.jumps_found}, {"first", memory_.first_jump, "s"}}}};
}

}  // namespace entrain
