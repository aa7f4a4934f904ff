#include "trials/estimator.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "numerics/polynomial.hpp"
#include "numerics/propagators.hpp"

namespace entrain::trials {
namespace {

constexpr std::array<double, kMaxInputDegree + 1> kFactorial{1.0, 1.0, 2.0, 6.0};
constexpr double kLeastShare = 1e-6;  // of its size: the range of an output that rests is but rounding

using MatrixView = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
using VectorView = Eigen::Map<const Eigen::VectorXd>;

/// a b, summed in the order of the indices: the same bits whatever the processor can do.
template <class Row, class Column>
double product(const Row& a, const Column& b) {
  double sum = 0.0;
  for (Eigen::Index j = 0; j < a.size(); ++j) sum += a[j] * b[j];
  return sum;
}

Eigen::Index signed_index(std::size_t index) {
  return static_cast<Eigen::Index>(index);
}

}  // namespace

/// The numbers under the names of the paper: "COSTARICA estimator for rollback-less systems handling in iterative
/// co-simulation algorithms" (Eguillon, Lacabanne, Tromeur-Dervout). A point is where its numbers begin.
struct Estimator::View {
  const Estimator& of;
  // NOLINTBEGIN(readability-identifier-naming): the names of the paper

  MatrixView A() const { return matrix(of.at_.a, of.sizes_.states, of.sizes_.states); }
  MatrixView B() const { return matrix(of.at_.b, of.sizes_.states, of.sizes_.inputs); }
  MatrixView C() const { return matrix(of.at_.c, of.sizes_.outputs, of.sizes_.states); }
  MatrixView D() const { return matrix(of.at_.d, of.sizes_.outputs, of.sizes_.inputs); }
  /// Q_j = h^j C phi_j(h A) of the step size set last.
  MatrixView Q(std::size_t j) const {
    return matrix(of.at_.gains[of.in_use_] + j * of.propagator_size(), of.sizes_.outputs, of.sizes_.states);
  }

  static Time t(const double* point) { return *point; }
  VectorView x(const double* point) const { return {point + 1, of.sizes_.states}; }
  VectorView dx(const double* point) const { return {point + 1 + of.sizes_.states, of.sizes_.states}; }
  VectorView u(const double* point) const { return {point + 1 + 2 * of.sizes_.states, of.sizes_.inputs}; }
  VectorView y(const double* point) const {
    return {point + 1 + 2 * of.sizes_.states + of.sizes_.inputs, of.sizes_.outputs};
  }

  /// (24): f_C = f - A x - B u, for one state.
  double f_C(std::size_t state, const double* point) const {
    const auto k = signed_index(state);
    return dx(point)[k] - product(A().row(k), x(point)) - product(B().row(k), u(point));
  }
  /// y_C = y - C x - D u, for one output; with the C and D in force at whatever time: an old y_C with its old C would
  /// cost the order.
  double y_C(std::size_t output, const double* point) const {
    const auto i = signed_index(output);
    return y(point)[i] - product(C().row(i), x(point)) - product(D().row(i), u(point));
  }
  // NOLINTEND(readability-identifier-naming)

 private:
  MatrixView matrix(std::size_t first, Index rows, Index cols) const {
    return {of.numbers_.data() + first, rows, cols};
  }
};

Estimator::Estimator(Sizes sizes, bool state_derivatives, const EstimatorOptions& options)
    : sizes_{static_cast<Index>(sizes.states), static_cast<Index>(sizes.inputs), static_cast<Index>(sizes.outputs)},
      state_derivatives_(state_derivatives),
      reconstructs_(options.reconstruction == 2),
      control_(options.control),
      renewal_(options.linearize),
      linearization_tolerance_(options.linearization_tolerance),
      exact_(options.laplace == LaplaceInversion::Exact),
      by_quotients_(options.laplace == LaplaceInversion::GaverStehfestQuotients),
      stehfest_terms_(options.stehfest_terms) {
  lay_out();
}

void Estimator::lay_out() {
  const std::size_t states = sizes_.states;
  const std::size_t inputs = sizes_.inputs;
  const std::size_t outputs = sizes_.outputs;
  std::size_t end = (kKept + 1) * point_size();
  const auto take = [&end](std::size_t count) { return static_cast<Index>(std::exchange(end, end + count)); };
  at_.a = take(states * states);
  at_.b = take(states * inputs);
  at_.c = take(outputs * states);
  at_.d = take(outputs * inputs);
  at_.missed = take(states);
  at_.low = take(outputs);
  at_.high = take(outputs);
  // Beside the gains: an estimate reads both and nothing else.
  at_.free_values = take(outputs);
  at_.free_slopes = take(outputs);
  for (auto& first : at_.gains) first = take(kPropagators * propagator_size() + 2 * gains_size());
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
    const double now = View{*this}.y(kept(0))[signed_index(i)];
    low = std::min(low, now);
    high = std::max(high, now);
  }
}

