#include "models/spring_mass.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/grid.hpp"
#include "subsystem/native/linear_model.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::models {
namespace {

constexpr std::size_t kPosition = 0;  // order of the states
constexpr std::size_t kVelocity = 1;

std::vector<Variable> mass_parameters(const MassSettings& settings) {
  std::vector<Variable> result = {
      subsystem::real(settings.mass.name, "kg", "mass", settings.mass.value),
      subsystem::real(settings.spring.name, "N/m", "spring to the ground", settings.spring.value),
      subsystem::real(settings.damper.name, "N.s/m", "damper to the ground", settings.damper.value),
  };
  if (settings.choose_integrator) {
    result.push_back(
        subsystem::text("integrator", "\"exact\", or \"semi-implicit\" Euler with one step per macro step", "exact"));
  }
  return result;
}

std::vector<Variable> mass_states(const MassSettings& settings) {
  return {subsystem::real(settings.position.name, "m", "position", settings.position.value),
          subsystem::real(settings.velocity.name, "m/s", "velocity", settings.velocity.value)};
}

/// The motion as coupling variables: port `position_port` is x, the other one v.
std::size_t position_port(const MassSettings& settings) {
  return settings.velocity_first ? 1 : 0;
}

std::vector<Variable> in_port_order(const MassSettings& settings, Variable position, Variable velocity) {
  std::vector<Variable> result = {std::move(position), std::move(velocity)};
  if (settings.velocity_first) std::swap(result[0], result[1]);
  return result;
}

class Mass : public subsystem::LinearModel {
 public:
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    if (!semi_implicit_) {
      LinearModel::integrate(from, size, inputs, x);
      return;
    }
    double rates[2];
    derivatives({from, x, inputs.order(0), {}, {}}, rates);
    x[kVelocity] += size * rates[kVelocity];
    x[kPosition] += size * x[kVelocity];
  }

 protected:
  Mass(VariableTable variables, MassSettings settings)
      : LinearModel(std::move(variables)), settings_(std::move(settings)) {}

  const MassSettings& settings() const { return settings_; }

  /// The mass alone, with the outputs and inputs still unconnected.
  Linearization mass_matrices(const subsystem::ParameterReader& given) {
    if (settings_.choose_integrator) {
      semi_implicit_ = given.choice("integrator", {"exact", "semi-implicit"}) == "semi-implicit";
    }
    const double m = given.positive(settings_.mass.name);
    Linearization result;
    result.A.resize(2, 2);
    result.B.resize(2, variables().inputs.size());
    result.C.resize(variables().outputs.size(), 2);
    result.D.resize(variables().outputs.size(), variables().inputs.size());
    result.A(kPosition, kVelocity) = 1.0;
    result.A(kVelocity, kPosition) = -given.number(settings_.spring.name) / m;
    result.A(kVelocity, kVelocity) = -given.number(settings_.damper.name) / m;
    return result;
  }

 private:
  MassSettings settings_;
  bool semi_implicit_ = false;
};

class MotionSide final : public Mass {
 public:
  explicit MotionSide(const MassSettings& settings) : Mass(table(settings), settings) {}

  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    Linearization result = mass_matrices(given);
    result.B(kVelocity, 0) = settings().force_sign / given.positive(settings().mass.name);
    const std::size_t port = position_port(settings());
    result.C(port, kPosition) = 1.0;
    result.C(1 - port, kVelocity) = 1.0;
    set_matrices(std::move(result));
  }

 private:
  static VariableTable table(const MassSettings& settings) {
    VariableTable result;
    result.inputs = {subsystem::real("F", "N", "force of the coupling spring and damper on this mass")};
    result.states = mass_states(settings);
    result.outputs = in_port_order(settings, result.states[kPosition], result.states[kVelocity]);
    for (auto& output : result.outputs) output.start.reset();
    result.parameters = mass_parameters(settings);
    return result;
  }
};

