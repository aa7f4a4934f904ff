#pragma once

#include <string_view>
#include <tuple>

#include "description/subsystem_keys.hpp"
#include "entrain/system_description.hpp"

namespace entrain::description {

/// A key of [run] that has one value. `Field`: Written<T>, or std::optional of it.
template <class Field>
struct RunKey {
  std::string_view name;
  Field SystemDescription::*field;
  bool decides_result;  ///< false: a result is judged by it, and a run goes on from a checkpoint with another value
  KeyLimits limits;
  std::string_view help;  ///< for the schema
};

template <class Field>
constexpr RunKey<Field> run_key(std::string_view name, Field SystemDescription::*field, bool decides_result,
                                KeyLimits limits, std::string_view help) {
  return {name, field, decides_result, limits, help};
}

/// All keys of one value, in the order in which they are written: the reader, the writer, the schema and the identity
/// of a checkpoint come from this list. A new key is a field of SystemDescription, a line here, one in
/// docs/system_file.md.
inline constexpr std::tuple kRunKeys{
    run_key("start", &SystemDescription::start, true, kAnyValue,
            "s; default 0, or that of the default experiments of the FMUs"),
    run_key("stop", &SystemDescription::stop, true, kAnyValue,
            "s; default: the latest of the default experiments of the FMUs"),
    run_key("step", &SystemDescription::step, true, kPositive,
            "macro step in s; with auto chosen to keep the tolerance"),
    run_key("method", &SystemDescription::method, true, kAnyValue,
            "coupling method (`entrain methods`); default auto: chosen for the system"),
    run_key("tolerance", &SystemDescription::tolerance, false, {.min = 0.0, .max = 1.0, .above_min = true},
            "error that is tolerated, as a share of the range of an output; default 0.01"),
    run_key("isolate", &SystemDescription::isolate, false, kAnyValue,
            "true: every subsystem in a process of its own, unless it says otherwise; false: none"),
    run_key("sandbox", &SystemDescription::sandbox, false, kAnyValue,
            "true: every FMU in a sandbox, unless it says otherwise"),
    run_key("correct_drift", &SystemDescription::correct_drift, true, kAnyValue,
            "true: integrals that both sides of a connection keep are brought together at every macro step"),
    run_key("real_time", &SystemDescription::real_time, false, kPositive,
            "simulated seconds per second of the wall clock; default: as fast as it goes"),
    run_key("overrun", &SystemDescription::overrun, false, kAnyValue,
            "what a paced run does when it is late: catch-up (default), skip or stop"),
    run_key("rank_timeout", &SystemDescription::rank_timeout, false, kPositive,
            "s that ranks of one run wait for each other; default 3600"),
};

/// Calls visit(key) for each key of the list, in its order.
template <class Visitor>
constexpr void for_each_run_key(Visitor&& visit) {
  std::apply([&](const auto&... key) { (visit(key), ...); }, kRunKeys);
}

}  // namespace entrain::description
