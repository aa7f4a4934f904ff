#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "entrain/advice.hpp"
#include "entrain/simulation.hpp"
#include "entrain/verdict.hpp"

namespace entrain::advising {

/// What a search may spend: calls of subsystems, so that it finds the same on every machine.
struct SearchBudget {
  double share = 0.05;                                          ///< of the calls of the run that is being chosen
  double least_calls = 200.0;                                   ///< however short that run is
  double most_calls = std::numeric_limits<double>::infinity();  ///< however long it is
  /// Wall clock. It stops the search, with a reason; it never decides between two methods.
  std::chrono::duration<double> longest = std::chrono::seconds(60);
  bool looks_at_all = false;  ///< also at what cannot change the choice, in brief runs at the step that is chosen
  const std::atomic<bool>* interrupt = nullptr;
  std::function<void(const AdviceProgress&)> progress = {};
};

/// Where the search is the work that is asked for: enough for the run itself, with its companions, in half of it.
inline SearchBudget generous_budget(const std::atomic<bool>* interrupt) {
  constexpr double kRuns = 4.0;
  constexpr double kLeastCalls = 20000.0;
  constexpr double kMostCalls = 250000.0;  // a second or two with the lightest subsystems
  SearchBudget budget;
  budget.share = kRuns;
  budget.least_calls = kLeastCalls;
  budget.most_calls = kMostCalls;
  budget.interrupt = interrupt;
  return budget;
}

/// A run over the first part of a system's time, or all of it, and what its error is (room `estimate`).
struct Trial {
  MethodConfig config;
  Duration step = 0.0;
  Duration length = 0.0;
  bool whole = false;           ///< it covers the run
  std::optional<Fact> failure;  ///< it did not complete; then nothing below but the calls is known
  bool cut_short = false;       ///< by the calls that were left for it
  bool is_known = false;        ///< its error; else nothing below but the calls
  Verdict verdict;
  double order = 1.0;           ///< of the error in the step: as observed, no more than that of the method
  double growth = 0.0;          ///< the error grows with this power of time: 0 = not, 1 = evenly
  bool identified = false;      ///< steps of subsystems from what they did before
  double calls_per_step = 0.0;  ///< of all subsystems in a macro step: steps, rollbacks, linearizations

  /// Of the bound to the tolerance: trusted up to 1.
  double ratio() const { return verdict.bound / verdict.tolerance; }
};

/// Makes trials and counts what they cost.
class TrialRuns {
 public:
  /// `description` is resolved; all are borrowed. `ranges` of outputs over the whole run, by name, as far as they are
  /// known: errors of a part of it are relative to them.
  TrialRuns(const SystemDescription& description, const Extensions& extensions, const SearchBudget& budget,
            const std::map<std::string, double>& ranges);

  /// Ends with its companions when it has taken so many calls. Never throws for a system that cannot be run so.
  Trial run(const MethodConfig& config, Duration step, Duration length, double most_calls);

  double calls() const { return calls_; }  ///< so far, those for the estimates included
  std::size_t count() const { return count_; }
  /// The reason to make no further one; nullopt = go on.
  std::optional<Fact> stopped() const;

 private:
  const SystemDescription& description_;
  const Extensions& extensions_;
  const SearchBudget& budget_;
  const std::map<std::string, double>& ranges_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double calls_ = 0.0;
  std::size_t count_ = 0;
};

}  // namespace entrain::advising
