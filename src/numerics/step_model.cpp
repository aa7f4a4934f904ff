#include "numerics/step_model.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::numerics {
namespace {

constexpr double kDamping = 1e-6;   // of a column's length: a direction that is seen less stays as it is
constexpr double kRounding = 1e-8;  // of a signal: smaller differences are none
constexpr double kSameStep = 1e-6;  // relative difference of sizes
constexpr double kOtherStep = 0.1;  // weight of what is known from steps of another size
constexpr std::size_t kGrowthSteps = 64;

/// Divided difference of order `i`, times i!, of values at times[0..i]; `value(k)`.
template <class Value>
double difference(std::span<const double> times, int i, Value value) {
  std::array<double, BoxHistory::kMost + 1> column{};
  for (int k = 0; k <= i; ++k) column[static_cast<std::size_t>(k)] = value(static_cast<std::size_t>(k));
  for (int level = 1; level <= i; ++level) {
    for (int k = 0; k + level <= i; ++k) {
      const auto at = static_cast<std::size_t>(k);
      column[at] = level * (column[at] - column[at + 1]) / (times[at] - times[at + static_cast<std::size_t>(level)]);
    }
  }
  return column[0];
}

std::array<double, BoxHistory::kMost + 1> times_with(const BoxHistory& history, double step) {
  std::array<double, BoxHistory::kMost + 1> times{};
  times[0] = history.times[0] + step;
  std::copy_n(history.times.begin(), history.count, times.begin() + 1);
  return times;
}

}  // namespace

void BoxHistory::push(double time, std::span<const double> new_outputs, std::span<const double> new_inputs) {
  std::copy_backward(times.begin(), times.end() - 1, times.end());
  std::copy_backward(outputs.begin(), outputs.end() - static_cast<std::ptrdiff_t>(new_outputs.size()), outputs.end());
  std::copy_backward(inputs.begin(), inputs.end() - static_cast<std::ptrdiff_t>(new_inputs.size()), inputs.end());
  times[0] = time;
  std::copy(new_outputs.begin(), new_outputs.end(), outputs.begin());
  std::copy(new_inputs.begin(), new_inputs.end(), inputs.begin());
  count = std::min(count + 1, kMost);
}

StepModel::StepModel(std::size_t outputs, std::size_t inputs, int order, double forgetting)
    : outputs_(outputs),
      inputs_(inputs),
      regressors_(size(outputs, inputs, order)),
      order_(order),
      forgetting_(forgetting),
      no_inputs_(inputs, 0.0),
      row_(regressors_ + outputs, 0.0),
      damped_(regressors_ * (regressors_ + outputs), 0.0),
      change_(regressors_ * outputs, 0.0),
      norms_(regressors_, 0.0) {
  memory_.triangle.assign(regressors_ * width(), 0.0);
  memory_.coefficients.assign(regressors_ * outputs_, 0.0);
  assumed_ = memory_.coefficients;
  memory_.sizes.assign(outputs_ + inputs_, 0.0);
}

void StepModel::assume(std::span<const double> direct_gains) {
  const std::size_t first = regressors_ - inputs_;  // of the differences of the highest order
  for (std::size_t j = 0; j < inputs_; ++j) {
    for (std::size_t o = 0; o < outputs_; ++o) {
      assumed_[(first + j) * outputs_ + o] = direct_gains[o * inputs_ + j];
    }
  }
  memory_.coefficients = assumed_;
}

double StepModel::leading(const BoxHistory& history, double step, int i) const {
  double factor = 1.0;
  for (int m = 0; m < i; ++m) {
    factor *= (m + 1) / (history.times[0] + step - history.times[static_cast<std::size_t>(m)]);
  }
  return factor;
}

void StepModel::write_row(const BoxHistory& history, double step, std::span<const double> inputs) const {
  auto next = row_.begin();
  *next++ = 1.0;
  for (int i = 0; i < order_; ++i) {
    for (std::size_t o = 0; o < outputs_; ++o) {
      *next++ = difference(history.times, i, [&](std::size_t k) { return history.outputs[k * outputs_ + o]; });
    }
  }
  const auto times = times_with(history, step);
  for (int i = 0; i <= order_; ++i) {
    for (std::size_t j = 0; j < inputs_; ++j) {
      *next++ = difference(times, i,
                           [&](std::size_t k) { return k == 0 ? inputs[j] : history.inputs[(k - 1) * inputs_ + j]; });
    }
  }
}

