#include "methods/asynchronous/sampled_outputs.hpp"

#include <algorithm>
#include <cmath>

#include "base/grid.hpp"

namespace entrain::method {
namespace {

// Gauss-Legendre on [-1, 1]: exact to degree 7, a cubic times a cubic.
constexpr std::array<double, 4> kNodes{-0.8611363115940526, -0.3399810435848563, 0.3399810435848563,
                                       0.8611363115940526};
constexpr std::array<double, 4> kWeights{0.3478548451374538, 0.6521451548625461, 0.6521451548625461,
                                         0.3478548451374538};
// Behind the last sample: a parabola for one step, a line for more, for what is continued far grows with its degree.
constexpr int kContinued = 2;
constexpr int kContinuedFar = 1;
constexpr double kOneStep = 1.0 + 1e-9;

/// Legendre polynomials on [0, 1].
std::array<double, 4> legendre(double x) {
  const double c = 2.0 * x - 1.0;
  return {1.0, c, 0.5 * (3.0 * c * c - 1.0), 0.5 * c * (5.0 * c * c - 3.0)};
}

}  // namespace

void SampledOutputs::start(Time t, std::span<const double> values) {
  times_.assign(1, t);
  values_.assign(values.begin(), values.end());
  outputs_ = values.size();
  known_ = 1;
  break_ = t;
}

void SampledOutputs::plan(Time end) {
  for (std::size_t o = 0; o < outputs_; ++o) values_.push_back(at(o, end, kContinued));
  // The values were found with the samples before; `at` reads none of those that are being added.
  times_.push_back(end);
}

void SampledOutputs::make_first(Time end, std::span<const double> values) {
  times_[known_] = end;
  for (std::size_t o = 0; o < outputs_; ++o) set(known_, o, values[o]);
  ++known_;
}

void SampledOutputs::drop_planned() {
  times_.resize(known_);
  values_.resize(known_ * outputs_);
}

void SampledOutputs::forget_before(Time needed_from) {
  std::size_t first = 0;
  while (first + 1 < known_ && times_[first + 1] <= needed_from) ++first;
  if (first <= kMaxInputDegree) return;
  const std::size_t gone = first - kMaxInputDegree;
  times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(gone));
  values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(gone * outputs_));
  known_ -= gone;
}

SampledOutputs::Stencil SampledOutputs::stencil(std::size_t end_sample, Time until, int degree) const {
  // Samples that belong together: on one side of a break.
  std::size_t low = 0;
  std::size_t high = times_.size();
  for (std::size_t k = 0; k < times_.size(); ++k) {
    if (times_[k] != break_) continue;
    if (end_sample > k) low = k;
    if (end_sample <= k) high = k + 1;
  }
  if (end_sample >= high) {  // behind the last sample
    const std::size_t there = high - low;
    const bool far = there < 2 || until - times_[high - 1] > kOneStep * (times_[high - 1] - times_[high - 2]);
    const auto most = static_cast<std::size_t>(std::min(degree, far ? kContinuedFar : kContinued)) + 1;
    const std::size_t count = std::min(most, there);
    return {high - count, count};
  }
  const std::size_t count = std::min(static_cast<std::size_t>(degree) + 1, high - low);
  // As many on either side; where that is not possible, those nearest.
  const std::size_t left = (count + 1) / 2;
  std::size_t first = end_sample > low + left ? end_sample - left : low;
  first = std::min(first, high - count);
  return {first, count};
}

double SampledOutputs::value_of(const Stencil& stencil, std::size_t output, Time t) const {
  double sum = 0.0;
  for (std::size_t i = stencil.first; i < stencil.first + stencil.count; ++i) {
    double weight = 1.0;
    for (std::size_t j = stencil.first; j < stencil.first + stencil.count; ++j) {
      if (j != i) weight *= (t - times_[j]) / (times_[i] - times_[j]);
    }
    sum += weight * value(i, output);
  }
  return sum;
}

double SampledOutputs::at(std::size_t output, Time t, int degree) const {
  const auto end = std::lower_bound(times_.begin(), times_.end(), t) - times_.begin();
  if (end == 0) return value(0, output);
  return value_of(stencil(static_cast<std::size_t>(end), t, degree), output, t);
}

SampledOutputs::Polynomial SampledOutputs::over(std::size_t output, Time from, Duration size, int degree) const {
  const Time to = from + size;
  std::array<double, 4> moments{};
  const auto add = [&](Time begin, Time end, const auto& function) {
    const double half = 0.5 * (end - begin) / size;
    const double middle = (0.5 * (begin + end) - from) / size;
    for (std::size_t q = 0; q < kNodes.size(); ++q) {
      const double x = middle + half * kNodes[q];
      const double weighted = half * kWeights[q] * function(from + x * size);
      const auto basis = legendre(x);
      for (std::size_t k = 0; k < basis.size(); ++k) moments[k] += weighted * basis[k];
    }
  };
  Time begin = from;
  if (from < times_.front()) {
    begin = std::min(times_.front(), to);
    add(from, begin, [&](Time) { return value(0, output); });
  }
  auto sample = static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), begin) - times_.begin());
  while (begin < to && !base::same_time(begin, to)) {
    Time end = sample < times_.size() ? std::min(times_[sample], to) : to;
    if (base::same_time(end, to)) end = to;
    const Stencil of_piece = stencil(sample, end, degree);
    add(begin, end, [&](Time t) { return value_of(of_piece, output, t); });
    begin = end;
    ++sample;
  }
  for (std::size_t k = 0; k < moments.size(); ++k) {
    moments[k] *= 2.0 * static_cast<double>(k) + 1.0;
    if (static_cast<int>(k) > degree) moments[k] = 0.0;
  }
  Polynomial powers{moments[0] - moments[1] + moments[2] - moments[3],
                    2.0 * moments[1] - 6.0 * moments[2] + 12.0 * moments[3], 6.0 * moments[2] - 30.0 * moments[3],
                    20.0 * moments[3]};
  double power = 1.0;
  for (double& coefficient : powers) {
    coefficient /= power;
    power *= size;
  }
  return powers;
}

double SampledOutputs::interpolation_error(std::size_t output, int degree) const {
  double largest = 0.0;
  for (std::size_t k = known_; k < times_.size(); ++k) {
    const Stencil whole = stencil(k, times_[k], degree);
    if (whole.count < 3) continue;
    const bool first_is_far = times_[k] - times_[whole.first] > times_[whole.first + whole.count - 1] - times_[k];
    const Stencil less{whole.first + (first_is_far ? 1 : 0), whole.count - 1};
    const Time middle = 0.5 * (times_[k - 1] + times_[k]);
    largest = std::max(largest, std::abs(value_of(whole, output, middle) - value_of(less, output, middle)));
  }
  return largest;
}

}  // namespace entrain::method
