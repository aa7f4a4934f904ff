#include "analysis/coupled_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/measures.hpp"
#include "entrain/error.hpp"
#include "numerics/dense.hpp"
#include "numerics/eigenvalues.hpp"
#include "numerics/sparse_lu.hpp"

namespace entrain {
namespace {

using Eigen::Index;
using Eigen::Map;
using Eigen::VectorXd;

/// I - D L by columns, in the order that SparseLu asks for.
struct LoopMatrix {
  std::vector<int> first{0};
  std::vector<int> rows;
  std::vector<double> values;

  explicit LoopMatrix(const LinearNetwork& network) {
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
    for (const auto& column : columns) {
      for (const auto& [row, value] : column) {
        rows.push_back(row);
        values.push_back(value);
      }
      first.push_back(static_cast<int>(rows.size()));
    }
  }
};

}  // namespace

struct CoupledMotion::Parts {
  Parts(const LinearNetwork& of, const LoopMatrix& loop)
      : network(of), lu(loop.first, loop.rows), outputs(of.outputs.size()) {}

  const LinearNetwork& network;
  SparseLu lu;
  std::vector<double> outputs;
  double scale = 0.0;  // of M, roughly: parts are cut by it
};

CoupledMotion::CoupledMotion(const LinearNetwork& network) {
  const LoopMatrix loop(network);
  parts_ = std::make_unique<Parts>(network, loop);
  if (!parts_->lu.factor(loop.values)) {
    throw Error(
        ErrorCode::LoopNotSolved,
        fmt::format("I - D L is singular: the algebraic loop through {} has no unique solution",
                    network.outputs[parts_->lu.singular_column()]),
        {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Cut the loop by a state, or change a gain in it"});
  }
  for (const auto& subsystem : network.subsystems) {
    const auto& m = subsystem.matrices;
    const double couplings = view(m.B).cwiseAbs().sum() * (1.0 + view(m.C).cwiseAbs().sum());
    parts_->scale = std::max(parts_->scale, view(m.A).cwiseAbs().sum() + couplings);
  }
}

CoupledMotion::~CoupledMotion() = default;

std::size_t CoupledMotion::states() const {
  return parts_->network.state_count();
}

void CoupledMotion::rates(std::span<const double> x, std::span<double> dx) {
  Index state = 0;
  Index output = 0;
  const Map<const VectorXd> all(x.data(), static_cast<Index>(x.size()));
  Map<VectorXd> y(parts_->outputs.data(), static_cast<Index>(parts_->outputs.size()));
  for (const auto& subsystem : parts_->network.subsystems) {
    const auto c = view(subsystem.matrices.C);
    y.segment(output, c.rows()).noalias() = c * all.segment(state, c.cols());
    state += c.cols();
    output += c.rows();
  }
  parts_->lu.solve(parts_->outputs);
  Map<VectorXd> result(dx.data(), static_cast<Index>(dx.size()));
  state = 0;
  for (const auto& subsystem : parts_->network.subsystems) {
    const auto& m = subsystem.matrices;
    const auto own = static_cast<Index>(m.A.rows);
    result.segment(state, own).noalias() = view(m.A) * all.segment(state, own);
    for (std::size_t i = 0; i < subsystem.inputs.size(); ++i) {
      const auto& input = subsystem.inputs[i];
      const double u = input.factor * parts_->outputs[input.source];
      for (Index r = 0; r < own; ++r) result[state + r] += u * m.B(static_cast<std::size_t>(r), i);
    }
    state += own;
  }
}

void CoupledMotion::advance(Duration time, std::span<double> x) {
  // Within a part the terms fall from the start; they end when they are below rounding.
  constexpr int kMostTerms = 60;
  const double parts = std::max(1.0, std::ceil(time * parts_->scale));
  std::vector<double> term(x.size());
  std::vector<double> next(x.size());
  for (double part = 0.0; part < parts; ++part) {
    std::copy(x.begin(), x.end(), term.begin());
    for (int k = 1; k <= kMostTerms; ++k) {
      rates(term, next);
      double added = 0.0;
      double all = 0.0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        term[i] = next[i] * (time / parts / k);
        x[i] += term[i];
        added = std::max(added, std::abs(term[i]));
        all = std::max(all, std::abs(x[i]));
      }
      if (!(added > 1e-17 * all)) break;
    }
  }
}

double CoupledMotion::fastest_rate() {
  // The mean growth under repeated products: that of the largest eigenvalues, also where they are a pair, or many.
  constexpr int kSettling = 64;
  constexpr int kCounted = 192;
  std::vector<double> x(states());
  std::vector<double> next(states());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 + 0.5 * std::sin(static_cast<double>(i));  // along no symmetry
  double growth = 0.0;
  for (int k = 0; k < kSettling + kCounted; ++k) {
    rates(x, next);
    const double length = Map<const VectorXd>(next.data(), static_cast<Index>(next.size())).norm();
    if (!(length > 0.0)) return 0.0;
    if (k >= kSettling) growth += std::log(length);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = next[i] / length;
  }
  return std::exp(growth / kCounted);
}

double CoupledMotion::growth(Duration step) {
  return spectral_radius(states(), [&](std::span<const double> x, std::span<double> product) {
    std::copy(x.begin(), x.end(), product.begin());
    advance(step, product);
  });
}

double fastest_rate(const LinearNetwork& network) {
  if (network.state_count() > kLargestDense) return CoupledMotion(network).fastest_rate();
  return spectral_radius(exact_coupling(network).dynamics);
}

double own_growth(const LinearNetwork& network, Duration step) {
  if (network.state_count() > kLargestDense) return CoupledMotion(network).growth(step);
  double largest = 0.0;
  for (const auto& value : eigenvalues(exact_coupling(network).dynamics)) {
    largest = std::max(largest, std::exp(value.real() * step));
  }
  return largest;
}

}  // namespace entrain