void StepModel::write_left_side(const BoxHistory& history, double step, std::span<const double> outputs) const {
  const auto times = times_with(history, step);
  for (std::size_t o = 0; o < outputs_; ++o) {
    row_[regressors_ + o] = difference(
        times, order_, [&](std::size_t k) { return k == 0 ? outputs[o] : history.outputs[(k - 1) * outputs_ + o]; });
  }
}

void StepModel::predict(const BoxHistory& history, double step, Prediction& result) const {
  result.free.assign(outputs_, 0.0);
  result.gains.assign(outputs_ * inputs_, 0.0);
  std::vector<double>& zeros = result.free;  // of enough elements for the outputs
  write_row(history, step, no_inputs_);
  write_left_side(history, step, zeros);
  const double lead = leading(history, step, order_);
  for (std::size_t o = 0; o < outputs_; ++o) {
    double sum = -row_[regressors_ + o];
    for (std::size_t r = 0; r < regressors_; ++r) sum += row_[r] * memory_.coefficients[r * outputs_ + o];
    result.free[o] = sum / lead;
  }
  const std::size_t first = regressors_ - (static_cast<std::size_t>(order_) + 1) * inputs_;
  for (int i = 0; i <= order_; ++i) {
    const double factor = leading(history, step, i) / lead;
    for (std::size_t j = 0; j < inputs_; ++j) {
      const std::size_t r = first + static_cast<std::size_t>(i) * inputs_ + j;
      for (std::size_t o = 0; o < outputs_; ++o) {
        result.gains[o * inputs_ + j] += factor * memory_.coefficients[r * outputs_ + o];
      }
    }
  }
}

namespace {

/// Steps of one size up to time 0, all zero.
BoxHistory at_rest(std::size_t outputs, std::size_t inputs, double step) {
  BoxHistory history(outputs, inputs);
  for (std::size_t k = 0; k < BoxHistory::kMost; ++k) history.times[k] = -static_cast<double>(k) * step;
  history.count = BoxHistory::kMost;
  return history;
}

}  // namespace

void StepModel::direct_gains(double step, std::span<double> gains) const {
  BoxHistory history = at_rest(outputs_, inputs_, step);
  Prediction rest;
  Prediction first;
  Prediction second;
  predict(history, step, rest);  // what the constant adds
  first = rest;
  std::vector<double> pushed(inputs_, 0.0);
  std::vector<double> answer(outputs_, 0.0);
  for (std::size_t j = 0; j < inputs_; ++j) {
    history = at_rest(outputs_, inputs_, step);
    std::fill(pushed.begin(), pushed.end(), 0.0);
    pushed[j] = 1.0;
    for (std::size_t o = 0; o < outputs_; ++o) answer[o] = first.gains[o * inputs_ + j];
    history.push(step, answer, pushed);
    predict(history, step, second);
    for (std::size_t o = 0; o < outputs_; ++o) gains[o * inputs_ + j] = answer[o] - (second.free[o] - rest.free[o]);
  }
}

double StepModel::growth(double step) const {
  BoxHistory history = at_rest(outputs_, inputs_, step);
  Prediction rest;
  Prediction next;
  predict(history, step, rest);
  std::vector<double> answer(outputs_, 1.0);
  history.push(step, answer, no_inputs_);
  double largest = 1.0;
  for (std::size_t k = 1; k <= kGrowthSteps; ++k) {
    predict(history, step, next);
    largest = 0.0;
    for (std::size_t o = 0; o < outputs_; ++o) {
      answer[o] = next.free[o] - rest.free[o];
      largest = std::max(largest, std::abs(answer[o]));
    }
    if (!(largest < 1e100)) return HUGE_VAL;
    history.push(static_cast<double>(k + 1) * step, answer, no_inputs_);
  }
  return std::pow(largest, 1.0 / static_cast<double>(kGrowthSteps));
}

/// `row_` into the triangle, from column `first` on, by rotations; `row_` is zero then.
void StepModel::rotate_in(std::vector<double>& triangle, std::size_t first) const {
  for (std::size_t c = first; c < regressors_; ++c) {
    if (row_[c] == 0.0) continue;
    double* const line = triangle.data() + c * width();
    const double length = std::hypot(line[c], row_[c]);
    const double cosine = line[c] / length;
    const double sine = row_[c] / length;
    for (std::size_t k = c; k < width(); ++k) {
      const double above = line[k];
      line[k] = cosine * above + sine * row_[k];
      row_[k] = cosine * row_[k] - sine * above;
    }
  }
}

