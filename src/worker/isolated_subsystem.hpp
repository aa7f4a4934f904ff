#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "entrain/subsystem.hpp"
#include "worker/worker_process.hpp"

namespace entrain::worker {

/// The processes of one system: one for each isolated subsystem, or one for all of a group.
class Workers {
 public:
  /// That of the group, which ends with its last subsystem; an empty name: a new one. Those of a group that are
  /// confined in different ways have different processes.
  std::shared_ptr<WorkerProcess> of_group(const std::string& group, const Confinement& confinement);

 private:
  std::map<std::pair<std::string, Confinement>, std::weak_ptr<WorkerProcess>> groups_;
};

/// A subsystem in a worker, with all that it can do there; its steps are posted (SplitStep). Null with the reasons in
/// `problems`. Throws Error when the worker cannot be started or ends. `process`: under the confinement that belongs to
/// the subsystem.
std::unique_ptr<Subsystem> make_isolated(std::shared_ptr<WorkerProcess> process, const MakeRequest& request,
                                         const Logging& log, std::vector<Problem>& problems);

/// Of an FMU that is unpacked here: subsystem::fmu_proof in a process of its own, which ends with it. That the process
/// ends while a claim is tried is an outcome. Throws Error, also when the FMU cannot even be initialised there.
base::ChildOutcome prove_apart(const MakeRequest& request, const Logging& log, const base::Bytes& question);

}  // namespace entrain::worker