class ForceSide : public Mass {
 public:
  explicit ForceSide(const ForceSettings& settings) : ForceSide(settings, {}) {}

  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    const double m = given.positive(settings().mass.name);
    const double sign = settings().force_sign;
    const double spring = sign * given.number(coupling_spring_);
    const double damper = sign * given.number(coupling_damper_);
    Linearization result = mass_matrices(given);
    const std::size_t port = position_port(settings());
    result.C(0, kPosition) = spring;
    result.C(0, kVelocity) = damper;
    result.D(0, port) = -spring;
    result.D(0, 1 - port) = -damper;
    for (std::size_t j = 0; j < 2; ++j) {
      result.A(kVelocity, j) -= sign * result.C(0, j) / m;
      result.B(kVelocity, j) = -sign * result.D(0, j) / m;
    }
    set_matrices(std::move(result));
  }

 protected:
  ForceSide(const ForceSettings& settings, const std::vector<Variable>& more_parameters)
      : Mass(table(settings, more_parameters), settings.mass),
        coupling_spring_(settings.coupling_spring.name),
        coupling_damper_(settings.coupling_damper.name) {}

 private:
  static VariableTable table(const ForceSettings& settings, const std::vector<Variable>& more_parameters) {
    VariableTable result;
    result.inputs = in_port_order(settings.mass, subsystem::real("x", "m", "position of the other mass"),
                                  subsystem::real("v", "m/s", "velocity of the other mass"));
    result.states = mass_states(settings.mass);
    result.outputs = {subsystem::real("F", "N", "force of the coupling spring and damper on the other mass")};
    result.parameters = mass_parameters(settings.mass);
    result.parameters.push_back(
        subsystem::real(settings.coupling_spring.name, "N/m", "coupling spring", settings.coupling_spring.value));
    result.parameters.push_back(
        subsystem::real(settings.coupling_damper.name, "N.s/m", "coupling damper", settings.coupling_damper.value));
    result.parameters.insert(result.parameters.end(), more_parameters.begin(), more_parameters.end());
    return result;
  }

  std::string coupling_spring_;
  std::string coupling_damper_;
};

class ChangingForceSide final : public ForceSide {
 public:
  explicit ChangingForceSide(const ForceSettings& settings)
      : ForceSide(settings, {subsystem::real("change_time", "s", "when the output becomes change_force", 100.0),
                             subsystem::real("change_force", "N", "output from change_time on", -1000.0)}) {}

  void configure(std::span<const Value> parameters) override {
    ForceSide::configure(parameters);
    const subsystem::ParameterReader given(variables(), parameters);
    change_time_ = given.number("change_time");
    change_force_ = given.number("change_force");
  }
  void outputs(const Point& at, std::span<double> y) const override {
    if (!changed(at.t)) return LinearModel::outputs(at, y);
    y[0] = change_force_;
  }
  void output_rates(const Point& at, std::span<double> dy) const override {
    if (!changed(at.t)) return LinearModel::output_rates(at, dy);
    dy[0] = 0.0;
  }
  void linearize(const Point& at, Linearization& result) const override {
    LinearModel::linearize(at, result);
    if (!changed(at.t)) return;
    std::fill(result.C.values.begin(), result.C.values.end(), 0.0);
    std::fill(result.D.values.begin(), result.D.values.end(), 0.0);
  }
  Time next_discontinuity(Time t) const override { return changed(t) ? kNever : change_time_; }

 private:
  bool changed(Time t) const { return base::reached(t, change_time_); }

  Time change_time_ = 0.0;
  double change_force_ = 0.0;
};

}  // namespace

std::unique_ptr<Model> make_motion_side(const MassSettings& settings) {
  return std::make_unique<MotionSide>(settings);
}

std::unique_ptr<Model> make_force_side(const ForceSettings& settings) {
  return std::make_unique<ForceSide>(settings);
}

std::unique_ptr<Model> make_changing_force_side(const ForceSettings& settings) {
  return std::make_unique<ChangingForceSide>(settings);
}

}  // namespace entrain::models
