#include "methods/explicit/nepce.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/suggest.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/explicit/gauss_seidel.hpp"
#include "methods/linear_stages.hpp"

namespace entrain::method {
namespace {

// At |gain| = 1 the filter never forgets its start: the condition |gain| < 1 of a consistent start.
constexpr double kBelowOne = 0.999999;

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.inputs(); ++i) names.push_back(graph.name(InputId{i}));
  return names;
}

}  // namespace

double NepceFilter::filtered(InputId input, double last, double sample) const {
  return gains_[input] * last + (1.0 - gains_[input]) * sample;
}

void NepceFilter::bind(OptionBinder& binder) {
  binder.numbers("gains", written_, "by \"subsystem.input\": w <- gain w + (1 - gain) y; 0 = plain gauss-seidel",
                 {-kBelowOne, kBelowOne});
}

void NepceFilter::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  const auto known = input_names(graph);
  for (const auto& [name, gain] : written_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    problems.push_back(
        problem_of(Fact{FactCode::GainUnknown, {name}}, suggestion(name, known), position_of(written, "gains")));
  }
}

void NepceFilter::start(const Graph& graph) {
  gains_.clear();
  for (const auto& name : input_names(graph)) {
    const auto found = written_.find(name);
    gains_.push_back(found == written_.end() ? 0.0 : found->second);
  }
}

/// A sweep of gauss-seidel, whose inputs are filtered.
MacroStepReport Nepce::advance(CoupledSystem& system) {
  return sequential_sweep(system, stepper_, sequence_);
}

void Nepce::start(CoupledSystem& system, const RunSettings& settings) {
  filter_.start(system.graph());
  stepper_.start(system, settings, options_, {.filter = &filter_});
  sequence_.start(system.graph());
}

const MethodTraits& Nepce::traits() const {
  static const MethodTraits kTraits = [] {
    MethodTraits traits{.name = "nepce",
                        .summary = "gauss-seidel with an integral controller of the coupling error",
                        .family = MethodFamily::Explicit,
                        .recommended = false,
                        .knobs = sequential_knobs(),
                        .linear_step = {.stages = &sequential_stages}};
    traits.knobs.gains = "gains";
    traits.knobs.max_gain = kBelowOne;
    return traits;
  }();
  return kTraits;
}

void Nepce::bind(OptionBinder& binder) {
  options_.bind(binder);
  sequence_.bind(binder);
  filter_.bind(binder);
}

void Nepce::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  options_.check(name(), false, written, problems);
  sequence_.check(graph, written, problems);
  filter_.check(graph, written, problems);
}

std::vector<std::string> Nepce::step_tolerances() const {
  if (!options_.adaptive) return {};
  return traits().knobs.tolerances;
}

MethodMemory Nepce::memory() const {
  return {stepper_.steps(), {}, base::to_bytes(stepper_)};
}

void Nepce::restore(const MethodMemory& memory) {
  base::from_bytes(memory.bytes, stepper_);
}

std::vector<Fact> Nepce::notes(const CoupledSystem& system) const {
  auto notes = options_.notes(system);
  notes.push_back(sequence_.note(system.graph()));
  return notes;
}

}  // namespace entrain::method
