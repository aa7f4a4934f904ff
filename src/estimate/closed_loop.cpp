#include "estimate/closed_loop.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/dense.hpp"

namespace entrain::estimate {

struct ClosedLoop::Solver {
  Eigen::PartialPivLU<Eigen::MatrixXd> lu;
};

namespace {

bool is_zero(const Matrix& m) {
  return std::all_of(m.values.begin(), m.values.end(), [](double value) { return value == 0.0; });
}

double relative_difference(const Matrix& a, const Matrix& b) {
  double size = 0.0;
  double difference = 0.0;
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    size = std::max({size, std::abs(a.values[i]), std::abs(b.values[i])});
    difference = std::max(difference, std::abs(a.values[i] - b.values[i]));
  }
  return size > 0.0 ? difference / size : 0.0;
}

}  // namespace

ClosedLoop::ClosedLoop(const Graph& graph, const coupling::TransferPlan& plan, std::vector<Linearization> parts)
    : graph_(graph), parts_(std::move(parts)) {
  for (std::size_t i = 0; i < graph.inputs(); ++i) {
    const bool connected = graph.source(InputId{i}) != nullptr;
    source_.push_back(connected ? plan.source(InputId{i}) : 0);
    factor_.push_back(connected ? plan.factor(InputId{i}) : 0.0);
  }
  close();
}

/// u = L y + given and y = C x + D u + rest give u by x: (I - L D) du = L C dx.
void ClosedLoop::close() {
  std::size_t states = 0;
  bool feedthrough = false;
  for (const Linearization& part : parts_) {
    states += part.A.rows;
    feedthrough = feedthrough || !is_zero(part.D);
  }
  const Eigen::Index inputs = numerics::index(graph_.inputs());
  numerics::RowMajor y_by_x = numerics::RowMajor::Zero(numerics::index(graph_.outputs()), numerics::index(states));
  numerics::RowMajor a = numerics::RowMajor::Zero(numerics::index(states), numerics::index(states));
  numerics::RowMajor y_by_u =
      feedthrough ? numerics::RowMajor::Zero(numerics::index(graph_.outputs()), inputs) : numerics::RowMajor();
  Eigen::Index first = 0;
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    const Linearization& part = parts_[s];
    const auto in = graph_.inputs_of(SubsystemId{s});
    const auto out = graph_.outputs_of(SubsystemId{s});
    const Eigen::Index n = numerics::index(part.A.rows);
    a.block(first, first, n, n) = numerics::view(part.A);
    y_by_x.block(numerics::index(out.first), first, numerics::index(out.count), n) = numerics::view(part.C);
    if (feedthrough) {
      y_by_u.block(numerics::index(out.first), numerics::index(in.first), numerics::index(out.count),
                   numerics::index(in.count)) = numerics::view(part.D);
    }
    first += n;
  }
  numerics::RowMajor u_by_x(inputs, numerics::index(states));
  for (Eigen::Index i = 0; i < inputs; ++i) {
    u_by_x.row(i) =
        factor_[static_cast<std::size_t>(i)] * y_by_x.row(numerics::index(source_[static_cast<std::size_t>(i)]));
  }
  if (feedthrough) {
    Eigen::MatrixXd loop = Eigen::MatrixXd::Identity(inputs, inputs);
    for (Eigen::Index i = 0; i < inputs; ++i) {
      loop.row(i) -=
          factor_[static_cast<std::size_t>(i)] * y_by_u.row(numerics::index(source_[static_cast<std::size_t>(i)]));
    }
    solver_ = std::make_shared<const Solver>(Solver{Eigen::PartialPivLU<Eigen::MatrixXd>(loop)});
    u_by_x = solver_->lu.solve(Eigen::MatrixXd(u_by_x));
    y_by_x += y_by_u * u_by_x;
  }
  first = 0;
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    const auto in = graph_.inputs_of(SubsystemId{s});
    const Eigen::Index n = numerics::index(parts_[s].A.rows);
    a.middleRows(first, n) +=
        numerics::view(parts_[s].B) * u_by_x.middleRows(numerics::index(in.first), numerics::index(in.count));
    first += n;
  }
  solvable_ = a.allFinite() && y_by_x.allFinite();
  flow_ = LinearFlow(numerics::to_matrix(a));
  c_ = numerics::to_matrix(y_by_x);
}

void ClosedLoop::make_consistent(const SystemSample& sample, std::span<double> dx, std::span<double> y) const {
  Eigen::VectorXd change(numerics::index(sample.u.size()));  // of the inputs
  for (std::size_t i = 0; i < sample.u.size(); ++i) {
    change[numerics::index(i)] = factor_[i] * sample.y[source_[i]] + sample.given[i] - sample.u[i];
  }
  // y moves with u: L (y + D du) + given - u = du.
  if (solver_) change = solver_->lu.solve(change);
  Eigen::VectorXd from_held = change;
  for (std::size_t i = 0; i < sample.u.size(); ++i) from_held[numerics::index(i)] += sample.u[i] - sample.held[i];
  std::copy(sample.dx.begin(), sample.dx.end(), dx.begin());
  std::copy(sample.y.begin(), sample.y.end(), y.begin());
  std::size_t first = 0;
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    const Linearization& part = parts_[s];
    const auto in = graph_.inputs_of(SubsystemId{s});
    const auto out = graph_.outputs_of(SubsystemId{s});
    Eigen::Map<Eigen::VectorXd>(dx.data() + first, numerics::index(part.A.rows)).noalias() +=
        numerics::view(part.B) * from_held.segment(numerics::index(in.first), numerics::index(in.count));
    if (solver_) {
      Eigen::Map<Eigen::VectorXd>(y.data() + out.first, numerics::index(out.count)).noalias() +=
          numerics::view(part.D) * change.segment(numerics::index(in.first), numerics::index(in.count));
    }
    first += part.A.rows;
  }
}

void ClosedLoop::add_outputs(std::span<const double> x, std::span<double> y) const {
  Eigen::Map<Eigen::VectorXd>(y.data(), numerics::index(y.size())).noalias() +=
      numerics::view(c_) * Eigen::Map<const Eigen::VectorXd>(x.data(), numerics::index(x.size()));
}

double ClosedLoop::difference(const ClosedLoop& other) const {
  return std::max(relative_difference(a(), other.a()), relative_difference(c_, other.c_));
}

}  // namespace entrain::estimate
