#include "subsystem/fmi/model_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/grid.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/sparse_ode.hpp"
#include "subsystem/event_limits.hpp"
#include "subsystem/fmi/event_iteration.hpp"
#include "subsystem/fmi/jacobian_pattern.hpp"

namespace entrain::subsystem {
namespace {

// The standard's proposal (FMI 2.0, section 2.2.7): 0.01 of the relative tolerance times the nominal value.
constexpr double kAbsolutePart = 0.01;

// Of the explicit integrator in one step, 13 evaluations each; beyond, BDF with its few hundred evaluations is quicker.
constexpr long kMostExplicitSteps = 200;

// Where the integrator is kept: a method with a history starts with very short steps, about as dear as this many
// steps of the explicit one, and then takes two evaluations in place of 14.
constexpr int kShortSteps = 8;
constexpr long kMostAdamsSteps = 1000;  // in one step
constexpr long kManySteps = 10;         // of the explicit one in one step: the stiff one may be cheaper
constexpr int kStepsToJudge = 10;       // that both are compared by

}  // namespace

ModelExchange::ModelExchange(const Fmu& fmu, const FmuPorts& ports, double tolerance, FmuReporter& reporter)
    : ports_(ports),
      description_(fmu.description()),
      tolerance_(tolerance),
      reporter_(reporter),
      u_(ports_.table.inputs.size()),
      dx_(ports_.table.states.size()),
      up_(dx_.size() + ports_.table.outputs.size()),
      down_(up_.size()),
      y_(ports_.table.outputs.size()),
      linearizer_(ports_) {
  here_.x.resize(ports_.table.states.size());
  here_.u.resize(u_.size());
  here_.du.resize(u_.size());
  std::size_t doubles = 0;
  for (std::size_t i = 0; i < ports_.input_origins.size(); ++i) {
    const PortOrigin& origin = ports_.input_origins[i];
    const auto& variable = description_.variables[origin.variable];
    discrete_.push_back(variable.variability == FmuVariability::Discrete);
    has_discrete_ = has_discrete_ || discrete_.back();
    if (discrete_.back()) continue;
    const bool is_double = i < ports_.double_inputs;
    if (origin.element == 0) (is_double ? continuous_doubles_ : continuous_floats_).push_back(variable.reference);
    continuous_values_.push_back(0.0);
    if (is_double) ++doubles;
  }
  continuous_inputs_ = {continuous_doubles_, doubles, continuous_floats_, continuous_values_.size() - doubles};
}

FmuResult ModelExchange::set_continuous_inputs(std::span<const double> u) {
  if (!has_discrete_) return instance_->set_reals(ports_.real_inputs(), u.data());
  if (continuous_inputs_.empty()) return {};
  auto next = continuous_values_.begin();
  for (std::size_t i = 0; i < u.size(); ++i) {
    if (!discrete_[i]) *next++ = u[i];
  }
  return instance_->set_reals(continuous_inputs_, continuous_values_.data());
}

void ModelExchange::start(FmuInstance& instance, const FmuAbilities& abilities, Time start, Time stop) {
  instance_ = &instance;
  stop_ = stop;
  directional_ = abilities.linearization == LinearizationSource::Directional;
  by_states_ = abilities.rollback_by_states;
  begun_ = in_events_ = prepared_ = false;
  starts_ = true;
  short_steps_ = 0;
  tries_stiff_ = explicit_is_better_ = false;
  many_ = {};
  here_.event_waits = false;
  may_go_back_ = false;
  terminate_ = false;
  here_.t = start;
  std::fill(here_.du.begin(), here_.du.end(), 0.0);
}

void ModelExchange::begin() {
  if (std::exchange(begun_, true)) return;
  if (!here_.u.empty()) require(instance_->get_reals(ports_.real_inputs(), here_.u.data()));
  if (shared_) {
    if (at_end_of_initialization_) at_end_of_initialization_();
    require(instance_->exit_initialization());
    here_.next_event = kNever;
    in_events_ = here_is_set_ = true;
    return;
  }
  const EventOutcome outcome = begin_stepping(*instance_, true, reporter_.log(), reporter_.context(here_.t));
  here_.next_event = outcome.next_event;
  terminate_ = outcome.terminate;
  prepare_integration();
}

/// In continuous-time mode for the first time.
void ModelExchange::prepare_integration() {
  prepared_ = true;
  if (!here_.x.empty()) require(instance_->get_continuous_states(here_.x));
  here_is_set_ = true;
  indicators_ = description_.model_exchange->event_indicators;
  require(instance_->count_event_indicators(indicators_));
  make_solver();
}

void ModelExchange::make_solver() {
  const std::size_t states = here_.x.size();
  explicit_.reset();
  stiff_.reset();
  adams_.reset();
  here_.stiff_from = kNever;
  if (states == 0 && indicators_ == 0) return;
  state_.assign(std::max<std::size_t>(states, 1), 0.0);
  nominals_.assign(states, 1.0);
  if (states > 0) require(instance_->get_nominals(nominals_));
  numerics::OdeOptions options;
  options.relative_tolerance = tolerance_;
  options.absolute_tolerance = kAbsolutePart * tolerance_;
  options.indicators = indicators_;
  for (double& nominal : nominals_) {
    nominal = std::abs(nominal);
    if (!(nominal > 0.0)) nominal = 1.0;  // the standard requires it positive
    options.absolute_tolerances.push_back(options.absolute_tolerance * nominal);
  }
  numerics::OdeOptions stiff = options;
  options.max_steps = kMostExplicitSteps;
  options.may_give_up = true;
  explicit_.emplace(state_.size(), options);
  if (keeps_) {
    options.method = numerics::OdeMethod::Adams;
    options.max_steps = kMostAdamsSteps;
    adams_.emplace(state_.size(), std::move(options));
  }
  stiff.method = numerics::OdeMethod::Bdf;
  if (directional_ && states > 0) {
    stiff.jacobian = jacobian_pattern(description_, ports_);
    if (numerics::is_sparse(*stiff.jacobian)) stiff.linear_solver = numerics::sparse_linear_solver;
    seed_.reserve(states);
    seeded_.reserve(states);
  }
  stiff_.emplace(state_.size(), std::move(stiff));
}

void ModelExchange::set_point(Time t, std::span<const double> x, std::span<const double> u) {
  begin();
  here_is_set_ = false;
  require(instance_->set_time(t));
  if (!x.empty()) require(instance_->set_continuous_states(x));
  if (!u.empty()) require(set_continuous_inputs(u));
}

void ModelExchange::set_here() {
  if (here_is_set_) return;
  set_point(here_.t, here_.x, here_.u);
  here_is_set_ = true;
}

/// True when an input is not where it ended: it has jumped.
bool ModelExchange::put_inputs(const InputBlock& inputs, Duration s) {
  bool jumped = false;
  for (std::size_t i = 0; i < here_.u.size(); ++i) {
    const double value = inputs.value(i, discrete_[i] ? 0.0 : s);
    jumped = jumped || value != here_.u[i];
    here_.u[i] = value;
    here_.du[i] = discrete_[i] ? 0.0 : inputs.slope(i, s);
  }
  here_is_set_ = false;
  return jumped;
}

StepReport ModelExchange::step(const Subsystem::Step& step, std::span<double> outputs) {
  const Time end = step.from + step.size;
  begin();
  here_.t = step.from;
  const bool jumped = put_inputs(step.inputs, 0.0) || std::exchange(here_.inputs_changed, false);
  if (jumped || base::reached(here_.t, here_.next_event)) handle_event_here();
  Duration s = 0.0;
  for (int events = 0; !terminate_ && !here_.event_waits && !base::reached(here_.t, end); ++events) {
    require_few_events(events, reporter_.context(here_.t));
    s = advance(step, s, end);
  }
  const bool whole = base::reached(here_.t, end);
  if (whole) here_.t = end;
  origin_ = counted_;
  put_inputs(step.inputs, whole ? step.size : s);
  set_here();
  if (!outputs.empty()) require(instance_->get_reals(ports_.real_outputs(), outputs.data()));
  return {.reached = here_.t,
          .outcome = whole ? StepOutcome::Completed : StepOutcome::EndedEarly,
          .stop_requested = std::exchange(terminate_, false),
          .event = here_.event_waits};
}

/// From the local time `s` to the end or to the next event, which is handled there. Returns the local time reached: a
/// sum of times would round it, and an indicator that depends on the inputs would not be where the root was found.
Duration ModelExchange::advance(const Subsystem::Step& step, Duration s, Time end) {
  const bool announced = base::reached(end, here_.next_event);
  const Time stop = announced ? std::min(here_.next_event, end) : end;
  if (base::reached(here_.t, stop)) {  // announced again for now
    meet_event();
    return s;
  }
  event_wanted_ = false;
  const numerics::OdeReached at = integrate(step, s, stop);
  const bool at_stop = at.cause == numerics::OdeReached::Cause::End;
  here_.t = at_stop ? stop : std::min(step.from + at.time, stop);
  put_inputs(step.inputs, at.time);
  if (terminate_) return at.time;
  const bool found = at.cause == numerics::OdeReached::Cause::Indicator;
  if (found || event_wanted_ || (announced && at_stop)) meet_event();
  return at.time;
}

/// Handles it here, unless the other subsystems take part.
void ModelExchange::meet_event() {
  if (!shared_) return handle_event_here();
  here_.event_waits = true;
}

/// In the local time s of the step, so that small steps at large times lose no digits; an integrator that is kept
/// counts on from its start.
numerics::OdeReached ModelExchange::integrate(const Subsystem::Step& step, Duration s0, Time stop) {
  set_here();
  if (starts_) origin_ = 0.0;
  const std::size_t varying = step.inputs.degree() > 0 ? u_.size() : 0;  // held inputs have been set
  const auto put = [&](Duration counted, std::span<const double> x) {
    const Duration s = counted - origin_;
    for (std::size_t i = 0; i < varying; ++i) u_[i] = step.inputs.value(i, s);
    set_point(std::min(step.from + s, stop), x.first(here_.x.size()), std::span(u_).first(varying));
  };
  const auto derivatives = [&](Duration s, std::span<const double> x, std::span<double> dx) {
    put(s, x);
    ++evaluations_;
    if (here_.x.empty()) return std::fill(dx.begin(), dx.end(), 0.0);
    const FmuResult result = instance_->get_derivatives(dx);
    if (result.status != FmuStatus::Discard) return require(result);
    discarded_ = result;  // the integrator tries a smaller step
    std::fill(dx.begin(), dx.end(), std::numeric_limits<double>::quiet_NaN());
  };
  const auto indicators = [&](Duration s, std::span<const double> x, std::span<double> z) {
    put(s, x);
    require(instance_->get_event_indicators(z));
  };
  const auto product = [&](Duration s, std::span<const double> x, std::span<const double> seed, std::span<double> dx) {
    put(s, x);
    seeded_.clear();
    seed_.clear();
    std::size_t first = 0;
    for (std::size_t i = 0; i < ports_.states.size(); ++i) {
      const auto of_variable = seed.subspan(first, ports_.knowns[i].elements);
      first += of_variable.size();
      if (std::all_of(of_variable.begin(), of_variable.end(), [](double each) { return each == 0.0; })) continue;
      seeded_.push_back(ports_.states[i]);
      seed_.insert(seed_.end(), of_variable.begin(), of_variable.end());
    }
    require(instance_->directional_product(ports_.derivatives, seeded_, seed_, dx));
  };
  const auto completed = [&](Duration s, std::span<const double> x) {
    put(s, x);
    return report_completed_step();
  };
  numerics::OdeProblem problem{.derivatives = derivatives};
  if (indicators_ > 0) problem.indicators = indicators;
  if (directional_ && !here_.x.empty()) problem.jacobian_product = product;
  if (wants_completed_steps()) problem.step_completed = completed;
  if (!explicit_) {
    here_.t = stop;
    put(stop - step.from + origin_, {});
    if (problem.step_completed) report_completed_step();
    return {stop - step.from, numerics::OdeReached::Cause::End};
  }
  std::copy(here_.x.begin(), here_.x.end(), state_.begin());
  discarded_.reset();
  try {
    numerics::OdeReached at = solve(s0 + origin_, stop - step.from + origin_, problem);
    std::copy_n(state_.begin(), here_.x.size(), here_.x.begin());
    counted_ = at.time;
    at.time -= origin_;
    return at;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::SolverFailed) throw;
    if (discarded_) require(*discarded_);
    ErrorContext context = error.context();
    context.subsystem = reporter_.context(here_.t).subsystem;
    context.time = here_.t;  // the solver knows the local time only, and reports it in its words
    Fact fact = error.fact();
    fact.values.emplace_back(
        "by", fmt::format("{}, by {}", reporter_.log().code().owner().code,
                          description_.version == FmiVersion::One   ? "fmiGetDerivatives"
                          : description_.version == FmiVersion::Two ? "fmi2GetDerivatives"
                                                                    : "fmi3GetContinuousStateDerivatives"));
    throw Error(error.code(), std::move(fact), context);
  }
}

