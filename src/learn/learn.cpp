
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/grid.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "estimate/judged_run.hpp"
#include "learn/acceleration.hpp"
#include "learn/convergence.hpp"
#include "learn/feedthrough.hpp"
#include "learn/learned_connections.hpp"
#include "learn/repeated_run.hpp"
#include "learn/update.hpp"
#include "methods/explicit/jacobi.hpp"
#include "session/learned.hpp"

namespace entrain {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Errors may grow for a few runs before they fall, so a run that is better than the one before is never the end.
constexpr double kHopeless = 1e3;  // times the error of the first run
constexpr double kWorse = 10.0;    // times the best error ...
constexpr int kWorseRuns = 3;      // ... in as many runs
constexpr int kRunsWithoutProgress = 8;
constexpr double kProgress = 0.99;  // a better run has at most this share of the other's error
constexpr double kHorizons = 20.0;  // of a progressive horizon, by default
constexpr int kMostHalvings = 6;    // of the growth of a horizon that does not converge

/// Whether repeated runs get anywhere, from their errors alone. NaN and infinity are never better than anything.
class LearningTrend {
 public:
  explicit LearningTrend(const LearnOptions& options) : options_(options) {}

  /// The end that this run brings, if it does.
  std::optional<LearnEnd> take(double error) {
    ++runs_;
    if (error <= options_.tolerance) return LearnEnd::Converged;
    if (runs_ == 1) first_ = error;
    const bool better = error < kProgress * best_ || error < kProgress * previous_;
    worse_runs_ = better || error <= kWorse * best_ ? 0 : worse_runs_ + 1;
    without_progress_ = better ? 0 : without_progress_ + 1;
    previous_ = error;
    if (error < best_) best_ = error;
    if (!std::isfinite(error) || !(error <= kHopeless * first_) || worse_runs_ >= kWorseRuns) return LearnEnd::Diverged;
    if (without_progress_ >= kRunsWithoutProgress) return LearnEnd::Stalled;
    if (runs_ >= options_.iterations) return LearnEnd::Iterations;
    return std::nullopt;
  }

 private:
  const LearnOptions& options_;
  int runs_ = 0;
  double first_ = kInfinity;
  double best_ = kInfinity;
  double previous_ = kInfinity;
  int worse_runs_ = 0;
  int without_progress_ = 0;
};

/// Where signals grow without bound so does their range, and an error relative to it has no meaning.
bool exploded(const LearnIteration& first, const LearnIteration& now) {
  for (std::size_t c = 0; c < now.connections.size(); ++c) {
    if (now.connections[c].norm > kHopeless * first.connections[c].norm) return true;
  }
  return false;
}

class Learner {
 public:
  Learner(learning::RepeatedRun& run, const LearnOptions& options, const LearnProgress& progress,
          std::vector<learning::LearnedWire> wires)
      : run_(run),
        options_(options),
        progress_(progress),
        grid_(run.settings().start, run.settings().stop, run.settings().step),
        record_(std::move(wires), run.system().graph().outputs()),
        corrections_(grid_.steps() * record_.wires().size(), 0.0),
        acceleration_(options.memory, record_.wires().size()) {}

  LearnResult learn() {
    result_.end = LearnEnd::Diverged;
    if (options_.progressive != ProgressiveLearning::Always) {
      result_.end = learn_up_to(run_.settings().stop);
      kept_ = std::move(best_);
    }
    if (result_.end == LearnEnd::Diverged && options_.progressive != ProgressiveLearning::Never) learn_step_by_step();
    result_.stop = run_.settings().stop;
    result_.learned_to = kept_->reached;
    result_.best = kept_->number;
    result_.after = std::move(kept_->courses);
    result_.learned.error = kept_->error;
    result_.learned.steps = kept_->steps;
    result_.learned.corrections = std::move(kept_->corrections);
    result_.learned.corrections.resize(kept_->steps * record_.wires().size());
    return std::move(result_);
  }

 private:
  /// A run worth keeping.
  struct Kept {
    std::vector<double> corrections;
    std::size_t steps = 0;
    Time reached = 0.0;
    double error = kInfinity;
    int number = 0;
    std::vector<LearnedCourse> courses = {};
  };

  /// Repeats the run to this time until the error is small enough or will not become so.
  LearnEnd learn_up_to(Time horizon) {
    LearningTrend trend(options_);
    best_.reset();
    acceleration_.forget();
    const std::size_t first = result_.iterations.size();
    while (true) {
      const double error = iterate(horizon);
      if (interrupted_) return LearnEnd::Interrupted;
      if (exploded(result_.iterations[first], result_.iterations.back())) return LearnEnd::Diverged;
      if (const auto end = trend.take(error)) return *end;
      const auto ran_with = corrections_;
      learning::update_corrections(corrections_, record_, options_, run_.settings().step);
      acceleration_.combine(ran_with, corrections_);
    }
  }

