#include "models/lotka_volterra.hpp"

#include <cmath>
#include <numbers>

#include "numerics/ode.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::models {
namespace {

/// x' = x (own + s(t) other u): `own` and `other` are the rates of growth alone and per unit of the other species.
/// Without modulation, s = 1, the solution is x exp(integral).
class Population : public Model {
 public:
  const VariableTable& variables() const noexcept override { return variables_; }
  Feedthrough feedthrough() const override { return {1, 1}; }
  void derivatives(const Point& at, std::span<double> dx) const override {
    dx[0] = at.x[0] * (own_ + modulation(at.t) * other_ * at.u[0]);
  }
  void outputs(const Point& at, std::span<double> y) const override { y[0] = at.x[0]; }
  void output_rates(const Point& at, std::span<double> dy) const override { derivatives(at, dy); }
  void linearize(const Point& at, Linearization& result) const override {
    const double other = modulation(at.t) * other_;
    for (Matrix* matrix : {&result.A, &result.B, &result.C, &result.D}) matrix->resize(1, 1);
    result.A(0, 0) = own_ + other * at.u[0];
    result.B(0, 0) = other * at.x[0];
    result.C(0, 0) = 1.0;
  }
  void integrate(Time, Duration size, const InputBlock& inputs, std::span<double> x) override {
    double integral = 0.0;
    for (int p = inputs.degree(); p >= 0; --p) integral = (integral + inputs.order(p)[0] / (p + 1)) * size;
    x[0] *= std::exp(own_ * size + other_ * integral);
  }

 protected:
  explicit Population(VariableTable variables) : variables_(std::move(variables)) {}
  void set_rates(double own, double other) {
    own_ = own;
    other_ = other;
  }
  virtual double modulation(Time) const { return 1.0; }

 private:
  VariableTable variables_;
  double own_ = 0.0;
  double other_ = 0.0;
};

VariableTable species(const char* name, const char* self, const char* other, double start) {
  VariableTable table;
  table.inputs = {subsystem::real("u", "", other)};
  table.outputs = {subsystem::real(name, "", self)};
  table.states = {subsystem::real(name, "", self, start)};
  return table;
}

VariableTable prey_variables(double alpha, double beta, double start) {
  VariableTable table = species("p", "number of prey", "number of predators", start);
  table.parameters = {subsystem::real("alpha", "1/s", "growth of the prey alone", alpha),
                      subsystem::real("beta", "1/s", "loss of prey per predator", beta)};
  return table;
}

class Prey : public Population {
 public:
  Prey() : Prey(prey_variables(2.0 / 3.0, 4.0 / 3.0, 1.0)) {}
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    set_rates(given.number("alpha"), -given.number("beta"));
  }

 protected:
  explicit Prey(VariableTable variables) : Population(std::move(variables)) {}
};

VariableTable predator_variables() {
  VariableTable table = species("P", "number of predators", "number of prey", 1.0);
  table.parameters = {subsystem::real("gamma", "1/s", "loss of predators alone", 1.0),
                      subsystem::real("delta", "1/s", "growth of the predators per prey", 1.0)};
  return table;
}

class Predator final : public Population {
 public:
  Predator() : Population(predator_variables()) {}
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    set_rates(-given.number("gamma"), given.number("delta"));
  }
};

VariableTable modulated_prey_variables() {
  VariableTable table = prey_variables(0.67, 1.33, 0.8);
  table.parameters.push_back(subsystem::real("mean", "", "mean of the modulation of beta", 0.55));
  table.parameters.push_back(subsystem::real("amplitude", "", "amplitude of the modulation of beta", 0.45));
  table.parameters.push_back(subsystem::real("period", "s", "period of the modulation of beta", 2.4));
  return table;
}

/// s = mean + amplitude sin(2 pi t / period).
class ModulatedPrey final : public Prey {
 public:
  ModulatedPrey() : Prey(modulated_prey_variables()) {}

  void configure(std::span<const Value> parameters) override {
    Prey::configure(parameters);
    const subsystem::ParameterReader given(variables(), parameters);
    mean_ = given.number("mean");
    amplitude_ = given.number("amplitude");
    angular_frequency_ = 2.0 * std::numbers::pi / given.positive("period");
  }
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    // In the local time, so that small steps at large times lose no digits.
    solver_.integrate(0.0, size, x, [&](Time s, std::span<const double> at, std::span<double> dx) {
      const double u = inputs.value(0, s);
      derivatives({from + s, at, {&u, 1}, {}, {}}, dx);
    });
  }

 private:
  double modulation(Time t) const override { return mean_ + amplitude_ * std::sin(angular_frequency_ * t); }

  double mean_ = 0.0;
  double amplitude_ = 0.0;
  double angular_frequency_ = 0.0;
  numerics::OdeSolver solver_{1};
};

}  // namespace

std::unique_ptr<Model> make_prey() {
  return std::make_unique<Prey>();
}
std::unique_ptr<Model> make_predator() {
  return std::make_unique<Predator>();
}
std::unique_ptr<Model> make_modulated_prey() {
  return std::make_unique<ModulatedPrey>();
}

}  // namespace entrain::models
