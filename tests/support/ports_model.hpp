#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "entrain/model.hpp"

namespace entrain::test {

/// A model whose outputs are functions of time alone: for closed forms of what a coupling makes of them.
class PortsModel : public Model {
 public:
  struct Port {
    std::string name;
    std::string unit;
    std::function<double(Time)> value = {};  ///< of an output
  };
  PortsModel(const std::vector<Port>& inputs, std::vector<Port> outputs) : outputs_(std::move(outputs)) {
    for (const auto& port : inputs) table_.inputs.push_back({port.name, port.unit, "", ValueType::Real, 0.0});
    for (const auto& port : outputs_) table_.outputs.push_back({port.name, port.unit, "", ValueType::Real, {}});
  }

  const VariableTable& variables() const noexcept override { return table_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {table_.outputs.size(), table_.inputs.size(), false}; }
  void derivatives(const Point&, std::span<double>) const override {}
  void outputs(const Point& at, std::span<double> y) const override {
    for (std::size_t i = 0; i < outputs_.size(); ++i) y[i] = outputs_[i].value(at.t);
  }
  void linearize(const Point&, Linearization& result) const override {
    result.A.resize(0, 0);
    result.B.resize(0, table_.inputs.size());
    result.C.resize(table_.outputs.size(), 0);
    result.D.resize(table_.outputs.size(), table_.inputs.size());
  }
  void integrate(Time, Duration, const InputBlock&, std::span<double>) override {}

 private:
  std::vector<Port> outputs_;
  VariableTable table_;
};

}  // namespace entrain::test