  /// One run, judged.
  double iterate(Time horizon) {
    record_.clear();
    running::CorrectionSchedule schedule(run_.system().graph(), learned_inputs(), corrections_);
    const RunSummary summary = run_.run(horizon, &schedule, record_);
    if (record_.steps() > grid_.steps()) {
      throw Error(ErrorCode::SolverFailed,
                  {FactCode::StepsBeyondPlan, {}, {{"steps", record_.steps()}, {"planned", grid_.steps()}}});
    }
    interrupted_ = summary.termination == Termination::Interrupted;
    LearnIteration iteration = learning::judged(record_, run_.system().graph());
    iteration.number = static_cast<int>(result_.iterations.size());
    iteration.horizon = summary.reached;
    if (summary.termination == Termination::Failed || interrupted_) {
      iteration.error = kInfinity;
      iteration.failure = summary.message;
    }
    const Duration whole = run_.settings().stop - run_.settings().start;
    result_.full_runs += (summary.reached - run_.settings().start) / whole;
    if (result_.iterations.empty()) result_.before = record_.courses(run_.system().graph());
    keep_if_best(iteration);
    result_.iterations.push_back(iteration);
    if (progress_.iterated) progress_.iterated(iteration);
    return iteration.error;
  }

  /// Of the runs to one horizon the one that went further is better; of those that went as far, the nearer one.
  void keep_if_best(const LearnIteration& iteration) {
    if (best_ && (!std::isfinite(iteration.error) || iteration.horizon < best_->reached ||
                  (iteration.horizon == best_->reached && !(iteration.error < best_->error)))) {
      return;
    }
    best_ = {corrections_,    record_.steps(),  iteration.horizon,
             iteration.error, iteration.number, record_.courses(run_.system().graph())};
  }

  void learn_step_by_step() {
    const auto& settings = run_.settings();
    Duration growth = options_.horizon > 0.0 ? options_.horizon : (settings.stop - settings.start) / kHorizons;
    growth = std::max(growth, settings.step);
    result_.notes.push_back({FactCode::ProgressiveHorizon, {}, {{"growth", growth, "s"}}});
    if (progress_.noted) progress_.noted(result_.notes.back());
    std::fill(corrections_.begin(), corrections_.end(), 0.0);
    kept_.reset();
    int halvings = 0;
    Time learned = settings.start;
    while (learned < settings.stop) {
      const Time horizon = base::reached(learned + growth, settings.stop) ? settings.stop : learned + growth;
      const auto before = corrections_;
      result_.end = learn_up_to(horizon);
      // What rounding leaves is as good as it gets; the next horizon is learned all the same.
      const bool finished = result_.end == LearnEnd::Converged || result_.end == LearnEnd::Stalled;
      // A longer horizon that is only half learned is worse than a shorter one that is.
      if (finished || !kept_) kept_ = std::move(best_);
      if (finished) {
        learned = kept_->reached;
        continue;
      }
      if (result_.end != LearnEnd::Diverged || ++halvings > kMostHalvings) return;
      corrections_ = before;
      growth = std::max(0.5 * growth, settings.step);
    }
  }

  std::vector<InputId> learned_inputs() const {
    std::vector<InputId> inputs;
    for (const auto& wire : record_.wires()) inputs.push_back(wire.connection.input);
    return inputs;
  }

