#pragma once

#include <functional>
#include <string>
#include <vector>

#include "entrain/model.hpp"
#include "numerics/ode.hpp"

namespace entrain::test {

/// dx/dt = f(x, u), y = g(x, u) with one state x, one input u and one output y, written in the test itself. Linearized
/// by central differences, integrated to rounding level.
class OdeModel : public Model {
 public:
  using Function = std::function<double(double x, double u)>;
  struct Equation {
    Function f, g;
    double start = 0.0;
    bool feedthrough = false;
  };

  explicit OdeModel(Equation equation) : equation_(std::move(equation)) {
    table_.inputs.push_back({"u", "", "", ValueType::Real, 0.0});
    table_.outputs.push_back({"y", "", "", ValueType::Real, {}});
    table_.states.push_back({"x", "", "", ValueType::Real, equation_.start});
  }

  const VariableTable& variables() const noexcept override { return table_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {1, 1, equation_.feedthrough}; }
  void derivatives(const Point& at, std::span<double> dx) const override { dx[0] = equation_.f(at.x[0], at.u[0]); }
  void outputs(const Point& at, std::span<double> y) const override { y[0] = equation_.g(at.x[0], at.u[0]); }
  void linearize(const Point& at, Linearization& result) const override {
    constexpr double kDelta = 1e-5;
    const double x = at.x[0];
    const double u = at.u[0];
    const auto by_x = [&](const Function& of) { return (of(x + kDelta, u) - of(x - kDelta, u)) / (2 * kDelta); };
    const auto by_u = [&](const Function& of) { return (of(x, u + kDelta) - of(x, u - kDelta)) / (2 * kDelta); };
    for (Matrix* matrix : {&result.A, &result.B, &result.C, &result.D}) matrix->resize(1, 1);
    result.A(0, 0) = by_x(equation_.f);
    result.B(0, 0) = by_u(equation_.f);
    result.C(0, 0) = by_x(equation_.g);
    result.D(0, 0) = equation_.feedthrough ? by_u(equation_.g) : 0.0;
  }
  void integrate(Time, Duration size, const InputBlock& inputs, std::span<double> x) override {
    solver_.integrate(0.0, size, x, [&](Time s, std::span<const double> at, std::span<double> dx) {
      dx[0] = equation_.f(at[0], inputs.value(0, s));
    });
  }

 private:
  Equation equation_;
  VariableTable table_;
  numerics::OdeSolver solver_{1};
};

}  // namespace entrain::test
