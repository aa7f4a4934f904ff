#pragma once

#include <span>
#include <vector>

#include "entrain/simulation.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::running {

/// What can be recorded of a system, in the order of Sample::values: all outputs, all inputs, then the states that are
/// not outputs (of subsystems that provide them), then what is no real number (all outputs, all inputs), then what is
/// inside (InnerValues), then the signals of the method.
struct Recordable {
  std::vector<Signal> signals;
  std::vector<std::size_t> states;  ///< for each signal that is a state: its place among all states of the system
  std::size_t discrete = 0;         ///< signals that are no real numbers
  struct Inner {
    std::size_t subsystem;
    VariableTable::Place place;
    std::size_t signal;
  };
  std::vector<Inner> inner;        ///< those of one subsystem follow each other
  std::size_t inner_discrete = 0;  ///< those among them that are no real numbers
  std::size_t own_signals = 0;     ///< of the method
};

Recordable recordable(std::span<Subsystem* const> subsystems, std::vector<Signal> own_signals);

}  // namespace entrain::running
