#include "methods/explicit/gauss_seidel.hpp"

#include "base/bytes.hpp"
#include "methods/linear_stages.hpp"

namespace entrain::method {

MacroStepReport sequential_sweep(CoupledSystem& system, ExplicitStepper& stepper, const CallingSequence& sequence) {
  return stepper.advance(system, [&] {
    for (const auto& stage : sequence.stages()) {
      for (const SubsystemId s : stage) stepper.prepare(system, s);
      stepper.commit(system, stage);
    }
  });
}

MacroStepReport GaussSeidel::advance(CoupledSystem& system) {
  return sequential_sweep(system, stepper_, sequence_);
}

void GaussSeidel::start(CoupledSystem& system, const RunSettings& settings) {
  stepper_.start(system, settings, options_, {});
  sequence_.start(system.graph());
}

const MethodTraits& GaussSeidel::traits() const {
  static const MethodTraits kTraits{.name = "gauss-seidel",
                                    .summary = "sequential, explicit; later subsystems see earlier ones' new outputs",
                                    .family = MethodFamily::Explicit,
                                    .knobs = sequential_knobs(),
                                    .linear_step = {.stages = &sequential_stages}};
  return kTraits;
}

void GaussSeidel::bind(OptionBinder& binder) {
  options_.bind(binder);
  sequence_.bind(binder);
}

void GaussSeidel::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  options_.check(name(), false, written, problems);
  sequence_.check(graph, written, problems);
}

std::vector<std::string> GaussSeidel::step_tolerances() const {
  if (!options_.adaptive) return {};
  return traits().knobs.tolerances;
}

MethodMemory GaussSeidel::memory() const {
  return {stepper_.steps(), {}, base::to_bytes(stepper_)};
}

void GaussSeidel::restore(const MethodMemory& memory) {
  base::from_bytes(memory.bytes, stepper_);
}

std::vector<Fact> GaussSeidel::notes(const CoupledSystem& system) const {
  auto notes = options_.notes(system);
  notes.push_back(sequence_.note(system.graph()));
  return notes;
}

}  // namespace entrain::method
