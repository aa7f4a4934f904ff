#include "models/drivetrain/drivetrain.hpp"
#include "subsystem/native/model_support.hpp"
#include "subsystem/native/smooth_model.hpp"

namespace entrain::models {
namespace {

constexpr double kCopperTemperature = 293.15;  // K, at which the resistance is as given
constexpr double kLeastVoltage = 10.0;         // V; far below it, the inverter draws nothing
constexpr double kCopperCoefficient = 0.0039;  // 1/K, growth of the resistance of copper

VariableTable motor_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("torque_request", "N.m", "torque to be given"),
                  subsystem::real("load", "N.m", "torque of the gearbox"),
                  subsystem::real("V", "V", "voltage of the battery", 380.0),
                  subsystem::real("T", "K", "temperature of the winding")};
  table.outputs = {subsystem::real("w", "rad/s", "speed of the rotor"),
                   subsystem::real("torque", "N.m", "torque between stator and rotor"),
                   subsystem::real("I", "A", "current drawn from the battery"), subsystem::real("heat", "W", "losses")};
  table.states = {subsystem::real("w", "rad/s", "speed of the rotor", 0.0),
                  subsystem::real("torque", "N.m", "torque between stator and rotor", 0.0)};
  table.parameters = {subsystem::real("J", "kg.m2", "inertia of the rotor", 0.05),
                      subsystem::real("lag", "s", "time constant of the torque", 0.005),
                      subsystem::real("friction", "N.m.s/rad", "of the bearings", 0.002),
                      subsystem::real("copper", "W/(N.m)2", "losses per torque squared, cold", 0.2),
                      subsystem::real("iron", "W.s2/rad2", "losses per speed squared", 0.005)};
  return table;
}

/// Inverter and motor: the torque follows the request with a lag, the rotor is turned by it against the load, and what
/// is turned into motion and heat is drawn from the battery: I = (torque w + heat) / V, as long as there is a voltage.
class Motor final : public subsystem::SmoothModel<Motor, 2, 4, 4> {
 public:
  Motor() : SmoothModel(motor_variables(), {{2, 2}, {2, 3}, {3, 3}}) {}
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    inertia_ = given.positive("J");
    lag_ = given.positive("lag");
    friction_ = given.number("friction");
    copper_ = given.number("copper");
    iron_ = given.number("iron");
  }
  template <class Number>
  void equations(const Number&, const std::array<Number, 2>& x, const std::array<Number, 4>& u,
                 std::array<Number, 2>& dx, std::array<Number, 4>& y) const {
    const auto& [w, torque] = x;
    const auto& [request, load, voltage, temperature] = u;
    const Number copper = copper_ * (1.0 + kCopperCoefficient * (temperature - kCopperTemperature));
    const Number heat = copper * torque * torque + iron_ * w * w;
    dx[0] = (torque - load - friction_ * w) / inertia_;
    dx[1] = (request - torque) / lag_;
    y = {w, torque, (torque * w + heat) * voltage / (voltage * voltage + kLeastVoltage * kLeastVoltage), heat};
  }

 private:
  double inertia_ = 0.0;
  double lag_ = 0.0;
  double friction_ = 0.0;
  double copper_ = 0.0;
  double iron_ = 0.0;
};

}  // namespace

std::unique_ptr<Model> make_drivetrain_motor() {
  return std::make_unique<Motor>();
}

}  // namespace entrain::models
