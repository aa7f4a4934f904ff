#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "entrain/capabilities.hpp"
#include "entrain/export.hpp"
#include "entrain/subsystem.hpp"

namespace entrain {

/// A subsystem as a linear system: dx/dt = A x + B u, y = C x + D u, as a deviation from an operating point.
struct LinearSubsystem {
  /// A connected input; one that is not connected stays as it is and deviates from nothing.
  struct Input {
    std::string name;        ///< "subsystem.variable"
    std::size_t source = 0;  ///< the output behind it, counted over all subsystems
    double factor = 1.0;     ///< of the connection
  };
  std::string name;
  Linearization matrices;  ///< B and D have a column for each of `inputs`
  std::vector<Input> inputs;
  Capabilities capabilities;  ///< steps and polynomials it takes
};

/// A coupled system, linear: what forecasts of a coupling are computed from.
struct ENTRAIN_API LinearNetwork {
  std::vector<LinearSubsystem> subsystems;
  std::vector<std::string> outputs;  ///< "subsystem.variable", over all subsystems

  std::size_t state_count() const;
  std::size_t input_count() const;
};

}  // namespace entrain
