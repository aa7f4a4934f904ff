#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/graph.hpp"

namespace entrain::coupling {

/// The error of an output that is NaN or infinite. `by`: the call that returned it, where there is one.
inline Error not_finite(const Graph& graph, OutputId output, double value, Time t, std::string by = {}) {
  // A NaN has no sign that means anything.
  Fact fact{FactCode::OutputNotFinite, {graph.name(output)}, {{"value", std::isnan(value) ? std::abs(value) : value}}};
  if (!by.empty()) fact.values.emplace_back("by", std::move(by));
  return Error(ErrorCode::SubsystemFailed, std::move(fact),
               {.subsystem = graph.name(graph.owner(output)),
                .variable = graph.name(output),
                .time = t,
                .remedy = "If the values before grew without bound the coupling is unstable: choose a smaller step "
                          "or another method; else the fault is in this subsystem"});
}

}  // namespace entrain::coupling
