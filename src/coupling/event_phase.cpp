#include "coupling/event_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/grid.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/event_limits.hpp"

namespace entrain::coupling {
namespace {

/// Rounding of a value that is computed again is no change.
bool differs(double now, double before) {
  return !(std::abs(now - before) <= 1e-12 * (1.0 + std::abs(before)));
}

bool is_periodic(ClockKind kind) {
  return kind != ClockKind::Changing && kind != ClockKind::Countdown;
}

}  // namespace

EventPhase::EventPhase(const Graph& graph, SignalStore& store, StepExecutor& executor, DiscreteSignals* discrete,
                       std::span<const ClockConnection> clock_connections)
    : graph_(graph),
      store_(store),
      executor_(executor),
      discrete_(discrete),
      member_of_(executor.size()),
      announced_(executor.size(), kNever),
      jumped_(store.signals().size(), Jump::None),
      jumped_outside_(jumped_) {
  for (std::size_t s = 0; s < executor.size(); ++s) {
    if (executor.subsystem(SubsystemId{s}).facets().event_mode != nullptr)
      add_member(SubsystemId{s}, clock_connections);
  }
  find_sources(clock_connections);
  find_order();
  for (const auto& block : graph.evaluation_order()) {
    const auto owner = block.output ? std::optional(graph.owner(*block.output)) : std::nullopt;
    const bool known = owner && std::find(functions_.begin(), functions_.end(), *owner) != functions_.end();
    if (owner && !known && executor.subsystem(*owner).capabilities().function) functions_.push_back(*owner);
  }
}

void EventPhase::add_member(SubsystemId s, std::span<const ClockConnection> clock_connections) {
  member_of_[s] = members_.size();
  Member& member = members_.emplace_back();
  member.id = s;
  member.subsystem = &executor_.subsystem(s);
  const auto& variables = member.variables();
  member.active.assign(variables.clocks.size(), 0);
  member.sent.assign(variables.discrete_inputs.size(), 0);
  for (std::size_t c = 0; c < variables.clocks.size(); ++c) {
    const ClockPort& clock = variables.clocks[c];
    if (clock.is_output) member.output_clocks.push_back(c);
    if (clock.has_times()) member.timed.push_back({c, schedule_.add(is_periodic(clock.kind)), clock.kind});
  }
  for (const auto& connection : clock_connections) {
    if (connection.to == s) member.incoming_clocks.push_back(connection);
    member.is_heard = member.is_heard || (connection.from == s && variables.clocks[connection.source].is_output);
  }
  if (discrete_ == nullptr) return;
  for (std::size_t i = 0; i < variables.discrete_outputs.size(); ++i) {
    const bool connected = discrete_->is_connected(s, i);
    member.is_heard = member.is_heard || connected;
    if (connected || !variables.discrete_outputs[i].clocks.empty()) member.discrete_outputs.push_back(i);
  }
  discrete_->leave_to_events(s);
}

void EventPhase::find_sources(std::span<const ClockConnection> clock_connections) {
  using Port = EventMode::Port;
  const auto note = [](std::vector<std::size_t>& list, std::size_t member) {
    if (std::find(list.begin(), list.end(), member) == list.end()) list.push_back(member);
  };
  const auto add = [&](SubsystemId from, SubsystemId to, Port kind, std::size_t input) {
    if (from == to || !member_of_[from] || !member_of_[to]) return;
    Member& member = members_[*member_of_[to]];
    note(member.sources, *member_of_[from]);
    if (depends_on(member, kind, input)) note(member.needed, *member_of_[from]);
  };
  for (const auto& each : clock_connections) add(each.from, each.to, Port::Clock, each.target);
  for (const auto& each : graph_.connections()) {
    const SubsystemId to = graph_.owner(each.input);
    add(graph_.owner(each.output), to, Port::Real, each.input - graph_.inputs_of(to).first);
  }
  if (discrete_ == nullptr) return;
  for (const auto& each : discrete_->connections())
    add(each.from, each.to, each.to_real ? Port::Real : Port::Discrete, each.input);
}

bool EventPhase::depends_on(const Member& member, EventMode::Port kind, std::size_t input) {
  using Port = EventMode::Port;
  const auto& variables = member.variables();
  for (const auto& [output_kind, count] :
       {std::pair(Port::Real, variables.outputs.size()), std::pair(Port::Discrete, variables.discrete_outputs.size()),
        std::pair(Port::Clock, variables.clocks.size())}) {
    for (std::size_t output = 0; output < count; ++output) {
      if (member.mode().depends(output_kind, output, kind, input)) return true;
    }
  }
  return false;
}

/// In a ring, first those whose outputs are not declared to depend on the others; of these, those with output clocks:
/// what such clocks stand for was computed in the step before.
void EventPhase::find_order() {
  std::vector<unsigned char> placed(members_.size(), 0);
  const auto waits = [&](const std::vector<std::size_t>& sources) {
    return std::count_if(sources.begin(), sources.end(), [&](std::size_t source) { return placed[source] == 0; });
  };
  const auto rank = [&](std::size_t m) {
    const Member& member = members_[m];
    return std::tuple(waits(member.sources) > 0, waits(member.needed), member.output_clocks.empty(),
                      waits(member.sources), m);
  };
  while (order_.size() < members_.size()) {
    std::optional<std::size_t> best;
    for (std::size_t m = 0; m < members_.size(); ++m) {
      if (placed[m] == 0 && (!best || rank(m) < rank(*best))) best = m;
    }
    placed[*best] = 1;
    order_.push_back(*best);
  }
}

void EventPhase::share_events() {
  for (auto& member : members_) member.mode().share_events();
}

void EventPhase::start(Time start) {
  now_ = {start};
  schedule_.forget();
  frames_.clear();
  latest_ = start;
  repeated_ = -1;  // the first one follows none
  hear_announcements(start);
  note_constants();
  for (auto& member : members_) {
    member.in_events = member.restless = false;
    std::fill(member.active.begin(), member.active.end(), 0);
    enter(member);
    for (const auto& timed : member.timed) {
      ClockInterval interval;
      const auto announced = member.mode().read_interval(timed.clock, interval);
      if (announced != EventMode::Announced::Changed) continue;
      require_interval(member, timed, "an interval", interval);
      if (is_periodic(timed.kind)) {
        const ClockInterval shift = member.mode().shift(timed.clock);
        require_interval(member, timed, "a shift", {shift.counter + 1, shift.resolution});
        schedule_.set_interval(timed.number, interval);
        schedule_.set_next(timed.number, now_ + shift);
      } else {
        schedule_.set_next(timed.number, now_ + interval);
      }
    }
  }
  run(start);
}

void EventPhase::require_interval(const Member& member, const TimedClock& timed, const char* what,
                                  const ClockInterval& interval) const {
  if (interval.resolution > 0 && (interval.counter > 0 || !is_periodic(timed.kind))) return;
  throw Error(ErrorCode::SubsystemFailed,
              {FactCode::ClockIntervalInvalid,
               {member.variables().clocks[timed.clock].name},
               {{"what", what}, {"counter", interval.counter}, {"resolution", interval.resolution}}},
              {.subsystem = graph_.name(member.id), .variable = {}, .time = now_.time(), .remedy = {}});
}

void EventPhase::restore(std::span<const std::byte> bytes) {
  base::from_bytes(bytes, schedule_);
  std::fill(announced_.begin(), announced_.end(), kNever);  // asked anew before the next step
  note_constants();
}

Time EventPhase::next_tick(Time t) const {
  return schedule_.earliest_after(t);
}

/// Of the clocks of subsystems that have reached `t`: one in the middle of a step that it imposes comes later.
TickTime EventPhase::earliest_tick(Time t) const {
  TickTime earliest{kNever};
  for (const auto& member : members_) {
    if (!is_at(member, t)) continue;
    for (const auto& timed : member.timed) {
      const TickTime next = schedule_.next(timed.number);
      if (next < earliest) earliest = next;
    }
  }
  return earliest;
}

/// Of those that take no part.
void EventPhase::hear_announcements(Time t) {
  for (std::size_t s = 0; s < announced_.size(); ++s) {
    const SubsystemId id{s};
    Events* events = takes_part(id) ? nullptr : executor_.subsystem(id).facets().events;
    if (events != nullptr) announced_[s] = events->next_event(t);
  }
  for (const SubsystemId s : functions_) {
    announced_[s] = kNever;
    for (const InputId input : graph_.inputs_of(s)) {
      if (const Connection* from = graph_.source(input))
        announced_[s] = std::min(announced_[s], announced_[graph_.owner(from->output)]);
    }
  }
}

/// Constants change at an instant or never; outputs of those that take no part jump at the events they announce.
bool EventPhase::find_jumps_outside(Time t) {
  std::fill(jumped_outside_.begin(), jumped_outside_.end(), Jump::None);
  bool any = false;
  for (const auto& member : members_) {
    if (executor_.time_of(member.id) != t) continue;
    const auto range = graph_.inputs_of(member.id);
    const auto inputs = store_.slots(member.id).inputs;
    for (std::size_t i = 0; i < range.count; ++i) {
      const InputId input{range.first + i};
      const std::size_t source = store_.transfer().source(input);
      const bool is_constant = source >= graph_.outputs();
      const bool jumps = is_constant ? store_.signals()[source] != constants_[source - graph_.outputs()]
                                     : base::reached(t, announced_[graph_.owner(OutputId{source})]) &&
                                           differs(store_.incoming(input), inputs[i]);
      if (!jumps) continue;
      jumped_outside_[source] = is_constant ? Jump::Untold : Jump::Seen;
      any = true;
    }
  }
  hear_announcements(t);
  return any;
}

void EventPhase::note_constants() {
  constants_.assign(store_.constants().begin(), store_.constants().end());
}

bool EventPhase::is_due(Time t) {
  if (find_jumps_outside(t) || base::reached(t, earliest_tick(t).time())) return true;
  for (auto& member : members_) {
    if (executor_.time_of(member.id) == t && member.mode().event_waits()) return true;
    if (discrete_ == nullptr) continue;
    const auto wanted = [&](const DiscreteConnection& connection, bool changed) {
      return wants(member, connection, changed);
    };
    if (discrete_->would_pass_on(member.id, wanted)) return true;
  }
  return false;
}

/// Clocks that tick at times which differ, but not as doubles, tick one after the other.
void EventPhase::run(Time t) {
  repeated_ = std::exchange(latest_, t) == t ? repeated_ + 1 : 0;
  if (repeated_ > subsystem::kMostEventRounds) throw_unsettled(t, "no step advances");
  for (int instants = 0; instants <= subsystem::kMostEventRounds; ++instants) {
    const TickTime tick = earliest_tick(t);
    const bool ticks = base::reached(t, tick.time());
    if (instants > 0 && !ticks) return;
    now_ = ticks ? tick : TickTime{t};
    run_once(t);
  }
  throw_clocks_too_fast(t);
}

void EventPhase::run_once(Time t) {
  jumped_ = jumped_outside_;
  std::fill(jumped_outside_.begin(), jumped_outside_.end(), Jump::None);
  for (auto& member : members_) {
    if (member.mode().event_waits()) enter(member);
  }
  bool again = false;
  for (int n = 0;; ++n) {
    const bool ticked = activate_due(t);
    const bool moved = settle(t);
    if (n > 0 && !ticked && !moved && !again) break;
    if (n == subsystem::kMostEventRounds) throw_unsettled(t, "super-dense time");
    again = update_all();
  }
  leave_all();
  note_constants();
}

void EventPhase::enter(Member& member) {
  if (std::exchange(member.in_events, true)) return;
  if (!is_at(member, latest_) && member.inside++ == 0) member.first_inside = latest_;
  member.mode().enter();
  member.inputs_set = member.is_read = false;
}

bool EventPhase::activate_due(Time t) {
  bool any = false;
  for (auto& member : members_) {
    if (!is_at(member, t)) continue;
    std::vector<std::size_t> due;
    for (auto& timed : member.timed) {
      if (!schedule_.is_due(timed.number, now_)) continue;
      note_delay(timed, t);
      schedule_.pass(timed.number);
      due.push_back(timed.clock);
      member.active[timed.clock] = 1;
    }
    if (due.empty()) continue;
    enter(member);
    member.mode().activate(due);
    member.is_read = false;
    member.restless = any = true;
  }
  return any;
}

bool EventPhase::is_at(const Member& member, Time t) const {
  return base::same_time(executor_.time_of(member.id), t);
}

void EventPhase::note_delay(TimedClock& timed, Time t) {
  const Time due = schedule_.next(timed.number).time();
  if (base::same_time(due, t)) return;
  if (timed.late++ == 0) timed.first_late = due;
  timed.longest_delay = std::max(timed.longest_delay, t - due);
}

bool EventPhase::is_active(const Member& member, std::span<const std::size_t> clocks) {
  return std::any_of(clocks.begin(), clocks.end(), [&](std::size_t clock) { return member.active[clock] != 0; });
}

bool EventPhase::waits_for(std::span<const std::size_t> sources) const {
  return std::any_of(sources.begin(), sources.end(),
                     [this](std::size_t source) { return members_[source].in_events && !members_[source].is_read; });
}

/// Everything that an FMU depends on is set before its outputs are read, as far as there is such an order: some answer
/// an error otherwise.
EventPhase::Member* EventPhase::next_to_read() {
  Member* first = nullptr;
  Member* undeclared = nullptr;
  for (const std::size_t m : order_) {
    Member& member = members_[m];
    if (!member.in_events || member.is_read) continue;
    if (!waits_for(member.sources)) return &member;
    if (undeclared == nullptr && !waits_for(member.needed)) undeclared = &member;
    if (first == nullptr) first = &member;
  }
  return undeclared != nullptr ? undeclared : first;
}

/// True when something was passed on, or an output clock is active.
bool EventPhase::settle(Time t) {
  bool moved = false;
  const std::size_t most = members_.size() * static_cast<std::size_t>(subsystem::kMostEventRounds);
  for (std::size_t reads = 0; reads < most;) {
    while (Member* member = next_to_read()) {
      moved = deliver(*member) || moved;
      moved = read(*member, t) || moved;
      if (++reads > most) throw_unsettled(t, "a loop of values");
    }
    bool delivered = false;
    for (const std::size_t m : order_) delivered = deliver(members_[m]) || delivered;
    if (!delivered) return moved;
    moved = true;
  }
  throw_unsettled(t, "a loop of values");
}

bool EventPhase::deliver(Member& member) {
  const bool clocks = deliver_clocks(member);
  const bool discrete = discrete_ != nullptr && deliver_discrete(member);
  const bool reals = deliver_reals(member);
  const bool any = clocks || discrete || reals;
  if (any) member.is_read = false;
  member.restless = member.restless || any;
  return any;
}

/// A clock comes together with the values that it stands for.
bool EventPhase::data_is_ready(const Member& member, std::size_t clock) const {
  if (discrete_ == nullptr) return true;
  const auto& inputs = member.variables().discrete_inputs;
  for (const auto& connection : discrete_->connections()) {
    if (connection.to != member.id || connection.to_real) continue;
    const auto& clocks = inputs[connection.input].clocks;
    if (std::find(clocks.begin(), clocks.end(), clock) == clocks.end() || !member_of_[connection.from]) continue;
    const Member& source = members_[*member_of_[connection.from]];
    if (&source != &member && source.in_events && !source.is_read) return false;
  }
  return true;
}

bool EventPhase::deliver_clocks(Member& member) {
  std::vector<std::size_t> activated;
  for (const auto& connection : member.incoming_clocks) {
    const auto source = member_of_[connection.from];
    if (!source || members_[*source].active[connection.source] == 0 || member.active[connection.target] != 0) continue;
    if (!data_is_ready(member, connection.target)) continue;
    activated.push_back(connection.target);
  }
  if (activated.empty()) return false;
  enter(member);
  for (const std::size_t clock : activated) member.active[clock] = 1;
  member.mode().activate(activated);
  return true;
}

bool EventPhase::wants(const Member& member, const DiscreteConnection& connection, bool changed) const {
  const Variable& input = member.variables().discrete_inputs[connection.input];
  const Subsystem& from = executor_.subsystem(connection.from);
  if (!connection.from_real) {
    const auto& clocks = from.variables().discrete_outputs[connection.output].clocks;
    const auto source = member_of_[connection.from];
    if (!clocks.empty() && !(source && is_active(members_[*source], clocks))) return false;
  }
  if (input.clocks.empty()) return changed;
  return is_active(member, input.clocks) && (changed || member.sent[connection.input] == 0);
}

bool EventPhase::deliver_discrete(Member& member) {
  const auto wanted = [&](const DiscreteConnection& connection, bool changed) {
    return wants(member, connection, changed);
  };
  const auto passed = discrete_->collect(member.id, wanted);
  if (passed.empty()) return false;
  enter(member);
  discrete_->write_collected(member.id);
  for (const DiscreteConnection* connection : passed) {
    member.sent[connection->input] = 1;
    const auto* bytes = std::get_if<Binary>(&discrete_->source(*connection));
    if (bytes == nullptr || bytes->bytes.empty() || connection->from_real) continue;
    frames_.push_back(
        {base::same_time(now_.time(), latest_) ? now_.time() : latest_,  // an imposed step ends behind the tick
         fmt::format("{}.{}", graph_.name(connection->from),
                     executor_.subsystem(connection->from).variables().discrete_outputs[connection->output].name),
         fmt::format("{}.{}", graph_.name(member.id), member.variables().discrete_inputs[connection->input].name),
         *bytes});
  }
  return true;
}

/// Inputs of a subsystem that is not in event mode follow in its next step, unless they jump.
bool EventPhase::deliver_reals(Member& member) {
  const auto range = graph_.inputs_of(member.id);
  const auto inputs = store_.slots(member.id).inputs;
  bool changed = false;
  bool jumps = false;
  for (std::size_t i = 0; i < range.count; ++i) {
    const InputId input{range.first + i};
    const Jump jump = jumped_[store_.transfer().source(input)];
    if (jump != Jump::Untold && !differs(store_.incoming(input), inputs[i])) continue;
    changed = true;
    jumps = jumps || jump != Jump::None;
  }
  const bool wanted = member.in_events ? changed || (!member.inputs_set && range.count > 0) : jumps;
  if (!wanted) return false;
  enter(member);
  for (std::size_t i = 0; i < range.count; ++i) {
    const InputId input{range.first + i};
    inputs[i] = store_.incoming(input);
    Jump& jump = jumped_[store_.transfer().source(input)];
    if (jump == Jump::Untold) jump = Jump::Seen;
  }
  member.mode().set_inputs(inputs);
  member.inputs_set = true;
  return changed;
}

/// True when an output clock is active.
bool EventPhase::read(Member& member, Time t) {
  member.is_read = true;
  bool ticks = false;
  if (!member.output_clocks.empty()) {
    std::vector<unsigned char> active(member.output_clocks.size());
    member.mode().read_active(member.output_clocks, active);
    for (std::size_t i = 0; i < active.size(); ++i) {
      auto& known = member.active[member.output_clocks[i]];
      ticks = ticks || (active[i] != 0 && known == 0);
      if (active[i] != 0) known = 1;
    }
  }
  std::vector<std::size_t> outputs;
  for (const std::size_t output : member.discrete_outputs) {
    const auto& clocks = member.variables().discrete_outputs[output].clocks;
    if (clocks.empty() || is_active(member, clocks)) outputs.push_back(output);
  }
  if (!outputs.empty()) {
    discrete_->read(member.id, outputs);
    discrete_->write_reals([&](const DiscreteConnection& connection, double value) {
      const InputId input{graph_.inputs_of(connection.to).first + connection.input};
      store_.set_constant(input, value);
      jumped_[store_.transfer().source(input)] = Jump::Untold;
    });
  }
  read_reals(member, t);
  return ticks;
}

void EventPhase::read_reals(Member& member, Time t) {
  const auto outputs = store_.slots(member.id).outputs;
  if (outputs.empty()) return;
  outputs_.resize(outputs.size());
  member.mode().read_outputs(outputs_);
  const auto first = graph_.outputs_of(member.id).first;
  bool jumps = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (differs(outputs_[i], outputs[i])) {
      jumped_[first + i] = Jump::Seen;
      jumps = true;
    }
    outputs[i] = outputs_[i];
  }
  executor_.check_outputs(member.id, t);
  if (jumps) follow_functions();
}

