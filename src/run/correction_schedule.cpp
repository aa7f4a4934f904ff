#include "run/correction_schedule.hpp"

#include <utility>

namespace entrain::running {

CorrectionSchedule::CorrectionSchedule(const Graph& graph, std::vector<InputId> inputs, std::vector<double> rows)
    : inputs_(std::move(inputs)), rows_(std::move(rows)), by_input_(graph.inputs(), 0.0) {}

void CorrectionSchedule::apply(CoupledSystem& system, std::uint64_t step) {
  const std::size_t first = step * inputs_.size();
  const bool known = first + inputs_.size() <= rows_.size();
  for (std::size_t i = 0; i < inputs_.size(); ++i) by_input_[inputs_[i]] = known ? rows_[first + i] : 0.0;
  system.set_corrections(by_input_);
}

}  // namespace entrain::running
