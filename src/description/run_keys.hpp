#pragma once

#include <string_view>
#include <tuple>

#include "entrain/system_description.hpp"

namespace entrain::description {

/// A key of [run] that has one value. `Field`: Written<T>, or std::optional of it.
template <class Field>
struct RunKey {
  std::string_view name;
  Field SystemDescription::*field;
  bool decides_result;  ///< false: a result is judged by it, and a run goes on from a checkpoint with another value
};

template <class Field>
constexpr RunKey<Field> run_key(std::string_view name, Field SystemDescription::*field, bool decides_result) {
  return {name, field, decides_result};
}

/// All keys of one value, in the order in which they are written: the reader, the writer and the identity of a
/// checkpoint come from this list. A new key is a field of SystemDescription, a line here, one in docs/system_file.md.
inline constexpr std::tuple kRunKeys{
    run_key("start", &SystemDescription::start, true),
    run_key("stop", &SystemDescription::stop, true),
    run_key("step", &SystemDescription::step, true),
    run_key("method", &SystemDescription::method, true),
    run_key("tolerance", &SystemDescription::tolerance, false),
    run_key("isolate", &SystemDescription::isolate, false),
    run_key("sandbox", &SystemDescription::sandbox, false),
};

/// Calls visit(key) for each key of the list, in its order.
template <class Visitor>
constexpr void for_each_run_key(Visitor&& visit) {
  std::apply([&](const auto&... key) { (visit(key), ...); }, kRunKeys);
}

}  // namespace entrain::description