/// What jumps passes through sums and the like at once.
void EventPhase::follow_functions() {
  for (const SubsystemId s : functions_) {
    const auto slots = store_.slots(s);
    const auto range = graph_.inputs_of(s);
    for (std::size_t i = 0; i < range.count; ++i) slots.inputs[i] = store_.incoming(InputId{range.first + i});
    outputs_.resize(slots.outputs.size());
    executor_.evaluate(s, slots.inputs, outputs_);
    const auto first = graph_.outputs_of(s).first;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (differs(outputs_[i], slots.outputs[i])) jumped_[first + i] = Jump::Seen;
      slots.outputs[i] = outputs_[i];
    }
  }
}

/// True when a subsystem asks for another round.
bool EventPhase::update_all() {
  bool again = false;
  for (auto& member : members_) {
    if (!member.in_events) continue;
    const EventMode::Update update = member.mode().update();
    again = again || (update.again && !update.stop_requested);
    if (update.stop_requested) executor_.request_stop(member.id);
    const std::vector<unsigned char> ticked(member.active);
    std::fill(member.active.begin(), member.active.end(), 0);
    std::fill(member.sent.begin(), member.sent.end(), 0);
    member.is_read = false;
    member.restless = update.again;
    schedule_clocks(member, ticked, now_);
  }
  return again;
}

