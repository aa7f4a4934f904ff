// What f3ornits tells about a run: notes, numbers for the summary, signals that can be recorded.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "entrain/fact_codes.hpp"
#include "methods/asynchronous/f3ornits.hpp"

namespace entrain {
namespace {

// Beyond this share of its steps, an imposed step decides the error and no tolerance does.
constexpr double kFloorShare = 0.1;
// Beyond this many subsystems nobody reads a line for each; the numbers are in the summary all the same.
constexpr std::size_t kMostToldOneByOne = 20;

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::vector<Fact> F3ornits::notes(const CoupledSystem& system) const {
  std::vector<Fact> notes;
  const auto& graph = system.graph();
  if (const auto loops = graph.loops().size(); loops > 0) {
    notes.push_back({FactCode::LoopsDelayed, {}, {{"loops", loops}}});
  }
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    const int takes = members_[s].input_degree;
    if (graph.inputs_of(id).count > 0 && takes < options_.max_order) {
      Fact& lowered = notes.emplace_back(
          Fact{FactCode::InputDegreeLowered, {graph.name(id)}, {{"from", options_.max_order}, {"to", takes}}});
      if (members_[s].parts > 1) lowered.values.emplace_back("substeps", members_[s].parts);
    }
    if (const int written = system.capabilities(id).substeps; members_[s].parts < written) {
      notes.push_back({FactCode::SubstepsUnused, {graph.name(id)}, {{"substeps", written}}});
    }
    if (options_.smooth && graph.inputs_of(id).count > 0 && takes < kMaxInputDegree) {
      notes.push_back({FactCode::InputsNotSmoothed, {graph.name(id)}});
    }
  }
  return notes;
}

std::vector<Fact> F3ornits::closing_notes(const CoupledSystem& system) const {
  std::vector<Fact> notes;
  const bool any_free =
      std::any_of(members_.begin(), members_.end(), [](const Member& member) { return !member.imposed; });
  for (std::size_t s = 0; s < members_.size(); ++s) {  // none when the run failed before it began
    const Member& member = members_[s];
    const auto& name = system.graph().name(SubsystemId{s});
    if (member.steps > 0 && system.size() <= kMostToldOneByOne) {
      const auto orders =
          fmt::format("{}", fmt::join(member.orders.begin(), member.orders.begin() + options_.max_order + 1, " / "));
      notes.push_back({FactCode::OwnSteps,
                       {name},
                       {{"steps", member.steps},
                        {"smallest", member.smallest},
                        {"largest", member.largest, "s"},
                        {"orders", orders}}});
    }
    if (const Time last = system.time_of(SubsystemId{s}); last < settings_.stop && now_ >= settings_.stop) {
      notes.push_back(
          {FactCode::EndsEarly, {name}, {{"time", last, "s"}, {"which", member.imposed ? "imposed" : "minimal"}}});
    }
    if (member.imposed && share(member.beyond_tolerance, member.steps) > kFloorShare) {
      Fact& limit = notes.emplace_back(Fact{
          FactCode::ImposedStepLimitsError, {name}, {{"beyond", member.beyond_tolerance}, {"steps", member.steps}}});
      if (any_free) limit.values.emplace_back("free", 1);
    }
    if (member.at_min_step > 0 && !member.imposed) {
      notes.push_back(
          {FactCode::StepsAtMinimum, {name}, {{"steps", member.at_min_step}, {"min_step", member.min_step, "s"}}});
    }
    if (member.reads_past_validity > 0) {
      notes.push_back({FactCode::EstimatesPastValidity, {name}, {{"steps", member.reads_past_validity}}});
    }
    if (member.jumps > 0) {
      Fact& jumps = notes.emplace_back(Fact{FactCode::OutputJumps, {name}, {{"jumps", member.jumps}}});
      if (member.late_jumps > 0) jumps.values.emplace_back("late", member.late_jumps);
    }
  }
  return notes;
}

std::optional<OwnSteps> F3ornits::own_steps(SubsystemId s) const {
  if (members_.empty()) return std::nullopt;
  const Member& member = members_[s];
  OwnSteps steps;
  steps.smallest = member.steps > 0 ? member.smallest : 0.0;
  steps.largest = member.largest;
  steps.orders.assign(member.orders.begin(), member.orders.begin() + options_.max_order + 1);
  steps.beyond_tolerance = member.beyond_tolerance;
  steps.at_min_step = member.imposed ? 0 : member.at_min_step;
  steps.reads_past_validity = member.reads_past_validity;
  steps.jumps = member.jumps;
  return steps;
}

std::vector<Signal> F3ornits::own_signals(const Graph& graph) const {
  std::vector<Signal> signals;
  for (std::size_t s = 0; s < graph.subsystems(); ++s) {
    const auto add = [&](std::string name, std::string unit, std::string description) {
      signals.push_back({std::move(name), std::move(unit), std::move(description), Causality::Method, s});
    };
    add(graph.name(SubsystemId{s}) + ".time:step", "s", "size of the step that ended here");
    for (const OutputId y : graph.outputs_of(SubsystemId{s})) {
      const std::string output = graph.name(y);
      add(output + ":order", "", "of the estimate from here on");
      add(output + ":error", "", "of the estimate up to here, in units of the tolerance");
      add(output + ":low", "", "lower bound of the (damped) amplitude");
      add(output + ":high", "", "upper bound of the (damped) amplitude");
    }
  }
  return signals;
}

void F3ornits::own_values(std::span<double> values) const {
  auto next = values.begin();
  for (const auto& member : members_) {
    *next++ = member.size;
    for (const OutputId y : member.outputs) {
      *next++ = estimates_[y].order();
      *next++ = outputs_[y].error;
      *next++ = outputs_[y].range.low();
      *next++ = outputs_[y].range.high();
    }
  }
}

}  // namespace entrain
