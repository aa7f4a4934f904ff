#include "coupling/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/grid.hpp"
#include "coupling/end_of_initialization.hpp"
#include "coupling/evaluation.hpp"
#include "entrain/error.hpp"

namespace entrain::coupling {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::vector<TrialKind> kinds_in_force(std::vector<TrialKind> given,
                                      std::span<const std::unique_ptr<Subsystem>> subsystems) {
  if (!given.empty()) return given;
  for (const auto& subsystem : subsystems) given.push_back(natural_trial_kind(subsystem->capabilities()));
  return given;
}

}  // namespace

Engine::Engine(Setup setup)
    : shared_(std::move(setup.shared)),
      graph_(std::move(setup.graph)),
      store_(graph_, std::move(setup.start_inputs)),
      evaluation_(std::make_unique<SignalEvaluation>(graph_, store_.transfer())),
      trial_kinds_(kinds_in_force(std::move(setup.trial_kinds), setup.subsystems)),
      estimators_(std::move(setup.estimators)),
      executor_(graph_, store_, std::move(setup.subsystems), setup.threads, shared_.get()),
      bonds_(std::move(setup.bonds)),
      scheduled_inputs_(std::move(setup.scheduled_inputs)) {
  estimators_.resize(size());
  std::vector<Subsystem*> subsystems;
  for (std::size_t s = 0; s < size(); ++s) {
    subsystems.push_back(&executor_.subsystem(SubsystemId{s}));
    first_state_.push_back(first_state_.back() + subsystems.back()->variables().states.size());
  }
  if (setup.has_discrete) {
    discrete_.emplace(subsystems, setup.discrete_connections, graph_, store_.signals());
    for (const auto& [subsystem, input, value] : setup.discrete_starts) discrete_->set_start(subsystem, input, value);
  }
  if (!setup.scenario.empty())
    scenario_ = std::make_unique<Scenario>(graph_, store_, executor_, std::move(setup.scenario));
  if (!setup.shares_events) return;
  events_ = std::make_unique<EventPhase>(graph_, store_, executor_, discrete(), setup.clock_connections);
  executor_.handle_alone_by(*events_);
}

Engine::~Engine() = default;

const std::vector<double>& Engine::loop_residuals() const {
  return evaluation_->loop_residuals();
}

Time Engine::next_event(SubsystemId s, Time t) {
  Events* events = facets(s).events;
  const Time own = events == nullptr ? kNever : events->next_event(t);
  return events_ == nullptr || !events_->takes_part(s) ? own : std::min(own, events_->next_tick(t));
}

void Engine::evaluate_signals(Time t) {
  store_.move_to(t);
  evaluation_->all(
      t, store_.inputs(), store_.signals(),
      [this](SubsystemId s, std::span<const double> u, std::span<double> y) { executor_.evaluate(s, u, y); });
}

void Engine::initialize(Time start, Time stop, bool start_gains) {
  if (scenario_) scenario_->start(start);
  std::vector<Subsystem*> subsystems;
  for (std::size_t s = 0; s < size(); ++s) subsystems.push_back(&executor_.subsystem(SubsystemId{s}));
  EndOfInitialization end(graph_, subsystems);
  executor_.set_all_times(start);
  if (events_) events_->share_events();
  const auto ends = [&] {
    if (end.finish(store_.signals())) return false;
    if (!events_) return true;
    executor_.forget_stop_request();  // of a first phase that is made again
    events_->start(start);
    return !end.follow(store_.signals(), *events_);
  };
  do {
    executor_.for_everyone([&](SubsystemId s) { subsystems[s]->initialize(start, stop); });
    evaluation_->all(start, store_.inputs(), store_.signals(),
                     [&end](SubsystemId s, std::span<const double> u, std::span<double> y) { end.evaluate(s, u, y); });
    if (discrete_) settle_discrete(start);
    if (start_gains) look_at_start_gains();
  } while (!ends());
  if (end.anything_changed()) pass_on_late_outputs(start);
  // Values that are no real numbers likewise, but for those that event phases pass on.
  const auto passes_on_late_values = [&] {
    discrete_->read(false);
    const bool written = discrete_->write(start, executor_.times());
    return exchange_reals() || written;
  };
  for (std::size_t round = 0; discrete_ && round < size() && passes_on_late_values(); ++round)
    pass_on_late_outputs(start);
  for (std::size_t s = 0; s < size(); ++s) executor_.check_outputs(SubsystemId{s}, start);
}

