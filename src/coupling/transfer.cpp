#include "coupling/transfer.hpp"

#include <algorithm>

namespace entrain::coupling {

TransferPlan::TransferPlan(const Graph& graph, std::span<const double> constants)
    : outputs_(graph.outputs()), wires_(graph.inputs()) {
  for (std::size_t i = 0; i < graph.inputs(); ++i) {
    if (const Connection* connection = graph.source(InputId{i})) {
      wires_[i] = {connection->factor, connection->offset, 0.0, connection->output};
    } else {
      wires_[i].source = outputs_ + constants_.size();
      constants_.push_back(constants[i]);
    }
  }
  const auto is_plain = [](const Wire& wire) { return wire.factor == 1.0 && wire.offset == 0.0; };
  if (!std::all_of(wires_.begin(), wires_.end(), is_plain)) return;
  for (const Wire& wire : wires_) plain_sources_.push_back(static_cast<std::uint32_t>(wire.source));
}

void TransferPlan::deliver_corrected(std::span<const double> signals, std::span<double> inputs) const {
  for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = incoming(InputId{i}, signals);
}

void TransferPlan::set_corrections(std::span<const double> by_input) {
  corrected_ = true;
  for (std::size_t i = 0; i < wires_.size(); ++i) wires_[i].correction = by_input[i];
  for (std::size_t i = 0; i < by_run_.size(); ++i) {
    others_[i] = by_input[i];
    wires_[i].correction += by_run_[i];
  }
}

void TransferPlan::set_run_corrections(std::span<const double> by_input) {
  corrected_ = true;
  if (by_run_.empty()) {
    for (const Wire& wire : wires_) others_.push_back(wire.correction);
  }
  by_run_.assign(by_input.begin(), by_input.end());
  for (std::size_t i = 0; i < wires_.size(); ++i) wires_[i].correction = others_[i] + by_run_[i];
}

void TransferPlan::clear_corrections() {
  corrected_ = false;
  by_run_.clear();
  others_.clear();
  for (Wire& wire : wires_) wire.correction = 0.0;
}

void TransferPlan::disturb(InputId input, const Disturbance& disturbance) {
  Wire& wire = wires_[input];
  if (wire.factor != disturbance.factor) ++revision_;
  wire.factor = disturbance.factor;
  wire.offset = disturbance.offset;
  std::erase_if(lines_, [&](const Line& line) { return line.input == input; });
  if (disturbance.slope != 0.0) lines_.push_back({input, disturbance});
}

void TransferPlan::move_lines(Time t) {
  for (const Line& line : lines_) wires_[line.input].offset = line.of.offset_at(t);
}

const TransferPlan::Line* TransferPlan::line_of(InputId input) const {
  const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const Line& line) { return line.input == input; });
  return found == lines_.end() ? nullptr : &*found;
}

std::vector<double> TransferPlan::make_signals() const {
  std::vector<double> signals(outputs_, 0.0);
  signals.insert(signals.end(), constants_.begin(), constants_.end());
  return signals;
}

}  // namespace entrain::coupling
