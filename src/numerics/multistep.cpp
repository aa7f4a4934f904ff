#include "numerics/multistep.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "numerics/dense.hpp"

namespace entrain::numerics {
namespace {

constexpr int kMostAdams = 12;
constexpr int kMostBdf = 5;
constexpr std::size_t kRows = kMostAdams + 1;
constexpr int kMostIterations = 3;
constexpr int kJacobianLife = 20;     // steps
constexpr double kGammaChange = 0.3;  // that a Newton matrix bears
constexpr double kMuchTrouble = 4.0;  // failures of the plain iteration
constexpr double kFirstGrowth = 1e4;  // after the first step, whose size is a guess
constexpr double kUsualGrowth = 10.0;
constexpr double kGrowthAfterFailure = 2.0;

/// Of one order: the row j gets l[j] times the correction; errors of order q - 1, q, q + 1 are divided by `error`.
struct Formula {
  std::array<double, kRows + 1> l{};
  std::array<double, 3> error{};
};
using Formulas = std::array<Formula, kMostAdams + 2>;  // by order, from 1

/// p(x) = x (x + 1) ... (x + q - 2), coefficient by coefficient: times (x + shift).
void multiply(std::array<double, kRows + 1>& p, int degree, double shift) {
  p[static_cast<std::size_t>(degree)] = 0.0;
  for (int i = degree; i > 0; --i) {
    const auto k = static_cast<std::size_t>(i);
    p[k] = p[k - 1] + shift * p[k];
  }
  p[0] *= shift;
}

/// The correction polynomial of Adams is the integral of p over the step (LSODE, cfode).
Formulas adams_formulas() {
  Formulas all;
  all[1].l[0] = all[1].l[1] = 1.0;
  all[1].error = {0.0, 2.0, 0.0};
  all[2].error[0] = 1.0;
  std::array<double, kRows + 1> p{1.0};
  double factorial = 1.0;  // 1 / q!
  for (int q = 2; q <= kMostAdams; ++q) {
    const double previous = std::exchange(factorial, factorial / q);  // 1 / (q - 1)!
    multiply(p, q - 1, q - 1.0);
    double integral = 0.0;
    double moment = 0.0;
    for (int i = 0; i < q; ++i) {
      const double signed_p = (i % 2 == 0 ? 1.0 : -1.0) * p[static_cast<std::size_t>(i)];
      integral += signed_p / (i + 1);
      moment += signed_p / (i + 2);
    }
    auto& formula = all[static_cast<std::size_t>(q)];
    formula.l[0] = integral * previous;
    formula.l[1] = 1.0;
    for (int i = 2; i <= q; ++i) {
      const auto k = static_cast<std::size_t>(i);
      formula.l[k] = previous * p[k - 1] / i;
    }
    const double constant = 1.0 / (factorial * moment);
    formula.error[1] = constant;
    all[static_cast<std::size_t>(q) + 1].error[0] = constant * factorial / (q + 1);
    all[static_cast<std::size_t>(q) - 1].error[2] = constant;
  }
  return all;
}

Formulas bdf_formulas() {
  Formulas all;
  std::array<double, kRows + 1> p{1.0};
  double factorial = 1.0;  // 1 / (q - 1)!
  for (int q = 1; q <= kMostBdf; ++q) {
    multiply(p, q, q);
    auto& formula = all[static_cast<std::size_t>(q)];
    for (std::size_t k = 0; k <= static_cast<std::size_t>(q); ++k) formula.l[k] = p[k] / p[1];
    formula.l[1] = 1.0;
    formula.error = {factorial, (q + 1) / formula.l[0], (q + 2) / formula.l[0]};
    factorial /= q;
  }
  return all;
}

}  // namespace

class MultistepSolver::Impl {
 public:
  Impl(std::size_t states, OdeOptions options)
      : n_(states),
        options_(std::move(options)),
        weights_(states),
        f_(states),
        y_(states),
        correction_(states),
        delta_(states),
        indicators_(options_.indicators),
        signs_(options_.indicators) {
    if (options_.absolute_tolerances.empty()) options_.absolute_tolerances.assign(n_, options_.absolute_tolerance);
  }

