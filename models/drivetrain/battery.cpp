#include "models/drivetrain/drivetrain.hpp"
#include "subsystem/native/model_support.hpp"
#include "subsystem/native/smooth_model.hpp"

namespace entrain::models {
namespace {

VariableTable battery_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("I", "A", "current drawn by the motor"),
                  subsystem::real("I_aux", "A", "current drawn by the rest")};
  table.outputs = {subsystem::real("V", "V", "voltage at the terminals"),
                   subsystem::real("soc", "", "state of charge, 1 = full")};
  table.states = {subsystem::real("soc", "", "state of charge, 1 = full", 0.8),
                  subsystem::real("V_slow", "V", "voltage lost to slow processes", 0.0)};
  table.parameters = {subsystem::real("capacity", "A.s", "charge of the full battery", 216e3),
                      subsystem::real("V_empty", "V", "open-circuit voltage when empty", 340.0),
                      subsystem::real("V_span", "V", "how much more it is when full", 60.0),
                      subsystem::real("R", "Ohm", "inner resistance", 0.08),
                      subsystem::real("R_slow", "Ohm", "resistance of the slow processes", 0.05),
                      subsystem::real("C_slow", "F", "capacitance of the slow processes", 400.0)};
  return table;
}

/// Open-circuit voltage, inner resistance and one slow pair of resistance and capacitance. The current acts on the
/// voltage at once: with a motor that draws power, the two form an algebraic loop.
class Battery final : public subsystem::SmoothModel<Battery, 2, 2, 2> {
 public:
  Battery() : SmoothModel(battery_variables(), {{0, 0}, {0, 1}}) {}
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    capacity_ = given.positive("capacity");
    v_empty_ = given.positive("V_empty");
    v_span_ = given.number("V_span");
    r_ = given.positive("R");
    r_slow_ = given.positive("R_slow");
    c_slow_ = given.positive("C_slow");
  }
  template <class Number>
  void equations(const Number&, const std::array<Number, 2>& x, const std::array<Number, 2>& u,
                 std::array<Number, 2>& dx, std::array<Number, 2>& y) const {
    const auto& [soc, v_slow] = x;
    const Number current = u[0] + u[1];
    dx[0] = -current / capacity_;
    dx[1] = (current - v_slow / r_slow_) / c_slow_;
    y[0] = v_empty_ + v_span_ * soc - r_ * current - v_slow;
    y[1] = soc;
  }

 private:
  double capacity_ = 0.0;
  double v_empty_ = 0.0;
  double v_span_ = 0.0;
  double r_ = 0.0;
  double r_slow_ = 0.0;
  double c_slow_ = 0.0;
};

}  // namespace

std::unique_ptr<Model> make_drivetrain_battery() {
  return std::make_unique<Battery>();
}

}  // namespace entrain::models
