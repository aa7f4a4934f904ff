#include "estimation/estimator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/polynomial.hpp"
#include "numerics/propagators.hpp"

namespace entrain {
namespace {

constexpr int kPropagators = kMaxInputDegree + 2;  // Q_0 .. Q_4
constexpr std::array<double, kMaxInputDegree + 1> kFactorial{1.0, 1.0, 2.0, 6.0};

double row_times(const Matrix& matrix, std::size_t row, std::span<const double> vector) {
  const double* entries = matrix.values.data() + row * matrix.cols;
  double sum = 0.0;
  for (std::size_t j = 0; j < vector.size(); ++j) sum += entries[j] * vector[j];
  return sum;
}

bool equal(const Linearization& a, const Linearization& b) {
  return a.A.values == b.A.values && a.B.values == b.B.values && a.C.values == b.C.values && a.D.values == b.D.values;
}

}  // namespace

Estimator::Estimator(Sizes sizes, bool state_derivatives, const EstimatorOptions& options)
    : sizes_(sizes),
      state_derivatives_(state_derivatives),
      options_(options),
      free_values_(sizes.outputs),
      free_slopes_(sizes.outputs),
      rate_(sizes.states),
      missed_(sizes.states) {
  for (auto& gains : gains_) {
    gains.value.resize(sizes.outputs * kOrders * sizes.inputs);
    gains.slope.resize(gains.value.size());
  }
  for (auto* point : {&points_[0], &points_[1], &points_[2], &points_[3], &base_}) {
    point->x.resize(sizes.states);
    point->dx.resize(sizes.states);
    point->u.resize(sizes.inputs);
    point->y.resize(sizes.outputs);
  }
}

EstimatorPoint& Estimator::point() {
  return points_[(newest_ + 1) % kKept];
}

void Estimator::moved() {
  newest_ = (newest_ + 1) % kKept;
  known_ = std::min(known_ + 1, kKept);
  h_ = 0.0;
}

/// Paper 001, future work: the error that the old linearization makes of the outputs over the next step,
/// dt^2 |C delta| / (t_N - t_M), where delta is what it misses of the change of f since it was taken. Behind a jump
/// the equations may be others.
bool Estimator::needs_linearization(Duration next_step) {
  if (!has_linearization_ || options_.linearize == "every-step") return true;
  const EstimatorPoint& now = kept(0);
  const Duration age = now.t - base_.t;
  if (!(age > 0.0)) return false;
  if (known_ == 1) return true;
  if (options_.linearize == "once") return false;
  if (!state_derivatives_) return true;  // the test below needs them
  const auto& [A, B, C, D] = in_force_;
  for (std::size_t i = 0; i < sizes_.states; ++i) {
    missed_[i] = now.dx[i] - base_.dx[i] - row_times(A, i, now.x) + row_times(A, i, base_.x) - row_times(B, i, now.u) +
                 row_times(B, i, base_.u);
  }
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    const double missed = next_step * next_step * std::abs(row_times(C, i, missed_)) / age;
    if (!(missed <= options_.urgency * (1.0 + std::abs(now.y[i])))) return true;
  }
  return false;
}

void Estimator::linearized() {
  const EstimatorPoint& now = kept(0);
  base_.t = now.t;
  base_.x = now.x;
  base_.dx = now.dx;
  base_.u = now.u;
  base_.y = now.y;
  if (has_linearization_ && equal(given_, in_force_)) return;  // a linear subsystem: everything stays
  std::swap(in_force_, given_);                                // its storage is filled anew
  has_linearization_ = true;
  drop_gains();
}

void Estimator::drop_gains() {
  for (auto& gains : gains_) gains.step = 0.0;
  h_ = 0.0;
}

void Estimator::set_step(Duration h) {
  if (h == h_) return;
  if (gains_[in_use_].step != h) in_use_ = 1 - in_use_;
  if (gains_[in_use_].step != h) {
    compute(gains_[in_use_], h);
    gains_[in_use_].revision = ++revisions_;
  }
  h_ = h;
  update_free_terms();
}

