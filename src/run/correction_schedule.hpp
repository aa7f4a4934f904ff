#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
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

  /// Outputs as they are expected at the start of each macro step. Each step in which one is farther away takes a
  /// twentieth of all corrections; each one in which none is returns it. When nothing is left it stays so.
  struct Guard {
    std::vector<OutputId> outputs;
    std::vector<double> ranges;    ///< by output
    std::vector<double> expected;  ///< macro step by macro step
    double allowed = 0.0;          ///< distance, of the range
  };
  void set_guard(Guard guard) { guard_ = std::move(guard); }
  /// When nothing was left of the corrections, and the output that was farthest away then.
  struct Faded {
    std::uint64_t step = 0;
    OutputId output;
    double distance = 0.0;  ///< of the range
    double allowed = 0.0;
  };
  const std::optional<Faded>& faded() const { return faded_; }

  /// Before macro step `step`.
  void apply(CoupledSystem& system, std::uint64_t step);

 private:
  void compare(const CoupledSystem& system, std::uint64_t step);
  void apply_waveforms(CoupledSystem& system, std::span<const double> row);

  std::vector<InputId> inputs_;
  std::vector<double> rows_;
  std::vector<double> by_input_;  // of all inputs, in this macro step; of waveforms all orders of each
  std::optional<Waveforms> waveforms_;
  std::optional<Guard> guard_;
  std::optional<Faded> faded_;
  int left_ = kFadeSteps;  // of the corrections

  static constexpr int kFadeSteps = 20;
};

}  // namespace entrain::running
