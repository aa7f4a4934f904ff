#pragma once

#include <string>

#include "entrain/system_description.hpp"

namespace entrain::test {

/// Subsystems a and b, of models of the same names, that feed each other: y of one is u of the other.
inline SystemDescription two_in_a_loop(Time stop) {
  SystemDescription description;
  description.name = "pair";
  description.method.value = "jacobi";
  description.stop = {stop, {}};
  description.step = {0.01, {}};
  for (const std::string name : {"a", "b"}) {
    auto& subsystem = description.subsystems.emplace_back();
    subsystem.name = name;
    subsystem.model = name;
  }
  description.connections = {{"a.y", "b.u", {}}, {"b.y", "a.u", {}}};
  return description;
}

}  // namespace entrain::test
