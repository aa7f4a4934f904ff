#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "entrain/subsystem.hpp"
#include "entrain/system_description.hpp"
#include "entrain/variable.hpp"

namespace entrain::subsystem {

using ValueReference = std::uint32_t;

enum class FmiVersion { One, Two, Three };

// Attributes that each version spells differently.
constexpr const char* rollback_attribute(FmiVersion version) {
  return version == FmiVersion::Three ? "canGetAndSetFMUState" : "canGetAndSetFMUstate";
}
constexpr const char* serialization_attribute(FmiVersion version) {
  return version == FmiVersion::Three ? "canSerializeFMUState" : "canSerializeFMUstate";
}
constexpr const char* directional_attribute(FmiVersion version) {
  return version == FmiVersion::Three ? "providesDirectionalDerivatives" : "providesDirectionalDerivative";
}

/// Value types of all versions; those of FMI 1 and 2 are Float64 (Real), Int32 (Integer), Boolean, String, Enumeration.
enum class FmuType {
  Float32,
  Float64,
  Int8,
  UInt8,
  Int16,
  UInt16,
  Int32,
  UInt32,
  Int64,
  UInt64,
  Boolean,
  String,
  Enumeration,
  Binary,
  Clock,
};
std::string_view to_string(FmuType type);

enum class FmuCausality { Parameter, CalculatedParameter, StructuralParameter, Input, Output, Local, Independent };
enum class FmuVariability { Constant, Fixed, Tunable, Discrete, Continuous };
enum class FmuInitial { Exact, Approximate, Calculated };

/// One dimension of an array: a size, or the structural parameter that contains it.
struct FmuDimension {
  std::optional<std::uint64_t> size;
  std::size_t variable = 0;  ///< index, without a size
};

/// Stand for references of states that the file does not name and, behind them, of their derivatives; a file may use
/// these numbers, too.
inline constexpr ValueReference kFirstNumberedState = 0xf0000000U;

/// What the file says about a clock.
struct FmuClock {
  ClockKind kind = ClockKind::Triggered;
  std::optional<ClockInterval> interval;  ///< where it is written, it is not asked for
  ClockInterval shift;
  bool fraction = false;       ///< it counts in fractions, else in decimals
  std::uint32_t priority = 0;  ///< of its partition in scheduled execution; the lowest number runs first
};

struct FmuVariable {
  std::string name;
  std::vector<std::string> other_names;
  ValueReference reference = 0;
  FmuType type = FmuType::Float64;
  FmuCausality causality = FmuCausality::Local;
  FmuVariability variability = FmuVariability::Continuous;
  std::optional<FmuInitial> initial;  ///< as written; nullopt = the default of the standard
  std::optional<Value> start;         ///< of a scalar
  std::vector<Value> array_start;     ///< of an array, as many as written
  std::string unit;
  bool relative_quantity = false;  ///< a difference: the offset of the unit does not count
  std::string description;
  std::optional<std::size_t> derivative_of;       ///< index of the state it is the time derivative of
  std::vector<FmuDimension> dimensions;           ///< none of a scalar
  std::shared_ptr<const EnumerationItems> items;  ///< of its declared type
  bool intermediate_update = false;               ///< FMI 3: may be set or read inside a step
  std::optional<FmuClock> clock;                  ///< of a clock
  std::vector<std::size_t> clocks;                ///< indices: it lives while one of them is active
  std::string mime_type;                          ///< of bytes
  std::uint32_t numbered = 0;                     ///< a state or derivative without a reference: of how many states
  bool negated = false;                           ///< FMI 1: the negative of what its reference stands for
};

/// One line of the model structure.
struct FmuUnknown {
  std::size_t variable = 0;                              ///< index
  std::optional<std::vector<std::size_t>> dependencies;  ///< indices; nullopt = not listed, so all
};

/// What the file declares about co-simulation; whether it is true is seen when it is used.
struct CoSimulationFlags {
  std::string model_identifier;
  bool variable_step = false;
  bool rollback = false;
  bool serialization = false;
  bool input_derivatives = false;
  int output_derivative_order = 0;
  bool directional_derivatives = false;
  bool adjoint_derivatives = false;
  bool intermediate_update = false;  ///< FMI 3: asks for inputs inside a step
  bool returns_on_request = false;   ///< FMI 3: ends a step where it is asked to inside
  bool event_mode = false;           ///< FMI 3: events are handled with the importer
  bool once_per_process = false;
  bool needs_execution_tool = false;
  std::optional<Duration> fixed_internal_step;
};

/// What the file declares about model exchange.
struct ModelExchangeFlags {
  std::string model_identifier;
  bool rollback = false;
  bool serialization = false;
  bool directional_derivatives = false;
  bool needs_completed_step = true;
  bool needs_execution_tool = false;
  bool once_per_process = false;
  std::size_t event_indicators = 0;  ///< of FMI 1 and 2; an instance of FMI 3 returns it
};

/// What the file declares about scheduled execution.
struct ScheduledFlags {
  std::string model_identifier;
  bool needs_execution_tool = false;
  bool once_per_process = false;
};

struct DefaultExperiment {
  std::optional<Time> start;
  std::optional<Time> stop;
  std::optional<Duration> step;
  std::optional<double> tolerance;
};

struct FmuUnit : UnitMeaning {
  std::string name;
  bool has_base = false;  ///< the file defines its meaning
};

/// A modelDescription.xml of any version, in the terms they share.
struct FmuDescription {
  FmiVersion version = FmiVersion::Two;
  std::string version_text;  ///< "1.0", "2.0", "3.0.1"
  std::string model_name;
  std::string about;  ///< its description; may be empty
  std::string tool;   ///< that made it; may be empty
  std::string token;  ///< guid or instantiationToken
  std::optional<CoSimulationFlags> co_simulation;
  std::optional<ModelExchangeFlags> model_exchange;
  std::vector<std::string> log_categories;
  std::vector<FmuUnit> units;
  DefaultExperiment experiment;
  std::vector<FmuVariable> variables;
  std::vector<FmuUnknown> outputs;            ///< may be empty or partial
  std::vector<FmuUnknown> state_derivatives;  ///< may be empty
  std::vector<Terminal> terminals;
  std::string terminals_fault;  ///< why there are none, though there is a file
  std::optional<ScheduledFlags> scheduled_execution;
};

/// "co-simulation", "model exchange" or "scheduled execution".
std::string_view to_string(FmuInterface interface);

/// Throws Error{InvalidSystem} that names the FMU (`fmu`) and the element.
FmuDescription parse_model_description(std::string_view xml, const std::string& fmu);
FmuDescription read_model_description(const std::filesystem::path& file, const std::string& fmu);
/// terminalsAndIcons.xml, where there is one: nested terminals have names with dots. A broken one is noted.
void read_terminals(const std::filesystem::path& file, FmuDescription& description);

/// The shortest decimal fraction that is this number of seconds, if there is one of 15 digits; else the nearest.
ClockInterval as_interval(double seconds);

}  // namespace entrain::subsystem
