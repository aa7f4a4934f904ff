#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace entrain::analysis {

struct EvolutionProblem {
  std::vector<double> low;
  std::vector<double> high;
  std::size_t integers = 0;  ///< the last so many are whole numbers
  std::size_t objectives = 0;
  /// Points one after the other to objectives one after the other.
  std::function<std::vector<double>(std::span<const double>)> rate;
};

struct EvolutionEffort {
  unsigned population = 0;
  unsigned generations = 0;
  unsigned seed = 0;
};

/// What the plug-in libentrain_pagmo.so offers, the only part that is linked with pagmo (docs/adr/0117).
struct PagmoPlugin {
  std::string_view version;  ///< of the Entrain that built it: C++ types pass between both sides
  /// The points of the last generation of NSGA-II.
  std::vector<std::vector<double>> (*nsga2)(const EvolutionProblem& problem, const EvolutionEffort& effort);
};

inline constexpr const char* kPagmoPluginEntry = "entrain_pagmo";

/// Loads it when it is first needed. Throws Error{FileFailed}.
const PagmoPlugin& pagmo_plugin();

}  // namespace entrain::analysis
