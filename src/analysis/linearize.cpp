#include "analysis/linearize.hpp"

#include <algorithm>
#include <cmath>

#include "entrain/fact_codes.hpp"

namespace entrain::analysis {
namespace {

bool finite(const Matrix& matrix) {
  return std::all_of(matrix.values.begin(), matrix.values.end(), [](double value) { return std::isfinite(value); });
}

/// nullopt when `result` holds the linearization.
std::optional<Fact> obstacle(CoupledSystem& system, SubsystemId s, Linearization& result) {
  const auto& name = system.graph().name(s);
  const Facets facets = system.facets(s);
  if (facets.linearizer == nullptr) return Fact{FactCode::NoLinearization, {name}};
  if (facets.equations != nullptr && facets.equations->reads_input_derivatives()) {
    return Fact{FactCode::LinearizationIncomplete, {name}};
  }
  try {
    facets.linearizer->linearize(result);
  } catch (const std::exception& error) {
    return Fact{FactCode::LinearizationFailed, {name}, {{"why", error.what()}}};
  }
  if (finite(result.A) && finite(result.B) && finite(result.C) && finite(result.D)) return std::nullopt;
  return Fact{FactCode::LinearizationNotFinite, {name}};
}

void keep_column(const Matrix& from, std::size_t column, std::size_t to, Matrix& result) {
  for (std::size_t row = 0; row < from.rows; ++row) result(row, to) = from(row, column);
}

LinearSubsystem subsystem_of(const CoupledSystem& system, SubsystemId s, Linearization all) {
  const Graph& graph = system.graph();
  LinearSubsystem result;
  result.name = graph.name(s);
  result.capabilities = system.capabilities(s);
  const auto inputs = graph.inputs_of(s);
  std::vector<std::size_t> columns;
  for (const InputId input : inputs) {
    const Connection* connection = graph.source(input);
    if (connection == nullptr) continue;
    result.inputs.push_back({graph.name(input), connection->output, connection->factor});
    columns.push_back(input - inputs.first);
  }
  Matrix b(all.B.rows, columns.size());
  Matrix d(all.D.rows, columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    keep_column(all.B, columns[i], i, b);
    keep_column(all.D, columns[i], i, d);
  }
  result.matrices = {std::move(all.A), std::move(b), std::move(all.C), std::move(d)};
  return result;
}

}  // namespace

LinearizedSystem linearized(CoupledSystem& system) {
  LinearizedSystem result;
  LinearNetwork network;
  for (std::size_t s = 0; s < system.size(); ++s) {
    Linearization all;
    auto trouble = obstacle(system, SubsystemId{s}, all);
    if (!trouble) {
      network.subsystems.push_back(subsystem_of(system, SubsystemId{s}, std::move(all)));
    } else {
      result.obstacles.push_back(*std::move(trouble));
    }
  }
  for (std::size_t y = 0; y < system.graph().outputs(); ++y) {
    network.outputs.push_back(system.graph().name(OutputId{y}));
  }
  if (result.obstacles.empty()) result.network = std::move(network);
  return result;
}

}  // namespace entrain::analysis
