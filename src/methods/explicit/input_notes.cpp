#include "methods/explicit/input_notes.hpp"

#include "entrain/fact_codes.hpp"

namespace entrain {

std::vector<Fact> input_degree_notes(const CoupledSystem& system, int degree) {
  std::vector<Fact> notes;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const Capabilities& can = system.capabilities(SubsystemId{s});
    const std::string& name = system.graph().name(SubsystemId{s});
    const bool in_parts = can.substeps > 1;
    if (can.internal_step && can.input_degree > 0 && degree > 0) {
      notes.push_back({FactCode::InputsHeldInside, {name}, {{"internal_step", *can.internal_step, "s"}}});
    }
    if (can.input_degree < degree) {
      Fact& lowered =
          notes.emplace_back(Fact{FactCode::InputDegreeLowered, {name}, {{"from", degree}, {"to", can.input_degree}}});
      if (in_parts) lowered.values.emplace_back("substeps", can.substeps);
    } else if (in_parts) {
      notes.push_back({FactCode::SubstepsUnused, {name}, {{"substeps", can.substeps}, {"degree", degree}}});
    }
  }
  return notes;
}

}  // namespace entrain
