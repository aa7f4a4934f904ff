#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "entrain/model.hpp"
#include "numerics/dual.hpp"
#include "subsystem/native/event_integration.hpp"

namespace entrain::subsystem {

/// A nonlinear model whose equations are written once:
///
///     template <class Number>
///     void equations(const Number& t, const std::array<Number, States>& x, const std::array<Number, Inputs>& u,
///                    std::array<Number, States>& dx, std::array<Number, Outputs>& y) const;
///
/// The linearization and the slopes of the outputs come from the same lines by forward differentiation. At least one
/// state. State events as in Model.
template <class Derived, std::size_t States, std::size_t Inputs, std::size_t Outputs>
class SmoothModel : public Model {
 public:
  const VariableTable& variables() const noexcept override { return variables_; }
  Feedthrough feedthrough() const override { return feedthrough_; }
  void derivatives(const Point& at, std::span<double> dx) const override {
    std::ranges::copy(evaluated(at).dx, dx.begin());
  }
  void outputs(const Point& at, std::span<double> y) const override { std::ranges::copy(evaluated(at).y, y.begin()); }
  /// dy/dt = C f + D u' + the explicit change with the time.
  void output_rates(const Point& at, std::span<double> dy) const override {
    const auto all = differentiated(at);
    for (std::size_t i = 0; i < Outputs; ++i) {
      dy[i] = all.y[i].slopes[kTime];
      for (std::size_t j = 0; j < States; ++j) dy[i] += all.y[i].slopes[j] * all.dx[j].value;
      for (std::size_t j = 0; j < Inputs; ++j) dy[i] += all.y[i].slopes[States + j] * at.du[j];
    }
  }
  void linearize(const Point& at, Linearization& result) const override {
    const auto all = differentiated(at);
    fill(all.dx, 0, States, result.A);
    fill(all.dx, States, Inputs, result.B);
    fill(all.y, 0, States, result.C);
    fill(all.y, States, Inputs, result.D);
  }
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    if (!solver_) solver_.emplace(*this);  // not in the constructor: only Derived knows its indicators
    solver_->integrate(*this, from, size, inputs, x);
  }

 protected:
  struct Direct {
    std::size_t output;
    std::size_t input;
  };
  /// `direct`: which outputs depend on which inputs without a state between them.
  explicit SmoothModel(VariableTable variables, std::initializer_list<Direct> direct = {})
      : variables_(std::move(variables)), feedthrough_(Outputs, Inputs) {
    for (const auto& pair : direct) feedthrough_.set(pair.output, pair.input, true);
  }

 private:
  static constexpr std::size_t kTime = States + Inputs;  // the place of the time among the variables of a Dual

  template <class Number>
  struct Evaluation {
    std::array<Number, States> dx{};
    std::array<Number, Outputs> y{};
  };

  Evaluation<double> evaluated(const Point& at) const {
    std::array<double, States> x{};
    std::array<double, Inputs> u{};
    std::copy_n(at.x.begin(), States, x.begin());
    std::copy_n(at.u.begin(), Inputs, u.begin());
    Evaluation<double> result;
    static_cast<const Derived&>(*this).equations(at.t, x, u, result.dx, result.y);
    return result;
  }
  auto differentiated(const Point& at) const {
    using Number = numerics::Dual<States + Inputs + 1>;
    std::array<Number, States> x{};
    std::array<Number, Inputs> u{};
    for (std::size_t i = 0; i < States; ++i) x[i] = Number::variable(at.x[i], i);
    for (std::size_t i = 0; i < Inputs; ++i) u[i] = Number::variable(at.u[i], States + i);
    Evaluation<Number> result;
    static_cast<const Derived&>(*this).equations(Number::variable(at.t, kTime), x, u, result.dx, result.y);
    return result;
  }
  template <class Rows>
  static void fill(const Rows& rows, std::size_t first, std::size_t count, Matrix& matrix) {
    matrix.resize(rows.size(), count);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < count; ++j) matrix(i, j) = rows[i].slopes[first + j];
    }
  }

  VariableTable variables_;
  Feedthrough feedthrough_;
  std::optional<EventIntegration> solver_;
};

}  // namespace entrain::subsystem
