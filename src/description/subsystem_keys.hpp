#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>

#include "entrain/capabilities.hpp"
#include "entrain/system_description.hpp"

namespace entrain::description {

/// Which subsystems a key is for.
enum class KeyOwner { All, Fmu, Table };

struct KeyLimits {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();
  bool above_min = false;  ///< the least value itself is not allowed

  bool allow(double value) const { return (above_min ? value > min : value >= min) && value <= max; }
};

/// A key of [subsystems.NAME]. `Ability` is the type of the capability that the key takes away or sets.
template <class T, class Ability>
struct SubsystemKey {
  std::string_view name;
  std::optional<Written<T>> SubsystemDescription::*field;
  Ability ability;  ///< a member of Capabilities, or nullptr
  KeyOwner owner;
  std::string_view unit;
  KeyLimits limits;
  std::string_view help;  ///< for docs/system_file.md
};

template <class T, class Ability>
constexpr SubsystemKey<T, Ability> subsystem_key(std::string_view name,
                                                 std::optional<Written<T>> SubsystemDescription::*field,
                                                 Ability ability, KeyOwner owner, std::string_view unit,
                                                 KeyLimits limits, std::string_view help) {
  return {name, field, ability, owner, unit, limits, help};
}

/// Beyond, a macro step takes so long that a run cannot be interrupted, and the number is a mistake.
inline constexpr double kMostSubsteps = 1'000'000;

inline constexpr double kMostRestarts = 1000;

inline constexpr KeyLimits kAnyValue{};
inline constexpr KeyLimits kPositive{.min = 0.0, .above_min = true};
inline constexpr KeyLimits kNotNegative{.min = 0.0};

/// All keys, in the order in which they are written: the reader, the writer, the checks, the capabilities in force and
/// the table in docs/system_file.md come from this list. A new key is a field of SubsystemDescription and a line here.
inline constexpr std::tuple kSubsystemKeys{
    subsystem_key("interpolation", &SubsystemDescription::interpolation, nullptr, KeyOwner::Table, "", kAnyValue,
                  "between two rows of the table; default `\"hold\"`"),
    subsystem_key("interface", &SubsystemDescription::interface, nullptr, KeyOwner::Fmu, "", kAnyValue,
                  "which of the interfaces of the FMU is used; default: co-simulation where it is offered"),
    subsystem_key(
        "relative_tolerance", &SubsystemDescription::relative_tolerance, nullptr, KeyOwner::Fmu, "", {1e-13, 1e-2},
        "of the integration in model exchange, and passed to the FMU; default: that of the default experiment, "
        "else 1e-10, with states of type Float32 1e-6"),
    subsystem_key("rollback", &SubsystemDescription::rollback, &Capabilities::rollback, KeyOwner::All, "", kAnyValue,
                  "`false`: its state cannot be saved and restored"),
    subsystem_key("states", &SubsystemDescription::states, &Capabilities::states, KeyOwner::All, "", kAnyValue,
                  "`false`: it provides no states, thus no state derivatives and no linearization"),
    subsystem_key("state_derivatives", &SubsystemDescription::state_derivatives, &Capabilities::state_derivatives,
                  KeyOwner::All, "", kAnyValue, "`false`: it provides no state derivatives"),
    subsystem_key("linearization", &SubsystemDescription::linearization, &Capabilities::linearization, KeyOwner::All,
                  "", kAnyValue, "`false`: it provides no linearization"),
    subsystem_key("input_degree", &SubsystemDescription::input_degree, &Capabilities::input_degree, KeyOwner::All, "",
                  {0, kMaxInputDegree}, "highest degree of the input polynomials inside a step"),
    subsystem_key("output_derivative_order", &SubsystemDescription::output_derivative_order,
                  &Capabilities::output_derivative_order, KeyOwner::All, "", kNotNegative,
                  "highest time derivative of the outputs that it provides"),
    subsystem_key("step", &SubsystemDescription::step, &Capabilities::imposed_step, KeyOwner::All, "s", kPositive,
                  "imposed step; it must divide the macro step or be a multiple of it, unless the method gives each "
                  "subsystem steps of its own"),
    subsystem_key("step_offset", &SubsystemDescription::step_offset, &Capabilities::step_offset, KeyOwner::All, "s",
                  kNotNegative, "the imposed communication times lie this much after whole steps; less than `step`"),
    subsystem_key("min_step", &SubsystemDescription::min_step, &Capabilities::min_step, KeyOwner::All, "s",
                  kNotNegative, "smallest step, where the method chooses the step"),
    subsystem_key("max_step", &SubsystemDescription::max_step, &Capabilities::max_step, KeyOwner::All, "s", kPositive,
                  "largest step, where the method chooses the step"),
    subsystem_key("trials", &SubsystemDescription::trials, nullptr, KeyOwner::All, "", kAnyValue,
                  "how a method tries a step before the real one; default `\"auto\"`"),
    subsystem_key("estimator", &SubsystemDescription::estimator, nullptr, KeyOwner::All, "", kAnyValue,
                  "what estimates its steps where a method tries them: `\"auto\"` (default), `\"continued\"`, "
                  "`\"identified\"`, or the name of one that the program adds (docs/theory/identified.md)"),
    subsystem_key("initial_step", &SubsystemDescription::initial_step, &Capabilities::initial_step, KeyOwner::All, "s",
                  kPositive, "first step, where the method chooses the step"),
    subsystem_key("substeps", &SubsystemDescription::substeps, &Capabilities::substeps, KeyOwner::All, "",
                  {1, kMostSubsteps}, "parts of a step whose input polynomials exceed `input_degree`"),
    subsystem_key("events", &SubsystemDescription::events, nullptr, KeyOwner::All, "s", kAnyValue,
                  "times at which something is known to happen; replaces what the subsystem announces"),
    subsystem_key(
        "sampled", &SubsystemDescription::sampled, nullptr, KeyOwner::All, "", kAnyValue,
        "`true`: its imposed step is part of the model, as that of a digital controller, and causes no error"),
    subsystem_key("side_effects", &SubsystemDescription::side_effects, nullptr, KeyOwner::All, "", kAnyValue,
                  "`true`: a run has effects outside the computer or cannot be repeated: it is never run again to "
                  "estimate the error"),
    subsystem_key("timeout", &SubsystemDescription::timeout, nullptr, KeyOwner::Fmu, "s", kPositive,
                  "wall clock time that one call of the FMU may take"),
    subsystem_key("probe", &SubsystemDescription::probe, nullptr, KeyOwner::Fmu, "", kAnyValue,
                  "`false`: what the FMU claims is not tried before the run"),
    subsystem_key("isolate", &SubsystemDescription::isolate, nullptr, KeyOwner::All, "", kAnyValue,
                  "in a process of its own; a name: in one process with all others of this name (docs/workers.md)"),
    subsystem_key("restart", &SubsystemDescription::restart, nullptr, KeyOwner::All, "", {0, kMostRestarts},
                  "how often its process is started again when it ends; only with `isolate`"),
    subsystem_key("sandbox", &SubsystemDescription::sandbox, nullptr, KeyOwner::Fmu, "", kAnyValue,
                  "`true`: in a process without network, other files or new processes, for an FMU from a stranger "
                  "(docs/workers.md)"),
    subsystem_key("memory_limit", &SubsystemDescription::memory_limit, nullptr, KeyOwner::All, "MiB", kPositive,
                  "of the data of its process; only with `isolate` or `sandbox`; default: none, in a sandbox 4096"),
};

/// Calls visit(key) for each key of the list, in its order.
template <class Visitor>
constexpr void for_each_subsystem_key(Visitor&& visit) {
  std::apply([&](const auto&... key) { (visit(key), ...); }, kSubsystemKeys);
}

/// What a subsystem is made of; one of them is written.
struct SubsystemSource {
  std::string_view name;
  std::string SubsystemDescription::*text;
  SourcePosition SubsystemDescription::*where;
  KeyOwner owner;          ///< of the keys that are for this kind only; All = there are none
  std::string_view kinds;  ///< for messages about those keys
  bool is_file;            ///< the text is a path, relative to the system file
  std::string_view help;   ///< for the schema
};
/// All of them: the reader, the writer, the checks and everything that treats the files of a system (absolute paths,
/// `convert`, the identity of a checkpoint) go over this list.
inline constexpr std::array<SubsystemSource, 3> kSubsystemSources{
    {{"model", &SubsystemDescription::model, &SubsystemDescription::model_where, KeyOwner::All, "models", false,
      "a built-in model, \"pair.part\""},
     {"fmu", &SubsystemDescription::fmu, &SubsystemDescription::fmu_where, KeyOwner::Fmu, "FMUs", true,
      "the file of an FMU"},
     {"csv", &SubsystemDescription::csv, &SubsystemDescription::csv_where, KeyOwner::Table, "csv tables", true,
      "the file of a table over time"}}};

bool has_source(const SubsystemDescription& subsystem);

/// It lies outside the computer, or in a process that is not ours.
inline bool is_outside(const SubsystemDescription& subsystem) {
  return subsystem.udp.has_value() || subsystem.shm.has_value();
}
/// As written; one of the two is there.
inline const Written<OutsideDescription>& outside_of(const SubsystemDescription& subsystem) {
  return subsystem.udp ? *subsystem.udp : *subsystem.shm;
}
/// A run of it is never repeated to measure something.
inline bool acts_outside(const SubsystemDescription& subsystem) {
  return is_outside(subsystem) || (subsystem.side_effects && subsystem.side_effects->value);
}

/// Calls visit(path) for each file that the subsystem is made of.
template <class Description, class Visitor>
void for_each_source_file(Description& subsystem, Visitor&& visit) {
  for (const auto& source : kSubsystemSources) {
    if (source.is_file && !(subsystem.*source.text).empty()) visit(subsystem.*source.text);
  }
}

/// "greater than 0 s", "at least 0", "between 0 and 3".
std::string limits_text(const KeyLimits& limits, std::string_view unit);

/// Adds a problem for each written key that is not allowed; `path` is for the messages, "subsystems.NAME".
void check_subsystem_keys(const SubsystemDescription& subsystem, const std::string& path,
                          std::vector<Problem>& problems);

}  // namespace entrain::description