/// G_V[p] = p! Q_{p+1} B + D h^p and G_D[p] = p! Q_p B + p D h^(p-1).
void Estimator::compute(Gains& gains, Duration h) const {
  const auto& [A, B, C, D] = in_force_;
  gains.step = h;
  gains.q = options_.laplace == "exact" ? propagators(A, C, h, kPropagators)
                                        : propagators_by_stehfest(A, C, h, kPropagators, options_.stehfest_terms);
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    double power = 1.0;  // h^p
    double lower = 0.0;  // p h^(p-1)
    for (int p = 0; p <= kMaxInputDegree; ++p) {
      const auto order = static_cast<std::size_t>(p);
      for (std::size_t j = 0; j < sizes_.inputs; ++j) {
        double value = 0.0;
        double slope = 0.0;
        for (std::size_t k = 0; k < sizes_.states; ++k) {
          value += gains.q[order + 1](i, k) * B(k, j);
          slope += gains.q[order](i, k) * B(k, j);
        }
        gains.value[place(i, p, j)] = kFactorial[order] * value + D(i, j) * power;
        gains.slope[place(i, p, j)] = kFactorial[order] * slope + D(i, j) * lower;
      }
      lower = (p + 1) * power;
      power *= h;
    }
  }
}

/// y_C, with the C and D in force at whatever time: an old y_C with its old C would cost the order.
double Estimator::rest_of_output(std::size_t output, const EstimatorPoint& at) const {
  return at.y[output] - row_times(in_force_.C, output, at.x) - row_times(in_force_.D, output, at.u);
}

double Estimator::rest_of_rate(std::size_t state, const EstimatorPoint& at) const {
  return at.dx[state] - row_times(in_force_.A, state, at.x) - row_times(in_force_.B, state, at.u);
}

/// The polynomial through values at the newest points, in local time of the step that begins at the newest.
Estimator::Parabola Estimator::through_newest(std::span<const double> values) const {
  std::array<double, 3> nodes{};
  for (std::size_t age = 0; age < values.size(); ++age) nodes[age] = kept(age).t - kept(0).t;
  Parabola result{};
  interpolate(std::span(nodes).first(values.size()), values, std::span(result).first(values.size()));
  return result;
}

Estimator::Parabola Estimator::continuation_of_output(std::size_t output) const {
  std::array<double, kKept> rest{};
  for (std::size_t age = 0; age < known_; ++age) rest[age] = rest_of_output(output, kept(age));
  std::size_t degree = options_.control == "hold" ? 0 : options_.control == "first" ? 1 : 2;
  degree = std::min(degree, known_ - 1);
  if (options_.control == "flexible" && known_ == kKept) {
    // The degree whose polynomial through the points before would have met the newest best.
    double best = HUGE_VAL;
    for (std::size_t candidate = 0; candidate < kKept - 1; ++candidate) {
      std::array<double, 3> nodes{};
      Parabola polynomial{};
      for (std::size_t k = 0; k <= candidate; ++k) nodes[k] = kept(k + 1).t - kept(0).t;
      interpolate(std::span(nodes).first(candidate + 1), std::span(rest).subspan(1, candidate + 1),
                  std::span(polynomial).first(candidate + 1));
      const double miss = std::abs(polynomial[0] - rest[0]);
      if (miss < best) {
        best = miss;
        degree = candidate;
      }
    }
  }
  return through_newest(std::span(rest).first(degree + 1));
}

Estimator::Parabola Estimator::continuation_of_rate(std::size_t state) const {
  if (!state_derivatives_) return {};
  const std::size_t points = options_.reconstruction == 2 && known_ >= 3 ? 3 : 1;
  std::array<double, 3> rest{};
  for (std::size_t age = 0; age < points; ++age) rest[age] = rest_of_rate(state, kept(age));
  return through_newest(std::span(rest).first(points));
}

