#pragma once

#include <optional>
#include <span>
#include <vector>

#include "subsystem/fmi/fmu_stepper.hpp"

namespace entrain::subsystem {

/// The clocks of one instance: what may be asked of each kind, and when (FMI 3.0, section 2.2.8).
class FmuClocks {
 public:
  /// Borrows all.
  FmuClocks(const FmuDescription& description, const FmuPorts& ports, FmuReporter& reporter)
      : description_(description), ports_(ports), reporter_(reporter) {}

  /// Those whose partitions run first come first. Valid until it is called again.
  std::span<const ValueReference> by_priority(std::span<const std::size_t> clocks);
  /// In initialization mode: intervals and shifts that do not stand in the file.
  void read_initial(FmuInstance& instance, Time t);
  void activate(FmuInstance& instance, std::span<const std::size_t> clocks, Time t);
  void read_active(FmuInstance& instance, std::span<const std::size_t> clocks, std::span<unsigned char> active, Time t);
  /// What was read in the initialization, once; then what the FMU answers.
  EventMode::Announced read_interval(FmuInstance& instance, std::size_t clock, ClockInterval& interval, Time t);
  ClockInterval shift(std::size_t clock) const { return known_[clock].shift; }

 private:
  struct Known {
    std::optional<ClockInterval> initial;  // until it is passed on
    ClockInterval shift;
  };
  const FmuVariable& variable(std::size_t clock) const { return description_.variables[ports_.clocks[clock]]; }
  std::span<const ValueReference> references(std::span<const std::size_t> clocks);

  const FmuDescription& description_;
  const FmuPorts& ports_;
  FmuReporter& reporter_;
  std::vector<Known> known_;  // by clock
  std::vector<ValueReference> references_;
};

}  // namespace entrain::subsystem
