#include "methods/explicit/late_outputs.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::method {
namespace {

bool depends_on_a_connected_input(const Graph& graph, OutputId output) {
  for (const InputId input : graph.inputs_of(graph.owner(output))) {
    if (graph.source(input) != nullptr && graph.feedthrough(output, input)) return true;
  }
  return false;
}

}  // namespace

void LateOutputOptions::bind(OptionBinder& binder) {
  binder.names("delayed", delayed, "\"subsystem.output\" to pass on late; empty = all with feedthrough");
}

void LateOutputOptions::check(const Graph& graph, const WrittenOptions& written, std::vector<Problem>& problems) const {
  std::vector<std::string> known;
  for (std::size_t y = 0; y < graph.outputs(); ++y) known.push_back(graph.name(OutputId{y}));
  for (const auto& name : delayed) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    problems.push_back(
        problem_of(Fact{FactCode::DelayedUnknown, {name}}, suggestion(name, known), position_of(written, "delayed")));
  }
}

std::vector<OutputId> LateOutputOptions::outputs(const CoupledSystem& system) const {
  std::vector<OutputId> late;
  const Graph& graph = system.graph();
  for (std::size_t y = 0; y < graph.outputs(); ++y) {
    const OutputId output{y};
    const auto& can = system.capabilities(graph.owner(output));
    const bool wanted = delayed.empty()
                            ? depends_on_a_connected_input(graph, output)
                            : std::find(delayed.begin(), delayed.end(), graph.name(output)) != delayed.end();
    if (wanted && (can.output_refresh || can.linearization)) late.push_back(output);
  }
  return late;
}

Fact LateOutputOptions::note(const CoupledSystem& system) const {
  std::vector<std::string> names;
  for (const OutputId output : outputs(system)) names.push_back(system.graph().name(output));
  return {names.empty() ? FactCode::NothingDelayed : FactCode::OutputsDelayed, names};
}

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
  first_values_.assign(system.inputs().begin(), system.inputs().end());
  starts_.assign(system.size(), 1);
  ends_.assign(system.size(), 1);
}

void LateOutputs::note_start_of_steps(CoupledSystem& system, const ExplicitStepper& steps) {
  for (std::size_t i = 0; i < system.size(); ++i) {
    const SubsystemId s{i};
    starts_[s] = steps.starts_step(s) ? 1 : 0;
    ends_[s] = steps.ends_step(s) ? 1 : 0;
    if (starts_[s] == 0) continue;
    const auto values = system.coefficients(s, steps.degree_in_force(s), 0);
    const std::size_t first = system.graph().inputs_of(s).first;
    std::copy(values.begin(), values.end(), first_values_.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

void LateOutputs::before_steps(CoupledSystem& system, const ExplicitStepper& steps) {
  note_start_of_steps(system, steps);
  batch_.clear();
  for (const Source& source : sources_) {
    if (source.evaluated && starts_[source.subsystem] != 0) batch_.push_back(source.subsystem);
  }
  system.evaluate_all(batch_, first_values_, memory_.at_start);
  batch_.clear();
  linear_.clear();
  for (const Source& source : sources_) {
    if (source.evaluated || starts_[source.subsystem] == 0) continue;
    batch_.push_back(source.subsystem);
    linear_.push_back(&source);
  }
  if (!batch_.empty()) add_linear_part(system);
}

void LateOutputs::add_linear_part(CoupledSystem& system) {
  system.linearize_all(batch_, matrices_);
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    const auto inputs = system.graph().inputs_of(batch_[i]);
    const auto outputs = system.graph().outputs_of(batch_[i]);
    for (const OutputId output : linear_[i]->outputs) {
      double value = memory_.found[output];
      for (const InputId input : inputs) {
        const double gap = first_values_[input] - memory_.last_inputs[input];
        if (gap != 0.0) value += matrices_[i].D(output - outputs.first, input - inputs.first) * gap;
      }
      memory_.at_start[output] = value;
    }
  }
}

void LateOutputs::after_steps(CoupledSystem& system) {
  const auto outputs = system.outputs();
  const auto inputs = system.inputs();
  for (const Source& source : sources_) {
    if (ends_[source.subsystem] == 0) continue;
    for (const OutputId output : source.outputs) {
      memory_.found[output] = outputs[output];
      system.replace_output(output, memory_.at_start[output]);
    }
    for (const InputId input : system.graph().inputs_of(source.subsystem)) memory_.last_inputs[input] = inputs[input];
  }
}

}  // namespace entrain::method
