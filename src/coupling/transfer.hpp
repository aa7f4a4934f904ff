#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "coupling/graph.hpp"

namespace entrain {

/// All connections as index arrays: input = factor * signal[source] + offset + correction. The signals are the
/// outputs, followed by one constant per unconnected input, so that the loop has no branch and no look-up.
class TransferPlan {
 public:
  /// `constants`: the value of every input (used for the unconnected ones).
  TransferPlan(const Graph& graph, std::span<const double> constants);

  /// Outputs in the order of the graph, then the constants.
  std::vector<double> make_signals() const;
  double incoming(InputId input, std::span<const double> signals) const {
    return factor_[input] * signals[source_[input]] + offset_[input] + correction_[input];
  }
  double factor(InputId input) const { return factor_[input]; }
  /// Index of the signal behind an input; below `outputs` it is an output.
  std::size_t source(InputId input) const { return source_[input]; }

 private:
  std::size_t outputs_;
  std::vector<std::uint32_t> source_;
  std::vector<double> factor_, offset_, correction_;
  std::vector<double> constants_;
};

}  // namespace entrain
