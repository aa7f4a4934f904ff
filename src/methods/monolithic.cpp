#include "methods/monolithic.hpp"

#include <algorithm>
#include <cmath>

#include "base/bytes.hpp"
#include "coupling/engine.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::method {

void MonolithicOptions::bind(OptionBinder& binder) {
  binder.choice("integrator", integrator, "erk: explicit Runge-Kutta 7(8); bdf: for stiff systems");
  binder.number("relative_tolerance", relative_tolerance, "of the integrator", {1e-14, 1e-2});
  binder.number("absolute_tolerance", absolute_tolerance, "of the integrator, in the unit of each state",
                {1e-14, 1e-2});
}

const MethodTraits& Monolithic::traits() const {
  static const MethodTraits kTraits{.name = "monolithic",
                                    .summary = "all equations in one integrator: the reference solution",
                                    .family = MethodFamily::Reference,
                                    .recommended = false};
  return kTraits;
}

Requirements Monolithic::requirements() const {
  Requirements needs;
  needs.equations = true;
  needs.common_grid = false;
  return needs;
}

void Monolithic::start(CoupledSystem& system, const RunSettings& settings) {
  grid_ = base::Grid(settings.start, settings.stop, settings.step);
  step_ = 0;
  now_ = settings.start;
  evaluation_.emplace(system.graph(), system.engine().transfer());
  x_.resize(system.states());
  inputs_.assign(system.inputs().begin(), system.inputs().end());
  input_slopes_.assign(inputs_.size(), 0.0);
  signals_ = system.engine().transfer().make_signals();
  output_rates_.assign(signals_.size(), 0.0);  // those of the constants stay zero
  equations_.clear();
  differentiates_inputs_ = false;
  reports_steps_ = false;
  indicators_ = 0;
  for (std::size_t s = 0; s < system.size(); ++s) {
    equations_.push_back(system.facets(SubsystemId{s}).equations);
    differentiates_inputs_ = differentiates_inputs_ || equations_[s]->reads_input_derivatives();
    reports_steps_ = reports_steps_ || equations_[s]->wants_completed_steps();
    const auto range = system.states_of(SubsystemId{s});
    equations_[s]->state(std::span(x_).subspan(range.first, range.count));
    indicators_ += equations_[s]->event_indicator_count();  // an FMU knows it once it has begun
  }
  if (!x_.empty()) {
    numerics::OdeOptions ode;
    ode.method = options_.integrator;
    ode.relative_tolerance = options_.relative_tolerance;
    ode.absolute_tolerance = options_.absolute_tolerance;
    ode.indicators = indicators_;
    solver_.emplace(x_.size(), ode);
  }
}

Equations::Point Monolithic::point(const CoupledSystem& system, SubsystemId s, Time t,
                                   std::span<const double> x) const {
  const auto states = system.states_of(s);
  const auto inputs = system.graph().inputs_of(s);
  return {t, x.subspan(states.first, states.count), std::span(inputs_).subspan(inputs.first, inputs.count),
          std::span(input_slopes_).subspan(inputs.first, inputs.count)};
}

void Monolithic::evaluate_signals(CoupledSystem& system, Time t, std::span<const double> x) {
  system.engine().store().move_to(t);
  // An input slope is known one round after the signals it follows from; a chain of n differentiating subsystems
  // settles in n + 1 rounds.
  for (std::size_t round = 0; round <= system.size() + 1; ++round) {
    evaluation_->all(t, inputs_, signals_, [&](SubsystemId s, std::span<const double> u, std::span<double> y) {
      auto at = point(system, s, t, x);
      at.u = u;
      equations_[s]->outputs(at, y);
    });
    if (!differentiates_inputs_ || !update_input_slopes(system, t, x)) return;
  }
  throw Error(ErrorCode::LoopNotSolved, {FactCode::InputSlopesLoop},
              {.subsystem = {}, .variable = {}, .time = t, .remedy = "Couple them by a method with held inputs"});
}

bool Monolithic::update_input_slopes(CoupledSystem& system, Time t, std::span<const double> x) {
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto range = system.graph().outputs_of(SubsystemId{s});
    equations_[s]->output_rates(point(system, SubsystemId{s}, t, x),
                                std::span(output_rates_).subspan(range.first, range.count));
  }
  bool changed = false;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const auto& plan = system.engine().transfer();
    const double slope = plan.factor(InputId{i}) * output_rates_[plan.source(InputId{i})] + plan.slope(InputId{i});
    const bool matters = equations_[system.graph().owner(InputId{i})]->reads_input_derivatives();
    changed = changed || (matters && slope != input_slopes_[i]);
    input_slopes_[i] = slope;
  }
  return changed;
}

Time Monolithic::integrate(CoupledSystem& system, Time from, Time to) {
  while (!base::reached(from, to)) {
    from = integrate_to_event(system, from, to);
    if (stop_requested(system)) return from;
  }
  return to;
}

