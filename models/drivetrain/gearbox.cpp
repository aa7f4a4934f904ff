#include "models/drivetrain/drivetrain.hpp"
#include "subsystem/native/linear_model.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::models {
namespace {

VariableTable gearbox_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("w_motor", "rad/s", "speed of the motor"),
                  subsystem::real("w_wheel", "rad/s", "speed of the wheels")};
  table.outputs = {subsystem::real("load", "N.m", "torque that it takes from the motor"),
                   subsystem::real("torque", "N.m", "torque that it gives to the wheels")};
  table.states = {subsystem::real("twist", "rad", "twist of the shafts", 0.0)};
  table.parameters = {subsystem::real("ratio", "", "turns of the motor per turn of the wheels", 9.0),
                      subsystem::real("c", "N.m/rad", "stiffness of the shafts", 3000.0),
                      subsystem::real("d", "N.m.s/rad", "damping of the shafts", 35.0)};
  return table;
}

/// A reduction and elastic shafts: torque = c twist + d twist', twist' = w_motor / ratio - w_wheel. With the rotor of
/// the motor on one side and the vehicle on the other, the shafts swing at 4 Hz.
class Gearbox final : public subsystem::LinearModel {
 public:
  Gearbox() : LinearModel(gearbox_variables()) {}
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    const double ratio = given.positive("ratio");
    const double stiffness = given.positive("c");
    const double damping = given.number("d");
    Linearization m{Matrix(1, 1), Matrix(1, 2), Matrix(2, 1), Matrix(2, 2)};
    m.B(0, 0) = 1.0 / ratio;
    m.B(0, 1) = -1.0;
    for (const std::size_t side : {0U, 1U}) {
      const double share = side == 0 ? 1.0 / ratio : 1.0;
      m.C(side, 0) = share * stiffness;
      m.D(side, 0) = share * damping / ratio;
      m.D(side, 1) = -share * damping;
    }
    set_matrices(std::move(m));
  }
};

}  // namespace

std::unique_ptr<Model> make_drivetrain_gearbox() {
  return std::make_unique<Gearbox>();
}

}  // namespace entrain::models