bool Engine::has_start_gains(SubsystemId s) const {
  return subsystem(s).capabilities().feedthrough.any() &&
         is_identifiable(graph_.outputs_of(s).count, graph_.inputs_of(s).count) &&
         (events_ == nullptr || !events_->takes_part(s));
}

/// In initialization mode every FMU can be given inputs and asked for outputs; in step mode a step must lie between
/// (FMI 2.0.4, section 4.2.4; FMI 3.0, section 4.2.1).
void Engine::look_at_start_gains() {
  start_gains_.assign(size(), {});
  for (std::size_t s = 0; s < size(); ++s) {
    const SubsystemId id{s};
    if (has_start_gains(id) && !subsystem(id).capabilities().output_refresh) start_gains_[s] = gains_by_differences(id);
  }
}

std::vector<double> Engine::start_gains(SubsystemId s) {
  if (!has_start_gains(s)) return {};
  if (subsystem(s).capabilities().output_refresh) return gains_by_differences(s);
  return start_gains_.empty() ? std::vector<double>() : start_gains_[s];
}

/// The last evaluation is that of the inputs that it has. Nothing is known of a subsystem that refuses others.
std::vector<double> Engine::gains_by_differences(SubsystemId s) {
  const Feedthrough& feedthrough = subsystem(s).capabilities().feedthrough;
  const auto slots = store_.slots(s);
  std::vector<double> inputs(slots.inputs.begin(), slots.inputs.end());
  std::vector<double> base(slots.outputs.size());
  std::vector<double> moved(base.size());
  std::vector<double> gains(base.size() * inputs.size(), 0.0);
  executor_.evaluate(s, inputs, base);
  try {
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      const double before = inputs[j];
      inputs[j] += kInputDifference * std::max(1.0, std::abs(before));
      executor_.evaluate(s, inputs, moved);
      for (std::size_t o = 0; o < base.size(); ++o) {
        if (feedthrough(o, j)) gains[o * inputs.size() + j] = (moved[o] - base[o]) / (inputs[j] - before);
      }
      inputs[j] = before;
    }
  } catch (const Error&) {
    gains.clear();
  }
  executor_.evaluate(s, slots.inputs, base);
  return gains;
}

/// Inputs follow the outputs; subsystems whose outputs cannot be refreshed keep theirs.
void Engine::pass_on_late_outputs(Time start) {
  evaluation_->all(start, store_.inputs(), store_.signals(),
                   [this](SubsystemId s, std::span<const double> u, std::span<double> y) {
                     Subsystem& subsystem = executor_.subsystem(s);
                     const bool shares_events = events_ && events_->takes_part(s);
                     if (subsystem.capabilities().output_refresh && !shares_events) subsystem.evaluate(u, y);
                   });
}

void Engine::set_start(SubsystemId s, VariableTable::Place place, const Value& value) {
  executor_.subsystem(s).set_start(place, value);
  if (scenario_ && place.causality == Causality::Parameter) scenario_->set_start(s, place.index, value);
  if (place.causality == Causality::DiscreteInput && discrete_) discrete_->set_start(s, place.index, value);
  if (place.causality != Causality::Input) return;
  store_.set_start(InputId{graph_.inputs_of(s).first + place.index}, std::get<double>(value));
}

void Engine::refresh_outputs(SubsystemId s) {
  if (!executor_.subsystem(s).capabilities().output_refresh) return;
  const auto slots = store_.slots(s);
  executor_.evaluate(s, slots.inputs, slots.outputs);
}

void Engine::follow_inputs(SubsystemId s) {
  const auto slots = store_.slots(s);
  const auto range = graph_.inputs_of(s);
  for (std::size_t i = 0; i < range.count; ++i) slots.inputs[i] = store_.incoming(InputId{range.first + i});
  executor_.evaluate(s, slots.inputs, slots.outputs);
}

void Engine::reset() {
  for (std::size_t s = 0; s < size(); ++s) facets(SubsystemId{s}).reset->reset();
  executor_.reset();
  store_.reset();
}

void Engine::evaluate_all(std::span<const SubsystemId> batch, std::span<const double> all_inputs,
                          std::span<double> all_outputs) {
  executor_.for_each(batch, [&](std::size_t i) {
    const auto inputs = graph_.inputs_of(batch[i]);
    const auto outputs = graph_.outputs_of(batch[i]);
    executor_.evaluate(batch[i], all_inputs.subspan(inputs.first, inputs.count),
                       all_outputs.subspan(outputs.first, outputs.count));
  });
}

