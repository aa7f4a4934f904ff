#include "entrain/judged_run.hpp"

#include "advise/choose_method.hpp"
#include "estimate/judged_run.hpp"

namespace entrain {

JudgedRun run_judged(const SystemDescription& description, const JudgedRunOptions& options,
                     const Extensions& extensions) {
  advising::SearchBudget budget;
  budget.interrupt = options.run.interrupt;
  auto choice = advising::choose_method(description, extensions, budget);
  auto result = estimate::estimated_run(choice.description, options, extensions);
  auto& notes = result.summary.notes;
  notes.insert(notes.begin(), choice.notes.begin(), choice.notes.end());
  result.verdict = judge(result.summary, result.estimate, {tolerances_of(description), {}, {}});
  return result;
}

}  // namespace entrain
