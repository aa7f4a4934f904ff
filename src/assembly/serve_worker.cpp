#include "assembly/subsystem_factory.hpp"
#include "entrain/cache.hpp"
#include "entrain/worker.hpp"
#include "subsystem/fmi/library.hpp"
#include "worker/server.hpp"

namespace entrain {
namespace {

/// As in the process of the run, by the same code.
std::unique_ptr<Subsystem> made_here(const worker::MakeRequest& request, const Logging& log,
                                     std::vector<Problem>& problems) {
  set_cache_folder(request.cache_folder);
  SystemDescription system;
  system.start.value = request.start;
  if (request.stop) system.stop = {*request.stop, {}};
  if (request.step) system.step = {*request.step, {}};
  system.isolate = {false, {}};
  SubsystemDescription description = request.description;
  description.isolate.reset();
  description.restart.reset();
  description.sandbox.reset();  // which this process is in
  description.memory_limit.reset();
  const Extensions none;
  return assembly::subsystem_maker(system,
                                   {request.needs_equations, request.loads, true, request.fmu_folder, request.alone,
                                    request.uses, request.sandboxed},
                                   none, log)(description, request.fed, problems);
}

}  // namespace

int serve_worker() {
  subsystem::provide_interpreters();
  return worker::serve(made_here);
}

}  // namespace entrain
