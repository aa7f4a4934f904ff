#include <algorithm>

#include "advise/choose_method.hpp"
#include "api/together.hpp"
#include "base/replace_file.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/report.hpp"
#include "entrain/run.hpp"
#include "estimate/refine.hpp"
#include "session/repeatable.hpp"

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

/// Another method with its step that keeps the tolerance, as far as is known; nullopt where there is none.
std::optional<advising::MethodChoice> offered(SystemDescription description, const RunOptions& options,
                                              const Extensions& extensions) {
  description.method = {std::string(method::kAuto), {}};
  description.step.reset();
  try {
    auto choice = api::choose_together(description, extensions, advising::generous_budget(options.interrupt), options);
    return choice.meets ? std::optional(std::move(choice)) : std::nullopt;
  } catch (const Error&) {  // no method serves the system
    return std::nullopt;
  }
}

/// What the run after this one is.
struct NextRun {
  SystemDescription description;
  RunAttempt attempt;
  double steps = 0.0;  ///< of subsystems, those of its estimate included
};

/// The same method with smaller steps.
std::optional<NextRun> refined(const SystemDescription& written, const RunResult& result) {
  const auto refinement = next_refinement(result);
  if (!refinement) return std::nullopt;
  NextRun next{written, {0, *refinement, {}}, steps_of(result) * growth(result.summary, *refinement)};
  next.description.method = result.system.method;  // as chosen: no second search
  next.description.method_options = result.system.method_options;
  next.description.step = result.system.step;
  apply(*refinement, result.summary.method, next.description);
  return next;
}

/// What is offered has been run, or needs a longer step than that.
bool is_that_run(const advising::MethodChoice& offer, const RunResult& run) {
  const auto& method = offer.description.method.value;
  if (method != run.summary.method || offer.description.step->value < run.summary.step) return false;
  const auto options = offer.description.method_options.find(method);
  if (options == offer.description.method_options.end()) return true;
  return std::all_of(options->second.begin(), options->second.end(), [&](const auto& option) {
    const auto in_force = run.summary.parameters.find(option.first);
    return in_force != run.summary.parameters.end() && in_force->second == option.second.value;
  });
}

/// The cheaper of the two.
std::optional<NextRun> next_run(const SystemDescription& written, const RunResult& result,
                                const std::optional<advising::MethodChoice>& offer) {
  constexpr double kWithCompanions = 1.75;
  auto next = refined(written, result);
  if (!offer) return next;
  NextRun other{offer->description,
                {0, {.step = offer->description.step->value}, offer->description.method.value},
                kWithCompanions * offer->run_calls};
  other.description.method.where = {"--meet", 0, 0};
  if (is_that_run(*offer, result) || (next && next->steps <= other.steps)) return next;
  return other;
}

void write_summary(const RunResult& result) {
  base::replace_file(result.folder / "run.json",
                     summary_json(result.summary, result.recorded, &result.verdict, &result.estimate));
}

/// Of a method that was taken for the user, as where it is chosen at the start.
void add_notes(const std::vector<Fact>& notes, RunResult& result) {
  if (notes.empty()) return;
  result.summary.notes.insert(result.summary.notes.begin(), notes.begin(), notes.end());
  write_summary(result);
}

}  // namespace

RunResult run_until_trusted(SystemDescription description, RunDirectoryOptions options, const MeetOptions& meet,
                            const Extensions& extensions) {
  session::require_repeatable(description, "--meet");
  RunAttempt attempt;
  const SystemDescription written = description;
  std::optional<advising::MethodChoice> offer;
  std::vector<Fact> notes;  // of the offer that was taken
  double spent = 0.0;
  double first = 0.0;
  for (;;) {
    if (meet.attempt) meet.attempt(attempt);
    auto result = run(description, options, extensions);
    add_notes(notes, result);
    const double steps = steps_of(result);
    spent += steps;
    const bool completed = result.summary.termination == Termination::Completed;
    if (!completed || result.abandoned || result.verdict.grade == Grade::Trusted) return result;
    if (attempt.number == 1) {
      first = steps;
      offer = offered(written, options.run, extensions);
      if (offer) spent += offer->calls;
    }
    auto next = next_run(written, result, offer);
    const double needed = next ? spent + next->steps : spent;
    if (!next || !(needed <= meet.budget * first)) {
      Fact why{next ? FactCode::MeetBudget : FactCode::MeetNoStep};
      if (next) why.values = {{"needed", needed / first}, {"budget", meet.budget}};
      result.verdict.reasons.push_back(std::move(why));
      write_summary(result);
      return result;
    }
    if (!next->attempt.method.empty()) {
      notes = std::move(offer->notes);
      offer.reset();  // it is taken
    }
    description = std::move(next->description);
    options.folder = result.folder;
    options.overwrite = true;  // what this run left there
    next->attempt.number = attempt.number + 1;
    attempt = next->attempt;
  }
}

}  // namespace entrain
