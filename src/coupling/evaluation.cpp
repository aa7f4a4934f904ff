#include "coupling/evaluation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::coupling {
namespace {

// Loops of real FMUs carry the noise of their inner iterations; below this an input and its output are the same.
constexpr double kLoopTolerance = 1e-10;

std::string describe(const Graph& graph, const AlgebraicLoop& loop) {
  constexpr std::size_t kShown = 6;
  std::vector<std::string> names;
  for (const OutputId output : loop.outputs) names.push_back(graph.name(output));
  const bool cut = names.size() > kShown;
  if (cut) names.resize(kShown);
  return fmt::format("{}{}", fmt::join(names, ", "), cut ? ", ..." : "");
}

}  // namespace

SignalEvaluation::SignalEvaluation(const Graph& graph, const TransferPlan& plan)
    : graph_(graph), plan_(plan), loop_residuals_(graph.loops().size(), 0.0) {
  for (const auto& loop : graph.loops()) {
    solvers_.emplace_back(loop.inputs.size());
    unknowns_.emplace_back(loop.inputs.size());
  }
  std::vector<char> stale(graph.subsystems(), 1);
  for (const auto& block : graph.evaluation_order()) {
    if (block.input) {
      operations_.push_back({Operation::Kind::Transfer, *block.input});
      stale[graph.owner(*block.input)] = 1;
    } else if (block.output) {
      const SubsystemId owner = graph.owner(*block.output);
      if (stale[owner] != 0) operations_.push_back({Operation::Kind::Evaluate, owner});
      stale[owner] = 0;
    } else {
      operations_.push_back({Operation::Kind::SolveLoop, *block.loop});
      for (const SubsystemId s : graph.loops()[*block.loop].subsystems) stale[s] = 0;
    }
  }
  // Every subsystem ends with its final inputs in force, also those none of whose outputs needs them.
  for (std::size_t s = 0; s < graph.subsystems(); ++s) {
    if (stale[s] != 0) operations_.push_back({Operation::Kind::Evaluate, s});
  }
}

void SignalEvaluation::evaluate_subsystem(SubsystemId s, std::span<const double> inputs, std::span<double> signals,
                                          Evaluate evaluate) const {
  const auto in = graph_.inputs_of(s);
  const auto out = graph_.outputs_of(s);
  evaluate(s, inputs.subspan(in.first, in.count), signals.subspan(out.first, out.count));
}

void SignalEvaluation::all(Time t, std::span<double> inputs, std::span<double> signals, Evaluate evaluate) {
  for (const auto& operation : operations_) {
    switch (operation.kind) {
      case Operation::Kind::Transfer:
        inputs[operation.index] = plan_.incoming(InputId{operation.index}, signals);
        break;
      case Operation::Kind::Evaluate:
        evaluate_subsystem(SubsystemId{operation.index}, inputs, signals, evaluate);
        break;
      case Operation::Kind::SolveLoop: solve_loop(operation.index, t, inputs, signals, evaluate); break;
    }
  }
}

void SignalEvaluation::loop(std::size_t index, Time t, std::span<double> inputs, std::span<double> signals,
                            Evaluate evaluate) {
  for (const SubsystemId s : graph_.loops()[index].subsystems) {
    for (const InputId input : graph_.inputs_of(s)) inputs[input] = plan_.incoming(input, signals);
  }
  solve_loop(index, t, inputs, signals, evaluate);
}

void SignalEvaluation::solve_loop(std::size_t index, Time t, std::span<double> inputs, std::span<double> signals,
                                  Evaluate evaluate) {
  const auto& loop = graph_.loops()[index];
  auto& unknowns = unknowns_[index];
  for (std::size_t i = 0; i < unknowns.size(); ++i) unknowns[i] = inputs[loop.inputs[i]];
  const auto residual = [&](std::span<const double> x, std::span<double> r) {
    for (std::size_t i = 0; i < x.size(); ++i) inputs[loop.inputs[i]] = x[i];
    for (const SubsystemId s : loop.subsystems) evaluate_subsystem(s, inputs, signals, evaluate);
    for (std::size_t i = 0; i < x.size(); ++i) r[i] = x[i] - plan_.incoming(loop.inputs[i], signals);
  };
  const auto result = solvers_[index].solve(unknowns, kLoopTolerance, residual);  // ends with residual(solution)
  double& worst = loop_residuals_[index] = 0.0;
  for (const InputId input : loop.inputs) {
    const double output = plan_.incoming(input, signals);
    const double difference = std::abs(inputs[input] - output) / (1.0 + std::abs(output));
    if (!(difference <= worst)) worst = difference;  // NaN counts as worst
  }
  if (result.converged) return;
  throw Error(ErrorCode::LoopNotSolved,
              {FactCode::LoopNotSolved,
               {},
               {{"loop", describe(graph_, loop)},
                {"residual", worst},
                {"iterations", result.iterations},
                {"why", result.message}}},
              {.subsystem = {},
               .variable = {},
               .time = t,
               .remedy = "Give start values near a solution to its inputs, or check that the loop has a solution"});
}

}  // namespace entrain::coupling
