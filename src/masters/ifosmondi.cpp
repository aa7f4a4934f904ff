#include "masters/ifosmondi.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "masters/hermite_inputs.hpp"

namespace entrain {
namespace {

constexpr double kLeastShare = 1e-3;      // of the step: what it may be cut to, unless min_step says otherwise
constexpr double kMostTimes = 10.0;       // the step: what it may grow to, unless max_step says otherwise
constexpr double kEasy = 5.0;             // evaluations that leave the step as it is
constexpr double kGrowth = 1.3;           // at most, from one step to the next
constexpr double kShrinkage = 0.5;        // at most, and after a failure
constexpr double kHair = 1e-9;            // of a step: how far before an event a step ends
constexpr std::size_t kNamedInError = 5;  // connections

FixedPointMethod method_of(const std::string& solver) {
  if (solver == "anderson") return FixedPointMethod::Anderson;
  return solver == "newton-krylov" ? FixedPointMethod::NewtonKrylov : FixedPointMethod::Plain;
}

/// The time just before an event where a step ends that must not see it.
Time before(Time event, Duration step) {
  return event - std::max(kHair * step, 1000 * std::numeric_limits<double>::epsilon() * std::abs(event));
}

}  // namespace

void IfosmondiOptions::bind(OptionBinder& binder) {
  binder.choice("solver", solver,
                "anderson: accelerated fixed point; newton-krylov: for hard couplings; fixed-point: plain iteration",
                {"anderson", "newton-krylov", "fixed-point"});
  binder.number("epsilon", epsilon, "converged when |residual| <= epsilon (|output| + 1), values and slopes alike",
                {1e-14, 1.0});
  binder.integer("max_iterations", max_iterations, "evaluations per attempt; then the step is cut in two", {2, 100000});
  binder.boolean("adaptive", adaptive, "the macro step follows the difficulty of the iteration");
  binder.number("min_step", min_step, "smallest macro step in s; 0: a thousandth of the step", {0.0});
  binder.number("max_step", max_step, "adaptive: largest macro step in s; 0: ten times the step", {0.0});
  binder.choice("predictor", predictor,
                "first guess: hold the last values, follow their slopes, or continue the last Hermite polynomials",
                {"hold", "linear", "hermite"});
  binder.choice("restart", restart,
                "next step from the outputs as they really are, or strictly C1 from what the inputs ended with",
                {"real", "c1"});
  estimator.bind(binder);
}

Requirements Ifosmondi::requirements() const {
  Requirements needs;
  needs.trials = true;
  needs.steps_together = true;
  needs.free_step = options_.adaptive;
  return needs;
}

void Ifosmondi::check(const Graph&, const WrittenOptions& written, std::vector<Problem>& problems) const {
  options_.estimator.check(name(), written, problems);
}

void Ifosmondi::start(CoupledSystem& system, const RunSettings& settings) {
  settings_ = settings;
  grid_ = Grid(settings.start, settings.stop, settings.step);
  trials_.emplace(system, options_.estimator);
  unknowns_.clear();
  std::vector<bool> connected(system.graph().outputs(), false);
  for (const auto& connection : system.graph().connections()) connected[connection.output] = true;
  for (std::size_t y = 0; y < connected.size(); ++y) {
    if (connected[y]) unknowns_.emplace_back(y);
  }
  solver_.emplace(2 * unknowns_.size(), method_of(options_.solver));
  for (auto* values : {&z_, &image_, &scale_}) values->assign(2 * unknowns_.size(), 0.0);

  block_ = trials_->make_block();
  left_values_ = right_values_ = predicted_ = previous_values_ = block_.signals;
  left_slopes_ = right_slopes_ = previous_slopes_ = block_.slopes;
  magnitude_.assign(block_.signals.size(), 0.0);
  steps_ = grid_step_ = 0;
  now_ = settings.start;
  step_ = settings.step;
  slopes_known_ = false;
  previous_size_ = 0.0;
  jumps_.start(left_values_);
  jumps_found_ = 0;
  start_tasks(system);
  next_event_.assign(system.size(), kNever);
  for (std::size_t s = 0; s < system.size(); ++s) next_event_[s] = system.next_event(SubsystemId{s}, now_);
}

void Ifosmondi::start_tasks(const CoupledSystem& system) {
  tasks_.assign(system.size(), {});
  longest_part_.assign(system.size(), kNever);
  rigid_ = false;
  for (std::size_t s = 0; s < system.size(); ++s) {
    tasks_[s].subsystem = SubsystemId{s};
    const auto& can = system.capabilities(SubsystemId{s});
    longest_part_[s] = can.imposed_step.value_or(can.max_step.value_or(kNever));
    rigid_ = rigid_ || can.imposed_step.has_value();
  }
}

/// To the next time of the grid, or by the adaptive step; never onto an announced event but a hair before it.
Ifosmondi::Window Ifosmondi::next_window() const {
  Window window;
  if (options_.adaptive) {
    const Duration rest = settings_.stop - now_;
    window = {now_ + step_, step_};
    // Two equal steps instead of a whole one and a crumb.
    if (rest < 2.0 * step_) window = {now_ + 0.5 * rest, 0.5 * rest};
    if (rest <= step_ * (1 + 1e-9)) window = {settings_.stop, rest};
  } else {
    window.to = grid_.time(grid_step_ + 1);
    window.size = now_ == grid_.time(grid_step_) ? grid_.size(grid_step_) : window.to - now_;
  }
  if (rigid_) return window;
  const Time event = *std::min_element(next_event_.begin(), next_event_.end());
  if (reached(window.to, event)) {
    window.to = before(event, settings_.step);
    window.size = window.to - now_;
  }
  return window;
}

std::optional<Time> Ifosmondi::event_to_cross() const {
  if (rigid_) return std::nullopt;
  const Time event = *std::min_element(next_event_.begin(), next_event_.end());
  // Twice the hair: what is left of a step that ended before the event may be a rounding longer.
  if (event < kNever && event - now_ <= 2.0 * (event - before(event, settings_.step))) return event;
  return std::nullopt;
}

/// From just before an event to the event itself, under held inputs; then everything begins anew.
void Ifosmondi::cross(CoupledSystem& system, Time event) {
  system.hold_all_inputs();
  for (auto& task : tasks_) task = {task.subsystem, now_, event - now_, 0, 1, event};
  system.commit_all(tasks_);
  now_ = event;
  restart_inputs(system);
}

void Ifosmondi::restart_inputs(CoupledSystem& system) {
  system.refresh_signals(now_);
  std::copy(system.signals().begin(), system.signals().end(), left_values_.begin());
  std::fill(left_slopes_.begin(), left_slopes_.end(), 0.0);
  slopes_known_ = false;
  previous_size_ = 0.0;
  trials_->forget_past();
  jumps_.forget_past();
}

void Ifosmondi::note_events(CoupledSystem& system) {
  for (std::size_t s = 0; s < next_event_.size(); ++s) {
    if (reached(now_, next_event_[s])) next_event_[s] = system.next_event(SubsystemId{s}, now_);
  }
}

void Ifosmondi::set_tasks(const Window& window) {
  const int degree = hermite_degree(slopes_known_);
  for (std::size_t s = 0; s < tasks_.size(); ++s) {
    const int parts = std::max(1, static_cast<int>(std::ceil(window.size / longest_part_[s] - 1e-9)));
    tasks_[s] = {tasks_[s].subsystem, now_, window.size, degree, parts, window.to};
  }
}

/// First guess of values and slopes at the end of a step, and of the size of both.
void Ifosmondi::predict(Duration size) {
  const bool extrapolates = options_.predictor == "hermite" && previous_size_ > 0.0;
  const std::size_t count = unknowns_.size();
  for (std::size_t k = 0; k < count; ++k) {
    const OutputId y = unknowns_[k];
    const double left = left_values_[y];
    const double slope = left_slopes_[y];
    z_[k] = options_.predictor == "hold" ? left : left + size * slope;
    z_[count + k] = slope;
    if (extrapolates) {
      // The cubic of the step before, about its end: left + slope s + c2 s^2 + c3 s^3.
      const double h = previous_size_;
      const double rise = left - previous_values_[y];
      const double c3 = (h * (previous_slopes_[y] + slope) - 2.0 * rise) / (h * h * h);
      const double c2 = (h * (previous_slopes_[y] + 2.0 * slope) - 3.0 * rise) / (h * h);
      z_[k] = left + size * (slope + size * (c2 + size * c3));
      z_[count + k] = slope + size * (2.0 * c2 + 3.0 * size * c3);
    }
    magnitude_[y] = std::max({magnitude_[y], std::abs(left), std::abs(size * slope)});
    scale_[k] = magnitude_[y] > 0.0 ? magnitude_[y] : 1.0;
    scale_[count + k] = scale_[k] / size;
  }
}

bool Ifosmondi::evaluate(CoupledSystem& system, const Window& window, std::span<const double> z,
                         std::span<double> image) {
  const std::size_t count = unknowns_.size();
  for (std::size_t k = 0; k < count; ++k) {
    right_values_[unknowns_[k]] = z[k];
    right_slopes_[unknowns_[k]] = z[count + k];
  }
  write_hermite_inputs(system, {left_values_, left_slopes_}, {right_values_, right_slopes_}, window.size,
                       slopes_known_);
  trials_->run(tasks_, block_);
  for (std::size_t k = 0; k < count; ++k) {
    image[k] = block_.signals[unknowns_[k]];
    image[count + k] = block_.slopes[unknowns_[k]];
  }
  return std::none_of(block_.outcomes.begin(), block_.outcomes.end(),
                      [](StepOutcome outcome) { return outcome == StepOutcome::Rejected; });
}

FixedPointSolver::Result Ifosmondi::solve(CoupledSystem& system, const Window& window) {
  predict(window.size);
  set_tasks(window);
  const FixedPointSolver::Settings settings{options_.epsilon, options_.max_iterations, scale_};
  return solver_->solve(z_, image_, settings, [&](std::span<const double> z, std::span<double> image) {
    return evaluate(system, window, z, image);
  });
}

MacroStepReport Ifosmondi::advance(CoupledSystem& system) {
  MacroStepReport report;
  if (const auto event = event_to_cross()) {
    cross(system, *event);
  } else {
    Window window = next_window();
    trials_->begin(now_, window.size, options_.restart == "real" ? left_slopes_ : predicted_);
    const Duration least = least_step();
    auto result = solve(system, window);
    report.iterations = static_cast<std::uint64_t>(result.evaluations);
    while (!result.converged) {
      if (rigid_ || kShrinkage * window.size < least) throw_not_converged(system, window.size);
      ++report.rejected;
      window.size *= kShrinkage;
      window.to = now_ + window.size;
      result = solve(system, window);
      report.iterations += static_cast<std::uint64_t>(result.evaluations);
    }
    if (options_.adaptive) adapt(window.size, result.evaluations, report.rejected > 0);
    accept(system, window);
  }
  note_events(system);
  while (grid_step_ < grid_.steps() && reached(now_, grid_.time(grid_step_ + 1))) ++grid_step_;
  ++steps_;
  report.reached = now_;
  return report;
}

void Ifosmondi::accept(CoupledSystem& system, const Window& window) {
  for (std::size_t y = 0; y < left_values_.size(); ++y) predicted_[y] = left_values_[y] + window.size * left_slopes_[y];
  trials_->commit(tasks_, block_);
  now_ = window.to;
  std::swap(previous_values_, left_values_);
  std::swap(previous_slopes_, left_slopes_);
  previous_size_ = slopes_known_ ? window.size : 0.0;
  const bool c1 = options_.restart == "c1";
  left_values_ = c1 ? right_values_ : block_.signals;
  left_slopes_ = c1 ? right_slopes_ : block_.slopes;

  const bool returned_early = std::any_of(block_.outcomes.begin(), block_.outcomes.end(),
                                          [](StepOutcome outcome) { return outcome == StepOutcome::EndedEarly; });
  const bool jumped = slopes_known_ && jumps_.jumped(predicted_, block_.signals);
  slopes_known_ = true;
  if (jumped || returned_early) {
    if (jumps_found_++ == 0) first_jump_ = now_;
    restart_inputs(system);
  }
}

Duration Ifosmondi::least_step() const {
  return options_.min_step > 0.0 ? options_.min_step : kLeastShare * settings_.step;
}

void Ifosmondi::adapt(Duration size, int evaluations, bool was_cut) {
  if (size < step_ && !was_cut) return;  // shortened for an event or the stop time: it tells nothing
  const double factor = was_cut ? 1.0 : std::clamp(std::sqrt(kEasy / evaluations), kShrinkage, kGrowth);
  const Duration most = options_.max_step > 0.0 ? options_.max_step : kMostTimes * settings_.step;
  step_ = std::clamp(size * factor, least_step(), std::max(least_step(), most));
}

void Ifosmondi::throw_not_converged(const CoupledSystem& system, Duration size) const {
  struct Miss {
    double residual;
    std::size_t output;
  };
  std::vector<Miss> misses;
  for (std::size_t k = 0; k < unknowns_.size(); ++k) {
    misses.push_back({std::abs(z_[k] - image_[k]) / (std::abs(image_[k]) + 1.0), k});
  }
  std::stable_sort(misses.begin(), misses.end(), [](const Miss& a, const Miss& b) { return a.residual > b.residual; });
  misses.resize(std::min(misses.size(), kNamedInError));
  std::string text;
  for (const auto& miss : misses) {
    for (const auto& connection : system.graph().connections()) {
      if (connection.output != unknowns_[miss.output]) continue;
      text += fmt::format("{}{} -> {} {:.3g}", text.empty() ? "" : ", ", system.graph().name(connection.output),
                          system.graph().name(connection.input), miss.residual);
      break;
    }
  }
  throw Error(
      ErrorCode::SolverFailed,
      fmt::format("ifosmondi did not converge to epsilon = {:g} in a step of {:g} s; residuals by connection: {}",
                  options_.epsilon, size, text),
      {.subsystem = {},
       .variable = {},
       .time = now_,
       .remedy = rigid_ ? "Choose a smaller step, another solver or a larger epsilon: a subsystem imposes its "
                          "step, so this one cannot be cut"
                        : "Choose another solver, a larger epsilon or a smaller min_step"});
}

MethodMemory Ifosmondi::memory() const {
  MethodMemory memory{steps_, {}};
  auto& numbers = memory.numbers;
  numbers = {static_cast<double>(grid_step_),   now_,       step_, slopes_known_ ? 1.0 : 0.0, previous_size_,
             static_cast<double>(jumps_found_), first_jump_};
  for (const auto* values :
       {&left_values_, &left_slopes_, &previous_values_, &previous_slopes_, &magnitude_, &next_event_}) {
    numbers.insert(numbers.end(), values->begin(), values->end());
  }
  jumps_.save(numbers);
  trials_->save(numbers);
  return memory;
}

void Ifosmondi::restore(const MethodMemory& memory) {
  steps_ = memory.step;
  const double* next = memory.numbers.data();
  grid_step_ = static_cast<std::uint64_t>(*next++);
  now_ = *next++;
  step_ = *next++;
  slopes_known_ = *next++ != 0.0;
  previous_size_ = *next++;
  jumps_found_ = static_cast<std::uint64_t>(*next++);
  first_jump_ = *next++;
  for (auto* values : {&left_values_, &left_slopes_, &previous_values_, &previous_slopes_, &magnitude_, &next_event_}) {
    std::copy_n(next, values->size(), values->begin());
    next += values->size();
  }
  trials_->restore(jumps_.restore(next));
}

std::vector<std::string> Ifosmondi::notes(const CoupledSystem&) const {
  auto notes = trials_->notes();
  if (options_.adaptive) notes.emplace_back("adaptive: the step follows the iteration, not an error estimate");
  return notes;
}

std::vector<std::string> Ifosmondi::warnings(const CoupledSystem&) const {
  if (jumps_found_ == 0) return {};
  return {fmt::format(
      "{} jump{} of the signals that nobody announced, the first before t = {} s; the inputs were restarted "
      "there, but the step across has order 1. Give the times: events = [...]",
      jumps_found_, jumps_found_ > 1 ? "s" : "", first_jump_)};
}

}  // namespace entrain