  OdeReached advance(Time from, Time to, std::span<double> x, const OdeProblem& problem, MultistepMemory& memory) {
    problem_ = &problem;
    m_ = &memory;
    t_ = from;
    if (memory.order > 0) {
      std::copy(x.begin(), x.end(), row(0));
      factorize();
    } else if (!begin(x, to)) {
      return given_up(x);
    }
    if (!indicators_.empty()) note_signs(x);
    for (long steps = 0; steps < options_.max_steps; ++steps) {
      if (!step(to) && !(becomes_stiff(to) && step(to))) return given_up(x);
      const Time root = indicators_.empty() ? kNever : root_of_step();
      const Time reached = std::min(root, t_);
      interpolate(reached);
      std::copy(y_.begin(), y_.end(), x.begin());
      const bool stopped = problem.step_completed && (*problem.step_completed)(reached, x);
      if (root <= t_) return ended(reached, OdeReached::Cause::Indicator);
      if (t_ >= to) return {to, stopped ? OdeReached::Cause::Stopped : OdeReached::Cause::End};
      if (stopped) return {t_, OdeReached::Cause::Stopped};
    }
    return given_up(x);
  }

 private:
  double* row(int j) { return m_->rows.data() + static_cast<std::size_t>(j) * n_; }
  const Formula& formula() const {
    static const Formulas kAdams = adams_formulas();
    static const Formulas kBdf = bdf_formulas();
    return (m_->stiff ? kBdf : kAdams)[static_cast<std::size_t>(m_->order)];
  }
  int most() const { return m_->stiff ? kMostBdf : kMostAdams; }

  OdeReached ended(Time at, OdeReached::Cause cause) {
    m_->forget();
    return {at, cause};
  }
  /// The plain iteration does not converge with steps that the errors allow: BDF from here.
  bool becomes_stiff(Time to) {
    if (std::exchange(m_->stiff, true)) return false;
    const std::vector<double> x(row(0), row(0) + n_);
    return begin(x, to);
  }
  OdeReached given_up(std::span<double> x) {
    std::copy_n(row(0), n_, x.begin());
    return ended(t_, OdeReached::Cause::GaveUp);
  }

  /// False when a derivative is not finite.
  bool derivatives(Time t, std::span<const double> x) {
    problem_->derivatives(t, x, f_);
    return std::all_of(f_.begin(), f_.end(), [](double value) { return std::isfinite(value); });
  }

