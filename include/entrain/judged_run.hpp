#pragma once

#include <functional>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/simulation.hpp"
#include "entrain/verdict.hpp"

namespace entrain {

/// A run that left no files, and what is known of its errors.
struct JudgedRun {
  SystemDescription system;  ///< as it was really run: with every default, a method and a step in place of "auto"
  RunSummary summary;
  ErrorEstimate estimate;  ///< of every output that is connected or recorded
  Verdict verdict;
};

struct JudgedRunOptions {
  RunOptions run = {};
  std::vector<std::reference_wrapper<Observer>> observers = {};  ///< of the run itself: a MemoryRecorder, ...
  std::function<void(double fraction)> estimating = {};          ///< this part of the work after the run is done
};

/// Runs a system in memory and estimates its errors as `run` (run.hpp) does, which RunOptions::interrupt ends. Never
/// throws for a failing run: the summary says how it ended. Throws Error with every problem of the system.
ENTRAIN_API JudgedRun run_judged(const SystemDescription& description, const JudgedRunOptions& options = {},
                                 const Extensions& extensions = {});

}  // namespace entrain
