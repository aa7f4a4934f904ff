#include "methods/asynchronous/output_estimate.hpp"

#include <algorithm>
#include <cmath>

#include "numerics/polynomial.hpp"

namespace entrain::method {

void OutputEstimate::begin(Time t, double value) {
  times_[0] = t;
  values_[0] = value;
  count_ = 1;
  order_ = 0;
  polynomial_ = {value};
  ++cuts_;
}

void OutputEstimate::doubt() {
  ++cuts_;
  order_ = 0;
  polynomial_ = {values_[0]};
}

void OutputEstimate::confirm_doubt() {
  doubt();
  count_ = 2;
}

OutputEstimate::PredictionError OutputEstimate::take(Time t, double value, const Settings& settings) {
  double predicted = 0.0;
  for (std::size_t p = polynomial().size(); p-- > 0;) predicted = predicted * (t - time()) + polynomial_[p];
  const int highest = std::min(settings.max_order, static_cast<int>(count_) - 1);
  const auto [best, left] = best_order(t, value, highest);
  const PredictionError prediction{std::abs(value - predicted), order_, highest, left};

  order_ = best;
  count_ = std::min(count_ + 1, kSamples);
  std::copy_backward(times_.begin(), times_.end() - 1, times_.end());
  std::copy_backward(values_.begin(), values_.end() - 1, values_.end());
  times_[0] = t;
  values_[0] = value;
  carry_on(settings);
  return prediction;
}

/// The order whose extrapolation from the samples before comes nearest to the new one; of equals the lowest (18)-(20).
OutputEstimate::Choice OutputEstimate::best_order(Time t, double value, int highest) const {
  std::array<double, kSamples> difference = values_;  // divided differences, level by level
  double extrapolated = 0.0;
  double product = 1.0;
  double smallest = 0.0;
  double of_order_0 = 0.0;
  int best = 0;
  for (int q = 0; q <= highest; ++q) {
    const auto level = static_cast<std::size_t>(q);
    extrapolated += difference[0] * product;
    product *= t - times_[level];
    const double error = std::abs(value - extrapolated);
    if (q == 0) of_order_0 = error;
    if (q == 0 || error < smallest) {
      smallest = error;
      best = q;
    }
    for (std::size_t j = 0; j + level + 1 < count_; ++j) {
      difference[j] = (difference[j] - difference[j + 1]) / (times_[j] - times_[j + level + 1]);
    }
  }
  return {best, smallest < of_order_0 ? smallest / of_order_0 : 1.0};
}

void OutputEstimate::carry_on(const Settings& settings) {
  const auto samples = static_cast<std::size_t>(order_) + 1;
  if (settings.least_squares && order_ > 0) {  // the choice of this order took as many samples
    numerics::fit_through_first({times_.data(), samples + 1}, {values_.data(), samples + 1}, order_, polynomial_);
    return;
  }
  std::array<double, kMaxInputDegree + 1> nodes{};
  for (std::size_t r = 0; r < samples; ++r) nodes[r] = times_[r] - times_[0];
  numerics::interpolate({nodes.data(), samples}, {values_.data(), samples}, polynomial_);
}

}  // namespace entrain::method
