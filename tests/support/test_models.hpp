#pragma once

#include <barrier>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>

#include "entrain/model.hpp"

namespace entrain::test {

/// A model without states, y = g(t, u), with one input u and one output y. What the failure and loop tests need.
class StaticModel : public Model {
 public:
  using Function = std::function<double(Time t, double u)>;
  explicit StaticModel(Function function, std::function<void(Time from)> on_step = {})
      : function_(std::move(function)), on_step_(std::move(on_step)) {
    table_.inputs.push_back({"u", "", "", ValueType::Real, 0.0});
    table_.outputs.push_back({"y", "", "", ValueType::Real, {}});
  }

  const VariableTable& variables() const noexcept override { return table_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {1, 1, true}; }
  void derivatives(const Point&, std::span<double>) const override {}
  void outputs(const Point& at, std::span<double> y) const override { y[0] = function_(at.t, at.u[0]); }
  void linearize(const Point& at, Linearization& result) const override {
    result.A.resize(0, 0);
    result.B.resize(0, 1);
    result.C.resize(1, 0);
    result.D.resize(1, 1);
    constexpr double kDelta = 1e-6;
    result.D(0, 0) = (function_(at.t, at.u[0] + kDelta) - function_(at.t, at.u[0] - kDelta)) / (2 * kDelta);
  }
  void integrate(Time from, Duration, const InputBlock&, std::span<double>) override {
    if (on_step_) on_step_(from);
  }

 private:
  Function function_;
  std::function<void(Time)> on_step_;
  VariableTable table_;
};

}  // namespace entrain::test
