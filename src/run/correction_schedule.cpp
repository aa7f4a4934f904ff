#include "run/correction_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "coupling/engine.hpp"

namespace entrain::running {

CorrectionSchedule::CorrectionSchedule(const Graph& graph, std::vector<InputId> inputs, std::vector<double> rows)
    : inputs_(std::move(inputs)), rows_(std::move(rows)), by_input_(graph.inputs(), 0.0) {}

CorrectionSchedule::CorrectionSchedule(const Graph& graph, std::vector<InputId> inputs, std::vector<double> rows,
                                       Waveforms waveforms)
    : inputs_(std::move(inputs)),
      rows_(std::move(rows)),
      by_input_(graph.inputs() * coupling::SignalStore::kOrders, 0.0),
      waveforms_(std::move(waveforms)) {
  for (int& degree : waveforms_->input_degree) {
    // A parabola has no use: it is a line there, or a cubic.
    degree = std::min(degree == 2 ? 1 : degree, static_cast<int>(waveforms_->orders) - 1);
  }
}

/// The first macro step begins where the run was started: what is different there is judged by others.
void CorrectionSchedule::compare(const CoupledSystem& system, std::uint64_t step) {
  const std::size_t count = guard_->outputs.size();
  if (faded_ || step == 0 || (step + 1) * count > guard_->expected.size()) return;
  double farthest = 0.0;
  OutputId output = guard_->outputs.front();
  for (std::size_t i = 0; i < count; ++i) {
    const double distance =
        std::abs(system.outputs()[guard_->outputs[i]] - guard_->expected[step * count + i]) / guard_->ranges[i];
    if (distance <= farthest) continue;
    farthest = distance;
    output = guard_->outputs[i];
  }
  if (farthest <= guard_->allowed) {
    left_ = std::min(left_ + 1, kFadeSteps);
  } else if (--left_ == 0) {
    faded_ = Faded{step, output, farthest, guard_->allowed};
  }
}

void CorrectionSchedule::apply(CoupledSystem& system, std::uint64_t step) {
  if (step == 0) {  // another run
    left_ = kFadeSteps;
    faded_.reset();
  }
  if (guard_) compare(system, step);
  const std::size_t numbers = inputs_.size() * (waveforms_ ? waveforms_->orders : 1);
  const std::size_t first = step * numbers;
  const bool known = first + numbers <= rows_.size();
  if (waveforms_) {
    apply_waveforms(system, known ? std::span(rows_).subspan(first, numbers) : std::span<const double>());
    return;
  }
  const double share = static_cast<double>(left_) / kFadeSteps;
  for (std::size_t i = 0; i < inputs_.size(); ++i) by_input_[inputs_[i]] = known ? share * rows_[first + i] : 0.0;
  system.set_corrections(by_input_);
}

/// From shares of the step to seconds.
void CorrectionSchedule::apply_waveforms(CoupledSystem& system, std::span<const double> row) {
  const std::size_t orders = waveforms_->orders;
  const double share = static_cast<double>(left_) / kFadeSteps;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Duration size = waveforms_->steps[system.graph().owner(inputs_[i])];
    double power = 1.0;
    for (std::size_t p = 0; p < orders; ++p, power *= size) {
      by_input_[coupling::SignalStore::kOrders * inputs_[i] + p] =
          row.empty() ? 0.0 : share * row[i * orders + p] / power;
    }
  }
  system.engine().store().set_waveforms(waveforms_->input_degree, by_input_);
}

}  // namespace entrain::running
