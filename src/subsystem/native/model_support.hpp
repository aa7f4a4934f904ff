#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/variable.hpp"

namespace entrain::subsystem {

/// Short functions that write the variables of a model. A Real variable without a start value must be given or
/// connected.
Variable real(std::string name, std::string unit, std::string description);
Variable real(std::string name, std::string unit, std::string description, double start);
Variable text(std::string name, std::string description, std::string start);

/// The parameters given to Model::configure, by name. Throws Error{InvalidSystem} naming a parameter that makes no
/// sense.
class ParameterReader {
 public:
  ParameterReader(const VariableTable& variables, std::span<const Value> values)
      : variables_(variables), values_(values) {}

  double number(std::string_view name) const { return std::get<double>(value(name)); }
  double positive(std::string_view name) const;  ///< such as a mass
  const std::string& choice(std::string_view name, const std::vector<std::string>& choices) const;

 private:
  const Value& value(std::string_view name) const;

  const VariableTable& variables_;
  std::span<const Value> values_;
};

}  // namespace entrain::subsystem
