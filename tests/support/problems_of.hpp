#pragma once

#include <string>

#include "entrain/entrain.hpp"

namespace entrain::test {

/// Everything that is wrong with a system, or "accepted".
inline std::string problems_of(const SystemDescription& description, const ModelFactory& models = {}) {
  try {
    const Simulation simulation(description, {}, models);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace entrain::test
