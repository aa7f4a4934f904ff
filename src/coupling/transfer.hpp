#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "entrain/graph.hpp"
#include "entrain/variable.hpp"

namespace entrain::coupling {

/// All connections as index arrays: input = factor * signal[source] + offset + correction. The signals are the
/// outputs, followed by one constant per unconnected input, so that the loop has no branch and no look-up.
class TransferPlan {
 public:
  /// `constants`: the value of every input (used for the unconnected ones).
  TransferPlan(const Graph& graph, std::span<const double> constants);

  /// Outputs in the order of the graph, then the constants.
  std::vector<double> make_signals() const;
  double incoming(InputId input, std::span<const double> signals) const {
    return transferred(input, signals[wires_[input].source]);
  }
  /// What arrives at an input when its source has this value.
  double transferred(InputId input, double value) const {
    const Wire& wire = wires_[input];
    return wire.factor * value + wire.offset + wire.correction;
  }
  /// Every input as it comes in now.
  void deliver(std::span<const double> signals, std::span<double> inputs) const {
    if (corrected_) return deliver_corrected(signals, inputs);
    each_uncorrected(signals, [to = inputs.data()](std::size_t i, double value) { to[i] = value; });
  }
  /// An input as it would come in without a correction: what it stands for.
  double uncorrected(InputId input, std::span<const double> signals) const {
    const Wire& wire = wires_[input];
    return wire.factor * signals[wire.source] + wire.offset;
  }
  /// The same for every input, in their order: take(index, value).
  template <class Take>
  void each_uncorrected(std::span<const double> signals, const Take& take) const;
  /// The corrections from now on, one per input, in the unit of the input. A plan never corrected pays nothing for
  /// them.
  void set_corrections(std::span<const double> by_input);
  /// The same in addition to the others, by the run itself: against the drift of integrals, and forces of constraints.
  void set_run_corrections(std::span<const double> by_input);
  /// As if never corrected.
  void clear_corrections();
  double factor(InputId input) const { return wires_[input].factor; }

  // Connections that are disturbed by a scenario.
  /// From now on no connection counts as plain: it may be changed at any time.
  void expect_disturbances() { plain_sources_.clear(); }
  /// A connection from now on: input = factor * signal + offset, where the offset is a line in time.
  struct Disturbance {
    double factor = 1.0;
    double offset = 0.0;  ///< at `since`
    double slope = 0.0;
    Time since = 0.0;
    Time until = 0.0;  ///< the line ends here

    double offset_at(Time t) const { return slope == 0.0 ? offset : offset + slope * (std::min(t, until) - since); }
  };
  void disturb(InputId input, const Disturbance& disturbance);
  /// Offsets that are lines are as at this time from now on.
  void move_to(Time t) {
    if (!lines_.empty()) move_lines(t);
  }
  /// What such a line does: its slope, and what it adds at `t` to what is transferred.
  double slope(InputId input) const {
    const Line* line = lines_.empty() ? nullptr : line_of(input);
    return line == nullptr ? 0.0 : line->of.slope;
  }
  double moved(InputId input, Time t) const {
    const Line* line = lines_.empty() ? nullptr : line_of(input);
    return line == nullptr ? 0.0 : line->of.offset_at(t) - wires_[input].offset;
  }
  /// Counts changes of factors.
  std::uint64_t revision() const { return revision_; }
  /// Index of the signal behind an input; below the number of outputs it is an output.
  std::size_t source(InputId input) const { return wires_[input].source; }

 private:
  struct Line {
    InputId input;
    Disturbance of;
  };
  void deliver_corrected(std::span<const double> signals, std::span<double> inputs) const;
  void move_lines(Time t);
  const Line* line_of(InputId input) const;

  struct Wire {
    double factor = 1.0;
    double offset = 0.0;
    double correction = 0.0;
    std::size_t source = 0;
  };
  std::size_t outputs_;
  std::vector<Wire> wires_;
  std::vector<std::uint32_t> plain_sources_;  // of all inputs, if none is scaled or shifted; else empty
  bool corrected_ = false;
  std::vector<double> by_run_, others_;  // by input: the parts of a correction; empty where the run corrects nothing
  std::vector<double> constants_;
  std::vector<Line> lines_;  // few
  std::uint64_t revision_ = 0;
};

template <class Take>
inline void TransferPlan::each_uncorrected(std::span<const double> signals, const Take& take) const {
  const double* values = signals.data();
  for (std::size_t i = 0; i < plain_sources_.size(); ++i) take(i, values[plain_sources_[i]]);
  if (!plain_sources_.empty()) return;
  for (std::size_t i = 0; i < wires_.size(); ++i) take(i, uncorrected(InputId{i}, signals));
}

}  // namespace entrain::coupling
