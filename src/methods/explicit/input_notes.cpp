#include "methods/explicit/input_notes.hpp"

#include <fmt/format.h>

namespace entrain {

std::vector<std::string> input_degree_notes(const CoupledSystem& system, int degree) {
  std::vector<std::string> notes;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const Capabilities& can = system.capabilities(SubsystemId{s});
    const std::string& name = system.graph().name(SubsystemId{s});
    const bool in_parts = can.substeps > 1;
    if (can.internal_step && can.input_degree > 0 && degree > 0) {
      notes.push_back(fmt::format("inputs of '{}' are held over its internal steps of {} s, with their mean", name,
                                  *can.internal_step));
    }
    if (can.input_degree < degree) {
      notes.push_back(fmt::format("inputs of '{}' lowered from degree {} to {} by mean-square fit{}", name, degree,
                                  can.input_degree,
                                  in_parts ? fmt::format(" on each of {} sub-steps", can.substeps) : ""));
    } else if (in_parts) {
      notes.push_back(fmt::format("substeps = {} of '{}' bring nothing: it takes inputs of degree {} as they are",
                                  can.substeps, name, degree));
    }
  }
  return notes;
}

}  // namespace entrain
