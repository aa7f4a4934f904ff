#pragma once

#include <string>

#include "support/facts.hpp"

namespace entrain::test {

/// Everything that is wrong with a system, as outlines in lines (support/facts.hpp), or "accepted".
inline std::string problems_of(const SystemDescription& description, const ModelFactory& models = {}) {
  try {
    const Simulation simulation(description, {}, models);
  } catch (const Error& error) {
    if (error.problems().empty()) return error.what();
    std::string text;
    for (const auto& problem : error.problems()) text += (text.empty() ? "" : "\n") + outline(problem);
    return text;
  }
  return "accepted";
}

}  // namespace entrain::test