/// P_V x + R_V f_C + y_C and its derivative, with f_C = c_0 + c_1 s + c_2 s^2:
/// Q_0 x + Q_1 c_0 + Q_2 c_1 + 2 Q_3 c_2, and Q_0 (A x + c_0) + Q_1 c_1 + 2 Q_2 c_2.
void Estimator::update_free_terms() {
  const EstimatorPoint& now = kept(0);
  const auto& q = gains().q;
  for (std::size_t k = 0; k < sizes_.states; ++k) rate_[k] = continuation_of_rate(k);
  std::fill(free_slopes_.begin(), free_slopes_.end(), 0.0);
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    const Parabola rest = continuation_of_output(i);
    free_values_[i] = row_times(q[0], i, now.x) + rest[0] + h_ * (rest[1] + h_ * rest[2]);
    free_slopes_[i] = rest[1] + 2.0 * h_ * rest[2];
  }
  for (std::size_t k = 0; k < sizes_.states; ++k) {
    const auto& [c0, c1, c2] = rate_[k];
    // A x + f_C: what the rest of f is taken from cancels.
    const double rate =
        state_derivatives_ ? now.dx[k] - row_times(in_force_.B, k, now.u) : row_times(in_force_.A, k, now.x);
    for (std::size_t i = 0; i < sizes_.outputs; ++i) {
      free_values_[i] += q[1](i, k) * c0 + q[2](i, k) * c1 + 2.0 * q[3](i, k) * c2;
      free_slopes_[i] += q[0](i, k) * rate + q[1](i, k) * c1 + 2.0 * q[2](i, k) * c2;
    }
  }
}

void Estimator::estimate(const InputBlock& inputs, std::span<double> y, std::span<double> dy) const {
  // The coefficients of all orders lie in one piece, like those of a row of gains.
  const double* coefficients = inputs.order(0).data();
  const std::size_t count = inputs.count() * static_cast<std::size_t>(inputs.degree() + 1);
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    const double* value = gains().value.data() + place(i, 0, 0);
    const double* slope = gains().slope.data() + place(i, 0, 0);
    double value_sum = free_values_[i];
    double slope_sum = free_slopes_[i];
    for (std::size_t k = 0; k < count; ++k) {
      value_sum += value[k] * coefficients[k];
      slope_sum += slope[k] * coefficients[k];
    }
    y[i] = value_sum;
    dy[i] = slope_sum;
  }
}

void Estimator::slopes_at_point(std::span<const double> input_slopes, std::span<double> dy) const {
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    dy[i] =
        row_times(in_force_.C, i, kept(0).dx) + row_times(in_force_.D, i, input_slopes) + continuation_of_output(i)[1];
  }
}

void Estimator::save(std::vector<double>& numbers) const {
  const auto add = [&](std::span<const double> values) { numbers.insert(numbers.end(), values.begin(), values.end()); };
  const auto add_point = [&](const EstimatorPoint& point) {
    numbers.push_back(point.t);
    for (const auto* values : {&point.x, &point.dx, &point.u, &point.y}) add(*values);
  };
  numbers.push_back(static_cast<double>(known_));
  for (std::size_t age = kKept; age-- > 0;) add_point(kept(age));
  numbers.push_back(has_linearization_ ? 1.0 : 0.0);
  if (!has_linearization_) return;
  add_point(base_);
  for (const auto* matrix : {&in_force_.A, &in_force_.B, &in_force_.C, &in_force_.D}) add(matrix->values);
}

const double* Estimator::restore(const double* numbers) {
  const auto take = [&](std::vector<double>& values) {
    std::copy_n(numbers, values.size(), values.begin());
    numbers += values.size();
  };
  const auto take_point = [&](EstimatorPoint& point) {
    point.t = *numbers++;
    for (auto* values : {&point.x, &point.dx, &point.u, &point.y}) take(*values);
  };
  known_ = static_cast<std::size_t>(*numbers++);
  for (std::size_t k = 0; k < kKept; ++k) take_point(points_[k]);
  newest_ = kKept - 1;
  has_linearization_ = *numbers++ != 0.0;
  drop_gains();
  if (!has_linearization_) return numbers;
  take_point(base_);
  in_force_.A.resize(sizes_.states, sizes_.states);
  in_force_.B.resize(sizes_.states, sizes_.inputs);
  in_force_.C.resize(sizes_.outputs, sizes_.states);
  in_force_.D.resize(sizes_.outputs, sizes_.inputs);
  for (auto* matrix : {&in_force_.A, &in_force_.B, &in_force_.C, &in_force_.D}) take(matrix->values);
  return numbers;
}

}  // namespace entrain
