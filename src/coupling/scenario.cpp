#include "coupling/scenario.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/grid.hpp"
#include "base/values.hpp"

namespace entrain::coupling {
namespace {

constexpr double kNotSeen = std::numeric_limits<double>::quiet_NaN();

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of the result depends on every bit of the argument.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// In (0, 1), from 53 bits.
double unit_number(std::uint64_t bits) {
  return (static_cast<double>(bits >> 11U) + 0.5) * 0x1p-53;
}

}  // namespace

double normal_number(std::uint64_t stream, std::uint64_t counter) {
  const std::uint64_t first = mixed(mixed(stream) ^ counter);
  const double radius = std::sqrt(-2.0 * std::log(unit_number(first)));
  return radius * std::cos(2.0 * std::numbers::pi * unit_number(mixed(first)));
}

bool ScenarioEntry::Condition::holds(double reading) const {
  switch (relation) {
    case Relation::Below: return reading < limit;
    case Relation::AtMost: return reading <= limit;
    case Relation::Above: return reading > limit;
    case Relation::AtLeast: return reading >= limit;
  }
  return false;
}

Scenario::Scenario(const Graph& graph, SignalStore& store, StepExecutor& executor, std::vector<ScenarioEntry> entries)
    : graph_(graph), store_(store), executor_(executor), entries_(std::move(entries)) {
  store_.expect_disturbances();
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    add_places(entries_[e]);
    by_time_.push_back(e);
  }
  std::stable_sort(by_time_.begin(), by_time_.end(), [this](std::size_t a, std::size_t b) {
    const auto time = [this](std::size_t e) { return entries_[e].when ? kNever : *entries_[e].at; };
    return time(a) < time(b);
  });
  parameter_in_force_.resize(places_.size());
}

void Scenario::add_places(const ScenarioEntry& entry) {
  auto& own = places_of_.emplace_back();
  const auto place_of = [&](auto is_it) {
    const auto found = std::find_if(places_.begin(), places_.end(), is_it);
    own.push_back(static_cast<std::size_t>(found - places_.begin()));
    return found == places_.end();
  };
  for (const InputId input : entry.inputs) {
    if (!place_of([&](const Place& place) { return place.input == input; })) continue;
    Place& place = places_.emplace_back();
    place.input = input;
    place.owner = graph_.owner(input);
    if (const Connection* connection = graph_.source(input)) {
      place.factor = connection->factor;
      place.offset = connection->offset;
    }
  }
  if (!entry.parameter) return;
  const auto& [subsystem, index, start] = *entry.parameter;
  const bool is_new = place_of([s = subsystem, i = index](const Place& place) {
    return place.parameter && place.parameter->subsystem == s && place.parameter->index == i;
  });
  if (!is_new) return;
  Place& place = places_.emplace_back();
  place.parameter = entry.parameter;
  place.owner = subsystem;
  place.is_real = std::holds_alternative<double>(start);
}

void Scenario::start(Time start) {
  memory_ = {.now = start,
             .done = std::vector<unsigned char>(entries_.size(), 0),
             .places = std::vector<InForce>(places_.size()),
             .looked_at = start,
             .seen = std::vector<double>(entries_.size(), kNotSeen)};
  for (std::size_t p = 0; p < places_.size(); ++p) {
    Place& place = places_[p];
    if (place.input) {
      place.dropped = store_.start_input(*place.input);
      store_.disturb(*place.input, {.factor = place.factor, .offset = place.offset});
    }
    // A subsystem that was reset keeps what was set in it.
    if (parameter_in_force_[p]) {
      const auto& [subsystem, index, value] = *place.parameter;
      executor_.subsystem(subsystem).set_start({Causality::Parameter, index}, value);
      parameter_in_force_[p].reset();
    }
  }
}

void Scenario::set_start(SubsystemId s, std::size_t parameter, const Value& value) {
  for (Place& place : places_) {
    if (place.parameter && place.parameter->subsystem == s && place.parameter->index == parameter)
      place.parameter->start = value;
  }
}

double Scenario::signal_of(const ScenarioEntry::Condition& condition) const {
  return condition.of_output ? store_.outputs()[condition.signal] : store_.inputs()[condition.signal];
}

Time Scenario::noise_end(const InForce& of) const {
  if (of.noise == 0) return kNever;
  return of.noise_since + static_cast<double>(of.noise_count + 1) * entries_[of.noise - 1].interval;
}

