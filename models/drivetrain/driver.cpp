#include <algorithm>
#include <array>

#include "base/grid.hpp"
#include "models/drivetrain/drivetrain.hpp"
#include "subsystem/native/model_support.hpp"
#include "subsystem/native/smooth_model.hpp"

namespace entrain::models {
namespace {

struct CyclePoint {
  Time time;     ///< s
  double speed;  ///< km/h
};

/// The speeds of the urban driving cycle (ECE 15, UNECE regulation 83), joined by straight lines; it then stands still.
constexpr std::array<CyclePoint, 21> kUrbanCycle = {{{0, 0},    {11, 0},   {15, 15},  {23, 15},  {28, 0},   {49, 0},
                                                     {54, 15},  {56, 15},  {61, 32},  {85, 32},  {96, 0},   {117, 0},
                                                     {122, 15}, {124, 15}, {133, 35}, {135, 35}, {143, 50}, {155, 50},
                                                     {163, 35}, {176, 35}, {188, 0}}};
constexpr double kMetresPerSecond = 1.0 / 3.6;  // of one km/h

VariableTable driver_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("v", "m/s", "speed of the vehicle")};
  table.outputs = {subsystem::real("pedal", "", "1 = full drive, -1 = full brake"),
                   subsystem::real("v_target", "m/s", "speed of the cycle")};
  table.states = {subsystem::real("z", "m", "sum of the speed error", 0.0)};
  table.parameters = {subsystem::real("k_ahead", "s2/m", "pedal per acceleration of the cycle", 0.21),
                      subsystem::real("k_speed", "s/m", "pedal per speed error", 0.15),
                      subsystem::real("k_sum", "1/m", "pedal per sum of the speed error", 0.03)};
  return table;
}

/// Presses the pedal for the acceleration that the cycle asks for, and corrects by the speed error. The pedal jumps
/// where a new line of the cycle begins.
class Driver final : public subsystem::SmoothModel<Driver, 1, 1, 2> {
 public:
  Driver() : SmoothModel(driver_variables(), {{0, 0}}) {}
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables(), parameters);
    k_ahead_ = given.number("k_ahead");
    k_speed_ = given.number("k_speed");
    k_sum_ = given.number("k_sum");
  }
  template <class Number>
  void equations(const Number& t, const std::array<Number, 1>& x, const std::array<Number, 1>& u,
                 std::array<Number, 1>& dx, std::array<Number, 2>& y) const {
    using std::tanh;
    const auto line = line_at(numerics::value_of(t));
    const Number target = line.speed + line.acceleration * (t - line.begin);
    const Number error = target - u[0];
    dx[0] = error;
    y[0] = tanh(k_ahead_ * line.acceleration + k_speed_ * error + k_sum_ * x[0]);
    y[1] = target;
  }
  Time next_discontinuity(Time t) const override {
    const auto next = first_after(t);
    return next == kUrbanCycle.end() ? kNever : next->time;
  }

 private:
  struct Line {
    Time begin;
    double speed;         ///< there, m/s
    double acceleration;  ///< m/s2
  };
  static const CyclePoint* first_after(Time t) {
    return std::ranges::find_if(kUrbanCycle, [&](const CyclePoint& point) { return !base::reached(t, point.time); });
  }
  static Line line_at(Time t) {
    const auto* to = first_after(t);
    if (to == kUrbanCycle.begin()) return {to->time, to->speed * kMetresPerSecond, 0.0};
    const auto* from = to - 1;
    const double speed = from->speed * kMetresPerSecond;
    if (to == kUrbanCycle.end()) return {from->time, speed, 0.0};
    return {from->time, speed, (to->speed * kMetresPerSecond - speed) / (to->time - from->time)};
  }

  double k_ahead_ = 0.0;
  double k_speed_ = 0.0;
  double k_sum_ = 0.0;
};

}  // namespace

std::unique_ptr<Model> make_drivetrain_driver() {
  return std::make_unique<Driver>();
}

}  // namespace entrain::models
