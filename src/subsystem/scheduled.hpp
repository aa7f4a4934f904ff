#pragma once

#include <map>
#include <memory>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::subsystem {

/// A value that a tunable parameter takes during the run.
struct ScheduledValue {
  Time time = 0.0;            ///< s
  std::size_t parameter = 0;  ///< index in VariableTable::parameters
  Value value;                ///< of the type of the parameter
};

/// The subsystem with parameters that change at the times given. Each time is announced as an event. A step across one
/// ends early there, unless the subsystem imposes its step: then the value is set where the step ends. Values for the
/// start time or before it are start values. Expects Facets::tuning of `inner`. `starts`: what the scheduled parameters
/// have before. `announced`: further times at which something changes, from outside; growing.
std::unique_ptr<Subsystem> scheduled(std::unique_ptr<Subsystem> inner, std::vector<ScheduledValue> values,
                                     std::map<std::size_t, Value> starts, std::vector<Time> announced = {});

}  // namespace entrain::subsystem