void Engine::linearize_all(std::span<const SubsystemId> batch, std::span<Linearization> results) {
  executor_.for_each(batch, [&](std::size_t i) {
    facets(batch[i]).linearizer->linearize(results[i]);
    ++executor_.of(batch[i]).counters.linearizations;
  });
}

void Engine::refresh_signals(Time t) {
  for (std::size_t s = 0; s < size(); ++s) {
    if (!subsystem(SubsystemId{s}).capabilities().output_refresh) return;
  }
  evaluate_signals(t);
}

void Engine::solve_loops(Time t) {
  store_.move_to(t);
  for (std::size_t index = 0; index < graph_.loops().size(); ++index) {
    const auto& members = graph_.loops()[index].subsystems;
    const bool all_here =
        std::all_of(members.begin(), members.end(), [&](SubsystemId s) { return executor_.time_of(s) == t; });
    if (!all_here) continue;  // one is in the middle of a longer step, under inputs fixed at its start
    evaluation_->loop(
        index, t, store_.inputs(), store_.signals(),
        [this](SubsystemId s, std::span<const double> u, std::span<double> y) { executor_.evaluate(s, u, y); });
  }
}

void Engine::publish(Time t, std::span<const double> all_inputs, std::span<const double> all_outputs) {
  std::copy(all_inputs.begin(), all_inputs.end(), store_.inputs().begin());
  std::copy(all_outputs.begin(), all_outputs.end(), store_.signals().begin());
  executor_.set_all_times(t);
  for (std::size_t s = 0; s < size(); ++s) executor_.note_step(SubsystemId{s}, t);
}

void Engine::read_states(std::span<double> all) {
  std::fill(all.begin(), all.end(), kUnknown);
  executor_.for_everyone([&](SubsystemId s) {
    const auto range = states_of(s);
    if (States* states = facets(s).states) states->states(all.subspan(range.first, range.count));
  });
}

void Engine::read_state_derivatives(std::span<double> all) {
  std::fill(all.begin(), all.end(), kUnknown);
  executor_.for_everyone([&](SubsystemId s) {
    if (!subsystem(s).capabilities().state_derivatives) return;
    const auto range = states_of(s);
    facets(s).states->derivatives(all.subspan(range.first, range.count));
  });
}

void Engine::read_output_slopes(std::span<double> all) {
  std::fill(all.begin(), all.end(), kUnknown);
  executor_.for_everyone([&](SubsystemId s) {
    const auto range = graph_.outputs_of(s);
    OutputDerivatives* derivatives = facets(s).output_derivatives;
    if (derivatives != nullptr) derivatives->output_derivatives(all.subspan(range.first, range.count));
  });
}

}  // namespace entrain::coupling

namespace entrain {

template <class Visitor>
void visit_fields(Visitor& visit, CoupledSystem::Counters& counters) {
  visit(counters.steps, counters.early_returns, counters.rollbacks, counters.trials, counters.linearizations,
        counters.first_seconds, counters.sampled_seconds, counters.sampled_steps, counters.trial_seconds,
        counters.sampled_trials);
}

/// Without the ids of the states, which mean nothing to anyone else.
template <class Visitor>
void visit_fields(Visitor& visit, CoupledSystem::Saved& saved) {
  visit(saved.subsystems, saved.times, saved.counters, saved.numbers, saved.discrete, saved.constants, saved.instants,
        saved.scenario);
}

}  // namespace entrain

namespace entrain::coupling {

CoupledSystem::Saved Engine::save() {
  std::vector<SubsystemId> everyone;
  for (std::size_t s = 0; s < size(); ++s) everyone.emplace_back(s);
  Saved saved;
  save(everyone, saved);
  if (discrete_) saved.discrete = discrete_->memory();
  saved.constants.assign(store_.constants().begin(), store_.constants().end());
  if (events_) saved.instants = events_->memory();
  if (scenario_) saved.scenario = scenario_->memory();
  return saved;
}

void Engine::save(std::span<const SubsystemId> some, Saved& saved) {
  saved.subsystems.assign(some.begin(), some.end());
  saved.states.clear();
  saved.times.clear();
  saved.counters.clear();
  saved.numbers.clear();
  saved.constants.clear();
  saved.instants.clear();
  saved.scenario.clear();
  saved.discrete.reset();
  for (const SubsystemId s : some) {
    saved.states.push_back(facets(s).rollback->save());
    saved.times.push_back(executor_.time_of(s));
    saved.counters.push_back(executor_.counters(s));
    for (const auto values : store_.slots(s).all()) {
      saved.numbers.insert(saved.numbers.end(), values.begin(), values.end());
    }
  }
}

/// What happened, happened: what is taken back is counted.
void Engine::restore(const Saved& saved) {
  const double* next = saved.numbers.data();
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    auto& counters = executor_.of(saved.subsystems[i]).counters;
    const auto rollbacks = counters.rollbacks + 1;
    next = put_back(saved, i, next);
    counters.rollbacks = rollbacks;
  }
  put_back_others(saved);
}