/// Explicit as long as it is quick: BDF begins every step anew with order 1, which costs accuracy where steps are
/// short. What is found to be stiff is remembered with the state, so that a restored one replays to the same bits.
numerics::OdeReached ModelExchange::solve(Duration s, Duration end, const numerics::OdeProblem& problem) {
  if (keeps_) return go_on(s, end, problem);
  if (end - s >= here_.stiff_from) return stiff_->advance(s, end, state_, problem);
  const numerics::OdeReached at = explicit_->advance(s, end, state_, problem);
  if (at.cause != numerics::OdeReached::Cause::GaveUp) return at;
  if (!discarded_ && at.time > s) here_.stiff_from = at.time - s;
  return stiff_->advance(at.time, end, state_, problem);
}

/// The history of an integrator is worth the most where steps are short, so it is thrown away at events and jumps
/// alone.
numerics::OdeReached ModelExchange::go_on(Duration s, Duration end, const numerics::OdeProblem& problem) {
  const bool afresh = std::exchange(starts_, false);
  if (afresh) {
    integrator_ = here_.stiff_from < kNever || tries_stiff_ ? Integrator::Stiff : Integrator::Explicit;
    short_steps_ = 0;
  }
  const long before = evaluations_;
  numerics::OdeReached at =
      afresh ? integrator().advance(s, end, state_, problem) : integrator().go_on(s, end, state_, problem);
  if (at.cause == numerics::OdeReached::Cause::GaveUp) {
    if (!discarded_) here_.stiff_from = at.time - s;
    starts_ = discarded_.has_value();  // by this integrator for a moment only
    integrator_ = Integrator::Stiff;
    at = stiff_->advance(at.time, end, state_, problem);
  }
  Cost& cost = integrator_ == Integrator::Stiff ? trial_ : many_;
  cost.evaluations += evaluations_ - before;
  cost.time += at.time - s;
  ++cost.steps;
  if (at.cause == numerics::OdeReached::Cause::End) choose_integrator();
  return at;
}