/// What may be asked of each kind, and when: FMI 3.0, section 2.2.8.
void EventPhase::schedule_clocks(Member& member, const std::vector<unsigned char>& ticked, const TickTime& now) {
  for (const auto& timed : member.timed) {
    const bool asked = timed.kind == ClockKind::Countdown || timed.kind == ClockKind::Tunable ||
                       (timed.kind == ClockKind::Changing && ticked[timed.clock] != 0);
    ClockInterval interval;
    if (!asked || member.mode().read_interval(timed.clock, interval) != EventMode::Announced::Changed) continue;
    require_interval(member, timed, "an interval", interval);
    if (is_periodic(timed.kind)) schedule_.set_interval(timed.number, interval);
    schedule_.set_next(timed.number, now + interval);
  }
}

void EventPhase::leave_all() {
  for (auto& member : members_) {
    if (std::exchange(member.in_events, false)) member.mode().leave();
  }
}

bool EventPhase::handle_alone(SubsystemId s, Time t) {
  Member& member = members_[*member_of_[s]];
  const std::vector<unsigned char> none(member.active.size(), 0);
  EventMode::Update update;
  member.mode().enter();
  for (int n = 0;; ++n) {
    update = member.mode().update();
    schedule_clocks(member, none, {t});
    if (!update.again || update.stop_requested) break;
    member.in_events = member.restless = n == subsystem::kMostEventRounds;
    if (member.in_events) throw_unsettled(t, "super-dense time");
  }
  member.mode().leave();
  if (member.alone++ == 0) member.first_alone = t;
  return update.stop_requested;
}

