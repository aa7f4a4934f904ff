#pragma once

#include <memory>
#include <vector>

#include "coupling/constraint.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/method.hpp"
#include "entrain/simulation.hpp"
#include "entrain/system.hpp"

namespace entrain::session {

/// A system ready to run, or as far as it could be made ready.
struct Prepared {
  std::unique_ptr<CoupledSystem> system;
  std::unique_ptr<Method> method;
  RunSettings settings;
  std::vector<coupling::Constraint> constraints;
  RunSummary summary;  ///< names, options in force, capabilities
};

/// Description -> subsystems, graph, method; everything wrong is added to `problems` at once. `system` is null when
/// one of them is an error. The method is one of the registry, not `auto` (choose_method). `log` receives what the
/// subsystems log; `tries_everything` and `ranks` as in RunOptions.
Prepared prepare(const SystemDescription& description, int threads, const Extensions& extensions,
                 std::vector<Problem>& problems, const Logging& log = {}, bool tries_everything = true,
                 Ranks* ranks = nullptr);

/// For what is looked at outside a run: an isolated subsystem in the middle of a call ends once the flag is set. It is
/// borrowed; null = never.
Logging interruptible(const std::atomic<bool>* flag);

}  // namespace entrain::session
