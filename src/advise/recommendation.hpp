#pragma once

#include <optional>
#include <vector>

#include "advise/look.hpp"
#include "advise/trials.hpp"

namespace entrain::advising {

/// What a method can offer at a step: the score that it is chosen by.
struct Offer {
  std::size_t candidate = 0;
  Duration step = 0.0;
  /// Of the bound over the whole run to the tolerance: measured, or from a part of the run or a coarser step by the
  /// growth and the order that were measured. Nullopt: it runs, but nothing is known of its error.
  std::optional<double> ratio;
  double calls = 0.0;              ///< of all subsystems in the whole run
  std::optional<double> forecast;  ///< error over the whole run of a linear system
  std::optional<Trial> trial;      ///< that it was found by

  bool meets() const { return ratio && *ratio <= 1.0; }  ///< the tolerance, as far as is known
};

/// The index of the best. Of those within the tolerance: among those that need at most 2.5 times the calls of the
/// cheapest the first, unless a later one has an error smaller by that factor. Where none is within it, likewise what
/// comes nearest. Nullopt where there is none.
std::optional<std::size_t> best_offer(const std::vector<Offer>& offers);

struct Recommendation {
  std::optional<Offer> choice;  ///< nullopt: no method serves the system, as the reasons say
  std::vector<Fact> reasons;
  std::vector<Fact> remarks;                 ///< what was not looked at, and what the search cost
  std::vector<Offer> offers;                 ///< of all that were looked at
  std::vector<Trial> trials;                 ///< in their order
  double calls = 0.0;                        ///< of the search
  std::optional<Duration> step_within = {};  ///< with a step that was given and is too long: one that would do
};

/// Evidence, scores, recommendation. The same for `auto` and `advise`; the budget differs. `keep_step`: one that is
/// given is kept even if it is too long.
Recommendation recommend(const Look& look, const method::MethodRegistry& methods, const Extensions& extensions,
                         const SearchBudget& budget, bool keep_step);

}  // namespace entrain::advising