  learning::RepeatedRun& run_;
  const LearnOptions& options_;
  const LearnProgress& progress_;
  base::Grid grid_;
  learning::WireRecord record_;
  std::vector<double> corrections_;  // of the next run
  learning::Acceleration acceleration_;
  std::optional<Kept> best_;  // of the runs to this horizon
  std::optional<Kept> kept_;  // of all
  bool interrupted_ = false;
  LearnResult result_;
};

/// The method that can be corrected, held inputs, fixed step; outputs with feedthrough late, or held if the file
/// requests that.
SystemDescription prepared_for_learning(SystemDescription description, std::vector<Fact>& notes) {
  const auto& learnable = learnable_method();
  if (description.method.value != learnable && description.method.value != default_method()) {
    notes.push_back({FactCode::LearnedWithOther, {learnable, description.method.value}});
  }
  description.method.value = learnable;
  auto& options = description.method_options[learnable];
  const Written<OptionValue> late{std::string(to_word(method::FeedthroughTreatment::Delay)), {}};
  const auto feedthrough = options.insert({"feedthrough", late}).first;
  if (feedthrough->second.value == OptionValue(std::string(to_word(method::FeedthroughTreatment::Refresh)))) {
    notes.push_back({FactCode::RefreshNotLearned});
    feedthrough->second = late;
  }
  for (const auto& [name, value] : session::options_of_learning()) {
    const auto written = options.find(name);
    if (written != options.end() && written->second.value != value) {
      notes.push_back({FactCode::OptionNotLearned, {name}});
    }
    options[name] = {value, {}};
  }
  return description;
}

void check_options(const LearnOptions& options) {
  std::vector<Problem> problems;
  const auto require = [&](bool good, const char* name, const char* range) {
    if (!good) problems.push_back(problem_of({FactCode::LearnOptionRange, {name}, {{"range", range}}}));
  };
  const auto require_size = [&](double value, const char* name) {
    require(std::isfinite(value) && value >= 0.0, name, "a number, 0 or more");
  };
  require(options.iterations >= 1, "iterations", "at least 1");
  require_size(options.tolerance, "tolerance");
  require(options.gain > 0.0 && options.gain <= 2.0, "gain", "above 0 and at most 2");
  require(options.memory >= 0 && options.memory <= 20, "memory", "0 to 20");
  require_size(options.cutoff, "cutoff frequency");
  require_size(options.horizon, "horizon");
  if (!problems.empty()) throw Error(std::move(problems));
}

LearnPlan planned(const CoupledSystem& system, const learning::FoundFeedthrough& found,
                  std::span<const learning::LearnedWire> wires) {
  LearnPlan plan;
  plan.notes = found.notes;
  for (const OutputId output : found.outputs) {
    const auto& can = system.capabilities(system.graph().owner(output));
    const bool can_be_late = can.output_refresh || can.linearization;
    (can_be_late ? plan.delayed : plan.held).push_back(system.graph().name(output));
  }
  for (const auto& output : plan.held) {
    plan.notes.push_back({FactCode::OutputHeld, {output}});
  }
  for (const auto& wire : wires) plan.connections.push_back(name_of(wire, system.graph()));
  return plan;
}

/// With those that are held: they are sent in the same manner.
std::vector<std::string> late_outputs(const LearnPlan& plan) {
  auto outputs = plan.delayed;
  outputs.insert(outputs.end(), plan.held.begin(), plan.held.end());
  return outputs;
}

/// The learned run once more, with its errors.
JudgedRun judged_run(const SystemDescription& description, const LearnResult& result, const LearnOptions& options,
                     const Extensions& extensions) {
  auto corrected = with_learned(description, result.learned);
  corrected.stop = {result.learned_to, {}};
  JudgedRunOptions run;
  run.run.threads = options.threads;
  run.run.interrupt = options.interrupt;
  run.run.learned = &result.learned;
  auto judged = estimate::estimated_run(corrected, run, extensions);
  judged.verdict = judge(judged.summary, judged.estimate, {tolerances_of(description), {}, {}});
  return judged;
}

/// What was learned is worth keeping, whatever becomes of this run.
void judge_learned(const SystemDescription& description, LearnResult& result, const LearnOptions& options,
                   const Extensions& extensions) {
  try {
    auto judged = judged_run(description, result, options, extensions);
    if (judged.summary.termination != Termination::Interrupted) result.judged = std::move(judged);
  } catch (const Error& error) {
    result.notes.push_back(error.fact());
  }
}

}  // namespace

LearnResult learn(const SystemDescription& description, const LearnOptions& options, const LearnProgress& progress,
                  const Extensions& extensions) {
  check_options(options);
  std::vector<Fact> notes;
  learning::RepeatedRun run(prepared_for_learning(description, notes), extensions,
                            {options.threads, options.interrupt});
  const learning::FoundFeedthrough found = learning::find_feedthrough(run);
  auto wires = learning::learned_wires(run.system(), found.outputs, run.settings().step);
  if (wires.empty()) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::NothingToLearn},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Run the system with 'entrain run'"});
  }
  LearnPlan plan = planned(run.system(), found, wires);
  run.set_option("delayed", late_outputs(plan));
  const learning::ConvergenceEstimate estimate = learning::estimate_convergence(run, wires, options);
  plan.gamma = estimate.gamma;
  plan.radius = estimate.radius;
  plan.notes.insert(plan.notes.end(), estimate.notes.begin(), estimate.notes.end());
  plan.notes.insert(plan.notes.end(), notes.begin(), notes.end());
  if (progress.planned) progress.planned(plan);

  const RunSettings settings = run.settings();
  LearnResult result = Learner(run, options, progress, wires).learn();
  result.notes.insert(result.notes.begin(), plan.notes.begin(), plan.notes.end());
  result.plan = std::move(plan);
  Learned& learned = result.learned;
  learned.system = description.name;
  learned.start = settings.start;
  learned.step = settings.step;
  learned.options = run.options();
  learned.description = session::description_lines(description);
  for (const auto& wire : wires) learned.inputs.push_back(run.system().graph().name(wire.connection.input));
  if (result.end != LearnEnd::Interrupted) judge_learned(description, result, options, extensions);
  return result;
}

}  // namespace entrain
