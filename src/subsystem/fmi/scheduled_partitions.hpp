#pragma once

#include <functional>
#include <map>
#include <vector>

#include "subsystem/fmi/fmu_stepper.hpp"

namespace entrain::subsystem {

/// An FMU of FMI 3 for scheduled execution: its clocks activate its model partitions, in simulated time, one after the
/// other; between them nothing happens. It has no event mode: in an event phase its partitions run before its outputs
/// are read. Values are set, then partitions run, then values are read (FMI 3.0, section 5.2.1): what comes between is
/// kept until the next partition.
class ScheduledPartitions final : public FmuStepper {
 public:
  /// Borrows all.
  ScheduledPartitions(const FmuDescription& description, const FmuPorts& ports, FmuReporter& reporter)
      : description_(description), ports_(ports), reporter_(reporter) {}

  void start(FmuInstance& instance, const FmuAbilities& abilities, Time start, Time stop) override;
  void evaluate(std::span<const double> inputs, std::span<double> outputs) override;
  void finish_initialization(std::span<double> outputs) override;
  StepReport step(const Subsystem::Step& step, std::span<double> outputs) override;
  void save(std::size_t) override {}
  void restore(std::size_t) override {}
  base::Bytes serialize(std::size_t) override { return {}; }
  void deserialize(std::size_t, std::span<const std::byte>) override {}
  void change(base::FunctionRef<FmuResult()> set) override { reporter_.require(set(), time_); }
  bool sets_later() const override { return !initializing_; }
  void set_later(const std::function<FmuResult()>& set) override { later_.push_back(set); }

  // It provides none of these.
  void states(std::span<double>) override {}
  void derivatives(std::span<double>) override {}
  void linearize(Linearization&) override {}
  void output_derivatives(std::span<double>) override {}
  Time next_event(Time) override { return kNever; }

  bool finds_events() const override { return false; }
  bool event_waits() const override { return false; }
  void enter_events() override { settle(); }
  EventMode::Update update_events() override;
  void leave_events() override {}
  void set_inputs(std::span<const double> inputs) override;
  void read_outputs(std::span<double> outputs) override;
  bool activate(std::span<const ValueReference> clocks) override;
  void before_reading() override;

 private:
  void settle();
  void run_partition(ValueReference clock);

  const FmuDescription& description_;
  const FmuPorts& ports_;
  FmuReporter& reporter_;
  FmuInstance* instance_ = nullptr;
  Time time_ = 0.0;
  bool initializing_ = true;
  std::vector<ValueReference> due_;     ///< clocks whose partitions wait for their inputs
  std::map<ValueReference, Time> ran_;  ///< when the partition of a clock ran last
  bool outputs_changed_ = false;
  std::vector<double> outputs_;                    ///< as they were read last
  std::vector<double> inputs_;                     ///< for the next partition; empty = as they are
  std::vector<std::function<FmuResult()>> later_;  ///< the same
};

}  // namespace entrain::subsystem
