#include "estimate/judged_run.hpp"

#include "entrain/system.hpp"
#include "estimate/call_meter.hpp"
#include "session/session.hpp"

namespace entrain::estimate {

JudgedRun estimated_run(const SystemDescription& chosen, const JudgedRunOptions& options, const Extensions& extensions,
                        const TrialOptions& trial) {
  JudgedRun result;
  result.system = resolved(chosen, extensions);
  RunEstimator estimator(
      result.system, options.run, extensions,
      {.enabled = true, .progress = options.estimating, .refines = trial.refines, .meter = trial.meter});
  {  // gone before its companions are made: an FMU may be the only one of its kind
    session::Session session(chosen, options.run, extensions);
    estimator.watch(session);
    session.observe(estimator.observer());
    if (trial.meter != nullptr) session.watch(*trial.meter);
    for (Observer& observer : options.observers) session.observe(observer);
    result.summary = session.run();
  }
  if (result.summary.termination == Termination::Completed) result.estimate = estimator.estimate(result.summary);
  return result;
}

}  // namespace entrain::estimate
