#include "models/drivetrain/drivetrain.hpp"
#include "subsystem/native/model_support.hpp"
#include "subsystem/native/smooth_model.hpp"

namespace entrain::models {
namespace {

constexpr double kRegenerationSpeed = 1.0;    // m/s; below it the brakes take over from the motor ...
constexpr double kRegenerationWidth = 0.3;    // m/s; ... within this
constexpr double kDeratingTemperature = 420;  // K; half of the torque is left at it ...
constexpr double kDeratingWidth = 10.0;       // K; ... and all of it some widths below
constexpr double kPedalCorner = 5e-3;         // how far the corner between driving and braking is rounded

VariableTable controller_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("pedal", "", "1 = full drive, -1 = full brake"),
                  subsystem::real("v", "m/s", "speed of the vehicle"),
                  subsystem::real("T", "K", "temperature of the motor")};
  table.outputs = {subsystem::real("torque_request", "N.m", "torque that the motor shall give"),
                   subsystem::real("brake", "N.m", "torque of the friction brakes")};
  table.states = {subsystem::real("request", "N.m", "torque request, smoothed", 0.0)};
  table.parameters = {subsystem::real("torque_max", "N.m", "greatest torque of the motor", 250.0),
                      subsystem::real("brake_max", "N.m", "greatest torque of the brakes", 2000.0),
                      subsystem::real("smoothing", "s", "time constant of the torque request", 0.03)};
  return table;
}

/// Turns the pedal into torque: drives by the motor, brakes by the motor (which charges the battery) or, when slow, by
/// friction; spares a hot motor.
class Controller final : public subsystem::SmoothModel<Controller, 1, 3, 2> {
 public:
  Controller() : SmoothModel(controller_variables(), {{1, 0}, {1, 1}}) {}
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    torque_max_ = given.positive("torque_max");
    brake_max_ = given.positive("brake_max");
    smoothing_ = given.positive("smoothing");
  }
  template <class Number>
  void equations(const Number&, const std::array<Number, 1>& x, const std::array<Number, 3>& u,
                 std::array<Number, 1>& dx, std::array<Number, 2>& y) const {
    using std::sqrt;
    using std::tanh;
    const auto& [pedal, v, temperature] = u;
    const Number drive = 0.5 * (pedal + sqrt(pedal * pedal + kPedalCorner * kPedalCorner));
    const Number slow_down = pedal - drive;
    const Number regeneration = 0.5 * (1.0 + tanh((v - kRegenerationSpeed) / kRegenerationWidth));
    const Number available = 0.5 * (1.0 - tanh((temperature - kDeratingTemperature) / kDeratingWidth));
    const Number wanted = torque_max_ * available * (drive + regeneration * slow_down);
    dx[0] = (wanted - x[0]) / smoothing_;
    y[0] = x[0];
    y[1] = -brake_max_ * (1.0 - regeneration) * slow_down;
  }

 private:
  double torque_max_ = 0.0;
  double brake_max_ = 0.0;
  double smoothing_ = 0.0;
};

}  // namespace

std::unique_ptr<Model> make_drivetrain_controller() {
  return std::make_unique<Controller>();
}

}  // namespace entrain::models
