#include "models/cubic_pair.hpp"

#include <string>
#include <utility>
#include <vector>

#include "numerics/ode.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::models {
namespace {

/// A spring that hardens, with a damper.
struct Spring {
  double c = 0.0, e = 0.0, d = 0.0;
  double force(double x, double v) const { return (c + e * x * x) * x + d * v; }
  double stiffness(double x) const { return c + 3.0 * e * x * x; }
};

std::vector<Variable> spring_parameters(const std::string& index, double c, const std::string& where) {
  return {subsystem::real("c" + index, "N/m", "spring " + where, c),
          subsystem::real("e" + index, "N/m3", "cubic part of the spring", 1.0),
          subsystem::real("d" + index, "N.s/m", "damper " + where, 0.1)};
}

Spring spring_of(const subsystem::ParameterReader& given, const std::string& index) {
  return {given.number("c" + index), given.number("e" + index), given.number("d" + index)};
}

VariableTable mass_table(const std::string& index, double c, double velocity) {
  VariableTable table;
  table.parameters = {
      subsystem::real("m" + index, "kg", "mass", 1.0),
      subsystem::text("integrator", "\"exact\", or \"semi-implicit\" Euler with one step per macro step", "exact")};
  for (auto& parameter : spring_parameters(index, c, "to the ground")) table.parameters.push_back(std::move(parameter));
  table.states = {subsystem::real("x" + index, "m", "position", 0.0),
                  subsystem::real("v" + index, "m/s", "velocity", velocity)};
  return table;
}

/// x'' = acceleration(x, v, u), by the model's own step.
class CubicMass : public Model {
 public:
  const VariableTable& variables() const noexcept override { return variables_; }
  void derivatives(const Point& at, std::span<double> dx) const final {
    dx[0] = at.x[1];
    dx[1] = acceleration(at);
  }
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) final {
    if (semi_implicit_) {
      x[1] += size * acceleration({from, x, inputs.order(0), {}, {}});
      x[0] += size * x[1];
      return;
    }
    solver_.integrate(0.0, size, x, [&](Time s, std::span<const double> at, std::span<double> dx) {
      double u[2];
      for (std::size_t i = 0; i < inputs.count(); ++i) u[i] = inputs.value(i, s);
      derivatives({from + s, at, {u, inputs.count()}, {}, {}}, dx);
    });
  }

 protected:
  CubicMass(std::string index, VariableTable variables) : index_(std::move(index)), variables_(std::move(variables)) {}

  void configure_mass(const subsystem::ParameterReader& given) {
    mass_ = given.positive("m" + index_);
    ground_ = spring_of(given, index_);
    semi_implicit_ = given.choice("integrator", {"exact", "semi-implicit"}) == "semi-implicit";
  }
  double mass() const { return mass_; }
  const Spring& ground() const { return ground_; }
  virtual double acceleration(const Point& at) const = 0;
  static void resize(Linearization& result, std::size_t inputs, std::size_t outputs) {
    result.A.resize(2, 2);
    result.B.resize(2, inputs);
    result.C.resize(outputs, 2);
    result.D.resize(outputs, inputs);
    result.A(0, 1) = 1.0;
  }

 private:
  std::string index_;
  VariableTable variables_;
  double mass_ = 1.0;
  Spring ground_;
  bool semi_implicit_ = false;
  numerics::OdeSolver solver_{2};
};

class CubicForceSide final : public CubicMass {
 public:
  CubicForceSide() : CubicMass("1", table()) {}

  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    configure_mass(given);
    coupling_ = spring_of(given, "_k");
  }
  Feedthrough feedthrough() const override { return {1, 2, true}; }
  void outputs(const Point& at, std::span<double> y) const override { y[0] = coupling_force(at); }
  void linearize(const Point& at, Linearization& result) const override {
    resize(result, 2, 1);
    const double stiffness = coupling_.stiffness(at.x[0] - at.u[0]);
    result.C(0, 0) = stiffness;
    result.C(0, 1) = coupling_.d;
    result.D(0, 0) = -stiffness;
    result.D(0, 1) = -coupling_.d;
    result.A(1, 0) = -(ground().stiffness(at.x[0]) + stiffness) / mass();
    result.A(1, 1) = -(ground().d + coupling_.d) / mass();
    result.B(1, 0) = stiffness / mass();
    result.B(1, 1) = coupling_.d / mass();
  }

 private:
  double coupling_force(const Point& at) const { return coupling_.force(at.x[0] - at.u[0], at.x[1] - at.u[1]); }
  double acceleration(const Point& at) const override {
    return -(ground().force(at.x[0], at.x[1]) + coupling_force(at)) / mass();
  }
  static VariableTable table() {
    VariableTable result = mass_table("1", 10.0, 100.0);
    for (auto& parameter : spring_parameters("_k", 100.0, "to the other mass")) {
      result.parameters.push_back(std::move(parameter));
    }
    result.inputs = {subsystem::real("x", "m", "position of the other mass"),
                     subsystem::real("v", "m/s", "velocity of the other mass")};
    result.outputs = {subsystem::real("F", "N", "force of the coupling spring and damper on the other mass")};
    return result;
  }

  Spring coupling_;
};

class CubicMotionSide final : public CubicMass {
 public:
  CubicMotionSide() : CubicMass("2", table()) {}

  void configure(std::span<const Value> parameters) override {
    configure_mass(subsystem::ParameterReader(variables(), parameters));
  }
  Feedthrough feedthrough() const override { return {2, 1}; }
  void outputs(const Point& at, std::span<double> y) const override {
    y[0] = at.x[0];
    y[1] = at.x[1];
  }
  void linearize(const Point& at, Linearization& result) const override {
    resize(result, 1, 2);
    result.A(1, 0) = -ground().stiffness(at.x[0]) / mass();
    result.A(1, 1) = -ground().d / mass();
    result.B(1, 0) = 1.0 / mass();
    result.C(0, 0) = 1.0;
    result.C(1, 1) = 1.0;
  }

 private:
  double acceleration(const Point& at) const override { return (at.u[0] - ground().force(at.x[0], at.x[1])) / mass(); }
  static VariableTable table() {
    VariableTable result = mass_table("2", 1000.0, -100.0);
    result.inputs = {subsystem::real("F", "N", "force of the coupling spring and damper on this mass")};
    result.outputs = {subsystem::real("x", "m", "position"), subsystem::real("v", "m/s", "velocity")};
    return result;
  }
};

}  // namespace

std::unique_ptr<Model> make_cubic_force_side() {
  return std::make_unique<CubicForceSide>();
}

std::unique_ptr<Model> make_cubic_motion_side() {
  return std::make_unique<CubicMotionSide>();
}

}  // namespace entrain::models