numerics::OdeSolver& ModelExchange::integrator() {
  switch (integrator_) {
    case Integrator::Adams: return *adams_;
    case Integrator::Stiff: return *stiff_;
    case Integrator::Explicit: break;
  }
  return *explicit_;
}

/// For the next step. By counts, not by seconds: a run is the same on every machine.
void ModelExchange::choose_integrator() {
  if (tries_stiff_) return judge_stiff();
  if (integrator_ != Integrator::Explicit) return;
  const long steps = explicit_->steps();
  short_steps_ = steps <= 2 ? short_steps_ + 1 : 0;
  if (short_steps_ >= kShortSteps) integrator_ = Integrator::Adams;  // which begins where this one has ended
  if (steps <= kManySteps || explicit_is_better_) {
    many_ = {};
  } else if (many_.steps >= kStepsToJudge) {
    tries_stiff_ = true;
    trial_ = {};
    integrator_ = Integrator::Stiff;
  }
}

/// Both have made as many steps, with their starts.
void ModelExchange::judge_stiff() {
  if (trial_.steps < kStepsToJudge) return;
  tries_stiff_ = false;
  explicit_is_better_ = trial_.exceeds(many_);
  if (explicit_is_better_) integrator_ = Integrator::Explicit;
  if (!explicit_is_better_) here_.stiff_from = 0.0;
}

