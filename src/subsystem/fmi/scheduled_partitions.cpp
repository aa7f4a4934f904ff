#include "subsystem/fmi/scheduled_partitions.hpp"

#include <utility>

namespace entrain::subsystem {

void ScheduledPartitions::start(FmuInstance& instance, const FmuAbilities&, Time start, Time) {
  instance_ = &instance;
  time_ = start;
  initializing_ = true;
  due_.clear();
}

void ScheduledPartitions::settle() {
  if (!std::exchange(initializing_, false)) return;
  if (at_end_of_initialization_) at_end_of_initialization_();
  reporter_.require(instance_->exit_initialization(), time_);
}

void ScheduledPartitions::evaluate(std::span<const double> inputs, std::span<double> outputs) {
  set_inputs(inputs);
  read_outputs(outputs);
}

void ScheduledPartitions::finish_initialization(std::span<double> outputs) {
  settle();
  read_outputs(outputs);
}

StepReport ScheduledPartitions::step(const Subsystem::Step& step, std::span<double> outputs) {
  settle();
  set_inputs(step.inputs.order(0));
  time_ = step.from + step.size;
  read_outputs(outputs);
  return {.reached = time_};
}

EventMode::Update ScheduledPartitions::update_events() {
  before_reading();
  return {};
}

void ScheduledPartitions::set_inputs(std::span<const double> inputs) {
  if (!inputs.empty()) reporter_.require(instance_->set_reals(ports_.real_inputs(), inputs.data()), time_);
}

void ScheduledPartitions::read_outputs(std::span<double> outputs) {
  before_reading();
  if (!outputs.empty()) reporter_.require(instance_->get_reals(ports_.real_outputs(), outputs.data()), time_);
}

bool ScheduledPartitions::activate(std::span<const ValueReference> clocks) {
  due_.insert(due_.end(), clocks.begin(), clocks.end());
  return true;
}

void ScheduledPartitions::before_reading() {
  for (const ValueReference clock : std::exchange(due_, {}))
    reporter_.require(instance_->activate_partition(clock, time_), time_);
}

}  // namespace entrain::subsystem
