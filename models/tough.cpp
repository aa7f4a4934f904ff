#include "models/tough.hpp"

#include <cmath>

#include "subsystem/native/model_support.hpp"

namespace entrain::models {
namespace {

VariableTable tough_variables() {
  VariableTable table;
  table.outputs = {subsystem::real("y", "", "state plus b0 sin(wb t)")};
  table.states = {subsystem::real("x", "", "integral of a0 cos(wa t)", 0.0)};
  table.parameters = {subsystem::real("a0", "1/s", "amplitude of the derivative of the state", 1.0),
                      subsystem::real("wa", "rad/s", "angular frequency of the derivative of the state", 1.0),
                      subsystem::real("b0", "", "amplitude of the term added to the output", 0.5),
                      subsystem::real("wb", "rad/s", "angular frequency of the term added to the output", 3.0)};
  return table;
}

/// COSTARICA (81): x' = a(t), y = x + b(t), a = a0 cos(wa t), b = b0 sin(wb t).
class Tough final : public Model {
 public:
  const VariableTable& variables() const noexcept override { return variables_; }
  void configure(std::span<const Value> parameters) override {
    const subsystem::ParameterReader given(variables_, parameters);
    a0_ = given.number("a0");
    wa_ = given.positive("wa");
    b0_ = given.number("b0");
    wb_ = given.number("wb");
  }
  Feedthrough feedthrough() const override { return {1, 0}; }
  void derivatives(const Point& at, std::span<double> dx) const override { dx[0] = a0_ * std::cos(wa_ * at.t); }
  void outputs(const Point& at, std::span<double> y) const override { y[0] = at.x[0] + b0_ * std::sin(wb_ * at.t); }
  void output_rates(const Point& at, std::span<double> dy) const override {
    derivatives(at, dy);
    dy[0] += b0_ * wb_ * std::cos(wb_ * at.t);
  }
  void linearize(const Point&, Linearization& result) const override {
    result.A.resize(1, 1);
    result.B.resize(1, 0);
    result.C.resize(1, 1);
    result.D.resize(1, 0);
    result.C(0, 0) = 1.0;
  }
  void integrate(Time from, Duration size, const InputBlock&, std::span<double> x) override {
    // The difference of two sines as a product: no cancellation in small steps.
    x[0] += 2.0 * a0_ / wa_ * std::cos(wa_ * (from + 0.5 * size)) * std::sin(0.5 * wa_ * size);
  }

 private:
  VariableTable variables_ = tough_variables();
  double a0_ = 0.0;
  double wa_ = 1.0;
  double b0_ = 0.0;
  double wb_ = 0.0;
};

}  // namespace

std::unique_ptr<Model> make_tough() {
  return std::make_unique<Tough>();
}

}  // namespace entrain::models
