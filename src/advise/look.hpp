#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "advise/candidates.hpp"
#include "advise/pilot.hpp"
#include "session/prepare.hpp"

namespace entrain::advising {

/// Evidence that costs no more than a few macro steps. Plain data: the subsystems it was read from may be gone.
struct Look {
  SystemDescription description;  ///< resolved, with a method that needs nothing
  std::vector<Candidate> candidates;
  std::vector<std::size_t> sequence;  ///< that sequential methods find
  std::vector<Duration> imposed;      ///< steps of subsystems
  std::size_t subsystems = 0;
  double tolerance = kDefaultTolerance;  ///< the smallest of all outputs
  Duration step = 0.0;                   ///< as given, or the longest that is taken without evidence
  bool step_given = false;
  bool one_way = false;
  std::optional<Fact> uncoupled;  ///< why one method is as good as another
  std::optional<Fact> untried;    ///< why no run may be made before the run
  /// Of a linear system whose subsystems have no excitation of their own: errors over the whole run are forecast.
  std::optional<analysis::RunPath> linear;
  std::map<std::string, double> ranges;  ///< of its outputs over the run
  double pilot_calls = 0.0;

  Duration whole_run() const { return description.stop->value - description.start.value; }
};

/// What `prepared` (of `to_look_at(description)`) shows. A pilot over a few macro steps uses it up.
Look look_at(const SystemDescription& written, session::Prepared& prepared, const method::MethodRegistry& methods,
             const Extensions& extensions);

}  // namespace entrain::advising
