#include "methods/hermite/marcher.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "entrain/fact_codes.hpp"

namespace entrain::method {
namespace {

constexpr double kFirstPiece = 1.0 / 16.0;  // of a step that begins without slopes, when it is made in pieces
constexpr double kJustBefore = 1e-9;        // of a step: how far before an event a step ends
constexpr double kHalf = 0.5;               // of a step that ended behind a jump, or could not be made
constexpr double kErrorSafety = 0.8;
constexpr double kErrorShrinkage = 0.2;  // at most
constexpr double kErrorGrowth = 1.5;     // at most, from one step to the next
constexpr double kWorthIt = 1.1;         // a step that could grow by less stays: gains and factors can be kept

/// The default smallest step is a share of the largest, where that is below the step of the run.
StepLimits marcher_limits(const MarcherOptions& options, Duration step, Duration shortest) {
  StepLimits limits = options.step_settings().limits(kHermiteLimits, step);
  if (options.min_step == 0.0 && options.max_step > 0.0) {
    limits.min = kHermiteLimits.min * std::min(options.max_step, step);
  }
  limits.min = std::max(shortest, limits.min);
  limits.max = std::max(limits.min, limits.max);
  return limits;
}

}  // namespace

StepSettings MarcherOptions::step_settings() const {
  return {.relative_tolerance = relative_tolerance,
          .absolute_tolerance = 0.0,
          .min_step = min_step,
          .max_step = max_step,
          .order = 4,
          .safety = kErrorSafety,
          .least_growth = kErrorShrinkage,
          .most_growth = kErrorGrowth};
}

std::optional<Duration> next_by_error(const StepController& controller, double growth, const HermiteStep& step,
                                      const CouplingStrategy::Taken& taken) {
  const Duration size = step.window().size;
  if (taken.start_until > 0.0 && !taken.was_cut) return controller.next_at_start(size, growth, taken.start_until);
  growth = std::clamp(growth, kErrorShrinkage, taken.was_cut ? 1.0 : kErrorGrowth);
  if (!taken.was_cut && growth >= 1.0 && (growth < kWorthIt || taken.shortened)) return std::nullopt;
  return growth * size;
}

double shrinkage(double growth) {
  return std::clamp(growth, kErrorShrinkage, kErrorSafety);
}

void MarcherOptions::bind(OptionBinder& binder, std::string_view adaptive_help) {
  const bool was_adaptive = adaptive;
  binder.boolean("adaptive", adaptive, adaptive_help);
  if (adaptive && !was_adaptive) locate_jumps = true;
  binder.number("min_step", min_step, "smallest step in s; 0: a thousandth of the step of the run", {0.0});
  binder.number("max_step", max_step, "adaptive: largest step in s; 0: ten times the step of the run", {0.0});
  binder.number("relative_tolerance", relative_tolerance,
                "adaptive: error of a coupling signal in a step, relative to its size there, at least a tenth of its "
                "largest so far",
                {1e-14, 1.0});
  binder.boolean(
      "locate_jumps", locate_jumps,
      "steps that end behind an unannounced jump are made again, shorter, where all subsystems can be rolled "
      "back");
  binder.choice("restart", restart,
                "next step from the outputs as they really are, or strictly C1 from what the inputs ended with");
  binder.choice(
      "start", start,
      "short: a step at the start or behind a jump, of low order for want of slopes and of a past, is made in "
      "pieces that double from a sixteenth; they are not recorded");
  estimator.bind(binder);
}

Requirements MarcherOptions::requirements() const {
  Requirements needs;
  needs.steps_together = true;
  needs.start_gains = true;
  needs.free_step = adaptive;
  return needs;
}

void MarcherOptions::check(const std::string& method, std::vector<AdaptiveOption> idle, const WrittenOptions& written,
                           std::vector<Problem>& problems) const {
  estimator.check(method, written, problems);
  if (max_step > 0.0 && min_step > max_step) {
    problems.push_back(problem_of(
        {FactCode::MinAboveMaxStep, {"method." + method}, {{"min_step", min_step, "s"}, {"max_step", max_step, "s"}}},
        "", position_of(written, "min_step")));
  }
  if (adaptive) return;
  const MarcherOptions defaults;
  idle.insert(idle.begin(), {{"max_step", max_step, defaults.max_step},
                             {"relative_tolerance", relative_tolerance, defaults.relative_tolerance}});
  warn_of_idle(idle, method, written, problems);
}

void Marcher::start(CoupledSystem& system, const RunSettings& settings, const MarcherOptions& options,
                    std::vector<coupling::TrialKind> kinds, const trials::EstimatorOptions& estimator) {
  options_ = options;
  settings_ = settings;
  grid_ = base::Grid(settings.start, settings.stop, settings.step);
  prescribed_ = settings.prescribed.empty() ? std::vector<Time>() : settings.prescribed.front();
  adapts_ = options.adaptive && prescribed_.empty();
  step_.start(system, settings.start, options.restart, std::move(kinds), estimator);
  limits_ = marcher_limits(options, settings.step, step_.shortest());
  predicted_ = step_.left().values;
  jumps_.start(step_.left().values, step_.unknowns());
  memory_ = {};
  events_.start(system, settings.start);
  everyone_.clear();
  goes_back_ = prescribed_.empty() && !step_.imposed();
  for (std::size_t s = 0; s < system.size(); ++s) {
    everyone_.emplace_back(s);
    goes_back_ = goes_back_ && system.capabilities(SubsystemId{s}).rollback;
  }
  memory_.next_size = first_size();
}

/// Adaptive. Where it can be taken back it need not be so short that it never matters.
Duration Marcher::first_size() const {
  return limits_.within(goes_back_ ? kFirstPiece * settings_.step
                                   : options_.step_settings().first_step(settings_.step));
}

MacroStepReport Marcher::advance(CoupledSystem& system, CouplingStrategy& strategy) {
  MacroStepReport report;
  if (memory_.restart_due) restart(system, strategy);
  if (const auto event = event_to_cross()) {
    // A rounding before the stop is the stop: nothing could be stepped on from there.
    step_.cross(system, base::same_time(*event, settings_.stop) ? settings_.stop : *event);
    restart(system, strategy);
  } else if (options_.start == FirstStep::Short && !step_.slopes_known() && !step_.imposed() && !options_.adaptive) {
    step_in_pieces(system, strategy, report);
  } else {
    step_once(system, strategy, next_window(), report);
  }
  events_.pass_all(system, step_.now());
  while (memory_.grid_step < grid_steps() && base::reached(step_.now(), grid_time(memory_.grid_step + 1)))
    ++memory_.grid_step;
  ++memory_.steps;
  report.reached = step_.now();
  return report;
}

/// The first piece is short, each next one as long as all before together.
void Marcher::step_in_pieces(CoupledSystem& system, CouplingStrategy& strategy, MacroStepReport& report) {
  const Time from = step_.now();
  const Window whole = next_window();
  while (!base::reached(step_.now(), whole.to)) {
    if (memory_.restart_due) restart(system, strategy);
    const Time now = step_.now();
    Window window = next_window();
    const Duration piece = std::max(now == from ? kFirstPiece * whole.size : now - from, step_.shortest());
    const bool rest_is_long_enough = window.size - piece >= std::max(0.5 * piece, step_.shortest());
    if (rest_is_long_enough) window = {now + piece, piece};
    step_once(system, strategy, window, report);
    jumps_.forget_past();  // a piece misses more than the shorter one before: that is no jump
  }
}

void Marcher::step_once(CoupledSystem& system, CouplingStrategy& strategy, const Window& window,
                        MacroStepReport& report) {
  if (goes_back_) system.save(everyone_, saved_);
  step_.set_window(window);
  step_.begin();
  strategy.propose(system, step_);
  CouplingStrategy::Taken taken;
  for (bool made = false; !made;) {
    taken.was_cut = shorten_until_good(system, strategy, report) || taken.was_cut;
    predict_lines();
    const auto share = commit(strategy);
    made = !share;
    if (made) break;
    system.restore(saved_);
    step_.take_back();
    step_.set_window(shortened(step_.window(), *share * step_.window().size).value_or(step_.window()));
    taken.was_cut = true;
    ++report.rejected;
  }
  if (goes_back_) system.release(saved_);
  taken.shortened = step_.window().size < memory_.next_size;
  taken.at_min_step = step_.window().size <= limits_.min;
  taken.start_until = memory_.starting ? settings_.step : 0.0;
  const auto next_size = strategy.accepted(system, step_, taken);
  if (next_size) memory_.next_size = limits_.within(*next_size);
  const bool was_starting = adapts_ && memory_.starting;
  memory_.starting = memory_.starting && !taken.was_cut && memory_.next_size < settings_.step;
  step_.move_on();
  notice_jumps();
  if (was_starting) jumps_.forget_past();  // the next one misses more than this shorter one: that is no jump
}

/// For the jump detector.
void Marcher::predict_lines() {
  for (std::size_t y = 0; y < predicted_.size(); ++y) {
    predicted_[y] = step_.left().values[y] + step_.window().size * step_.left().slopes[y];
  }
}

/// Makes the step. A share of its window where it is to be taken back, and a shorter one made.
std::optional<double> Marcher::commit(CouplingStrategy& strategy) {
  const bool may_go_back = goes_back_ && can_be_shorter();
  if (may_go_back) step_.keep_before_commit();
  try {
    step_.commit();
  } catch (const Error& error) {
    if (!may_go_back || !trials::may_be_retried(error)) throw;
    return kHalf;
  }
  if (!may_go_back) return std::nullopt;
  if (options_.locate_jumps && jumps_.sees_jump(predicted_, step_.block().signals)) {
    memory_.jump_by = step_.window().to;
    return kHalf;
  }
  return strategy.judge(step_);
}

/// True when the window was cut meanwhile.
bool Marcher::shorten_until_good(CoupledSystem& system, CouplingStrategy& strategy, MacroStepReport& report) {
  bool was_cut = false;
  for (;;) {
    const auto attempt = strategy.solve(system, step_);
    report.iterations += attempt.evaluations;
    if (attempt.good) return was_cut;
    const auto shorter =
        step_.imposed() ? std::nullopt : shortened(step_.window(), attempt.share * step_.window().size);
    if (!shorter) {
      strategy.cannot_shorten(system, step_);
      return was_cut;
    }
    step_.set_window(*shorter);
    was_cut = true;
    ++report.rejected;
  }
}

void Marcher::notice_jumps() {
  const auto& outcomes = step_.block().outcomes;
  const bool returned_early = std::any_of(outcomes.begin(), outcomes.end(),
                                          [](StepOutcome outcome) { return outcome == StepOutcome::EndedEarly; });
  // What leads up to a jump in pieces misses less than the steps before: nothing to be learned.
  const bool leads_up = step_.now() < memory_.jump_by && !jumps_.sees_jump(predicted_, step_.block().signals);
  const bool jumped = !leads_up && jumps_.jumped(predicted_, step_.block().signals);
  if (jumped && !(goes_back_ && options_.locate_jumps)) ++memory_.late_jumps;
  // Imposed steps are not cut for an event: it is met where the step ends.
  const bool announced = step_.imposed() && base::reached(step_.now(), events_.earliest());
  // With the next step: until then the signals show what this one missed.
  memory_.restart_due = jumped || returned_early || announced;
  if (memory_.restart_due && !announced && memory_.jumps_found++ == 0) memory_.first_jump = step_.now();
}

Time Marcher::grid_time(std::uint64_t k) const {
  return prescribed_.empty() ? grid_.time(k) : prescribed_[std::min<std::size_t>(k, prescribed_.size() - 1)];
}

Duration Marcher::grid_size(std::uint64_t k) const {
  return prescribed_.empty() ? grid_.size(k) : grid_time(k + 1) - grid_time(k);
}

/// To the next time of the grid, or by the adaptive step; never onto an announced event but just before it.
Marcher::Window Marcher::next_window() const {
  const Window all{goal(), goal() - step_.now()};
  if (adapts_) return shortened(all, memory_.next_size).value_or(all);
  const bool whole = all.to == grid_time(memory_.grid_step + 1) && step_.now() == grid_time(memory_.grid_step);
  return {all.to, whole ? grid_size(memory_.grid_step) : all.size};
}

/// The time that the steps must meet next.
Time Marcher::goal() const {
  Time end = adapts_ ? settings_.stop : grid_time(memory_.grid_step + 1);
  // What the scenario changes is changed behind the step that ends there.
  if (const Time instant = events_.instant(); !step_.imposed() && !base::reached(instant, end)) end = instant;
  return !step_.imposed() && base::reached(end, events_.earliest()) ? before(events_.earliest()) : end;
}

/// Where a step ends that must not see the event: just before it, or a step that every subsystem can make.
Time Marcher::before(Time event) const {
  return event - std::max({kJustBefore * settings_.step,
                           1000 * std::numeric_limits<double>::epsilon() * std::abs(event), step_.shortest()});
}

/// About this long, at least the shortest step, and so that no shorter one is left to the time that must be met next.
/// None where that makes it no shorter.
std::optional<Marcher::Window> Marcher::shortened(const Window& window, Duration size) const {
  const Duration shorter = step_without_remainder(std::max(size, limits_.min), goal() - step_.now(), limits_.min);
  if (!(shorter < window.size)) return std::nullopt;
  return Window{step_.now() + shorter, shorter};
}

std::optional<Time> Marcher::event_to_cross() const {
  const Time event = events_.earliest();
  if (step_.imposed() || event == kNever) return std::nullopt;
  // Twice the distance: what is left of a step that ended before the event may be a rounding longer.
  const bool near = event - step_.now() <= 2.0 * (event - before(event));
  return near ? std::optional(event) : std::nullopt;
}

void Marcher::restart(CoupledSystem& system, CouplingStrategy& strategy) {
  memory_.restart_due = false;
  memory_.starting = true;
  if (adapts_) memory_.next_size = first_size();
  step_.restart(system);
  jumps_.forget_past();
  strategy.restarted();
}

void Marcher::constants_changed(CoupledSystem& system, CouplingStrategy& strategy) {
  step_.take_constants(system.signals());
  restart(system, strategy);
}

/// Behind a jump of all signals; what was announced is asked for again.
void Marcher::instant_passed(CoupledSystem& system, CouplingStrategy& strategy, Time now) {
  events_.start(system, now);
  constants_changed(system, strategy);
}

std::vector<Fact> Marcher::warnings() const {
  if (memory_.jumps_found == 0) return {};
  Fact jumps{FactCode::SignalJumps, {}, {{"count", memory_.jumps_found}, {"first", memory_.first_jump, "s"}}};
  if (memory_.late_jumps > 0) jumps.values.emplace_back("late", memory_.late_jumps);
  return {jumps};
}

}  // namespace entrain::method
