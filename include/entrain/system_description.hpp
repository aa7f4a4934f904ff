#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "entrain/error.hpp"
#include "entrain/export.hpp"
#include "entrain/variable.hpp"

namespace entrain {

/// The value of a method option, as plain data.
using OptionValue = std::variant<bool, std::int64_t, double, std::string, std::vector<double>, std::vector<std::string>,
                                 std::map<std::string, double>>;

/// Something the user wrote, and where.
template <class T>
struct Written {
  T value{};
  SourcePosition where;
};

/// A start value that is taken where the subsystem has such a variable and ignored elsewhere, as parameter sets of SSP
/// are meant. A value of `start` wins over it.
struct OptionalStart {
  Value value;
  std::string unit;  ///< of the value; empty = that of the variable
  SourcePosition where;
};

/// Values, each with the one that is passed on in its place.
using ValueTable = std::vector<std::pair<Value, Value>>;

/// Values of `interface`.
inline constexpr std::string_view kCoSimulation = "co-simulation";
inline constexpr std::string_view kModelExchange = "model-exchange";

/// Values of `interpolation`.
inline constexpr std::string_view kHold = "hold";
inline constexpr std::string_view kLinear = "linear";

struct SubsystemDescription {
  std::string name;
  std::string model;                                  ///< "pair.part", a built-in model; or
  std::string fmu;                                    ///< the path of an FMU, relative to the system file
  std::string csv;                                    ///< the path of a table over time, relative to the system file
  std::optional<Written<std::string>> interpolation;  ///< of the table: "hold" (the default) or "linear"
  std::optional<Written<std::string>> interface;      ///< of an FMU: "co-simulation" or "model-exchange"
  std::optional<Written<double>> tolerance;           ///< of the integration of a model-exchange FMU
  std::map<std::string, Written<Value>> start;        ///< parameters, states and inputs by name
  std::map<std::string, OptionalStart> optional_start;
  // Capabilities taken away for study; nullopt = as the subsystem says.
  std::optional<Written<bool>> rollback;
  std::optional<Written<bool>> states;
  std::optional<Written<bool>> state_derivatives;
  std::optional<Written<bool>> linearization;
  std::optional<Written<std::int64_t>> input_degree;
  std::optional<Written<std::int64_t>> output_derivative_order;
  std::optional<Written<double>> step;         ///< imposed step in s
  std::optional<Written<double>> step_offset;  ///< the imposed communication times lie this much after whole steps, s
  std::optional<Written<double>> min_step;
  std::optional<Written<double>> max_step;
  std::optional<Written<std::string>> trials;          ///< "auto", "rollback" or "costarica"
  std::optional<Written<double>> initial_step;         ///< s, where the method adapts the step
  std::optional<Written<std::int64_t>> substeps;       ///< parts of a step whose input polynomials it cannot take whole
  std::optional<Written<std::vector<double>>> events;  ///< replaces what the subsystem announces
  std::optional<Written<double>> timeout;              ///< wall clock time that one call of an FMU may take, in s
  SourcePosition where;
  SourcePosition model_where;
  SourcePosition fmu_where;
  SourcePosition csv_where;
};

/// One output to one input; names are "subsystem.variable", the first dot ends the subsystem's name.
/// input = factor * output + offset, where the output is in the unit of the input if units are converted.
struct ConnectionDescription {
  std::string output;
  std::string input;
  SourcePosition where;           ///< of the input; in a list, of its element
  SourcePosition output_where{};  ///< of the output
  double factor = 1.0;
  double offset = 0.0;
  bool convert_units = true;  ///< where both units are known
  ValueTable table = {};      ///< of an output that is no real number: what the input gets for each of its values
};

/// Values that a tunable parameter takes during the run.
struct ScheduleDescription {
  std::string variable;  ///< "subsystem.variable"
  struct Entry {
    Time time = 0.0;  ///< s
    Value value;
    SourcePosition where;
  };
  std::vector<Entry> entries;  ///< in the order of time
  SourcePosition where;
};

/// Two variables whose product is a power, and the connections between the same two subsystems that carry them.
struct BondDescription {
  std::string name;
  /// One effort and one flow as "subsystem.variable", of either end or of both: two to four names.
  std::vector<Written<std::string>> variables;
  SourcePosition where;
};

/// Values of `record.format`.
inline constexpr std::string_view kCsvFormat = "csv";
inline constexpr std::string_view kHdf5Format = "hdf5";
inline constexpr std::string_view kMatFormat = "mat";

struct RecordDescription {
  std::optional<std::vector<Written<std::string>>> variables;  ///< patterns with *; nullopt = all outputs
  std::optional<Written<double>> interval;                     ///< s; nullopt = every communication time
  std::optional<Written<std::string>> format;                  ///< "csv" (the default), "hdf5" or "mat"
};

/// The method of a system that names none.
ENTRAIN_API std::string_view default_method() noexcept;

/// What the user wrote, as plain data. Values left out stay empty here; defaults are decided once, by `resolve`.
struct SystemDescription {
  std::string name;            ///< of the file or its folder
  std::filesystem::path file;  ///< empty when made by a program
  Written<double> start{0.0, {}};
  std::optional<Written<double>> stop;
  std::optional<Written<double>> step;
  Written<std::string> method{std::string(default_method()), {}};
  /// Options per method: [method.NAME].
  std::map<std::string, std::map<std::string, Written<OptionValue>>> method_options;
  std::vector<SubsystemDescription> subsystems;  ///< in the order of the file
  std::vector<ConnectionDescription> connections;
  std::optional<std::vector<BondDescription>> bonds;  ///< nullopt = found from the units of the connected variables
  std::vector<ScheduleDescription> schedule;
  RecordDescription record;
  std::vector<Problem> notes;  ///< what was ignored when it was read: warnings
};

}  // namespace entrain
