#pragma once

#include <optional>
#include <vector>

#include "entrain/fact.hpp"
#include "entrain/simulation.hpp"
#include "methods/registry.hpp"

namespace entrain::advising {

/// A system whose method is still to be chosen, with one in its place that needs nothing: to look at it.
SystemDescription to_look_at(SystemDescription description);

struct MethodChoice {
  SystemDescription description;  ///< with a real method, and its degree where it has one
  std::optional<Fact> note;       ///< which, and why; nullopt where nothing was to be chosen
  std::vector<Fact> reasons;      ///< the same, one by one
};

/// The description as it is where it names a method; else (`auto`) with the method chosen for its step. That costs a
/// pilot over a fiftieth of the run where every subsystem is linearized, and nothing but an assembly elsewhere;
/// deterministic. Problems of the system are left to `prepare`.
MethodChoice choose_method(const SystemDescription& description, const Extensions& extensions);

}  // namespace entrain::advising
