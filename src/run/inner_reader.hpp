#pragma once

#include <optional>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "run/recordable.hpp"

namespace entrain::running {

/// Reads locals and parameters, those that are asked for: there may be thousands, each a call of its subsystem.
class InnerReader {
 public:
  /// Borrows both.
  InnerReader(CoupledSystem& system, const Recordable& recordable) : system_(system), recordable_(recordable) {}

  /// Signals; those that are not inside a subsystem are passed over.
  void ask_for(std::span<const std::size_t> signals);
  /// What was asked for, among the values of all signals.
  void read(std::span<double> values);
  /// Sample::discrete: those of the system, and behind them what was read of others than real numbers; a place for
  /// every signal.
  std::span<const Value> all_discrete(std::span<const Value> of_system);

 private:
  struct Group {
    SubsystemId subsystem;
    std::vector<VariableTable::Place> places;
    std::vector<std::size_t> signals;
    std::vector<Value> values;
  };
  CoupledSystem& system_;
  const Recordable& recordable_;
  std::vector<Group> groups_;
  bool has_discrete_ = false;
  std::vector<Value> discrete_;
};

}  // namespace entrain::running
