#include "methods/explicit/late_outputs.hpp"

#include <algorithm>

namespace entrain {

void LateOutputs::start(const CoupledSystem& system, std::vector<OutputId> late) {
  late_ = std::move(late);
  sources_.clear();
  for (const OutputId output : late_) {
    const SubsystemId owner = system.graph().owner(output);
    const auto known =
        std::find_if(sources_.begin(), sources_.end(), [&](const Source& source) { return source.subsystem == owner; });
    auto& source = known != sources_.end() ? *known : sources_.emplace_back();
    source.subsystem = owner;
    source.evaluated = system.capabilities(owner).output_refresh;
    source.outputs.push_back(output);
  }
  memory_.found.assign(system.outputs().begin(), system.outputs().end());
  memory_.at_start = memory_.found;
  memory_.last_inputs.assign(system.inputs().begin(), system.inputs().end());
  batch_.reserve(sources_.size());
  linear_.reserve(sources_.size());
  matrices_.resize(sources_.size());
}

void LateOutputs::before_steps(CoupledSystem& system, std::span<const double> first_values,
                               std::span<const char> starts) {
  batch_.clear();
  for (const Source& source : sources_) {
    if (source.evaluated && starts[source.subsystem] != 0) batch_.push_back(source.subsystem);
  }
  system.evaluate_all(batch_, first_values, memory_.at_start);
  batch_.clear();
  linear_.clear();
  for (const Source& source : sources_) {
    if (source.evaluated || starts[source.subsystem] == 0) continue;
    batch_.push_back(source.subsystem);
    linear_.push_back(&source);
  }
  if (!batch_.empty()) add_linear_part(system, first_values);
}

void LateOutputs::add_linear_part(CoupledSystem& system, std::span<const double> first_values) {
  system.linearize_all(batch_, matrices_);
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const auto inputs = system.graph().inputs_of(batch_[i]);
    const auto outputs = system.graph().outputs_of(batch_[i]);
    for (const OutputId output : linear_[i]->outputs) {
      double value = memory_.found[output];
      for (const InputId input : inputs) {
        const double gap = first_values[input] - memory_.last_inputs[input];
        if (gap != 0.0) value += matrices_[i].D(output - outputs.first, input - inputs.first) * gap;
      }
      memory_.at_start[output] = value;
    }
  }
}

void LateOutputs::after_steps(CoupledSystem& system, std::span<const char> ends) {
  const auto outputs = system.outputs();
  const auto inputs = system.inputs();
  for (const Source& source : sources_) {
    if (ends[source.subsystem] == 0) continue;
    for (const OutputId output : source.outputs) {
      memory_.found[output] = outputs[output];
      system.replace_output(output, memory_.at_start[output]);
    }
    for (const InputId input : system.graph().inputs_of(source.subsystem)) memory_.last_inputs[input] = inputs[input];
  }
}

}  // namespace entrain
