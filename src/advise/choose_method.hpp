#pragma once

#include <vector>

#include "advise/trials.hpp"
#include "methods/registry.hpp"

namespace entrain::advising {

/// A system whose method is still to be chosen, with one in its place that needs nothing: to look at it.
SystemDescription to_look_at(SystemDescription description);

struct MethodChoice {
  SystemDescription description;  ///< with a real method, its degree where it has one, and its step
  std::vector<Fact> notes;        ///< which, and why; what was not looked at; a patent; empty: nothing was to be chosen
  std::vector<Fact> reasons;      ///< of the choice, one by one
  double calls = 0.0;             ///< of subsystems, that the choice took
  double run_calls = 0.0;         ///< and that the run as chosen makes; 0 = not known
  bool meets = false;             ///< the tolerance, as far as is known
};

/// The description as it is where it names a method; else (`auto`) with a method and, unless one is given, a step that
/// keep the tolerance of the run. Deterministic. Problems of the system are left to `prepare`. Throws
/// Error{InvalidSystem} when no method serves the system.
MethodChoice choose_method(const SystemDescription& description, const Extensions& extensions,
                           const SearchBudget& budget = {});

/// Of a method that was taken for the user: whether its authors declare a patent.
std::vector<Fact> patent_notes(const method::MethodRegistry& methods, const std::string& method);

}  // namespace entrain::advising