Time Scenario::next_instant(Time t) const {
  Time next = kNever;
  const auto take = [&](Time time) {
    if (!base::reached(t, time)) next = std::min(next, time);
  };
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (memory_.done[e] == 0 && !entries_[e].when) take(*entries_[e].at);
  }
  for (const InForce& place : memory_.places) {
    if (place.slope != 0.0) take(place.until);
    take(noise_end(place));
  }
  return next;
}

bool Scenario::is_due(std::size_t entry, Time t) const {
  const ScenarioEntry& of = entries_[entry];
  if (memory_.done[entry] != 0 || (of.at && !base::reached(t, *of.at))) return false;
  return !of.when || of.when->holds(signal_of(*of.when));
}

bool Scenario::is_due(Time t) const {
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (is_due(e, t)) return true;
  }
  return std::any_of(memory_.places.begin(), memory_.places.end(), [&](const InForce& place) {
    return (place.slope != 0.0 && base::reached(t, place.until)) || base::reached(t, noise_end(place));
  });
}

void Scenario::run(Time t, std::vector<ScenarioEffect>& effects) {
  follow(t);
  std::vector<std::size_t> changed;
  for (std::size_t p = 0; p < places_.size(); ++p) {
    if (settle(memory_.places[p], t)) changed.push_back(p);
  }
  for (const std::size_t e : by_time_) {
    if (!is_due(e, t)) continue;
    effects.push_back(act(e, t));
    changed.insert(changed.end(), places_of_[e].begin(), places_of_[e].end());
  }
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  for (const std::size_t p : changed) put_in_force(p, t);
  show_inputs(changed, t);
}

/// What ends at this time by itself; true when something did.
bool Scenario::settle(InForce& of, Time t) const {
  bool changed = false;
  if (of.slope != 0.0 && base::reached(t, of.until)) {
    of.level = of.line(of.until);
    of.slope = 0.0;
    changed = true;
  }
  for (; base::reached(t, noise_end(of)); ++of.noise_count) changed = true;
  return changed;
}

ScenarioEffect Scenario::act(std::size_t entry, Time t) {
  const ScenarioEntry& of = entries_[entry];
  ScenarioEffect effect{.time = t,
                        .entry = of.number,
                        .action = std::string(to_word(of.action)),
                        .target = of.target,
                        .value = of.value,
                        .until = std::nullopt,
                        .late_by = std::nullopt,
                        .crossed = std::nullopt};
  if (of.when) {
    effect.crossed = crossing(entry, t);
  } else if (!base::same_time(t, *of.at)) {
    effect.late_by = t - *of.at;
  }
  memory_.done[entry] = 1;
  for (const std::size_t place : places_of_[entry]) {
    act_on(of, place, t);
    if (of.action == ScenarioAction::Noise) memory_.places[place].noise = entry + 1;
    if (of.action == ScenarioAction::Ramp) effect.until = memory_.places[place].until;
  }
  return effect;
}

/// On the line between the two last communication times; the present one where the condition held before.
Time Scenario::crossing(std::size_t entry, Time t) const {
  const ScenarioEntry::Condition& condition = *entries_[entry].when;
  const double before = memory_.seen[entry];
  const double now = signal_of(condition);
  if (std::isnan(before) || condition.holds(before) || now == before) return t;
  return memory_.looked_at + (condition.limit - before) / (now - before) * (t - memory_.looked_at);
}

void Scenario::act_on(const ScenarioEntry& entry, std::size_t place, Time t) {
  InForce& of = memory_.places[place];
  if (!places_[place].is_real) {
    of.other = entry.action == ScenarioAction::Release ? std::nullopt : entry.value;
    return;
  }
  const double value = entry.value ? base::number_of(*entry.value) : 0.0;
  const auto replace = [&](double level) {
    of.replaced = true;
    of.level = level;
    of.slope = 0.0;
  };
  switch (entry.action) {
    case ScenarioAction::Set: return replace(value);
    case ScenarioAction::Freeze: return replace(base_value(place, t));
    case ScenarioAction::Drop: return replace(places_[place].dropped);
    case ScenarioAction::Scale: of.scale = value; return;
    case ScenarioAction::Bias: of.bias = value; return;
    case ScenarioAction::Release: of = {}; return;
    case ScenarioAction::Noise:
      of.noise_since = t;
      of.noise_count = 0;
      return;
    case ScenarioAction::Ramp: {
      const double from = base_value(place, t);
      // A time that no step could meet does not move the end of the ramp.
      const Time until = (entry.when ? t : *entry.at) + entry.over;
      replace(from);
      if (!(until > t)) return replace(value);
      of.slope = (value - from) / (until - t);
      of.since = t;
      of.until = until;
      return;
    }
  }
}