std::vector<Fact> EventPhase::warnings() const {
  std::vector<Fact> warnings;
  for (const auto& member : members_) {
    const std::string& name = graph_.name(member.id);
    if (member.alone > 0) {
      warnings.push_back(
          {FactCode::EventsHandledAlone, {name}, {{"count", member.alone}, {"first", member.first_alone, "s"}}});
    }
    if (member.inside > 0) {
      warnings.push_back(
          {FactCode::EventsInsideImposedStep, {name}, {{"count", member.inside}, {"first", member.first_inside, "s"}}});
    }
    for (const auto& timed : member.timed) {
      if (timed.late == 0) continue;
      warnings.push_back(
          {FactCode::ClocksLate,
           {fmt::format("{}.{}", name, member.variables().clocks[timed.clock].name), imposing()},
           {{"count", timed.late}, {"delay", timed.longest_delay, "s"}, {"first", timed.first_late, "s"}}});
    }
  }
  return warnings;
}

/// The subsystem with the longest step of its own.
std::string EventPhase::imposing() const {
  std::string name;
  Duration longest = 0.0;
  for (std::size_t s = 0; s < executor_.size(); ++s) {
    const Duration step = executor_.subsystem(SubsystemId{s}).capabilities().imposed_step.value_or(0.0);
    if (step > longest) name = graph_.name(SubsystemId{s});
    longest = std::max(longest, step);
  }
  return name;
}

