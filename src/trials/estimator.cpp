#include "trials/estimator.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/polynomial.hpp"
#include "numerics/propagators.hpp"

namespace entrain {
namespace {

constexpr std::array<double, kMaxInputDegree + 1> kFactorial{1.0, 1.0, 2.0, 6.0};
constexpr double kLeastShare = 1e-6;  // of its size: the range of an output that rests is but rounding

double product(const double* a, const double* b, std::size_t count) {
  double sum = 0.0;
  for (std::size_t j = 0; j < count; ++j) sum += a[j] * b[j];
  return sum;
}

}  // namespace

Estimator::Estimator(Sizes sizes, bool state_derivatives, const EstimatorOptions& options)
    : sizes_{static_cast<Index>(sizes.states), static_cast<Index>(sizes.inputs), static_cast<Index>(sizes.outputs)},
      state_derivatives_(state_derivatives),
      reconstructs_(options.reconstruction == 2),
      control_(options.control),
      renewal_(options.linearize),
      linearization_tolerance_(options.linearization_tolerance),
      exact_(options.laplace == LaplaceInversion::Exact),
      stehfest_terms_(options.stehfest_terms) {
  lay_out();
}

void Estimator::lay_out() {
  const std::size_t states = sizes_.states;
  const std::size_t inputs = sizes_.inputs;
  const std::size_t outputs = sizes_.outputs;
  std::size_t end = (kKept + 1) * point_size();
  const auto room_for = [&end](std::size_t count) { return static_cast<Index>(std::exchange(end, end + count)); };
  at_.a = room_for(states * states);
  at_.b = room_for(states * inputs);
  at_.c = room_for(outputs * states);
  at_.d = room_for(outputs * inputs);
  at_.missed = room_for(states);
  at_.low = room_for(outputs);
  at_.high = room_for(outputs);
  // Beside the gains: an estimate reads both and nothing else.
  at_.free_values = room_for(outputs);
  at_.free_slopes = room_for(outputs);
  for (auto& first : at_.gains) first = room_for(kPropagators * propagator_size() + 2 * gains_size());
  numbers_.assign(end, 0.0);
  std::fill_n(numbers_.begin() + static_cast<std::ptrdiff_t>(at_.low), outputs, HUGE_VAL);
  std::fill_n(numbers_.begin() + static_cast<std::ptrdiff_t>(at_.high), outputs, -HUGE_VAL);
}

EstimatorPoint Estimator::view(std::size_t place) {
  double* next = numbers_.data() + place * point_size();
  Time& t = *next++;
  const auto part = [&next](std::size_t count) { return std::span(std::exchange(next, next + count), count); };
  return {t, part(sizes_.states), part(sizes_.states), part(sizes_.inputs), part(sizes_.outputs)};
}

void Estimator::moved() {
  newest_ = static_cast<std::uint8_t>((newest_ + 1) % kKept);
  known_ = static_cast<std::uint8_t>(std::min<std::size_t>(known_ + 1U, kKept));
  h_ = 0.0;
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    double& low = numbers_[at_.low + i];
    double& high = numbers_[at_.high + i];
    low = std::min(low, y(kept(0))[i]);
    high = std::max(high, y(kept(0))[i]);
  }
}

double Estimator::by_a(std::size_t state, const double* point) const {
  return product(numbers_.data() + at_.a + state * sizes_.states, x(point), sizes_.states);
}

double Estimator::by_b(std::size_t state, const double* point) const {
  return product(numbers_.data() + at_.b + state * sizes_.inputs, u(point), sizes_.inputs);
}

/// Paper 001, future work: the error that the old linearization makes of the outputs over the next step. Behind a jump
/// the equations may be others.
bool Estimator::needs_linearization(Duration next_step) {
  if (!has_linearization_ || renewal_ == LinearizationRenewal::EveryStep) return true;
  if (!(*kept(0) > *base())) return false;
  if (known_ == 1) return true;
  if (renewal_ == LinearizationRenewal::Once) return false;
  if (!state_derivatives_) return true;  // the test below needs them
  double* const missed = numbers_.data() + at_.missed;
  for (std::size_t k = 0; k < sizes_.states; ++k) missed[k] = rest_of_rate(k, kept(0)) - rest_of_rate(k, base());
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    const double by_rates = next_step * product(numbers_.data() + at_.c + i * sizes_.states, missed, sizes_.states);
    if (is_urgent(i, std::abs(by_rates) + missed_of_output(i, kept(0)), next_step, kept(0))) return true;
  }
  return false;
}

bool Estimator::needs_feedthrough(Duration step) const {
  if (renewal_ != LinearizationRenewal::WhenNeeded || !state_derivatives_)
    return renewal_ != LinearizationRenewal::Once;
  const double* const here = kept_at((newest_ + 1) % kKept);
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    if (is_urgent(i, missed_of_output(i, here), step, here)) return true;
  }
  return false;
}