/// What scale, bias and noise are applied to.
double Scenario::base_value(std::size_t place, Time t) const {
  const InForce& of = memory_.places[place];
  const Place& at = places_[place];
  if (of.replaced) return of.line(t);
  if (at.parameter) return std::get<double>(at.parameter->start);
  return at.factor * store_.signals()[store_.transfer().source(*at.input)] + at.offset;
}

double Scenario::added(const InForce& of) const {
  if (of.noise == 0) return of.bias;
  const ScenarioEntry& noise = entries_[of.noise - 1];
  return of.bias + base::number_of(*noise.value) * normal_number(noise.stream, of.noise_count);
}

void Scenario::put_in_force(std::size_t place, Time t) {
  const Place& at = places_[place];
  const InForce& of = memory_.places[place];
  if (at.parameter) return set_parameter(place, t);
  TransferPlan::Disturbance disturbance{.factor = of.scale * at.factor, .offset = of.scale * at.offset + added(of)};
  if (of.replaced) {
    disturbance = {.factor = 0.0,
                   .offset = of.scale * of.level + added(of),
                   .slope = of.scale * of.slope,
                   .since = of.since,
                   .until = of.until};
  }
  store_.disturb(*at.input, disturbance);
  store_.move_to(t);
}

void Scenario::set_parameter(std::size_t place, Time t) {
  const ScenarioEntry::Parameter& parameter = *places_[place].parameter;
  const InForce& of = memory_.places[place];
  Value value =
      places_[place].is_real ? Value(of.scale * base_value(place, t) + added(of)) : of.other.value_or(parameter.start);
  if (value == parameter_in_force_[place].value_or(parameter.start)) return;
  executor_.subsystem(parameter.subsystem).facets().tuning->set_parameter(parameter.index, value);
  parameter_in_force_[place] = std::move(value);
}

/// Inputs as they are behind the instant, and the outputs that follow at once; a subsystem in the middle of a step
/// takes them with its next one.
void Scenario::show_inputs(std::span<const std::size_t> places, Time t) {
  std::vector<SubsystemId> owners;
  for (const std::size_t p : places) {
    const Place& place = places_[p];
    if (executor_.time_of(place.owner) != t) continue;
    if (place.input) store_.inputs()[*place.input] = store_.incoming(*place.input);
    if (std::find(owners.begin(), owners.end(), place.owner) == owners.end()) owners.push_back(place.owner);
  }
  for (const SubsystemId s : owners) {
    if (!executor_.subsystem(s).capabilities().output_refresh) continue;
    const auto slots = store_.slots(s);
    executor_.evaluate(s, slots.inputs, slots.outputs);
  }
}

void Scenario::look(Time t) {
  memory_.looked_at = t;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].when && memory_.done[e] == 0) memory_.seen[e] = signal_of(*entries_[e].when);
  }
}

void Scenario::follow(Time t) {
  memory_.now = t;
  store_.move_to(t);
  for (std::size_t p = 0; p < places_.size(); ++p) {
    if (!places_[p].parameter || memory_.places[p].slope == 0.0) continue;
    const auto before = parameter_in_force_[p];
    set_parameter(p, t);
    if (before != parameter_in_force_[p]) show_inputs(std::span(&p, 1), t);
  }
}

std::vector<const ScenarioEntry*> Scenario::never_true() const {
  std::vector<const ScenarioEntry*> entries;
  for (std::size_t e = 0; e < entries_.size(); ++e) {
    if (entries_[e].when && memory_.done[e] == 0) entries.push_back(&entries_[e]);
  }
  return entries;
}

void Scenario::restore(std::span<const std::byte> bytes) {
  base::from_bytes(bytes, memory_);
  for (std::size_t p = 0; p < places_.size(); ++p) put_in_force(p, memory_.now);
}

}  // namespace entrain::coupling
