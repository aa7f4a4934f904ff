#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "entrain/choices.hpp"
#include "entrain/error.hpp"
#include "entrain/export.hpp"
#include "entrain/real_time.hpp"
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

/// What integrates: the FMU itself, or the importer.
enum class FmuInterface { CoSimulation, ModelExchange, ScheduledExecution };
template <>
struct ChoiceNames<FmuInterface> {
  static constexpr std::array<ChoiceName<FmuInterface>, 3> all{
      {{FmuInterface::CoSimulation, "co-simulation"},
       {FmuInterface::ModelExchange, "model-exchange"},
       {FmuInterface::ScheduledExecution, "scheduled-execution"}}};
};

/// Of a table over time, between two rows.
enum class TableInterpolation {
  Hold,    ///< each row holds until the next: every change is an event
  Linear,  ///< straight lines between the rows; two rows with one time make a jump, which is an event
};
template <>
struct ChoiceNames<TableInterpolation> {
  static constexpr std::array<ChoiceName<TableInterpolation>, 2> all{
      {{TableInterpolation::Hold, "hold"}, {TableInterpolation::Linear, "linear"}}};
};

/// How a method tries a step of the subsystem before the real one.
enum class TrialChoice { Auto, Rollback, Costarica };
template <>
struct ChoiceNames<TrialChoice> {
  static constexpr std::array<ChoiceName<TrialChoice>, 3> all{
      {{TrialChoice::Auto, "auto"}, {TrialChoice::Rollback, "rollback"}, {TrialChoice::Costarica, "costarica"}}};
};

/// In a process of its own; a text: together with all others of this name.
using Isolation = std::variant<bool, std::string>;

/// The outputs of a part outside in steps without a new value of it.
enum class MissingOutputs { Hold, Extrapolate };
template <>
struct ChoiceNames<MissingOutputs> {
  static constexpr std::array<ChoiceName<MissingOutputs>, 2> all{
      {{MissingOutputs::Hold, "hold"}, {MissingOutputs::Extrapolate, "extrapolate"}}};
};

/// A part outside: a rig, or a process on the same machine (docs/real_time.md). As it is written: `udp = { ... }` or
/// `shm = { ... }`.
struct OutsideDescription {
  Written<std::string> local;                                        ///< udp: "127.0.0.1:9001", or a port on loopback
  Written<std::string> remote;                                       ///< udp: of the rig
  Written<std::string> name;                                         ///< shm
  std::optional<std::vector<Written<std::string>>> inputs, outputs;  ///< "F [N]"; else those of the model
  std::optional<Written<double>> step;                               ///< s; else `step` of the subsystem
  std::optional<Written<double>> timeout;  ///< wall clock s without an answer that end the run
  std::optional<Written<double>> wait;     ///< wall clock s for the answer to a step
  std::optional<Written<MissingOutputs>> missing;
};

