#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "description/subsystem_keys.hpp"
#include "entrain/system_description.hpp"

namespace entrain::description {

/// Which entries of a scenario have a key.
enum class ScenarioKeyUse { Any, Value, Ramp, Noise };

/// A key of a [[scenario]] entry, besides what happens ("set", "bias", ...).
template <class T>
struct ScenarioKey {
  std::string_view name;
  std::optional<Written<T>> ScenarioDescription::*field;
  ScenarioKeyUse use;
  bool is_needed;  ///< where it is used
  KeyLimits limits;
  std::string_view help;
};

template <class T>
constexpr ScenarioKey<T> scenario_key(std::string_view name, std::optional<Written<T>> ScenarioDescription::*field,
                                      ScenarioKeyUse use, bool is_needed, KeyLimits limits, std::string_view help) {
  return {name, field, use, is_needed, limits, help};
}

/// All of them, in the order in which they are written: the reader, the writer, the checks and the schema come from
/// this list.
inline constexpr std::tuple kScenarioKeys{
    scenario_key("at", &ScenarioDescription::at, ScenarioKeyUse::Any, false, kAnyValue,
                 "s; beside `when`: the condition counts from here on"),
    scenario_key("when", &ScenarioDescription::when, ScenarioKeyUse::Any, false, kAnyValue,
                 "a condition, such as \"battery.soc < 0.2\""),
    scenario_key("value", &ScenarioDescription::value, ScenarioKeyUse::Value, true, kAnyValue,
                 "what is set, added or multiplied by, where a ramp ends, or the standard deviation of noise"),
    scenario_key("over", &ScenarioDescription::over, ScenarioKeyUse::Ramp, true, kPositive, "s that a ramp takes"),
    scenario_key("interval", &ScenarioDescription::interval, ScenarioKeyUse::Noise, false, kPositive,
                 "s for which a value of the noise lasts; default: the macro step"),
    scenario_key("seed", &ScenarioDescription::seed, ScenarioKeyUse::Noise, false, kAnyValue,
                 "decides the noise; default 0"),
};

template <class Visitor>
constexpr void for_each_scenario_key(Visitor&& visit) {
  std::apply([&](const auto&... key) { (visit(key), ...); }, kScenarioKeys);
}

/// Whether an entry that does this has such a key.
bool has_key(ScenarioAction action, ScenarioKeyUse use);

/// "battery.soc < 0.2" in parts.
struct ScenarioCondition {
  std::string signal;
  std::string relation;  ///< "<", "<=", ">" or ">="
  double limit = 0.0;
};
/// nullopt for any other text.
std::optional<ScenarioCondition> parse_condition(std::string_view text);

/// "a.y -> b.u" in parts; nullopt for a text without an arrow.
std::optional<std::pair<std::string, std::string>> parse_connection(std::string_view text);

}  // namespace entrain::description
