#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"

namespace entrain::running {

/// What is added to some inputs in every macro step of a run.
class CorrectionSchedule {
 public:
  /// `rows`: one number per corrected input and macro step, macro step by macro step. After the last row nothing is
  /// added.
  CorrectionSchedule(const Graph& graph, std::vector<InputId> inputs, std::vector<double> rows);

  /// Before macro step `step`.
  void apply(CoupledSystem& system, std::uint64_t step);

 private:
  std::vector<InputId> inputs_;
  std::vector<double> rows_;
  std::vector<double> by_input_;  // of all inputs, in this macro step
};

}  // namespace entrain::running