/// The optional fields are the keys of [subsystems.NAME]; description/subsystem_keys.hpp lists them with their names,
/// limits and meaning. Empty = not written.
struct SubsystemDescription {
  std::string name;
  std::string model;  ///< "pair.part", a built-in model; or
  std::string fmu;    ///< the path of an FMU, relative to the system file; or
  std::string csv;    ///< the path of a table over time, relative to the system file
  std::optional<Written<TableInterpolation>> interpolation;
  std::optional<Written<FmuInterface>> interface;
  std::optional<Written<double>> relative_tolerance;
  std::map<std::string, Written<Value>> start;  ///< parameters, states and inputs by name
  std::map<std::string, OptionalStart> optional_start;
  std::optional<Written<bool>> rollback;
  std::optional<Written<bool>> states;
  std::optional<Written<bool>> state_derivatives;
  std::optional<Written<bool>> linearization;
  std::optional<Written<std::int64_t>> input_degree;
  std::optional<Written<std::int64_t>> output_derivative_order;
  std::optional<Written<double>> step;
  std::optional<Written<double>> step_offset;
  std::optional<Written<double>> min_step;
  std::optional<Written<double>> max_step;
  std::optional<Written<TrialChoice>> trials;
  std::optional<Written<std::string>> estimator;
  std::optional<Written<double>> initial_step;
  std::optional<Written<std::int64_t>> substeps;
  std::optional<Written<std::vector<double>>> events;
  std::optional<Written<bool>> sampled;
  std::optional<Written<bool>> side_effects;
  std::optional<Written<bool>> probe;
  std::optional<Written<double>> timeout;
  std::optional<Written<Isolation>> isolate;
  std::optional<Written<std::int64_t>> restart;
  std::optional<Written<bool>> sandbox;
  std::optional<Written<double>> memory_limit;     ///< MiB
  std::optional<Written<OutsideDescription>> udp;  ///< it lies outside; what it is made of stands in for it
  std::optional<Written<OutsideDescription>> shm;  ///< likewise
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

/// What happens to a signal or a parameter during a run (docs/scenarios.md).
enum class ScenarioAction { Set, Bias, Scale, Ramp, Freeze, Drop, Noise, Release };
template <>
struct ChoiceNames<ScenarioAction> {
  static constexpr std::array<ChoiceName<ScenarioAction>, 8> all{{{ScenarioAction::Set, "set"},
                                                                  {ScenarioAction::Bias, "bias"},
                                                                  {ScenarioAction::Scale, "scale"},
                                                                  {ScenarioAction::Ramp, "ramp"},
                                                                  {ScenarioAction::Freeze, "freeze"},
                                                                  {ScenarioAction::Drop, "drop"},
                                                                  {ScenarioAction::Noise, "noise"},
                                                                  {ScenarioAction::Release, "release"}}};
};

/// One entry of a scenario: `{ at = 2.0, set = "motor.load", value = 5 }`.
struct ScenarioDescription {
  ScenarioAction action = ScenarioAction::Set;
  Written<std::string> target;                ///< an input, an output, "a.y -> b.u" or a tunable parameter
  std::optional<Written<double>> at;          ///< s; beside `when`: not before it
  std::optional<Written<std::string>> when;   ///< "battery.soc < 0.2"
  std::optional<Written<Value>> value;        ///< of noise its standard deviation
  std::optional<Written<double>> over;        ///< s that a ramp takes
  std::optional<Written<double>> interval;    ///< s for which a value of the noise lasts
  std::optional<Written<std::int64_t>> seed;  ///< of the noise
  SourcePosition where;
};

/// Two variables whose product is a power, and the connections between the same two subsystems that carry them.
struct BondDescription {
  std::string name;
  /// One effort and one flow as "subsystem.variable", of either end or of both: two to four names.
  std::vector<Written<std::string>> variables;
  SourcePosition where;
};

/// Two outputs of two subsystems that are the same quantity, and the inputs by which a force makes them so.
struct ConstraintDescription {
  std::string name;
  /// "subsystem.variable": two outputs, and an input of each of their subsystems that nothing feeds; in any order.
  std::vector<Written<std::string>> variables;
  SourcePosition where;
};

/// Values of `record.format`.
inline constexpr std::string_view kCsvFormat = "csv";
inline constexpr std::string_view kHdf5Format = "hdf5";
inline constexpr std::string_view kMatFormat = "mat";
inline constexpr std::array<std::string_view, 3> kRecordFormats{kCsvFormat, kHdf5Format, kMatFormat};

struct RecordDescription {
  std::optional<std::vector<Written<std::string>>> variables;  ///< patterns with *; nullopt = all outputs
  std::optional<Written<double>> interval;                     ///< s; nullopt = every communication time
  std::optional<Written<std::string>> format;                  ///< one of kRecordFormats; nullopt = "csv"
};

/// What varies in a sweep: "motor.R" (a start value), "method", "step", "stop", "tolerance", or "option.NAME" of the
/// method.
struct SweepVariation {
  std::string name;
  std::string law;  ///< "0.4..0.6/5", "1, 2, 4", "uniform(0.4, 0.6)", "normal(0.5, 0.1)", ... (docs/sweeps.md)
  SourcePosition where;
};

/// Many runs of one system.
struct SweepDescription {
  std::vector<SweepVariation> vary;
  std::optional<Written<std::string>> sampling;  ///< "grid", "latin-hypercube", "random", "sobol"
  std::optional<Written<std::string>> list;      ///< a CSV file with a column for each of its variations
  std::optional<Written<std::int64_t>> cases;
  std::optional<Written<std::int64_t>> seed;
  std::vector<Written<std::string>> quantities;  ///< "motor.w", "max(motor.w)", "peak = max(a.x) - last(a.x)"
};

/// The method of a system that names none.
ENTRAIN_API std::string_view default_method() noexcept;

/// Begins the place of a value that an FMU proposes and no user wrote.
inline constexpr std::string_view kProposed = "default experiment of ";

/// Of an error, as a share of the range of the output, where the system file names none.
inline constexpr double kDefaultTolerance = 0.01;

/// What the user wrote, as plain data. Values left out stay empty here; defaults are decided once, by `resolved`.
struct SystemDescription {
  std::string name;            ///< of the file or its folder
  std::filesystem::path file;  ///< empty when made by a program
  Written<double> start{0.0, {}};
  std::optional<Written<double>> stop;
  std::optional<Written<double>> step;
  Written<std::string> method{std::string(default_method()), {}};
  std::optional<std::vector<Written<std::string>>> exclude;  ///< methods that "auto" and `advise` leave out
  /// Of the error of an output, as a share of its range: what is trusted (entrain/verdict.hpp).
  std::optional<Written<double>> tolerance;
  std::map<std::string, Written<double>> tolerances;      ///< of single outputs, "subsystem.variable"
  std::optional<std::vector<Written<std::string>>> open;  ///< inputs of FMUs that are meant so; patterns with *
  std::optional<Written<bool>> isolate;  ///< all subsystems, each in a process of its own unless it says otherwise
  std::optional<Written<bool>> sandbox;  ///< likewise, each in a sandbox
  std::optional<Written<double>>
      real_time;  ///< simulated seconds per second of wall clock time; none = as fast as it can
  std::optional<Written<OverrunRule>> overrun;  ///< of a paced run
  std::optional<Written<bool>> correct_drift;   ///< of integrals that both sides of a connection keep
  std::optional<Written<double>> rank_timeout;  ///< s that ranks wait for each other; none = an hour
  /// Options per method: [method.NAME].
  std::map<std::string, std::map<std::string, Written<OptionValue>>> method_options;
  std::vector<SubsystemDescription> subsystems;  ///< in the order of the file
  std::vector<ConnectionDescription> connections;
  std::optional<std::vector<BondDescription>> bonds;  ///< nullopt = found from the units of the connected variables
  std::vector<ConstraintDescription> constraints;
  std::vector<ScheduleDescription> schedule;
  std::vector<ScenarioDescription> scenario;               ///< in the order of the file
  std::map<std::string, Written<std::int64_t>> placement;  ///< by subsystem: the rank that computes it
  SweepDescription sweep;
  RecordDescription record;
  std::vector<Problem> notes;  ///< what was ignored when it was read: warnings
};

}  // namespace entrain
