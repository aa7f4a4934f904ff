#include "subsystem/native/linear_model.hpp"

#include <utility>

namespace entrain::subsystem {
namespace {

double row_times(const Matrix& matrix, std::size_t row, std::span<const double> vector) {
  double sum = 0.0;
  for (std::size_t j = 0; j < vector.size(); ++j) sum += matrix(row, j) * vector[j];
  return sum;
}

double product(const double* row, std::span<const double> vector) {
  double sum = 0.0;
  for (const double value : vector) sum += *row++ * value;
  return sum;
}

Matrix product(const Matrix& left, const Matrix& right) {
  Matrix result(left.rows, right.cols);
  for (std::size_t i = 0; i < left.rows; ++i) {
    for (std::size_t k = 0; k < left.cols; ++k) {
      for (std::size_t j = 0; j < right.cols; ++j) result(i, j) += left(i, k) * right(k, j);
    }
  }
  return result;
}

}  // namespace

void LinearModel::set_matrices(Linearization matrices) {
  matrices_ = std::move(matrices);
  state_to_rate_ = product(matrices_.C, matrices_.A);
  input_to_rate_ = product(matrices_.C, matrices_.B);
  step_ = numerics::LinearStep(matrices_.A, matrices_.B);
  output_rows_.clear();
  for (std::size_t i = 0; i < variables_.outputs.size(); ++i) {
    for (std::size_t j = 0; j < variables_.states.size(); ++j) output_rows_.push_back(matrices_.C(i, j));
    for (std::size_t j = 0; j < variables_.inputs.size(); ++j) output_rows_.push_back(matrices_.D(i, j));
  }
}

Feedthrough LinearModel::feedthrough() const {
  const Matrix& d = matrices_.D;
  Feedthrough result(d.rows, d.cols);
  for (std::size_t i = 0; i < d.rows; ++i) {
    for (std::size_t j = 0; j < d.cols; ++j) result.set(i, j, d(i, j) != 0.0);
  }
  return result;
}

void LinearModel::derivatives(const Point& at, std::span<double> dx) const {
  for (std::size_t i = 0; i < dx.size(); ++i) dx[i] = row_times(matrices_.A, i, at.x) + row_times(matrices_.B, i, at.u);
}

void LinearModel::outputs(const Point& at, std::span<double> y) const {
  const double* row = output_rows_.data();
  for (double& value : y) {
    value = product(row, at.x) + product(row + at.x.size(), at.u);
    row += at.x.size() + at.u.size();
  }
}

void LinearModel::linearize(const Point&, Linearization& result) const {
  result = matrices_;
}

void LinearModel::output_rates(const Point& at, std::span<double> dy) const {
  for (std::size_t i = 0; i < dy.size(); ++i) {
    dy[i] = row_times(state_to_rate_, i, at.x) + row_times(input_to_rate_, i, at.u) + row_times(matrices_.D, i, at.du);
  }
}

void LinearModel::integrate(Time, Duration size, const InputBlock& inputs, std::span<double> x) {
  step_.advance(size, inputs, x);
}

}  // namespace entrain::subsystem
