#include "estimate/judged_run.hpp"

#include "entrain/system.hpp"
#include "session/session.hpp"

namespace entrain::estimate {

JudgedRun estimated_run(const SystemDescription& chosen, const JudgedRunOptions& options, const Extensions& extensions,
                        bool refines) {
  JudgedRun result;
  result.system = resolved(chosen, extensions);
  RunEstimator estimator(result.system, options.run, extensions,
                         {.enabled = true, .progress = options.estimating, .refines = refines});
  {  // gone before its companions are made: an FMU may be the only one of its kind
    session::Session session(chosen, options.run, extensions);
    estimator.watch(session);
    session.observe(estimator.observer());
    for (Observer& observer : options.observers) session.observe(observer);
    result.summary = session.run();
  }
  if (result.summary.termination == Termination::Completed) result.estimate = estimator.estimate(result.summary);
  return result;
}

}  // namespace entrain::estimate
