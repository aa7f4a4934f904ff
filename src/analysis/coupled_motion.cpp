#include "analysis/coupled_motion.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/measures.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "numerics/eigenvalues.hpp"
#include "numerics/sparse_lu.hpp"

namespace entrain::analysis {
namespace {

/// Throws when I - D L is singular: the loop is followed by columns, in the order that SparseLu asks for.
void check_loops(const LinearNetwork& network) {
  std::vector<std::map<int, double>> columns(network.outputs.size());
  for (std::size_t y = 0; y < columns.size(); ++y) columns[y][static_cast<int>(y)] = 1.0;
  std::size_t output = 0;
  for (const auto& subsystem : network.subsystems) {
    const Matrix& d = subsystem.matrices.D;
    for (std::size_t y = 0; y < d.rows; ++y, ++output) {
      for (std::size_t u = 0; u < d.cols; ++u) {
        const auto& input = subsystem.inputs[u];
        if (d(y, u) != 0.0) columns[input.source][static_cast<int>(output)] -= input.factor * d(y, u);
      }
    }
  }
  std::vector<int> first{0};
  std::vector<int> rows;
  std::vector<double> values;
  for (const auto& column : columns) {
    for (const auto& [row, value] : column) {
      rows.push_back(row);
      values.push_back(value);
    }
    first.push_back(static_cast<int>(rows.size()));
  }
  numerics::SparseLu lu(std::move(first), std::move(rows));
  if (lu.factor(values)) return;
  throw Error(
      ErrorCode::LoopNotSolved, {FactCode::LoopSingular, {network.outputs[lu.singular_column()]}},
      {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Cut the loop by a state, or change a gain in it"});
}

}  // namespace

numerics::SchurComplement coupled_motion(const LinearNetwork& network) {
  check_loops(network);
  const std::size_t states = network.state_count();
  numerics::SchurComplement motion{.size = states, .all = states + network.outputs.size(), .entries = {}};
  // dx = A x + B L y, 0 = C x + (D L - I) y
  const auto add = [&](std::size_t row, std::size_t column, double value) {
    if (value != 0.0) motion.entries.push_back({row, column, value});
  };
  std::size_t x = 0;
  std::size_t y = states;
  for (const auto& subsystem : network.subsystems) {
    const auto& [a, b, c, d] = subsystem.matrices;
    for (std::size_t i = 0; i < a.rows; ++i) {
      for (std::size_t j = 0; j < a.cols; ++j) add(x + i, x + j, a(i, j));
      for (std::size_t u = 0; u < b.cols; ++u) {
        add(x + i, states + subsystem.inputs[u].source, b(i, u) * subsystem.inputs[u].factor);
      }
    }
    for (std::size_t i = 0; i < c.rows; ++i) {
      for (std::size_t j = 0; j < c.cols; ++j) add(y + i, x + j, c(i, j));
      for (std::size_t u = 0; u < d.cols; ++u) {
        add(y + i, states + subsystem.inputs[u].source, d(i, u) * subsystem.inputs[u].factor);
      }
      add(y + i, y + i, -1.0);
    }
    x += a.rows;
    y += c.rows;
  }
  return motion;
}

double fastest_rate(const LinearNetwork& network) {
  if (network.state_count() > kLargestDense) return numerics::mean_growth(coupled_motion(network));
  return numerics::spectral_radius(exact_coupling(network).dynamics);
}

double own_growth(const LinearNetwork& network, Duration step) {
  if (network.state_count() > kLargestDense) {
    const numerics::SchurComplement motion = coupled_motion(network);
    return std::exp(step * numerics::spectral_abscissa(motion, numerics::mean_growth(motion)));
  }
  double largest = 0.0;
  for (const auto& value : numerics::eigenvalues(exact_coupling(network).dynamics)) {
    largest = std::max(largest, std::exp(value.real() * step));
  }
  return largest;
}

}  // namespace entrain::analysis