/// What the linearization in force misses of the change of an output since it was taken.
double Estimator::missed_of_output(std::size_t output, const double* point) const {
  return std::abs(rest_of_output(output, point) - rest_of_output(output, base()));
}

/// Since the linearization was taken so much was missed; over a step it is the share of the step in that time.
bool Estimator::is_urgent(std::size_t output, double missed, Duration step, const double* point) const {
  const double low = numbers_[at_.low + output];
  const double high = numbers_[at_.high + output];
  const double size = std::max(high - low, kLeastShare * std::max(std::abs(low), std::abs(high)));
  return !(step * missed <= linearization_tolerance_ * size * (*point - *base()));
}

void Estimator::linearized() {
  ahead_ = false;
  std::copy_n(kept(0), point_size(), numbers_.data() + kBase * point_size());
  bool same = has_linearization_;
  double* next = numbers_.data() + at_.a;
  for (const Matrix* matrix : given_matrices()) {
    same = same && std::equal(matrix->values.begin(), matrix->values.end(), next);
    next = std::copy(matrix->values.begin(), matrix->values.end(), next);
  }
  if (same) return;  // a linear subsystem: everything stays
  has_linearization_ = true;
  drop_gains();
}

void Estimator::drop_gains() {
  for (auto& gains : gains_) gains.step = 0.0;
  h_ = 0.0;
}

void Estimator::set_step(Duration h) {
  if (h == h_) return;
  if (gains_[in_use_].step != h) in_use_ = in_use_ == 0 ? 1 : 0;
  if (gains_[in_use_].step != h) {
    compute_gains(h);
    gains_[in_use_] = {h, ++revisions_};
  }
  h_ = h;
  update_free_terms();
}

/// G_V[p] = p! Q_{p+1} B + D h^p and G_D[p] = p! Q_p B + p D h^(p-1).
void Estimator::compute_gains(Duration h) {
  const auto& [A, B, C, D] = given_;
  constexpr int kCount = static_cast<int>(kPropagators);
  const std::vector<Matrix> q =
      exact_ ? propagators(A, C, h, kCount) : propagators_by_stehfest(A, C, h, kCount, stehfest_terms_);
  double* next = numbers_.data() + at_.gains[in_use_];
  for (const Matrix& propagator : q) next = std::copy(propagator.values.begin(), propagator.values.end(), next);
  double* const of_value = next;
  double* const of_slope = next + gains_size();
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    double power = 1.0;  // h^p
    double lower = 0.0;  // p h^(p-1)
    for (int p = 0; p <= kMaxInputDegree; ++p) {
      const auto order = static_cast<std::size_t>(p);
      for (std::size_t j = 0; j < sizes_.inputs; ++j) {
        double value = 0.0;
        double slope = 0.0;
        for (std::size_t k = 0; k < sizes_.states; ++k) {
          value += q[order + 1](i, k) * B(k, j);
          slope += q[order](i, k) * B(k, j);
        }
        of_value[place(i, p, j)] = kFactorial[order] * value + D(i, j) * power;
        of_slope[place(i, p, j)] = kFactorial[order] * slope + D(i, j) * lower;
      }
      lower = (p + 1) * power;
      power *= h;
    }
  }
}

Estimator::InputGain Estimator::gain_at_point(std::size_t output, std::size_t input) const {
  InputGain gain{numbers_[at_.d + output * sizes_.inputs + input], 0.0};
  for (std::size_t k = 0; k < sizes_.states; ++k) {
    gain.slope += numbers_[at_.c + output * sizes_.states + k] * numbers_[at_.b + k * sizes_.inputs + input];
  }
  return gain;
}

double Estimator::size_of_terms(std::size_t output) const {
  const double* const now = kept(0);
  double sum = 0.0;
  for (std::size_t k = 0; k < sizes_.states; ++k) {
    sum += std::abs(numbers_[at_.c + output * sizes_.states + k] * x(now)[k]);
  }
  for (std::size_t j = 0; j < sizes_.inputs; ++j) {
    sum += std::abs(numbers_[at_.d + output * sizes_.inputs + j] * u(now)[j]);
  }
  return sum;
}

/// y_C, with the C and D in force at whatever time: an old y_C with its old C would cost the order.
double Estimator::rest_of_output(std::size_t output, const double* point) const {
  return y(point)[output] - product(numbers_.data() + at_.c + output * sizes_.states, x(point), sizes_.states) -
         product(numbers_.data() + at_.d + output * sizes_.inputs, u(point), sizes_.inputs);
}

double Estimator::rest_of_rate(std::size_t state, const double* point) const {
  return dx(point)[state] - by_a(state, point) - by_b(state, point);
}

