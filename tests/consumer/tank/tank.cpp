// A model outside this repository, from public headers alone: an open tank with a hole, A dh/dt = q - a sqrt(2 g h).
#include "tank.hpp"

#include <algorithm>
#include <cmath>
#include <entrain/error.hpp>

namespace plant {
namespace {

using namespace entrain;

constexpr double kGravity = 9.81;  // m/s2

class Tank final : public Model {
 public:
  Tank() {
    variables_.inputs = {{"q", "m3/s", "inflow", ValueType::Real, 0.0}};
    variables_.states = {{"h", "m", "level", ValueType::Real, 1.0}};
    variables_.outputs = {{"h", "m", "level"}, {"outflow", "m3/s", "through the hole"}};
    variables_.parameters = {{"A", "m2", "cross section of the tank", ValueType::Real, 0.1},
                             {"a", "m2", "cross section of the hole", ValueType::Real, 0.001}};
  }
  const VariableTable& variables() const noexcept override { return variables_; }
  void configure(std::span<const Value> parameters) override {
    tank_ = std::get<double>(parameters[0]);
    hole_ = std::get<double>(parameters[1]);
    if (!(tank_ > 0.0)) throw Error(ErrorCode::InvalidSystem, "parameter 'A' must be positive", {"", "A", {}, ""});
  }
  Feedthrough feedthrough() const override { return {2, 1}; }
  void derivatives(const Point& at, std::span<double> dx) const override {
    dx[0] = (at.u[0] - outflow(at.x[0])) / tank_;
  }
  void outputs(const Point& at, std::span<double> y) const override {
    y[0] = at.x[0];
    y[1] = outflow(at.x[0]);
  }
  void linearize(const Point& at, Linearization& result) const override {
    const double slope = at.x[0] > 0.0 ? hole_ * std::sqrt(kGravity / (2.0 * at.x[0])) : 0.0;
    result.A.resize(1, 1);
    result.B.resize(1, 1);
    result.C.resize(2, 1);
    result.D.resize(2, 1);
    result.A(0, 0) = -slope / tank_;
    result.B(0, 0) = 1.0 / tank_;
    result.C(0, 0) = 1.0;
    result.C(1, 0) = slope;
  }
  // Runge-Kutta of order 4; the FMU has SOLVER erk and does not call it.
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    const auto slope = [&](Duration s, double h) {
      const double q = inputs.value(0, s);
      double dh = 0.0;
      derivatives({from + s, {&h, 1}, {&q, 1}, {}, {}}, {&dh, 1});
      return dh;
    };
    const double k1 = slope(0.0, x[0]);
    const double k2 = slope(size / 2.0, x[0] + size / 2.0 * k1);
    const double k3 = slope(size / 2.0, x[0] + size / 2.0 * k2);
    const double k4 = slope(size, x[0] + size * k3);
    x[0] += size / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
  }

 private:
  double outflow(double level) const { return hole_ * std::sqrt(2.0 * kGravity * std::max(level, 0.0)); }

  VariableTable variables_;
  double tank_ = 0.0;
  double hole_ = 0.0;
};

}  // namespace

std::unique_ptr<Model> make_tank() {
  return std::make_unique<Tank>();
}

}  // namespace plant
