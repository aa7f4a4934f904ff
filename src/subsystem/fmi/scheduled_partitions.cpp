#include "subsystem/fmi/scheduled_partitions.hpp"

#include <algorithm>
#include <utility>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::subsystem {

void ScheduledPartitions::start(FmuInstance& instance, const FmuAbilities&, Time start, Time) {
  instance_ = &instance;
  time_ = start;
  initializing_ = true;
  due_.clear();
  ran_.clear();
  inputs_.clear();
  later_.clear();
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
  read_outputs(outputs);
  settle();
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
  if (inputs.empty()) return;
  if (initializing_) return reporter_.require(instance_->set_reals(ports_.real_inputs(), inputs.data()), time_);
  inputs_.assign(inputs.begin(), inputs.end());
}

void ScheduledPartitions::read_outputs(std::span<double> outputs) {
  before_reading();
  if (outputs.empty()) return;
  outputs_.resize(outputs.size());
  if (initializing_ || std::exchange(outputs_changed_, false))
    reporter_.require(instance_->get_reals(ports_.real_outputs(), outputs_.data()), time_);
  std::copy(outputs_.begin(), outputs_.end(), outputs.begin());
}

bool ScheduledPartitions::activate(std::span<const ValueReference> clocks) {
  due_.insert(due_.end(), clocks.begin(), clocks.end());
  return true;
}

void ScheduledPartitions::before_reading() {
  if (due_.empty()) return;
  for (const auto& set : std::exchange(later_, {})) reporter_.require(set(), time_);
  if (!inputs_.empty()) reporter_.require(instance_->set_reals(ports_.real_inputs(), inputs_.data()), time_);
  inputs_.clear();
  for (const ValueReference clock : std::exchange(due_, {})) run_partition(clock);
}

void ScheduledPartitions::run_partition(ValueReference clock) {
  const auto [latest, is_first] = ran_.try_emplace(clock, time_);
  if (!is_first && !(time_ > latest->second)) {
    const auto variable = std::find_if(description_.variables.begin(), description_.variables.end(),
                                       [&](const FmuVariable& each) { return each.reference == clock; });
    throw Error(ErrorCode::SubsystemFailed, {FactCode::PartitionTwice, {variable->name}}, reporter_.context(time_));
  }
  latest->second = time_;
  reporter_.require(instance_->activate_partition(clock, time_), time_);
  outputs_changed_ = true;
}

}  // namespace entrain::subsystem
