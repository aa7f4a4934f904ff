#include "models/ball.hpp"

#include <fmt/format.h>

#include <limits>

#include "entrain/error.hpp"
#include "subsystem/native/event_integration.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::models {
namespace {

constexpr std::size_t kHeight = 0;
constexpr std::size_t kSpeed = 1;

VariableTable ball_variables() {
  VariableTable table;
  table.inputs = {subsystem::real("a", "m/s2", "acceleration upwards by an outer force", 0.0)};
  table.states = {subsystem::real("h", "m", "height above the floor", 1.0),
                  subsystem::real("v", "m/s", "velocity upwards", 0.0)};
  table.outputs = table.states;
  for (auto& output : table.outputs) output.start.reset();
  table.parameters = {subsystem::real("g", "m/s2", "gravity", 9.81),
                      subsystem::real("e", "", "part of the velocity that a bounce leaves, 0 to 1", 0.7),
                      subsystem::real("v_min", "m/s", "a bounce that leaves less ends the bouncing", 0.1)};
  return table;
}

/// h'' = a - g above the floor; at the floor v becomes -e v. After a bounce slower than v_min it lies, until the outer
/// force lifts it: without that the bounces would follow each other ever faster without end.
class BouncingBall final : public Model {
 public:
  const VariableTable& variables() const noexcept override { return variables_; }
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables_, parameters);
    g_ = given.positive("g");
    e_ = given.number("e");
    v_min_ = given.positive("v_min");
    if (!(e_ >= 0.0 && e_ <= 1.0)) {
      throw Error(ErrorCode::InvalidSystem, fmt::format("parameter 'e' must be between 0 and 1, not {}", e_),
                  {"", "e", std::nullopt, ""});
    }
    lies_ = 0.0;
  }
  Feedthrough feedthrough() const override { return {2, 1}; }
  void derivatives(const Point& at, std::span<double> dx) const override {
    dx[kHeight] = lies() ? 0.0 : at.x[kSpeed];
    dx[kSpeed] = lies() ? 0.0 : at.u[0] - g_;
  }
  void outputs(const Point& at, std::span<double> y) const override {
    y[kHeight] = at.x[kHeight];
    y[kSpeed] = at.x[kSpeed];
  }
  void linearize(const Point&, Linearization& result) const override {
    result.A.resize(2, 2);
    result.B.resize(2, 1);
    result.C.resize(2, 2);
    result.D.resize(2, 1);
    result.C(kHeight, kHeight) = 1.0;
    result.C(kSpeed, kSpeed) = 1.0;
    if (lies()) return;
    result.A(kHeight, kSpeed) = 1.0;
    result.B(kSpeed, 0) = 1.0;
  }
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    solver_.integrate(*this, from, size, inputs, x);
  }

  std::size_t event_indicator_count() const override { return 2; }
  /// The height in free flight, the contact force at rest.
  void event_indicators(const Point& at, std::span<double> z) const override {
    z[0] = lies() ? 1.0 : at.x[kHeight];
    z[1] = lies() ? g_ - at.u[0] : 1.0;
  }
  bool handle_event(const Point& at, std::span<double> x) override {
    // Above zero, so that leaving the floor is no change of sign.
    constexpr double kOnTheFloor = std::numeric_limits<double>::min();
    if (lies()) {
      if (at.u[0] > g_) lies_ = 0.0;
      return false;
    }
    if (x[kHeight] > 0.0 || x[kSpeed] > 0.0) return false;
    x[kHeight] = kOnTheFloor;
    x[kSpeed] *= -e_;
    if (x[kSpeed] >= v_min_) return false;
    x[kSpeed] = 0.0;
    lies_ = 1.0;
    return true;  // the outer force may lift it at once
  }
  std::span<double> memory() noexcept override { return {&lies_, 1}; }

 private:
  bool lies() const { return lies_ != 0.0; }

  VariableTable variables_ = ball_variables();
  double g_ = 0.0;
  double e_ = 0.0;
  double v_min_ = 0.0;
  double lies_ = 0.0;
  subsystem::EventIntegration solver_{*this};
};

}  // namespace

std::unique_ptr<Model> make_bouncing_ball() {
  return std::make_unique<BouncingBall>();
}

}  // namespace entrain::models