Time Monolithic::integrate_to_event(CoupledSystem& system, Time from, Time to) {
  Time smooth_until = kNever;
  for (const auto* equations : equations_) smooth_until = std::min(smooth_until, equations->next_discontinuity(from));
  const bool stops_at_event = base::reached(to, smooth_until);
  const Time end = stops_at_event ? std::min(smooth_until, to) : to;
  const Time last_smooth = stops_at_event ? base::just_before(end) : kNever;
  const auto derivatives = [&](Time t, std::span<const double> x, std::span<double> dx) {
    const Time at_time = std::min(t, last_smooth);
    evaluate_signals(system, at_time, x);
    for (std::size_t s = 0; s < equations_.size(); ++s) {
      const auto range = system.states_of(SubsystemId{s});
      equations_[s]->right_hand_side(point(system, SubsystemId{s}, at_time, x), dx.subspan(range.first, range.count));
    }
  };
  const auto indicators = [&](Time t, std::span<const double> x, std::span<double> z) {
    indicate(system, std::min(t, last_smooth), x, z);
  };
  const auto completed = [&](Time t, std::span<const double> x) {
    return complete_step(system, std::min(t, last_smooth), x);
  };
  numerics::OdeReached at{end, numerics::OdeReached::Cause::End};
  if (solver_) {
    numerics::OdeProblem problem{.derivatives = derivatives, .indicators = indicators};
    if (reports_steps_) problem.step_completed = completed;
    at = solver_->advance(from, end, x_, problem);
  } else if (reports_steps_ && complete_step(system, end, x_)) {
    at.cause = numerics::OdeReached::Cause::Stopped;
  }
  const bool event = stops_at_event || at.cause != numerics::OdeReached::Cause::End;
  if (event && !stop_requested(system)) settle_events(system, at.time);
  return at.time;
}

bool Monolithic::complete_step(CoupledSystem& system, Time t, std::span<const double> x) {
  evaluate_signals(system, t, x);
  bool stop = false;
  for (std::size_t s = 0; s < equations_.size(); ++s) {
    if (!equations_[s]->wants_completed_steps()) continue;
    const bool event = equations_[s]->complete_step(point(system, SubsystemId{s}, t, x));
    stop = stop || event || equations_[s]->stop_requested();
  }
  return stop;
}

bool Monolithic::stop_requested(CoupledSystem& system) {
  for (std::size_t s = 0; s < equations_.size(); ++s) {
    if (equations_[s]->stop_requested()) system.request_stop(SubsystemId{s});
  }
  return system.engine().stop_request().has_value();
}

void Monolithic::indicate(CoupledSystem& system, Time t, std::span<const double> x, std::span<double> z) {
  evaluate_signals(system, t, x);
  for (std::size_t s = 0; s < equations_.size(); ++s) {
    const std::size_t count = equations_[s]->event_indicator_count();
    equations_[s]->event_indicators(point(system, SubsystemId{s}, t, x), z.first(count));
    z = z.subspan(count);
  }
}

void Monolithic::settle_events(CoupledSystem& system, Time t) {
  constexpr int kMostRounds = 100;  // an event may cause others, through the connections too
  std::size_t culprit = 0;
  for (int round = 0; round < kMostRounds; ++round) {
    evaluate_signals(system, t, x_);
    const std::vector<double> before = x_;
    const std::vector<double> signals_before = signals_;
    bool again = false;
    for (std::size_t s = 0; s < equations_.size(); ++s) {
      const auto range = system.states_of(SubsystemId{s});
      const auto x = std::span(x_).subspan(range.first, range.count);
      if (!equations_[s]->handle_event(point(system, SubsystemId{s}, t, x_), x)) continue;
      again = true;
      culprit = s;
    }
    evaluate_signals(system, t, x_);
    // A discrete change may show in an output alone; subsystems that read it must see it as well.
    if (!again && x_ == before && signals_ == signals_before) return;
  }
  throw Error(ErrorCode::SubsystemFailed, {FactCode::EndlessEvents, {}, {{"rounds", kMostRounds}}},
              {.subsystem = system.graph().name(SubsystemId{culprit}), .variable = {}, .time = t, .remedy = {}});
}

MacroStepReport Monolithic::advance(CoupledSystem& system) {
  const Time instant = system.engine().next_instant(now_);
  const bool cut = !base::reached(instant, grid_.time(step_ + 1));
  const Time to = integrate(system, now_, cut ? instant : grid_.time(step_ + 1));
  if (!cut) ++step_;
  now_ = to;
  evaluate_signals(system, to, x_);
  for (std::size_t s = 0; s < system.size(); ++s) equations_[s]->move_to(point(system, SubsystemId{s}, to, x_));
  system.publish(to, inputs_, std::span(signals_).first(system.graph().outputs()));
  return {.reached = to};
}

void Monolithic::constants_changed(CoupledSystem& system) {
  const auto first = static_cast<std::ptrdiff_t>(system.graph().outputs());
  std::copy(system.signals().begin() + first, system.signals().end(), signals_.begin() + first);
  settle_events(system, now_);
}

/// Connections or parameters are others now: the outputs that follow at once are seen by all.
void Monolithic::instant_passed(CoupledSystem& system, Time now) {
  constants_changed(system);
  evaluate_signals(system, now, x_);
  system.publish(now, inputs_, std::span(signals_).first(system.graph().outputs()));
}

MethodMemory Monolithic::memory() const {
  return {step_, {}, base::to_bytes(*this)};
}

void Monolithic::restore(const MethodMemory& memory) {
  base::from_bytes(memory.bytes, *this);
}

std::vector<Fact> Monolithic::notes(const CoupledSystem&) const {
  return {{FactCode::SingleIntegrator,
           {},
           {{"integrator", to_word(options_.integrator)}, {"relative_tolerance", options_.relative_tolerance}}}};
}

}  // namespace entrain::method