/// One subsystem and its signals; returns where the numbers of the next begin.
const double* Engine::put_back(const Saved& saved, std::size_t i, const double* numbers) {
  const SubsystemId s = saved.subsystems[i];
  facets(s).rollback->restore(saved.states[i]);
  executor_.restore(s, saved.times[i], saved.counters[i]);
  for (const auto values : store_.slots(s).all()) {
    std::copy_n(numbers, values.size(), values.begin());
    numbers += values.size();
  }
  return numbers;
}

void Engine::put_back_others(const Saved& saved) {
  std::copy(saved.constants.begin(), saved.constants.end(), store_.constants().begin());
  if (discrete_ && saved.discrete) {
    discrete_->restore(*saved.discrete);
    exchange_reals();
  }
  if (events_ && !saved.instants.empty()) events_->restore(saved.instants);
  if (scenario_ && !saved.scenario.empty()) scenario_->restore(saved.scenario);
  executor_.forget_stop_request();
}

base::Bytes Engine::serialize(const Saved& saved) {
  std::vector<base::Bytes> states;
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    states.push_back(facets(saved.subsystems[i]).rollback->serialize(saved.states[i]));
  }
  return base::to_bytes(states, saved);
}

void Engine::resume(std::span<const std::byte> bytes) {
  std::vector<base::Bytes> states;
  Saved saved;
  base::from_bytes(bytes, states, saved);
  const double* next = saved.numbers.data();
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    Rollback& rollback = *facets(saved.subsystems[i]).rollback;
    saved.states.push_back(rollback.deserialize(states[i]));
    next = put_back(saved, i, next);
    rollback.release(saved.states[i]);
  }
  put_back_others(saved);
}

void Engine::release(const Saved& saved) {
  for (std::size_t i = 0; i < saved.subsystems.size(); ++i) {
    facets(saved.subsystems[i]).rollback->release(saved.states[i]);
  }
}

/// At the start values run through all subsystems that one after the other depend on them; a ring of them settles, or
/// is left where it is after as many rounds as there are subsystems, which the summary reports.
void Engine::settle_discrete(Time start) {
  discrete_->forget();
  for (std::size_t round = 0; round <= size(); ++round) {
    discrete_->read(false);
    const bool written = discrete_->write(start, executor_.times());
    if (!exchange_reals() && !written) return;
    evaluate_signals(start);
  }
  discrete_->note_unsettled();
}

/// A real input that is fed by an integer or a boolean is a constant to everything else.
bool Engine::exchange_reals() {
  bool changed = false;
  discrete_->write_reals([&](const DiscreteConnection& connection, double value) {
    set_constant(InputId{graph_.inputs_of(connection.to).first + connection.input}, value);
    changed = true;
  });
  return changed;
}

bool Engine::apply_schedule(Time before, Time now) {
  const auto until = [this](Time t) {
    return std::partition_point(scheduled_inputs_.begin(), scheduled_inputs_.end(),
                                [t](const ScheduledInput& scheduled) { return base::reached(t, scheduled.time); });
  };
  const auto last = until(now);
  auto next = until(before);
  if (next >= last) return false;
  for (; next != last; ++next) {
    const auto& [time, s, place, value] = *next;
    if (place.causality == Causality::Input) {
      set_constant(InputId{graph_.inputs_of(s).first + place.index}, std::get<double>(value));
    } else {
      discrete_->set_input(s, place.index, value);
    }
  }
  return true;
}

bool Engine::exchange_discrete(Time now, bool read_all) {
  discrete_->read(read_all);
  discrete_->write(now, executor_.times());
  return exchange_reals();
}

}  // namespace entrain::coupling
