#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coupling/transfer.hpp"
#include "entrain/graph.hpp"
#include "entrain/subsystem.hpp"
#include "estimate/linear_flow.hpp"

namespace entrain::estimate {

/// What a coupled system is at one communication time.
struct SystemSample {
  Time t = 0.0;
  std::vector<double> x, dx;  ///< of all subsystems
  std::vector<double> u;      ///< inputs that `y` belongs to
  std::vector<double> held;   ///< inputs that `dx` belongs to: the fit of a lower degree ends elsewhere
  std::vector<double> y;      ///< as the subsystems returned them, with these inputs
  std::vector<double> given;  ///< what inputs are besides factor times output: offsets, constants
};

/// The linearized coupled system with its connections closed: inputs that are exactly what the connections deliver.
class ClosedLoop {
 public:
  ClosedLoop(const Graph& graph, const coupling::TransferPlan& plan, std::vector<Linearization> parts);

  /// False where the algebraic loops have no solution by this linearization.
  bool is_solvable() const { return solvable_; }
  LinearFlow& flow() { return flow_; }
  const numerics::SparseRows& a() const { return flow_.matrix(); }
  /// What the state derivatives and the outputs would be at x, were the inputs consistent.
  void make_consistent(const SystemSample& sample, std::span<double> dx, std::span<double> y) const;
  /// Adds what the outputs follow of the states (or of a change of them).
  void add_outputs(std::span<const double> x, std::span<double> y) const;
  /// The largest difference of the subsystems' matrices, each relative to its largest number.
  double difference(const ClosedLoop& other) const;

 private:
  struct Solver;  // of (I - L D) u = rest; none where no output follows an input at once
  numerics::SparseRows inputs_by_states() const;
  bool has_feedthrough() const;
  void close();

  const Graph& graph_;
  std::vector<std::size_t> source_;  // output behind each input
  std::vector<double> factor_;       // 0: not connected
  std::vector<Linearization> parts_;
  std::vector<std::size_t> first_state_;  // of each subsystem, and of what would come after
  std::shared_ptr<const Solver> solver_;
  LinearFlow flow_;
  numerics::SparseRows c_;  // of all states, with connections closed
  bool solvable_ = true;
};

}  // namespace entrain::estimate
