#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "entrain/coupled_system.hpp"

namespace entrain::running {

/// What is added to some inputs in every macro step of a run: a number each, or a polynomial over the step.
class CorrectionSchedule {
 public:
  /// `rows`: one number per corrected input and macro step, macro step by macro step. After the last row nothing is
  /// added.
  CorrectionSchedule(const Graph& graph, std::vector<InputId> inputs, std::vector<double> rows);

  /// Of polynomials in the share of the step.
  struct Waveforms {
    std::size_t orders = 1;         ///< coefficients of each input in a row
    std::vector<Duration> steps;    ///< by subsystem: its step
    std::vector<int> input_degree;  ///< by subsystem: that it takes
  };
  CorrectionSchedule(const Graph& graph, std::vector<InputId> inputs, std::vector<double> rows, Waveforms waveforms);

  /// Before macro step `step`.
  void apply(CoupledSystem& system, std::uint64_t step);

 private:
  void apply_waveforms(CoupledSystem& system, std::span<const double> row);

  std::vector<InputId> inputs_;
  std::vector<double> rows_;
  std::vector<double> by_input_;  // of all inputs, in this macro step; of waveforms all orders of each
  std::optional<Waveforms> waveforms_;
};

}  // namespace entrain::running