/// Those that asked for the last round, or were reached in it, keep it going.
void EventPhase::throw_unsettled(Time t, const char* why) const {
  std::vector<std::string> culprits;
  for (const auto& member : members_) {
    if (member.in_events && member.restless) culprits.push_back(graph_.name(member.id));
  }
  throw Error(ErrorCode::SubsystemFailed,
              {FactCode::EventsUnsettled,
               {culprits.begin(), culprits.end()},
               {{"rounds", subsystem::kMostEventRounds}, {"why", why}}},
              {.subsystem = culprits.empty() ? std::string() : culprits.front(),
               .variable = {},
               .time = t,
               .remedy = "Break the loop between them, or let one of them act at a later time"});
}

/// More ticks than rounds behind each other: at a time where a countdown is 0 again and again, or at the end of a step
/// that could not be shortened.
void EventPhase::throw_clocks_too_fast(Time t) const {
  Fact fact{
      FactCode::EventsUnsettled, {}, {{"rounds", subsystem::kMostEventRounds}, {"why", "clocks tick again and again"}}};
  ErrorContext context{.subsystem = {}, .variable = {}, .time = t, .remedy = {}};
  for (const auto& member : members_) {
    for (const auto& timed : member.timed) {
      if (!schedule_.is_due(timed.number, {t})) continue;
      const std::string& clock = member.variables().clocks[timed.clock].name;
      fact.subjects.push_back(fmt::format("{}.{}", graph_.name(member.id), clock));
      if (context.subsystem.empty()) context.subsystem = graph_.name(member.id);
      if (context.variable.empty()) context.variable = clock;
    }
  }
  for (std::size_t s = 0; s < executor_.size(); ++s) {
    const auto imposed = executor_.subsystem(SubsystemId{s}).capabilities().imposed_step;
    if (imposed && context.remedy.empty())
      context.remedy = fmt::format("'{}' imposes steps of {} s: no clock can tick much faster",
                                   graph_.name(SubsystemId{s}), *imposed);
  }
  throw Error(ErrorCode::SubsystemFailed, std::move(fact), std::move(context));
}

}  // namespace entrain::coupling
