#pragma once

#include <span>
#include <string>
#include <vector>

#include "entrain/coupled_system.hpp"
#include "entrain/learning.hpp"
#include "entrain/simulation.hpp"

namespace entrain::learning {

/// A connection whose input is learned.
struct LearnedWire {
  Connection connection;
  bool late = false;              ///< the output is passed on one step of its subsystem late
  std::size_t source_span = 1;    ///< macro steps per step of the subsystem that provides it
  std::size_t consumer_span = 1;  ///< and of the one that takes it
};

/// Macro steps per step of this subsystem; 1 also where it makes several in one.
std::size_t span_of(const CoupledSystem& system, SubsystemId s, Duration step);

/// Connections from outputs that come late, or from a subsystem with longer steps than the one it feeds.
std::vector<LearnedWire> learned_wires(const CoupledSystem& system, std::span<const OutputId> late, Duration step);

/// "a.y -> b.u"
std::string name_of(const LearnedWire& wire, const Graph& graph);

/// The outputs behind them, each once.
std::vector<OutputId> outputs_of(std::span<const LearnedWire> wires);

/// Keeps what the learned inputs and their outputs were in a run.
class WireRecord : public Observer {
 public:
  WireRecord(std::vector<LearnedWire> wires, std::size_t outputs_of_all);

  void clear();
  void begin(std::span<const Signal> signals, const RunSummary& summary) override;
  void communicated(const Sample& sample, const RunSummary& summary) override;
  /// Macro steps recorded.
  std::size_t steps() const { return received_.empty() ? 0 : received_[0].size(); }
  const std::vector<LearnedWire>& wires() const { return wires_; }

  /// What wire `w` received in macro step k; k below steps().
  double received(std::size_t w, std::size_t k) const { return received_[w][k]; }
  /// What it should have received: the output as it was at the start of macro step k, between two communication times
  /// of its subsystem on the straight line.
  double meant(std::size_t w, std::size_t k) const;
  /// meant - received; zero where the consumer takes nothing because it is in the middle of a step.
  double error(std::size_t w, std::size_t k) const;
  /// The output behind wire `w` as it was passed on at communication time k, up to steps().
  double passed_on(std::size_t w, std::size_t k) const { return sent_[w][k]; }
  /// Outputs as they were passed on, one wire after the other.
  std::vector<double> sent() const;
  /// Of every wire, over the steps of its consumer.
  std::vector<LearnedCourse> courses(const Graph& graph) const;

 private:
  double output_at(std::size_t w, std::size_t k) const;

  std::vector<LearnedWire> wires_;
  std::size_t first_input_;                    // in Sample::values
  std::vector<std::vector<double>> received_;  // by wire: in macro step k
  std::vector<std::vector<double>> sent_;      // by wire: the output as passed on at communication time k
  std::vector<Time> times_;                    // communication times
  std::vector<std::string> units_;             // by wire: of the input
};

/// How far the run was from consistent, per connection and as a whole.
LearnIteration judged(const WireRecord& record, const Graph& graph);

}  // namespace entrain::learning
