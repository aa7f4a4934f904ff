#include "models/drivetrain/drivetrain.hpp"
#include "subsystem/native/model_support.hpp"
#include "subsystem/native/smooth_model.hpp"

namespace entrain::models {
namespace {

constexpr double kGravity = 9.81;     // m/s2
constexpr double kAirDensity = 1.2;   // kg/m3
constexpr double kStandstill = 0.1;   // m/s; below it, what resists the motion fades out
constexpr double kDragCorner = 1e-3;  // m/s; how far |v| is rounded at 0

VariableTable vehicle_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("torque", "N.m", "torque of the gearbox"),
                  subsystem::real("brake", "N.m", "torque of the brakes")};
  table.outputs = {subsystem::real("v", "m/s", "speed"), subsystem::real("w", "rad/s", "speed of the wheels"),
                   subsystem::real("x", "m", "distance")};
  table.states = {subsystem::real("v", "m/s", "speed", 0.0), subsystem::real("x", "m", "distance", 0.0)};
  table.parameters = {subsystem::real("m", "kg", "mass", 1600.0),
                      subsystem::real("r", "m", "radius of the wheels", 0.3),
                      subsystem::real("rolling", "", "rolling resistance per weight", 0.01),
                      subsystem::real("drag_area", "m2", "drag coefficient times frontal area", 0.65)};
  return table;
}

/// m v' = (torque - brake) / r - rolling resistance - drag.
class Vehicle final : public subsystem::SmoothModel<Vehicle, 2, 2, 3> {
 public:
  Vehicle() : SmoothModel(vehicle_variables()) {}
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    mass_ = given.positive("m");
    radius_ = given.positive("r");
    rolling_ = given.number("rolling");
    drag_area_ = given.number("drag_area");
  }
  template <class Number>
  void equations(const Number&, const std::array<Number, 2>& x, const std::array<Number, 2>& u,
                 std::array<Number, 2>& dx, std::array<Number, 3>& y) const {
    using std::sqrt;
    using std::tanh;
    const Number& v = x[0];
    const auto& [torque, brake] = u;
    const Number moving = tanh(v / kStandstill);
    const Number drag = 0.5 * kAirDensity * drag_area_ * v * sqrt(v * v + kDragCorner * kDragCorner);
    dx[0] = ((torque - brake * moving) / radius_ - rolling_ * mass_ * kGravity * moving - drag) / mass_;
    dx[1] = v;
    y = {v, v / radius_, x[1]};
  }

 private:
  double mass_ = 0.0;
  double radius_ = 0.0;
  double rolling_ = 0.0;
  double drag_area_ = 0.0;
};

}  // namespace

std::unique_ptr<Model> make_drivetrain_vehicle() {
  return std::make_unique<Vehicle>();
}

}  // namespace entrain::models
