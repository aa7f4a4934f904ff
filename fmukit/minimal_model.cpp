#include "fmukit/minimal_model.hpp"

#include "subsystem/native/model_support.hpp"

namespace entrain::fmukit {
namespace {

class Minimal final : public Model {
 public:
  Minimal() {
    variables_.inputs = {subsystem::real("u", "", "input", 0.0)};
    variables_.outputs = {subsystem::real("y", "", "0.5 u + 1")};
  }
  const VariableTable& variables() const noexcept override { return variables_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {1, 1, true}; }
  void derivatives(const Point&, std::span<double>) const override {}
  void outputs(const Point& at, std::span<double> y) const override { y[0] = 0.5 * at.u[0] + 1.0; }
  void linearize(const Point&, Linearization& result) const override {
    result.A.resize(0, 0);
    result.B.resize(0, 1);
    result.C.resize(1, 0);
    result.D.resize(1, 1);
    result.D(0, 0) = 0.5;
  }
  void integrate(Time, Duration, const InputBlock&, std::span<double>) override {}

 private:
  VariableTable variables_;
};

}  // namespace

std::unique_ptr<Model> make_minimal_model() {
  return std::make_unique<Minimal>();
}

}  // namespace entrain::fmukit