/// True when the integration must stop for what the FMU asks.
bool ModelExchange::report_completed_step() {
  const FmuCompletedStep completed = instance_->complete_integrator_step(may_go_back_);
  require(completed.result);
  event_wanted_ = event_wanted_ || completed.enter_event_mode;
  terminate_ = terminate_ || completed.terminate;
  return event_wanted_ || terminate_;
}

void ModelExchange::handle_event_here() {
  handle_event_here([] { return FmuResult{}; });
}

void ModelExchange::change(base::FunctionRef<FmuResult()> set) {
  if (!begun_) return require(set());
  if (shared_) {
    enter_events();
    return require(set());
  }
  handle_event_here(set);
}

/// Inputs may jump in event mode only, so they are set there once more.
void ModelExchange::handle_event_here(base::FunctionRef<FmuResult()> in_event_mode) {
  set_here();
  starts_ = true;
  require(instance_->enter_event_mode());
  require(in_event_mode());
  if (!here_.u.empty()) require(instance_->set_reals(ports_.real_inputs(), here_.u.data()));
  const EventOutcome outcome = settle_discrete_states(*instance_, reporter_.log(), reporter_.context(here_.t));
  terminate_ = terminate_ || outcome.terminate;
  here_.next_event = outcome.next_event;
  const bool wanted = std::exchange(event_wanted_, false);
  if (by_states_ && may_go_back_ && (wanted || outcome.next_event < kNever)) throw_unexpected_event();
  require(instance_->enter_step_mode());
  if (!here_.x.empty()) require(instance_->get_continuous_states(here_.x));
}

