#include "subsystem/fmi/co_simulation.hpp"

#include <algorithm>
#include <utility>

#include "base/grid.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/event_iteration.hpp"

namespace entrain::subsystem {
namespace {

constexpr int kMostEventsInPlace = 100;
constexpr int kMostHalvings = 20;  // a millionth of the step

}  // namespace

CoSimulation::CoSimulation(const Fmu& fmu, const FmuPorts& ports, FmuReporter& reporter)
    : ports_(ports),
      variable_step_(fmu.flags().variable_step),
      one_(fmu.description().version == FmiVersion::One),
      three_(fmu.description().version == FmiVersion::Three),
      reporter_(reporter),
      end_slopes_(ports_.table.inputs.size()),
      first_orders_(ports_.outputs.size(), 1),
      dx_(ports_.table.states.size()),
      linearizer_(ports_) {
  call_.inputs = ports_.real_inputs();
  call_.outputs = ports_.real_outputs();
  held_.inputs = ports_.inputs;
  held_.outputs = ports_.outputs;
  held_.owner = this;
}

void CoSimulation::start(FmuInstance& instance, const FmuAbilities& abilities, Time start, Time stop) {
  instance_ = &instance;
  abilities_ = &abilities;
  initializing_ = true;
  const auto orders = static_cast<std::size_t>(abilities.input_degree + 1);
  derivatives_.start(ports_.inputs, abilities.input_degree);
  end_ = {};
  end_.time = start;
  end_.coefficients.resize(ports_.table.inputs.size() * orders);
  call_.derivative_inputs = {};
  held_.until = held_.reached = -kNever;
  held_.step = nullptr;
  stop_ = stop;
  call_.may_go_back = false;
}

void CoSimulation::settle() {
  if (const Time reached = std::exchange(held_.reached, -kNever); reached != -kNever) {
    end_.time = reached;
    end_.degree = 0;
  }
  if (!std::exchange(initializing_, false)) return;
  if (shared_ && abilities_->event_mode) {
    if (at_end_of_initialization_) at_end_of_initialization_();
    require(instance_->exit_initialization());
    end_.in_events = true;
    return;
  }
  const EventOutcome begun =
      begin_stepping(*instance_, abilities_->event_mode, reporter_.log(), reporter_.context(end_.time));
  end_.next_event = begun.next_event;
  end_.stop_requested = begun.terminate;
}

void CoSimulation::evaluate(std::span<const double> inputs, std::span<double> outputs) {
  end_.degree = 0;
  if (!inputs.empty()) require(instance_->set_reals(call_.inputs, inputs.data()));
  read_outputs(outputs);
}

void CoSimulation::finish_initialization(std::span<double> outputs) {
  settle();
  read_outputs(outputs);
}

void CoSimulation::read_outputs(std::span<double> outputs) {
  if (!outputs.empty()) require(instance_->get_reals(call_.outputs, outputs.data()));
}

void CoSimulation::change(base::FunctionRef<FmuResult()> set) {
  if (initializing_ || !abilities_->event_mode) return require(set());
  if (shared_) {
    enter_events();
    return require(set());
  }
  handle_event(set);
}

const StepReport* CoSimulation::step_at_length(const Subsystem::Step& step, double* outputs) {
  return unless_completed(this->step(step, {outputs, ports_.table.outputs.size()}));
}

const StepReport* CoSimulation::resume(const FmuHalt& halt, const Subsystem::Step& step, double* outputs) {
  settle();
  held_.until = -kNever;
  call_.from = step.from;
  call_.size = step.size;
  call_.input_values = step.inputs.order(0).data();
  const FmuStepResult result = instance_->resumed(halt, call_, outputs);
  end_.time = result.reached;
  return unless_completed(unusual(step, result, {outputs, ports_.table.outputs.size()}));
}

const StepReport* CoSimulation::unless_completed(const StepReport& report) {
  report_ = report;
  return report.outcome == StepOutcome::Completed && !report.stop_requested ? nullptr : &report_;
}

/// After a step like any other: what can make the next one special are the times at which this must be left.
void CoSimulation::open_held_step() {
  const bool plain = !initializing_ && !end_.stop_requested && call_.derivative_inputs.empty() && !call_.polynomials;
  const Time before_event = end_.next_event < kNever ? base::just_before(end_.next_event) : kNever;
  held_.until = plain ? std::min(stop_, before_event) : -kNever;
  held_.may_go_back = call_.may_go_back;
  if (held_.step == nullptr) instance_->open(held_);
}

StepReport CoSimulation::step(const Subsystem::Step& step, std::span<double> outputs) {
  settle();
  held_.until = -kNever;
  call_.from = step.from;
  call_.size = step.size;
  // An FMU refuses to pass the stop time, be it by a rounding; at an event that it announced it must be stopped.
  const Time latest = std::min(stop_, end_.next_event);
  if (step.from + step.size > latest && latest > step.from) call_.size = latest - step.from;
  const InputBlock inputs = of_taken_degree(step.inputs, call_.size);
  call_.input_values = inputs.order(0).data();
  const int degree = call_.inputs.empty() ? 0 : step.inputs.degree();
  if (three_) {
    call_.polynomials = degree > 0 ? &inputs : nullptr;
  } else if (degree > 0 || !call_.derivative_inputs.empty()) {
    derivatives_.add_to(call_, inputs);
  }
  const FmuStepResult result = instance_->step(call_, outputs.data());
  end_.time = result.reached;
  end_.degree = 0;
  if (degree > 0) keep_end(step.inputs, result.reached - step.from);
  if (result.refused_order > 0) take_lower_degree(result.refused_order);
  const bool usual =
      result.result.status == FmuStatus::Ok && !result.terminated && !result.event && !end_.stop_requested;
  if (usual && result.reached == call_.from + call_.size && result.reached < end_.next_event) {
    open_held_step();
    return {result.reached};
  }
  return unusual(step, result, outputs);
}

StepReport CoSimulation::unusual(const Subsystem::Step& step, const FmuStepResult& result, std::span<double> outputs) {
  const FmuStatus status = result.result.status;
  const Time from = step.from;
  if (status != FmuStatus::Discard) reporter_.require(result.result, from);
  StepReport report{result.reached, StepOutcome::Completed, result.terminated};
  if (status == FmuStatus::Discard) return discarded(step, result, outputs);
  const bool moved = result.reached > from && !base::same_time(result.reached, from);
  const bool at_event = result.event || base::reached(result.reached, end_.next_event);
  const bool stopped = shared_ && instance_->take_stopped();  // an event of others waits for it
  if (at_event && shared_) {
    report.event = end_.event_waits = true;
  } else if (stopped && moved) {
    report.event = true;
  } else if (at_event && !report.stop_requested) {
    handle_event([] { return FmuResult{}; });
    read_outputs(outputs);
  }
  report.stop_requested = report.stop_requested || end_.stop_requested;
  if (!moved && at_event && !report.stop_requested && !shared_) {  // an event where the step began: now it can be made
    if (++events_in_place_ > kMostEventsInPlace) throw_endless_events();
    return this->step(step, outputs);
  }
  events_in_place_ = 0;
  const Time end = std::min(from + step.size, std::max(stop_, from));
  if (!moved && !report.event) {
    report.outcome = StepOutcome::Rejected;
    reporter_.note_refusal(result.result);
  } else if (!base::reached(result.reached, end)) {
    report.outcome = StepOutcome::EndedEarly;
  } else {
    report.reached = end_.time = end;
  }
  return report;
}

/// FMI 1 and 2 allow no further step after a discarded one, only going back. In FMI 3 the FMU is where it was before
/// and may be asked for a shorter step.
StepReport CoSimulation::discarded(const Subsystem::Step& step, const FmuStepResult& result,
                                   std::span<double> outputs) {
  reporter_.note_refusal(result.result);
  if (!three_) {
    const bool ended = result.terminated && result.reached > step.from;
    return {result.reached, ended ? StepOutcome::EndedEarly : StepOutcome::Rejected, result.terminated};
  }
  if (!variable_step_ || halvings_ == kMostHalvings) {
    halvings_ = 0;
    return {step.from, StepOutcome::Rejected, result.terminated};
  }
  ++halvings_;
  StepReport report = this->step({step.from, 0.5 * step.size, step.inputs}, outputs);
  if (report.outcome == StepOutcome::Completed) report.outcome = StepOutcome::EndedEarly;
  halvings_ = 0;
  return report;
}

/// What the outputs were before the event is not asked for: signals have one value per time.
void CoSimulation::handle_event(base::FunctionRef<FmuResult()> in_event_mode) {
  require(instance_->enter_event_mode());
  require(in_event_mode());
  const EventOutcome settled = settle_discrete_states(*instance_, reporter_.log(), reporter_.context(end_.time));
  end_.next_event = settled.next_event;
  end_.stop_requested = end_.stop_requested || settled.terminate;
  require(instance_->enter_step_mode());
}

bool CoSimulation::event_waits() const {
  return end_.in_events || end_.event_waits || base::reached(end_.time, end_.next_event);
}

void CoSimulation::enter_events() {
  settle();
  if (std::exchange(end_.in_events, true)) return;
  require(instance_->enter_event_mode());
}

EventMode::Update CoSimulation::update_events() {
  const FmuEventUpdate update = instance_->update_discrete_states();
  require(update.result);
  end_.next_event = update.next_event;
  end_.stop_requested = end_.stop_requested || update.terminate;
  return {update.again, update.terminate};
}

void CoSimulation::leave_events() {
  require(instance_->enter_step_mode());
  end_.in_events = end_.event_waits = false;
  held_.until = -kNever;
}

void CoSimulation::set_inputs(std::span<const double> inputs) {
  end_.degree = 0;
  require(instance_->set_reals(call_.inputs, inputs.data()));
}

void CoSimulation::throw_endless_events() {
  ErrorContext where = reporter_.context(end_.time);
  where.remedy = "It reports an event again and again without advancing: ask its vendor";
  throw Error(ErrorCode::SubsystemFailed,
              {FactCode::FmuEventsInPlace, {}, {{"events", kMostEventsInPlace}, {"said", reporter_.log().take_text()}}},
              where);
}

void CoSimulation::keep_end(const InputBlock& inputs, Duration size) {
  end_.size = size;
  end_.degree = inputs.degree();
  end_.inputs_set = false;
  const double* from = inputs.order(0).data();
  std::copy(from, from + inputs.count() * static_cast<std::size_t>(inputs.degree() + 1), end_.coefficients.begin());
}

/// The inputs as they are, unless the FMU has refused derivatives of such an order: then held at their value in the
/// middle of the step, or the line between their ends.
InputBlock CoSimulation::of_taken_degree(const InputBlock& inputs, Duration size) {
  if (inputs.degree() <= end_.taken_degree) return inputs;
  const int degree = std::min(end_.taken_degree, 1);
  const std::size_t count = inputs.count();
  reduced_.resize(count * static_cast<std::size_t>(degree + 1));
  for (std::size_t i = 0; i < count; ++i) {
    reduced_[i] = inputs.value(i, degree == 0 ? 0.5 * size : 0.0);
    if (degree > 0) reduced_[count + i] = (inputs.value(i, size) - reduced_[i]) / size;
  }
  return {reduced_.data(), count, degree};
}

void CoSimulation::take_lower_degree(int refused_order) {
  if (refused_order > end_.taken_degree) return;
  end_.taken_degree = refused_order - 1;
  const auto where = reporter_.context(call_.from);
  reporter_.note({FactCode::FmuDerivativesRefused,
                  {where.subsystem},
                  {{"order", refused_order},
                   {"time", call_.from, "s"},
                   {"form", end_.taken_degree == 0 ? "held" : "straight lines"}}});
}

/// What follows (derivatives, linearization) must belong to the end of the step, and to the inputs there.
void CoSimulation::set_inputs_at_end() {
  settle();
  if (end_.degree == 0) {
    std::fill(end_slopes_.begin(), end_slopes_.end(), 0.0);
    return;
  }
  const InputBlock inputs(end_.coefficients.data(), ports_.table.inputs.size(), end_.degree);
  for (std::size_t i = 0; i < inputs.count(); ++i) end_slopes_[i] = inputs.slope(i, end_.size);
  if (!abilities_->resend_inputs || std::exchange(end_.inputs_set, true)) return;
  require(derivatives_.set(*instance_, inputs, end_.size));
}

void CoSimulation::save(std::size_t slot) {
  settle();
  call_.may_go_back = held_.may_go_back = true;
  if (saved_.size() <= slot) saved_.resize(slot + 1);
  saved_[slot] = end_;
}

void CoSimulation::restore(std::size_t slot) {
  end_ = saved_[slot];
  held_.reached = -kNever;
  open_held_step();
}

base::Bytes CoSimulation::serialize(std::size_t slot) {
  return base::to_bytes(saved_[slot], derivatives_);
}

void CoSimulation::deserialize(std::size_t slot, std::span<const std::byte> bytes) {
  settle();
  if (saved_.size() <= slot) saved_.resize(slot + 1);
  base::from_bytes(bytes, saved_[slot], derivatives_);
}

void CoSimulation::states(std::span<double> x) {
  settle();
  if (!x.empty()) require(instance_->get_reals(ports_.real_states(), x.data()));
}

void CoSimulation::derivatives(std::span<double> dx) {
  set_inputs_at_end();
  if (!dx.empty()) require(instance_->get_reals(ports_.real_derivatives(), dx.data()));
}

void CoSimulation::linearize(Linearization& result) {
  set_inputs_at_end();
  require(linearizer_.linearize(*instance_, abilities_->linearization, result));
}

/// From the FMU, else along the motion.
void CoSimulation::output_derivatives(std::span<double> dy) {
  if (dy.empty()) return;
  set_inputs_at_end();
  if (abilities_->output_derivatives) {
    require(instance_->get_output_derivatives(ports_.outputs, first_orders_.data(), dy.data()));
    return;
  }
  linearize(here_);
  derivatives(dx_);
  slopes_along(here_, dx_, end_slopes_, dy);
}

Time CoSimulation::next_event(Time t) {
  settle();
  return entrain::base::reached(t, end_.next_event) ? kNever : end_.next_event;
}

}  // namespace entrain::subsystem
