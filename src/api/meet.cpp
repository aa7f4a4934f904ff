#include <algorithm>

#include "base/replace_file.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/report.hpp"
#include "entrain/run.hpp"
#include "estimate/refine.hpp"

namespace entrain {
namespace {

constexpr double kBlindFactor = 0.125;  // of the step, where the estimate predicts none

double steps_of(const RunResult& run) {
  double steps = static_cast<double>(run.estimate.extra_steps);
  for (const auto& subsystem : run.summary.subsystems) steps += static_cast<double>(subsystem.steps + subsystem.trials);
  return steps;
}

/// As the verdict says; of a run whose error is as large as its motion, a much smaller step.
std::optional<RunRefinement> next_refinement(const RunResult& run) {
  const bool has_error = !run.verdict.output.empty();
  const bool is_beyond = !(run.verdict.bound <= run.verdict.tolerance);
  if (run.verdict.refinement || !has_error || !is_beyond || !run.summary.step_tolerances.empty()) {
    return run.verdict.refinement;
  }
  RunRefinement blind;
  blind.step = estimate::fitting_step(run.summary, kBlindFactor * run.summary.step);
  return blind;
}

/// More steps that the refined run will take: by its step; where tolerances choose the steps, not known.
double growth(const RunSummary& summary, const RunRefinement& refinement) {
  return refinement.step ? std::max(1.0, summary.step / *refinement.step) : 2.0;
}

void apply(const RunRefinement& refinement, const std::string& method, SystemDescription& description) {
  if (refinement.step) description.step = {*refinement.step, {"--meet", 0, 0}};
  for (const auto& [name, value] : refinement.options) {
    description.method_options[method][name] = {OptionValue(value), {"--meet", 0, 0}};
  }
}

}  // namespace

RunResult run_until_trusted(SystemDescription description, RunDirectoryOptions options, const MeetOptions& meet,
                            const Extensions& extensions) {
  RunAttempt attempt;
  double spent = 0.0;
  double first = 0.0;
  for (;;) {
    if (meet.attempt) meet.attempt(attempt);
    auto result = run(description, options, extensions);
    const double steps = steps_of(result);
    if (attempt.number == 1) first = steps;
    spent += steps;
    const bool completed = result.summary.termination == Termination::Completed;
    if (!completed || result.abandoned || result.verdict.grade == Grade::Trusted) return result;
    const auto next = next_refinement(result);
    const double needed = next ? spent + steps * growth(result.summary, *next) : spent;
    if (!next || !(needed <= meet.budget * first)) {
      Fact why{next ? FactCode::MeetBudget : FactCode::MeetNoStep};
      if (next) why.values = {{"needed", needed / first}, {"budget", meet.budget}};
      result.verdict.reasons.push_back(std::move(why));
      base::replace_file(result.folder / "run.json",
                         summary_json(result.summary, result.recorded, &result.verdict, &result.estimate));
      return result;
    }
    description.method = result.system.method;  // as chosen: no second search
    description.method_options = result.system.method_options;
    description.step = result.system.step;
    apply(*next, result.summary.method, description);
    options.folder = result.folder;
    options.overwrite = true;  // what this run left there
    attempt = {attempt.number + 1, *next};
  }
}

}  // namespace entrain