void StepModel::learn(const BoxHistory& history, double step, std::span<const double> inputs,
                      std::span<const double> outputs, bool solve_now) {
  const auto same = [&](double other) { return std::abs(step - other) <= kSameStep * step; };
  bool even = true;
  for (int k = 0; k + 1 < order_; ++k) {
    const auto at = static_cast<std::size_t>(k);
    even = even && same(history.times[at] - history.times[at + 1]);
  }
  const double weight = memory_.rows > 0 && !same(memory_.step) ? kOtherStep : forgetting_;
  for (double& value : memory_.triangle) value *= weight;
  memory_.step = step;
  for (std::size_t o = 0; o < outputs_; ++o) memory_.sizes[o] = std::max(memory_.sizes[o], std::abs(outputs[o]));
  for (std::size_t j = 0; j < inputs_; ++j) {
    memory_.sizes[outputs_ + j] = std::max(memory_.sizes[outputs_ + j], std::abs(inputs[j]));
  }
  write_row(history, step, inputs);
  write_left_side(history, step, outputs);
  if (!even) {
    for (double& value : row_) value *= kOtherStep;
  }
  rotate_in(memory_.triangle, 0);
  ++memory_.rows;
  if (solve_now) solve();
}

/// The lengths of the columns of regressors; at least that of differences which are but rounding.
void StepModel::find_norms() {
  const auto length = [&](std::size_t c) {
    double sum = 0.0;
    for (std::size_t r = 0; r <= c; ++r) {
      const double value = memory_.triangle[r * width() + c];
      sum += value * value;
    }
    return std::sqrt(sum);
  };
  norms_[0] = std::max(length(0), kRounding);
  std::size_t c = 1;
  const auto take = [&](std::span<const double> sizes, int orders) {
    double power = 1.0;
    for (int i = 0; i < orders; ++i) {
      for (const double size : sizes) {
        const double norm = std::max(length(c), kRounding * size / power);
        norms_[c++] = norm > 0.0 ? norm : 1.0;
      }
      power *= memory_.step;
    }
  };
  take(std::span(memory_.sizes).first(outputs_), order_);
  take(std::span(memory_.sizes).last(inputs_), order_ + 1);
}

/// Of the coefficients, the change: min |S - R (K + dK)|^2 + (damping |column|)^2 |dK|^2.
void StepModel::solve() {
  find_norms();
  for (std::size_t r = 0; r < regressors_; ++r) {
    const double* const line = memory_.triangle.data() + r * width();
    double* const damped = damped_.data() + r * width();
    for (std::size_t c = 0; c < regressors_; ++c) damped[c] = c < r ? 0.0 : line[c] / norms_[c];
    for (std::size_t o = 0; o < outputs_; ++o) {
      double missed = line[regressors_ + o];
      for (std::size_t c = r; c < regressors_; ++c) missed -= line[c] * memory_.coefficients[c * outputs_ + o];
      damped[regressors_ + o] = missed;
    }
  }
  for (std::size_t c = 0; c < regressors_; ++c) {
    std::fill(row_.begin(), row_.end(), 0.0);
    row_[c] = kDamping;
    rotate_in(damped_, c);
  }
  for (std::size_t back = regressors_; back > 0; --back) {
    const std::size_t r = back - 1;
    const double* const line = damped_.data() + r * width();
    for (std::size_t o = 0; o < outputs_; ++o) {
      double value = line[regressors_ + o];
      for (std::size_t c = r + 1; c < regressors_; ++c) value -= line[c] * change_[c * outputs_ + o];
      change_[r * outputs_ + o] = value / line[r];
    }
  }
  for (std::size_t r = 0; r < regressors_; ++r) {
    for (std::size_t o = 0; o < outputs_; ++o) {
      memory_.coefficients[r * outputs_ + o] += change_[r * outputs_ + o] / norms_[r];
    }
  }
  ++memory_.revision;
}

void StepModel::forget() {
  std::fill(memory_.triangle.begin(), memory_.triangle.end(), 0.0);
  memory_.coefficients = assumed_;
  memory_.rows = 0;
  memory_.step = 0.0;
  ++memory_.revision;
}

}  // namespace entrain::numerics
