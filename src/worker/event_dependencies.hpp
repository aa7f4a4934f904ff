#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::worker {

/// EventMode::depends of all pairs, for another process.
class EventDependencies {
 public:
  EventDependencies() = default;
  EventDependencies(const VariableTable& variables, const EventMode& mode);

  /// Whether this can be that of a subsystem with these variables; else it must not be asked.
  bool fits(const VariableTable& variables) const;
  /// `variables`: those of the same subsystem.
  bool depends(const VariableTable& variables, std::pair<EventMode::Port, std::size_t> output,
               std::pair<EventMode::Port, std::size_t> input) const;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(depends_);
  }

 private:
  std::vector<std::uint8_t> depends_;  ///< output by output, each with all inputs: real, discrete, clocks
};

}  // namespace entrain::worker
