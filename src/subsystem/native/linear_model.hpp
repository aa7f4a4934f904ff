#pragma once

#include "entrain/model.hpp"
#include "numerics/linear_step.hpp"

namespace entrain::subsystem {

/// dx/dt = A x + B u, y = C x + D u with constant matrices, integrated exactly. A model derives from it, names its
/// variables and sets the matrices in `configure`.
class LinearModel : public Model {
 public:
  const VariableTable& variables() const noexcept override { return variables_; }
  Feedthrough feedthrough() const override;
  void derivatives(const Point& at, std::span<double> dx) const override;
  void outputs(const Point& at, std::span<double> y) const override;
  void linearize(const Point& at, Linearization& result) const override;
  void output_rates(const Point& at, std::span<double> dy) const override;
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override;

 protected:
  explicit LinearModel(VariableTable variables) : variables_(std::move(variables)) {}
  void set_matrices(Linearization matrices);
  const Linearization& matrices() const { return matrices_; }

 private:
  VariableTable variables_;
  Linearization matrices_;
  Matrix state_to_rate_;             ///< C A
  Matrix input_to_rate_;             ///< C B
  std::vector<double> output_rows_;  ///< of [C | D]: outputs are evaluated in every step
  numerics::LinearStep step_;
};

}  // namespace entrain::subsystem
