#include <fmt/format.h>

#include "entrain/error.hpp"
#include "models/drivetrain/drivetrain.hpp"
#include "subsystem/native/model_support.hpp"
#include "subsystem/native/smooth_model.hpp"

namespace entrain::models {
namespace {

VariableTable cooling_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("heat", "W", "losses of the motor")};
  table.outputs = {subsystem::real("T_motor", "K", "temperature of the motor"),
                   subsystem::real("T_coolant", "K", "temperature of the coolant"),
                   subsystem::real("I", "A", "current drawn by pump and fan")};
  table.states = {subsystem::real("T_motor", "K", "temperature of the motor", 308.0),
                  subsystem::real("T_coolant", "K", "temperature of the coolant", 306.0)};
  table.parameters = {subsystem::real("T_air", "K", "temperature outside", 293.0),
                      subsystem::real("T_on", "K", "coolant temperature at which the pump starts", 310.0),
                      subsystem::real("T_off", "K", "coolant temperature at which the pump stops", 306.0),
                      subsystem::real("C_motor", "J/K", "heat capacity of the motor", 8000.0),
                      subsystem::real("C_coolant", "J/K", "heat capacity of the coolant", 3000.0),
                      subsystem::real("G_jacket", "W/K", "from the motor to the coolant", 80.0),
                      subsystem::real("G_still", "W/K", "from the coolant to the air, pump at rest", 5.0),
                      subsystem::real("G_pumped", "W/K", "the same with the pump running", 65.0),
                      subsystem::real("I_rest", "A", "current with the pump at rest", 0.5),
                      subsystem::real("I_pump", "A", "current with the pump running", 5.0)};
  return table;
}

/// Motor, coolant and air, with a pump that a thermostat switches on and off: two state events with a hysteresis.
class Cooling final : public subsystem::SmoothModel<Cooling, 2, 1, 3> {
 public:
  Cooling() : SmoothModel(cooling_variables()) {}
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    t_air_ = given.number("T_air");
    t_on_ = given.number("T_on");
    t_off_ = given.number("T_off");
    if (t_off_ >= t_on_) {
      throw Error(ErrorCode::InvalidSystem,
                  fmt::format("parameter 'T_off' must be below T_on ({} K), not {} K", t_on_, t_off_),
                  {"", "T_off", std::nullopt, ""});
    }
    c_motor_ = given.positive("C_motor");
    c_coolant_ = given.positive("C_coolant");
    g_jacket_ = given.positive("G_jacket");
    g_still_ = given.positive("G_still");
    g_pumped_ = given.positive("G_pumped");
    i_rest_ = given.number("I_rest");
    i_pump_ = given.number("I_pump");
    pumping_ = 0.0;
  }
  template <class Number>
  void equations(const Number&, const std::array<Number, 2>& x, const std::array<Number, 1>& u,
                 std::array<Number, 2>& dx, std::array<Number, 3>& y) const {
    const auto& [motor, coolant] = x;
    const Number to_coolant = g_jacket_ * (motor - coolant);
    const Number to_air = (pumping() ? g_pumped_ : g_still_) * (coolant - t_air_);
    dx[0] = (u[0] - to_coolant) / c_motor_;
    dx[1] = (to_coolant - to_air) / c_coolant_;
    y = {motor, coolant, Number(pumping() ? i_pump_ : i_rest_)};
  }

  std::size_t event_indicator_count() const override { return 1; }
  /// How far the coolant is from the switch that comes next.
  void event_indicators(const Point& at, std::span<double> z) const override {
    z[0] = pumping() ? at.x[1] - t_off_ : t_on_ - at.x[1];
  }
  bool handle_event(const Point& at, std::span<double>) override {
    if (pumping() ? at.x[1] <= t_off_ : at.x[1] >= t_on_) pumping_ = 1.0 - pumping_;
    return false;
  }
  std::span<double> memory() noexcept override { return {&pumping_, 1}; }

 private:
  bool pumping() const { return pumping_ != 0.0; }

  double t_air_ = 0.0;
  double t_on_ = 0.0;
  double t_off_ = 0.0;
  double c_motor_ = 0.0;
  double c_coolant_ = 0.0;
  double g_jacket_ = 0.0;
  double g_still_ = 0.0;
  double g_pumped_ = 0.0;
  double i_rest_ = 0.0;
  double i_pump_ = 0.0;
  double pumping_ = 0.0;
};

}  // namespace

std::unique_ptr<Model> make_drivetrain_cooling() {
  return std::make_unique<Cooling>();
}

}  // namespace entrain::models