  void weigh(const double* x) {
    for (std::size_t i = 0; i < n_; ++i) {
      weights_[i] = options_.relative_tolerance * std::abs(x[i]) + options_.absolute_tolerances[i];
    }
  }
  double norm(const double* v) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < n_; ++i) sum += (v[i] / weights_[i]) * (v[i] / weights_[i]);
    return std::sqrt(sum / static_cast<double>(n_));
  }

  /// Order 1, with a step that a difference of the derivatives allows (Hairer, Norsett, Wanner I, section II.4).
  bool begin(std::span<const double> x, Time to) {
    auto& m = *m_;
    const bool stiff = m.stiff;
    m = {};
    m.stiff = stiff;
    m.rows.assign(kRows * n_, 0.0);
    m.previous.assign(n_, 0.0);
    std::copy(x.begin(), x.end(), row(0));
    weigh(x.data());
    if (!derivatives(t_, x)) return false;
    const std::vector<double> slope = f_;
    const double d0 = norm(x.data());
    const double d1 = norm(slope.data());
    const Duration longest = to - t_;
    const Duration guess = std::min(d0 > 1e-5 && d1 > 1e-5 ? 0.01 * d0 / d1 : 1e-6 * longest, longest);
    for (std::size_t i = 0; i < n_; ++i) y_[i] = x[i] + guess * slope[i];
    Duration h = guess;
    if (derivatives(t_ + guess, y_)) {
      for (std::size_t i = 0; i < n_; ++i) delta_[i] = (f_[i] - slope[i]) / guess;
      const double d2 = norm(delta_.data());
      h = d2 > 0.0 ? std::min(100.0 * guess, std::sqrt(1.0 / d2)) : 100.0 * guess;
    }
    m.step = m.wanted = std::min(h, longest);
    if (!(m.step > 0.0)) return false;
    for (std::size_t i = 0; i < n_; ++i) row(1)[i] = m.step * slope[i];
    m.order = 1;
    m.wait = 2;
    m.growth = kFirstGrowth;
    return true;
  }

  void rescale(double ratio) {
    auto& m = *m_;
    double power = 1.0;
    for (int j = 1; j <= m.order; ++j) {
      power *= ratio;
      for (std::size_t i = 0; i < n_; ++i) row(j)[i] *= power;
    }
    m.step *= ratio;
  }

  /// Steps of one size up to `to`: where macro steps are equal, the size stays. True when one is left.
  bool fit(Time to) {
    auto& m = *m_;
    const Duration left = to - t_;
    const double count = std::max(1.0, std::ceil(left / m.wanted * (1.0 - 1e-9)));
    const double ratio = left / count / m.step;
    rescale(ratio);
    if (std::abs(ratio - 1.0) > 1e-6) m.wait = m.order + 1;  // the corrections are of steps of one size
    return count == 1.0;
  }

  /// Taylor's formula on the rows.
  void predict() {
    for (int k = 0; k < m_->order; ++k) {
      for (int j = m_->order - 1; j >= k; --j) {
        for (std::size_t i = 0; i < n_; ++i) row(j)[i] += row(j + 1)[i];
      }
    }
  }

  /// One step that the error test accepts. False when it is given up.
  bool step(Time to) {
    auto& m = *m_;
    int failed_tests = 0;
    for (int attempts = 0; attempts < 60; ++attempts) {
      const bool last = fit(to);
      if (t_ + m.step == t_) return false;
      weigh(row(0));
      kept_.assign(m.rows.begin(), m.rows.end());  // the sums of the prediction cannot be undone to the last bit
      predict();
      if (!correct()) {
        m.rows = kept_;
        if (!after_no_convergence()) return false;
        continue;
      }
      const double error = norm(correction_.data()) / formula().error[1];
      if (!(error <= 1.0)) {
        m.rows = kept_;
        if (!after_failed_test(++failed_tests, error)) return false;
        continue;
      }
      accept(error);
      t_ = last ? to : t_ + m.step;
      return true;
    }
    return false;
  }

  /// The equation of the implicit formula, by plain iteration or Newton's.
  bool correct() {
    auto& m = *m_;
    const double l0 = formula().l[0];
    if (m.stiff && !has_newton_matrix(l0)) return false;
    std::fill(correction_.begin(), correction_.end(), 0.0);
    std::copy_n(row(0), n_, y_.begin());
    const double limit = 0.5 / (m.order + 2) * formula().error[1];
    double before = 0.0;
    double rate = 0.7;
    const Time t = t_ + m.step;
    for (int k = 0; k < kMostIterations; ++k) {
      if (!derivatives(t, y_)) return false;
      for (std::size_t i = 0; i < n_; ++i) delta_[i] = m.step * f_[i] - row(1)[i] - correction_[i];
      if (m.stiff) solve_newton(l0);
      for (std::size_t i = 0; i < n_; ++i) correction_[i] += delta_[i];
      for (std::size_t i = 0; i < n_; ++i) y_[i] = row(0)[i] + l0 * correction_[i];
      const double change = norm(delta_.data());
      if (k > 0) rate = std::max(0.2 * rate, change / before);
      if (change * std::min(1.0, 1.5 * rate) <= limit) return true;
      if (k > 0 && change > 2.0 * before) return false;
      before = change;
    }
    return false;
  }

  bool has_newton_matrix(double l0) {
    auto& m = *m_;
    const double gamma = m.step * l0;
    const bool usable =
        m.gamma != 0.0 && std::abs(gamma / m.gamma - 1.0) <= kGammaChange && m.jacobian_age < kJacobianLife;
    if (usable) return true;
    if (m.jacobian_age >= kJacobianLife || m.jacobian.empty() || m.gamma == 0.0) {
      if (!fill_jacobian()) return false;
      m.jacobian_age = 0;
    }
    m.gamma = gamma;
    factorize();
    return true;
  }

  bool fill_jacobian() {
    auto& m = *m_;
    m.jacobian.assign(n_ * n_, 0.0);
    std::copy_n(row(0), n_, y_.begin());
    const Time t = t_ + m.step;
    std::vector<double> column(n_);
    std::vector<double> base(n_);
    std::vector<double> seed(n_);
    if (!problem_->jacobian_product) {
      if (!derivatives(t, y_)) return false;
      base = f_;
    }
    for (std::size_t j = 0; j < n_; ++j) {
      if (problem_->jacobian_product) {
        seed[j] = 1.0;
        (*problem_->jacobian_product)(t, y_, seed, column);
        seed[j] = 0.0;
      } else {
        const double kept = y_[j];
        const double width = std::max(std::sqrt(std::numeric_limits<double>::epsilon()) * std::abs(kept), weights_[j]);
        y_[j] = kept + width;
        const bool finite = derivatives(t, y_);
        const double made = y_[j] - kept;
        y_[j] = kept;
        if (!finite) return false;
        for (std::size_t i = 0; i < n_; ++i) column[i] = (f_[i] - base[i]) / made;
      }
      for (std::size_t i = 0; i < n_; ++i) m.jacobian[i * n_ + j] = column[i];
    }
    return true;
  }

  /// Follows from the memory alone, so a restored one finds its own.
  void factorize() {
    const auto& m = *m_;
    if (!m.stiff || m.gamma == 0.0) return;
    if (factorized_gamma_ == m.gamma && factorized_ == m.jacobian) return;
    const Eigen::Map<const RowMajor> jacobian(m.jacobian.data(), index(n_), index(n_));
    newton_.compute(RowMajor::Identity(index(n_), index(n_)) - m.gamma * jacobian);
    factorized_ = m.jacobian;
    factorized_gamma_ = m.gamma;
  }

  void solve_newton(double l0) {
    Eigen::Map<Eigen::VectorXd> delta(delta_.data(), index(n_));
    solution_ = newton_.solve(delta);
    delta = 2.0 / (1.0 + m_->step * l0 / m_->gamma) * solution_;
  }

  void resize_step(double ratio) {
    auto& m = *m_;
    m.wanted = m.step * ratio;
    m.growth = kGrowthAfterFailure;
  }

  bool after_no_convergence() {
    auto& m = *m_;
    if (m.stiff && m.jacobian_age > 0) {
      m.gamma = 0.0;  // with a fresh Jacobian, before the step is blamed
      m.jacobian_age = kJacobianLife;
      return true;
    }
    m.gamma = 0.0;
    resize_step(0.25);
    if (!m.stiff) m.trouble += 1.0;
    return m.trouble <= kMuchTrouble && m.wanted > 1e-14 * std::max(1.0, std::abs(t_));
  }

  bool after_failed_test(int failures, double error) {
    auto& m = *m_;
    if (!std::isfinite(error)) {
      resize_step(0.1);
    } else if (failures < 3) {
      const double shorter = 1.0 / (1.2 * std::pow(error, 1.0 / (m.order + 1)) + 1.2e-6);
      if (m.order > 1) {
        const double at_lower = norm(row(m.order)) / formula().error[0];
        const double lower = 1.0 / (1.3 * std::pow(at_lower, 1.0 / m.order) + 1.3e-6);
        if (lower > shorter) m.order -= 1;
        resize_step(std::min(std::max(lower, shorter), 0.9));
      } else {
        resize_step(std::min(shorter, 0.9));
      }
    } else {  // the rows are not to be trusted
      if (!derivatives(t_, std::span<const double>(row(0), n_))) return false;
      for (std::size_t i = 0; i < n_; ++i) row(1)[i] = m.step * f_[i];
      m.order = 1;
      m.wait = 5;
      resize_step(0.1);
    }
    return m.wanted > 1e-14 * std::max(1.0, std::abs(t_));
  }

  void accept(double error) {
    auto& m = *m_;
    const auto& l = formula().l;
    for (int j = 0; j <= m.order; ++j) {
      for (std::size_t i = 0; i < n_; ++i) row(j)[i] += l[static_cast<std::size_t>(j)] * correction_[i];
    }
    ++m.jacobian_age;
    m.trouble = std::max(0.0, m.trouble - 0.02);
    if (--m.wait > 0) {
      if (m.wait == 1) m.previous = correction_;
      return;
    }
    choose(error);
    m.previous = correction_;
  }

  /// The order whose error allows the longest step.
  void choose(double error) {
    auto& m = *m_;
    const int q = m.order;
    const double same = 1.0 / (1.2 * std::pow(error, 1.0 / (q + 1)) + 1.2e-6);
    double lower = 0.0;
    double higher = 0.0;
    if (q > 1) {
      const double at_lower = norm(row(q)) / formula().error[0];
      lower = 1.0 / (1.3 * std::pow(at_lower, 1.0 / q) + 1.3e-6);
    }
    if (q < most()) {
      for (std::size_t i = 0; i < n_; ++i) delta_[i] = correction_[i] - m.previous[i];
      const double at_higher = norm(delta_.data()) / formula().error[2];
      higher = 1.0 / (1.4 * std::pow(at_higher, 1.0 / (q + 2)) + 1.4e-6);
    }
    const double best = std::max({same, lower, higher});
    if (best < 1.1) {
      m.wanted = m.step;
      m.wait = 3;
      return;
    }
    if (higher == best && higher > same) {
      for (std::size_t i = 0; i < n_; ++i)
        row(q + 1)[i] = correction_[i] * formula().l[static_cast<std::size_t>(q)] / (q + 1);
      ++m.order;
    } else if (lower == best && lower > same) {
      --m.order;
    }
    m.wanted = m.step * std::min(best, m.growth);
    m.growth = kUsualGrowth;
    m.wait = m.order + 1;
  }

  /// The state at a time of the last step, into y_.
  void interpolate(Time t) {
    const double s = t >= t_ ? 0.0 : (t - t_) / m_->step;
    for (std::size_t i = 0; i < n_; ++i) {
      double sum = 0.0;
      for (int j = m_->order; j >= 0; --j) sum = sum * s + row(j)[i];
      y_[i] = sum;
    }
  }

  static int sign(double value) { return value > 0.0 ? 1 : value < 0.0 ? -1 : 0; }

  void note_signs(std::span<const double> x) {
    (*problem_->indicators)(t_, x, indicators_);
    for (std::size_t i = 0; i < signs_.size(); ++i) signs_[i] = sign(indicators_[i]);
  }

  /// The first indicator that has another sign at `t` than where the step began; one that was zero there has none.
  std::optional<std::size_t> changed_at(Time t) {
    interpolate(t);
    (*problem_->indicators)(t, y_, indicators_);
    for (std::size_t i = 0; i < signs_.size(); ++i) {
      if (signs_[i] * sign(indicators_[i]) < 0) return i;
    }
    return std::nullopt;
  }

  /// The first time in the last step at which an indicator has changed its sign; kNever if none has. By the secants of
  /// the Illinois method on the method's own polynomial, and by bisection where they are slow: indicators may jump.
  Time root_of_step() {
    auto culprit = changed_at(t_);
    if (!culprit) {
      for (std::size_t i = 0; i < signs_.size(); ++i) {
        if (indicators_[i] != 0.0) signs_[i] = sign(indicators_[i]);
      }
      return kNever;
    }
    Time low = t_ - m_->step;
    Time high = t_;
    double at_high = indicators_[*culprit];
    double at_low = -at_high;
    if (!changed_at(low)) at_low = indicators_[*culprit];
    const Duration close = 4.0 * std::numeric_limits<double>::epsilon() * std::max(std::abs(high), m_->step);
    for (int k = 0; high - low > close; ++k) {
      const double share = k % 3 == 2 ? 0.5 : std::clamp(at_low / (at_low - at_high), 1e-3, 1.0 - 1e-3);
      const Time middle = low + (std::isfinite(share) ? share : 0.5) * (high - low);
      if (!(middle > low && middle < high)) break;
      if (const auto found = changed_at(middle)) {
        high = middle;
        if (*found != *culprit) at_low = -indicators_[*found];
        culprit = found;
        at_high = indicators_[*found];
        at_low *= 0.5;
      } else {
        low = middle;
        at_low = indicators_[*culprit];
        at_high *= 0.5;
      }
    }
    return high;
  }

  std::size_t n_;
  OdeOptions options_;
  const OdeProblem* problem_ = nullptr;
  MultistepMemory* m_ = nullptr;
  Time t_ = 0.0;
  std::vector<double> weights_, f_, y_, correction_, delta_, kept_;
  std::vector<double> indicators_;
  std::vector<int> signs_;
  Eigen::PartialPivLU<RowMajor> newton_;
  Eigen::VectorXd solution_;
  std::vector<double> factorized_;  ///< the Jacobian of newton_
  double factorized_gamma_ = 0.0;
};

MultistepSolver::MultistepSolver(std::size_t states, OdeOptions options)
    : impl_(std::make_unique<Impl>(states, std::move(options))) {}
MultistepSolver::~MultistepSolver() = default;
MultistepSolver::MultistepSolver(MultistepSolver&&) noexcept = default;
MultistepSolver& MultistepSolver::operator=(MultistepSolver&&) noexcept = default;

OdeReached MultistepSolver::advance(Time from, Time to, std::span<double> x, const OdeProblem& problem,
                                    MultistepMemory& memory) {
  return impl_->advance(from, to, x, problem, memory);
}

}  // namespace entrain::numerics
