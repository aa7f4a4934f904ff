#include "models/car.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include "base/grid.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::models {
namespace {

struct Gust {
  const char* parameter;
  double amplitude;          ///< N
  double angular_frequency;  ///< rad/s
};

/// The paper's wind is random and not printed. These three sines bring the speed to its 16.086 m/s at t = 30 s.
constexpr std::array<Gust, 3> kWind = {{{"wind_1", 195.0, 0.7}, {"wind_2", 200.0, 1.9}, {"wind_3", 100.0, 3.1}}};

VariableTable body_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("F", "N", "driving force")};
  table.outputs = {subsystem::real("x", "m", "position")};
  table.states = {subsystem::real("x", "m", "position", 0.0), subsystem::real("v", "m/s", "speed", 0.0)};
  table.parameters = {subsystem::real("m", "kg", "mass", 1000.0)};
  for (const auto& gust : kWind) {
    table.parameters.push_back(
        subsystem::real(gust.parameter, "N", "amplitude of a sine of the wind force", gust.amplitude));
  }
  return table;
}

/// m x'' = F + wind(t).
class Body final : public Model {
 public:
  const VariableTable& variables() const noexcept override { return variables_; }
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables_, parameters);
    mass_ = given.positive("m");
    for (std::size_t i = 0; i < kWind.size(); ++i) amplitudes_[i] = given.number(kWind[i].parameter);
  }
  Feedthrough feedthrough() const override { return {1, 1}; }
  void derivatives(const Point& at, std::span<double> dx) const override {
    double force = at.u[0];
    for (std::size_t i = 0; i < kWind.size(); ++i) {
      force += amplitudes_[i] * std::sin(kWind[i].angular_frequency * at.t);
    }
    dx[0] = at.x[1];
    dx[1] = force / mass_;
  }
  void outputs(const Point& at, std::span<double> y) const override { y[0] = at.x[0]; }
  void output_rates(const Point& at, std::span<double> dy) const override { dy[0] = at.x[1]; }
  void linearize(const Point&, Linearization& result) const override {
    result.A.resize(2, 2);
    result.B.resize(2, 1);
    result.C.resize(1, 2);
    result.D.resize(1, 1);
    result.A(0, 1) = 1.0;
    result.B(1, 0) = 1.0 / mass_;
    result.C(0, 0) = 1.0;
  }
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    double impulse = 0.0;  // integral of the force, N s
    double moment = 0.0;   // integral of the impulse, N s^2
    for (int p = inputs.degree(); p >= 0; --p) {
      const double coefficient = inputs.order(p)[0];
      impulse = (impulse + coefficient / (p + 1)) * size;
      moment = (moment + coefficient / ((p + 1) * (p + 2))) * size;
    }
    moment *= size;
    for (std::size_t i = 0; i < kWind.size(); ++i) {
      const double w = kWind[i].angular_frequency;
      const double half = 0.5 * w * size;
      const double middle = w * (from + 0.5 * size);
      // Differences of cosines and sines as products: no cancellation in small steps.
      impulse += 2.0 * amplitudes_[i] / w * std::sin(middle) * std::sin(half);
      moment += amplitudes_[i] / w * (size * std::cos(w * from) - 2.0 / w * std::cos(middle) * std::sin(half));
    }
    x[0] += size * x[1] + moment / mass_;
    x[1] += impulse / mass_;
  }

 private:
  VariableTable variables_ = body_variables();
  double mass_ = 1.0;
  std::array<double, kWind.size()> amplitudes_{};
};

VariableTable controller_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("x", "m", "position of the car")};
  table.outputs = {subsystem::real("F", "N", "driving force")};
  table.parameters = {subsystem::real("Kp", "N.s/m", "gain of the controller", 1000.0),
                      subsystem::real("target", "m/s", "speed to be held", 16.0),
                      subsystem::real("switch_time", "s", "when the controller takes over from the preset force", 10.0),
                      subsystem::real("preset_force", "N", "mean of the preset force F (1 - cos(2 pi t / T))", 1200.0),
                      subsystem::real("preset_period", "s", "period T of the preset force", 10.0)};
  return table;
}

/// A preset force, then F = Kp (target - dx/dt): it sees no speed, but differentiates the position it is given. With
/// held inputs that derivative is zero.
class CarController final : public Model {
 public:
  const VariableTable& variables() const noexcept override { return variables_; }
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables_, parameters);
    gain_ = given.number("Kp");
    target_ = given.number("target");
    switch_time_ = given.number("switch_time");
    preset_force_ = given.number("preset_force");
    angular_frequency_ = 2.0 * std::numbers::pi / given.positive("preset_period");
  }
  /// Through its slope the input acts on the output at once.
  Feedthrough feedthrough() const override { return {1, 1, true}; }
  bool reads_input_derivatives() const override { return true; }
  void derivatives(const Point&, std::span<double>) const override {}
  void outputs(const Point& at, std::span<double> y) const override {
    y[0] = controls(at.t) ? gain_ * (target_ - at.du[0]) : preset_force_ * (1.0 - std::cos(angular_frequency_ * at.t));
  }
  void output_rates(const Point& at, std::span<double> dy) const override {
    dy[0] =
        controls(at.t) ? -gain_ * at.ddu[0] : preset_force_ * angular_frequency_ * std::sin(angular_frequency_ * at.t);
  }
  void linearize(const Point&, Linearization& result) const override {
    result.A.resize(0, 0);
    result.B.resize(0, 1);
    result.C.resize(1, 0);
    result.D.resize(1, 1);
  }
  void integrate(Time, Duration, const InputBlock&, std::span<double>) override {}
  Time next_discontinuity(Time t) const override { return controls(t) ? kNever : switch_time_; }

 private:
  bool controls(Time t) const { return base::reached(t, switch_time_); }

  VariableTable variables_ = controller_variables();
  double gain_ = 0.0;
  double target_ = 0.0;
  Time switch_time_ = 0.0;
  double preset_force_ = 0.0;
  double angular_frequency_ = 1.0;
};

}  // namespace

std::unique_ptr<Model> make_car_body() {
  return std::make_unique<Body>();
}
std::unique_ptr<Model> make_car_controller() {
  return std::make_unique<CarController>();
}

}  // namespace entrain::models
