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

bool ClosedLoop::has_feedthrough() const {
  return !std::all_of(parts_.begin(), parts_.end(), [](const Linearization& part) { return is_zero(part.D); });
}

/// u = L y + given and y = C x + D u + rest give u by x: (I - L D) du = L C dx.
numerics::SparseRows ClosedLoop::inputs_by_states() const {
  const std::size_t states = first_state_.back();
  numerics::SparseRows direct;  // L C
  std::vector<double> row(states);
  for (std::size_t i = 0; i < source_.size(); ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    if (factor_[i] != 0.0) {
      const SubsystemId from = graph_.owner(OutputId{source_[i]});
      const Matrix& c = parts_[from].C;
      const std::size_t output = source_[i] - graph_.outputs_of(from).first;
      for (std::size_t j = 0; j < c.cols; ++j) row[first_state_[from] + j] = factor_[i] * c(output, j);
    }
    direct.add_row(row);
  }
  if (!solver_) return direct;
  numerics::RowMajor all = numerics::RowMajor::Zero(numerics::index(source_.size()), numerics::index(states));
  for (std::size_t i = 0; i < source_.size(); ++i) direct.add_to(i, 1.0, {all.row(numerics::index(i)).data(), states});
  return numerics::sparse_rows(numerics::to_matrix(solver_->lu.solve(Eigen::MatrixXd(all))));
}

void ClosedLoop::close() {
  first_state_.push_back(0);
  for (const Linearization& part : parts_) first_state_.push_back(first_state_.back() + part.A.rows);
  if (has_feedthrough()) {
    Eigen::MatrixXd loop = Eigen::MatrixXd::Identity(numerics::index(source_.size()), numerics::index(source_.size()));
    for (std::size_t i = 0; i < source_.size(); ++i) {
      if (factor_[i] == 0.0) continue;
      const SubsystemId from = graph_.owner(OutputId{source_[i]});
      const Matrix& d = parts_[from].D;
      const std::size_t output = source_[i] - graph_.outputs_of(from).first;
      const std::size_t first = graph_.inputs_of(from).first;
      for (std::size_t j = 0; j < d.cols; ++j)
        loop(numerics::index(i), numerics::index(first + j)) -= factor_[i] * d(output, j);
    }
    solver_ = std::make_shared<const Solver>(Solver{Eigen::PartialPivLU<Eigen::MatrixXd>(loop)});
  }
  const numerics::SparseRows u_by_x = inputs_by_states();
  numerics::SparseRows a;
  std::vector<double> row(first_state_.back());
  const auto add = [&](std::size_t s, const Matrix& by_states, const Matrix& by_inputs, numerics::SparseRows& to) {
    const std::size_t first_input = graph_.inputs_of(SubsystemId{s}).first;
    for (std::size_t i = 0; i < by_states.rows; ++i) {
      std::fill(row.begin(), row.end(), 0.0);
      for (std::size_t j = 0; j < by_states.cols; ++j) row[first_state_[s] + j] = by_states(i, j);
      for (std::size_t j = 0; j < by_inputs.cols; ++j) u_by_x.add_to(first_input + j, by_inputs(i, j), row);
      to.add_row(row);
    }
  };
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    add(s, parts_[s].A, parts_[s].B, a);
    add(s, parts_[s].C, parts_[s].D, c_);
  }
  const auto finite = [](const numerics::SparseRows& m) {
    return std::all_of(m.values.begin(), m.values.end(), [](double value) { return std::isfinite(value); });
  };
  solvable_ = finite(a) && finite(c_);
  flow_ = LinearFlow(std::move(a));
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
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += c_.times(i, x);
}

double ClosedLoop::difference(const ClosedLoop& other) const {
  double largest = 0.0;
  for (std::size_t s = 0; s < parts_.size(); ++s) {
    for (const auto matrix : {&Linearization::A, &Linearization::B, &Linearization::C, &Linearization::D}) {
      largest = std::max(largest, relative_difference(parts_[s].*matrix, other.parts_[s].*matrix));
    }
  }
  return largest;
}

}  // namespace entrain::estimate