/// The polynomial through values at the newest points, in local time of the step that begins at the newest.
Estimator::Parabola Estimator::through_newest(std::span<const double> values) const {
  std::array<double, 3> nodes{};
  for (std::size_t age = 0; age < values.size(); ++age) nodes[age] = age_of(age);
  Parabola result{};
  interpolate(std::span(nodes).first(values.size()), values, std::span(result).first(values.size()));
  return result;
}

Estimator::Parabola Estimator::continuation_of_output(std::size_t output) const {
  std::array<double, kKept> rest{};
  for (std::size_t age = 0; age < known_; ++age) rest[age] = rest_of_output(output, kept(age));
  std::size_t degree = control_ == OutputControl::Hold ? 0 : control_ == OutputControl::First ? 1 : 2;
  degree = std::min<std::size_t>(degree, known_ - 1U);
  if (control_ == OutputControl::Flexible && known_ > 1) {
    // The degree whose polynomial through the points before would have met the newest best: none that was not tried,
    // for a line through both sides of a jump leads far away.
    double best = HUGE_VAL;
    for (std::size_t candidate = 0; candidate + 1 < known_; ++candidate) {
      std::array<double, 3> nodes{};
      Parabola polynomial{};
      for (std::size_t k = 0; k <= candidate; ++k) nodes[k] = age_of(k + 1);
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
  const std::size_t points = reconstructs_ && known_ >= 3 ? 3 : 1;
  std::array<double, 3> rest{};
  for (std::size_t age = 0; age < points; ++age) rest[age] = rest_of_rate(state, kept(age));
  return through_newest(std::span(rest).first(points));
}

/// P_V x + R_V f_C + y_C and its derivative, with f_C = c_0 + c_1 s + c_2 s^2:
/// Q_0 x + Q_1 c_0 + Q_2 c_1 + 2 Q_3 c_2, and Q_0 (A x + c_0) + Q_1 c_1 + 2 Q_2 c_2.
void Estimator::update_free_terms() {
  const double* const now = kept(0);
  const auto q = [this](std::size_t j) { return numbers_.data() + at_.gains[in_use_] + j * propagator_size(); };
  double* const values = numbers_.data() + at_.free_values;
  double* const slopes = numbers_.data() + at_.free_slopes;
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    const Parabola rest = continuation_of_output(i);
    values[i] = product(q(0) + i * sizes_.states, x(now), sizes_.states) + rest[0] + h_ * (rest[1] + h_ * rest[2]);
    slopes[i] = rest[1] + 2.0 * h_ * rest[2];
  }
  for (std::size_t k = 0; k < sizes_.states; ++k) {
    const auto [c0, c1, c2] = continuation_of_rate(k);
    // A x + f_C: what the rest of f is taken from cancels.
    const double rate = state_derivatives_ ? dx(now)[k] - by_b(k, now) : by_a(k, now);
    for (std::size_t i = 0; i < sizes_.outputs; ++i) {
      const std::size_t ik = i * sizes_.states + k;
      values[i] += q(1)[ik] * c0 + q(2)[ik] * c1 + 2.0 * q(3)[ik] * c2;
      slopes[i] += q(0)[ik] * rate + q(1)[ik] * c1 + 2.0 * q(2)[ik] * c2;
    }
  }
}

void Estimator::estimate(const InputBlock& inputs, std::span<double> y, std::span<double> dy) const {
  // The coefficients of all orders lie in one piece, like those of a row of gains.
  const double* coefficients = inputs.order(0).data();
  const std::size_t count = inputs.count() * static_cast<std::size_t>(inputs.degree() + 1);
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    const double* value = value_gains() + place(i, 0, 0);
    const double* slope = slope_gains() + place(i, 0, 0);
    double value_sum = numbers_[at_.free_values + i];
    double slope_sum = numbers_[at_.free_slopes + i];
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
    const double* const c = numbers_.data() + at_.c + i * sizes_.states;
    const double* const d = numbers_.data() + at_.d + i * sizes_.inputs;
    dy[i] = product(c, dx(kept(0)), sizes_.states) + product(d, input_slopes.data(), sizes_.inputs) +
            continuation_of_output(i)[1];
  }
}

Estimator::Memory Estimator::memory() const {
  const auto end = numbers_.begin() + static_cast<std::ptrdiff_t>(at_.free_values);
  return {{numbers_.begin(), end}, given_, newest_, known_, has_linearization_, ahead_};
}

void Estimator::restore(const Memory& memory) {
  std::copy(memory.numbers.begin(), memory.numbers.end(), numbers_.begin());
  given_ = memory.given;
  newest_ = memory.newest;
  known_ = memory.known;
  has_linearization_ = memory.has_linearization;
  ahead_ = memory.ahead;
  drop_gains();
}

}  // namespace entrain