/// The error that the old linearization makes of the outputs over the next step. Behind a jump
/// the equations may be others.
bool Estimator::needs_linearization(Duration next_step) {
  if (!has_linearization_ || renewal_ == LinearizationRenewal::EveryStep) return true;
  if (!(*kept(0) > *base())) return false;
  if (known_ == 1) return true;
  if (renewal_ == LinearizationRenewal::Once) return false;
  if (!state_derivatives_) return true;  // the test below needs them
  const View view{*this};
  double* const missed = numbers_.data() + at_.missed;
  for (std::size_t k = 0; k < sizes_.states; ++k) missed[k] = view.f_C(k, kept(0)) - view.f_C(k, base());
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    const double by_rates = next_step * product(view.C().row(signed_index(i)), VectorView(missed, sizes_.states));
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
  return std::abs(View{*this}.y_C(output, point) - View{*this}.y_C(output, base()));
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

/// (38) and (40), in closed form: G_V[p] = p! Q_{p+1} B + D h^p and G_D[p] = p! Q_p B + p D h^(p-1).
void Estimator::compute_gains(Duration h) {
  const auto& [A, B, C, D] = given_;
  constexpr int kCount = static_cast<int>(kPropagators);
  const std::vector<Matrix> q = exact_ ? numerics::propagators(A, C, h, kCount)
                                       : numerics::propagators_by_stehfest(A, C, h, kCount, stehfest_terms_);
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
  if (by_quotients_) take_quotients(h);
}

/// (48) of the paper, "2Rich": F'(h) = (F(h - r) - 4 F(h - r / 2) + 3 F(h)) / r with r = 0.2 h, of every transform.
void Estimator::take_quotients(Duration h) {
  const auto& [A, B, C, D] = given_;
  constexpr int kCount = static_cast<int>(kPropagators);
  const double r = 0.2 * h;
  const auto quotient = [r](double first, double middle, double last) {
    return (first - 4.0 * middle + 3.0 * last) / r;
  };
  const auto first = numerics::propagators_by_stehfest(A, C, h - r, kCount, stehfest_terms_);
  const auto middle = numerics::propagators_by_stehfest(A, C, h - 0.5 * r, kCount, stehfest_terms_);
  auto last = numerics::propagators_by_stehfest(A, C, h, kCount, stehfest_terms_);
  for (std::size_t j = 0; j < kPropagators; ++j) {
    for (std::size_t k = 0; k < propagator_size(); ++k) {
      last[j].values[k] = quotient(first[j].values[k], middle[j].values[k], last[j].values[k]);
    }
  }
  double* const of_slope = numbers_.data() + at_.gains[in_use_] + kPropagators * propagator_size() + gains_size();
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    for (int p = 0; p <= kMaxInputDegree; ++p) {
      const auto order = static_cast<std::size_t>(p);
      const double of_power = quotient(std::pow(h - r, p), std::pow(h - 0.5 * r, p), std::pow(h, p));
      for (std::size_t j = 0; j < sizes_.inputs; ++j) {
        double slope = 0.0;
        for (std::size_t k = 0; k < sizes_.states; ++k) slope += last[order + 1](i, k) * B(k, j);
        of_slope[place(i, p, j)] = kFactorial[order] * slope + D(i, j) * of_power;
      }
    }
  }
  quotients_[in_use_] = std::move(last);
}

Estimator::InputGain Estimator::gain_at_point(std::size_t output, std::size_t input) const {
  const View view{*this};
  const auto i = signed_index(output);
  const auto j = signed_index(input);
  return {view.D()(i, j), product(view.C().row(i), view.B().col(j))};
}

