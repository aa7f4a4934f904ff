#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "entrain/export.hpp"

namespace entrain {

/// Simulated time and spans of it, in seconds. Communication times come from a counter, never from a sum (ADR 0003).
using Time = double;
using Duration = double;

/// Bytes that mean something to the subsystems alone.
struct Binary {
  std::vector<std::uint8_t> bytes;
  auto operator<=>(const Binary&) const = default;
};

/// A start value, a parameter or a discrete value.
using Value = std::variant<double, std::int64_t, bool, std::string, std::uint64_t, Binary>;

/// In the order of the alternatives of Value.
enum class ValueType {
  Real,
  Integer,
  Boolean,
  String,
  Unsigned,  ///< 64 bits without a sign; smaller ones are Integer
  Binary,
};

/// What a unit means: value in SI base units = factor * value + offset.
struct UnitMeaning {
  std::array<int, 8> exponents{};  ///< of kg, m, s, A, K, mol, cd, rad
  double factor = 1.0;
  double offset = 0.0;
};

/// The values of an enumeration, by their names.
using EnumerationItems = std::vector<std::pair<std::string, std::int64_t>>;

struct Variable {
  std::string name;
  std::string unit;  ///< SI text such as "m/s"; empty = none
  std::string description;
  ValueType type = ValueType::Real;
  std::optional<Value> start;  ///< the value without the user's word; nullopt = must be given or connected
  /// Of the unit; nullopt = by the text, if it is an SI unit.
  std::optional<UnitMeaning> meaning = std::nullopt;
  std::string declared_type = {};  ///< as the subsystem calls it: "UInt8", "Enumeration"; empty = as in `type`
  bool tunable = true;             ///< of a parameter: it may change during a run
  std::shared_ptr<const EnumerationItems> items = nullptr;  ///< of an enumeration whose values have names
  std::vector<std::string> other_names = {};  ///< the user may call it by these as well; results have its `name`
  std::vector<std::size_t> clocks = {};  ///< indices in VariableTable::clocks: it lives while one of them is active
  std::string mime_type = {};            ///< of bytes; empty = not known
};

/// How the ticks of a clock are known.
enum class ClockKind {
  Constant,    ///< periodic; the interval stands in the description
  Fixed,       ///< periodic; the interval is known after the initialization
  Calculated,  ///< the same, computed by the subsystem
  Tunable,     ///< periodic; the interval may change at events
  Changing,    ///< each tick announces the next
  Countdown,   ///< announced at events, or not at all
  Triggered,   ///< not known before: an output clock, or an input clock that follows one
};
ENTRAIN_API std::string_view to_string(ClockKind kind);

/// A clock of a subsystem. Input clocks are activated from outside, at their times or by the clock that feeds them.
struct ClockPort {
  std::string name;
  bool is_output = false;
  ClockKind kind = ClockKind::Triggered;
  bool has_times() const { return !is_output && kind != ClockKind::Triggered; }
};

/// Variables that are connected together, by the role that each has.
struct Terminal {
  std::string name;  ///< of nested ones with dots
  std::string kind;
  std::string rule;                                          ///< of matching members
  std::vector<std::pair<std::string, std::string>> members;  ///< role and name of the variable
};

/// Whether `wanted` is its name, or another one that it has.
template <class Named>
bool is_called(const Named& named, std::string_view wanted) {
  const auto& others = named.other_names;
  return named.name == wanted || std::find(others.begin(), others.end(), wanted) != others.end();
}

enum class Causality {
  Input,
  Output,
  State,
  Parameter,
  DiscreteInput,
  DiscreteOutput,
  Local,
  Method,  ///< of a recordable signal only: provided by the coupling method, not by the subsystem
};

/// An input or output that no connection can carry.
struct OtherPort {
  std::string name;
  std::string type;  ///< as the subsystem calls it: "Clock"
};

/// The variables of one subsystem. The index inside a list is the number of the port.
struct ENTRAIN_API VariableTable {
  std::vector<Variable> inputs;
  std::vector<Variable> outputs;
  std::vector<Variable> states;
  std::vector<Variable> parameters;
  /// Inputs and outputs that are no real numbers: held between communication times (docs/system_file.md).
  std::vector<Variable> discrete_inputs;
  std::vector<Variable> discrete_outputs;
  std::vector<Variable> locals;        ///< of any type: no ports and no states; they can be read, and some be started
  std::vector<OtherPort> other_ports;  ///< so that a connection to one can be refused with its reason
  std::vector<ClockPort> clocks;
  std::vector<Terminal> terminals;

  struct Place {
    Causality causality;
    std::size_t index;
  };
  /// An output, else an input, else a state, else a parameter of this name, then the discrete ones and
  /// the locals. (An output that is a state has one name in both lists.)
  std::optional<Place> find(std::string_view name) const;
  /// What a start value can be given to: a parameter, else a state, else an input, discrete ones included,
  /// else a local.
  std::optional<Place> find_startable(std::string_view name) const;
  const Variable& at(Place place) const;
};

}  // namespace entrain
