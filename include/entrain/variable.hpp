#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "entrain/export.hpp"

namespace entrain {

/// Simulated time and spans of it, in seconds. Communication times come from a counter, never from a sum (ADR 0003).
using Time = double;
using Duration = double;

/// A start value or parameter as the user wrote it.
using Value = std::variant<double, std::int64_t, bool, std::string>;

enum class ValueType { Real, Integer, Boolean, String };

struct Variable {
  std::string name;
  std::string unit;  ///< SI text such as "m/s"; empty = none
  std::string description;
  ValueType type = ValueType::Real;
  std::optional<Value> start;  ///< the value without the user's word; nullopt = must be given or connected
};

enum class Causality {
  Input,
  Output,
  State,
  Parameter,
  Method,  ///< of a recordable signal only: told by the coupling method, not by the subsystem
};

/// An input or output that no connection can carry yet.
struct OtherPort {
  std::string name;
  std::string type;  ///< as the subsystem calls it: "Boolean", "Float32", "array of Float64"
};

/// The variables of one subsystem. The index inside a list is the number of the port.
struct ENTRAIN_API VariableTable {
  std::vector<Variable> inputs;
  std::vector<Variable> outputs;
  std::vector<Variable> states;
  std::vector<Variable> parameters;
  std::vector<OtherPort> other_ports;  ///< so that a connection to one can be refused with its reason

  struct Place {
    Causality causality;
    std::size_t index;
  };
  /// An output, else an input, else a state, else a parameter of this name. (An output that is a state has one name
  /// in both lists.)
  std::optional<Place> find(std::string_view name) const;
  /// What a start value can be given to: a parameter, else a state, else an input.
  std::optional<Place> find_startable(std::string_view name) const;
  const Variable& at(Place place) const;
};

}  // namespace entrain