double Estimator::size_of_terms(std::size_t output) const {
  const View view{*this};
  const auto i = signed_index(output);
  double sum = 0.0;
  for (Eigen::Index k = 0; k < sizes_.states; ++k) sum += std::abs(view.C()(i, k) * view.x(kept(0))[k]);
  for (Eigen::Index j = 0; j < sizes_.inputs; ++j) sum += std::abs(view.D()(i, j) * view.u(kept(0))[j]);
  return sum;
}

/// The polynomial through values at the newest points, in local time of the step that begins at the newest.
Estimator::Parabola Estimator::through_newest(std::span<const double> values) const {
  std::array<double, 3> nodes{};
  for (std::size_t age = 0; age < values.size(); ++age) nodes[age] = age_of(age);
  Parabola result{};
  numerics::interpolate(std::span(nodes).first(values.size()), values, std::span(result).first(values.size()));
  return result;
}

Estimator::Parabola Estimator::continuation_of_output(std::size_t output) const {
  std::array<double, kKept> rest{};
  for (std::size_t age = 0; age < known_; ++age) rest[age] = View{*this}.y_C(output, kept(age));
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
      numerics::interpolate(std::span(nodes).first(candidate + 1), std::span(rest).subspan(1, candidate + 1),
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
  for (std::size_t age = 0; age < points; ++age) rest[age] = View{*this}.f_C(state, kept(age));
  return through_newest(std::span(rest).first(points));
}

/// What of (37) and (39) does not depend on the inputs: P_V x + R_V f_C + y_C and its derivative, with
/// f_C = c_0 + c_1 s + c_2 s^2: Q_0 x + Q_1 c_0 + Q_2 c_1 + 2 Q_3 c_2, and Q_0 (A x + c_0) + Q_1 c_1 + 2 Q_2 c_2.
void Estimator::update_free_terms() {
  const View view{*this};
  const double* const now = kept(0);
  const std::array<MatrixView, 4> Q{view.Q(0), view.Q(1), view.Q(2), view.Q(3)};
  double* const values = numbers_.data() + at_.free_values;
  double* const slopes = numbers_.data() + at_.free_slopes;
  for (Eigen::Index i = 0; i < sizes_.outputs; ++i) {
    const Parabola rest = continuation_of_output(static_cast<std::size_t>(i));
    values[i] = product(Q[0].row(i), view.x(now)) + rest[0] + h_ * (rest[1] + h_ * rest[2]);
    slopes[i] = rest[1] + 2.0 * h_ * rest[2];
  }
  for (Eigen::Index k = 0; k < sizes_.states; ++k) {
    const auto [c0, c1, c2] = continuation_of_rate(static_cast<std::size_t>(k));
    // A x + f_C: what f_C is taken from cancels.
    const double rate = state_derivatives_ ? view.dx(now)[k] - product(view.B().row(k), view.u(now))
                                           : product(view.A().row(k), view.x(now));
    for (Eigen::Index i = 0; i < sizes_.outputs; ++i) {
      values[i] += Q[1](i, k) * c0 + Q[2](i, k) * c1 + 2.0 * Q[3](i, k) * c2;
      slopes[i] += Q[0](i, k) * rate + Q[1](i, k) * c1 + 2.0 * Q[2](i, k) * c2;
    }
  }
  if (by_quotients_) update_free_slopes_by_quotients();
}

/// The same as in update_free_terms, with dQ_j / dh by difference quotients.
void Estimator::update_free_slopes_by_quotients() {
  const View view{*this};
  const auto& quotients = quotients_[in_use_];
  double* const slopes = numbers_.data() + at_.free_slopes;
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    const Parabola rest = continuation_of_output(i);
    slopes[i] = rest[1] + 2.0 * h_ * rest[2];
    for (std::size_t k = 0; k < sizes_.states; ++k) {
      const auto [c0, c1, c2] = continuation_of_rate(k);
      slopes[i] += quotients[0](i, k) * view.x(kept(0))[signed_index(k)] + quotients[1](i, k) * c0 +
                   quotients[2](i, k) * c1 + 2.0 * quotients[3](i, k) * c2;
    }
  }
}

/// (37) and (39): G_V Xi and G_D Xi, and the free terms.
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
  const View view{*this};
  const VectorView du(input_slopes.data(), sizes_.inputs);
  for (std::size_t i = 0; i < sizes_.outputs; ++i) {
    const auto row = signed_index(i);
    dy[i] =
        product(view.C().row(row), view.dx(kept(0))) + product(view.D().row(row), du) + continuation_of_output(i)[1];
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

}  // namespace entrain::trials
