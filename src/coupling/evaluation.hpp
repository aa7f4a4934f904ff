#pragma once

#include <span>
#include <vector>

#include "base/function_ref.hpp"
#include "coupling/transfer.hpp"
#include "entrain/graph.hpp"
#include "entrain/variable.hpp"
#include "numerics/newton.hpp"

namespace entrain::coupling {

/// Finds all inputs and outputs at one time: signals in the order of the graph, algebraic loops by Newton, block by
/// block. Used for consistent initialisation, for loops solved in the run and inside the monolithic integrator.
class SignalEvaluation {
 public:
  /// Outputs of one subsystem for given inputs, at the time meant by the caller.
  using Evaluate =
      base::FunctionRef<void(SubsystemId subsystem, std::span<const double> inputs, std::span<double> outputs)>;

  SignalEvaluation(const Graph& graph, const TransferPlan& plan);

  /// Everything. `inputs` holds first guesses of the loop unknowns and receives the solution; `signals` begin with
  /// the outputs. Throws Error{LoopNotSolved} naming the loop.
  void all(Time t, std::span<double> inputs, std::span<double> signals, Evaluate evaluate);
  /// One loop: all inputs of its subsystems are transferred anew, those of the loop solved, and the subsystems'
  /// outputs follow.
  void loop(std::size_t index, Time t, std::span<double> inputs, std::span<double> signals, Evaluate evaluate);

  /// max |input - output| / (1 + |output|) of each loop, as solved last.
  const std::vector<double>& loop_residuals() const { return loop_residuals_; }

 private:
  void solve_loop(std::size_t index, Time t, std::span<double> inputs, std::span<double> signals, Evaluate evaluate);
  void evaluate_subsystem(SubsystemId s, std::span<const double> inputs, std::span<double> signals,
                          Evaluate evaluate) const;

  /// The order of the graph with each subsystem evaluated only when an input changed since.
  struct Operation {
    enum class Kind { Transfer, Evaluate, SolveLoop } kind;
    std::size_t index;  // of the input, subsystem or loop
  };
  const Graph& graph_;
  const TransferPlan& plan_;
  std::vector<Operation> operations_;
  std::vector<numerics::NewtonSolver> solvers_;  // one per loop
  std::vector<std::vector<double>> unknowns_;
  std::vector<double> loop_residuals_;
};

}  // namespace entrain::coupling
