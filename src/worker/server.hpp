#pragma once

#include <functional>
#include <memory>

#include "entrain/subsystem.hpp"
#include "worker/messages.hpp"

namespace entrain::worker {

/// Makes a subsystem in the worker as it would be made in the process of the run; null with the reasons in `problems`.
using Maker = std::function<std::unique_ptr<Subsystem>(const MakeRequest& request, const Logging& log,
                                                       std::vector<Problem>& problems)>;

/// The life of a worker that WorkerProcess started: answers calls until its parent is gone, which ends it at once.
/// Returns the exit code where it was not started so.
int serve(const Maker& make);

}  // namespace entrain::worker
