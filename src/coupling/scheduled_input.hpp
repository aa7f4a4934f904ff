#pragma once

#include "entrain/ids.hpp"
#include "entrain/variable.hpp"

namespace entrain::coupling {

/// A value that an input which nothing feeds takes during the run.
struct ScheduledInput {
  Time time = 0.0;
  SubsystemId subsystem;
  VariableTable::Place place;  ///< of a real or a discrete input
  Value value;                 ///< of its type
};

}  // namespace entrain::coupling