bool ModelExchange::event_waits() const {
  return in_events_ || here_.event_waits || base::reached(here_.t, here_.next_event);
}

void ModelExchange::enter_events() {
  begin();
  if (std::exchange(in_events_, true)) return;
  set_here();
  require(instance_->enter_event_mode());
}

EventMode::Update ModelExchange::update_events() {
  const FmuEventUpdate update = instance_->update_discrete_states();
  require(update.result);
  here_.next_event = update.next_event;
  terminate_ = terminate_ || update.terminate;
  return {update.again, update.terminate};
}

void ModelExchange::leave_events() {
  const bool wanted = std::exchange(event_wanted_, false);
  if (by_states_ && may_go_back_ && (wanted || here_.next_event < kNever)) throw_unexpected_event();
  require(instance_->enter_step_mode());
  in_events_ = here_.event_waits = false;
  starts_ = true;
  if (!prepared_) return prepare_integration();
  if (!here_.x.empty()) require(instance_->get_continuous_states(here_.x));
}

void ModelExchange::set_inputs(std::span<const double> inputs) {
  std::copy(inputs.begin(), inputs.end(), here_.u.begin());
  std::fill(here_.du.begin(), here_.du.end(), 0.0);
  require(instance_->set_reals(ports_.real_inputs(), here_.u.data()));
}

void ModelExchange::read_outputs(std::span<double> outputs) {
  if (!outputs.empty()) require(instance_->get_reals(ports_.real_outputs(), outputs.data()));
}

/// It was taken to have none: what it remembers of this one was not saved.
void ModelExchange::throw_unexpected_event() const {
  ErrorContext context = reporter_.context(here_.t);
  context.remedy = "Write rollback = false for it";
  throw Error(ErrorCode::SubsystemFailed, {FactCode::FmuEventAfterSave}, context);
}

void ModelExchange::evaluate(std::span<const double> inputs, std::span<double> outputs) {
  if (!begun_) {
    if (!inputs.empty()) require(instance_->set_reals(ports_.real_inputs(), inputs.data()));
    if (!outputs.empty()) require(instance_->get_reals(ports_.real_outputs(), outputs.data()));
    return;
  }
  bool discrete_changed = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == here_.u[i]) continue;
    here_.inputs_changed = true;
    discrete_changed = discrete_changed || discrete_[i];
  }
  std::copy(inputs.begin(), inputs.end(), here_.u.begin());
  std::fill(here_.du.begin(), here_.du.end(), 0.0);
  here_is_set_ = false;
  if (discrete_changed) handle_event_here();
  set_here();
  if (!outputs.empty()) require(instance_->get_reals(ports_.real_outputs(), outputs.data()));
}

void ModelExchange::finish_initialization(std::span<double> outputs) {
  begin();
  set_here();
  read_outputs(outputs);
}

void ModelExchange::save(std::size_t slot) {
  begin();
  may_go_back_ = true;
  if (saved_.size() <= slot) saved_.resize(slot + 1);
  saved_[slot] = here_;
}

void ModelExchange::restore(std::size_t slot) {
  put_back(saved_[slot]);
}

void ModelExchange::deserialize(std::size_t slot, std::span<const std::byte> bytes) {
  begin();
  if (saved_.size() <= slot) saved_.resize(slot + 1);
  base::from_bytes(bytes, saved_[slot]);
}

void ModelExchange::put_back(const Here& here) {
  here_ = here;
  here_is_set_ = false;
  starts_ = true;
}

Time ModelExchange::next_event(Time t) {
  begin();
  return next_discontinuity(t);
}

Time ModelExchange::next_discontinuity(Time t) const {
  return base::reached(t, here_.next_event) ? kNever : here_.next_event;
}

void ModelExchange::states(std::span<double> x) {
  begin();
  std::copy(here_.x.begin(), here_.x.end(), x.begin());
}

std::string integrator_text(double tolerance) {
  return fmt::format("Runge-Kutta, BDF where stiff, tolerance {:g}", tolerance);
}

}  // namespace entrain::subsystem
