
#include <fmt/format.h>

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
#include "learn/held_law.hpp"
#include "learn/learned_connections.hpp"
#include "learn/repeated_run.hpp"
#include "learn/waveform_law.hpp"
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
constexpr double kProgress = 0.99;       // a better run has at most this share of the other's error
constexpr double kHorizons = 20.0;       // of a progressive horizon, by default
constexpr double kNoise = 2.0;           // times the repeatability: what is left is noise
constexpr double kMostDisturbed = 0.05;  // of the steps of a run that is learned from: without new outputs, or late
constexpr int kMostNotUsed = 5;          // runs that nothing is learned from
constexpr int kMostHalvings = 6;         // of the growth of a horizon that does not converge

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
          learning::LearningLaw& law)
      : run_(run),
        options_(options),
        progress_(progress),
        grid_(run.settings().start, run.settings().stop, run.settings().step),
        law_(law),
        corrections_(grid_.steps() * law.numbers(), 0.0),
        acceleration_(options.memory, law.numbers()) {}

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
    result_.learned.corrections.resize(kept_->steps * law_.numbers());
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
    best_.reset();
    acceleration_.forget();
    const std::size_t first = result_.iterations.size();
    if (run_.on_a_bench() && !result_.repeatability && !measure_repeatability(horizon)) return LearnEnd::Interrupted;
    LearnOptions limits = options_;
    limits.tolerance = std::max(options_.tolerance, kNoise * result_.repeatability.value_or(0.0));
    LearningTrend trend(limits);
    while (true) {
      const double error = iterate(horizon);
      if (interrupted_) return LearnEnd::Interrupted;
      if (!result_.iterations.back().not_used.empty()) {
        if (++not_used_ > kMostNotUsed) return LearnEnd::Stalled;
        continue;  // once more, with the same corrections
      }
      if (exploded(result_.iterations[first], result_.iterations.back())) return LearnEnd::Diverged;
      if (const auto end = trend.take(error)) return *end;
      const auto ran_with = corrections_;
      law_.update(corrections_);
      changed_ = true;
      acceleration_.combine(ran_with, corrections_);
    }
  }

  /// One run, judged.
  double iterate(Time horizon) {
    law_.clear();
    running::CorrectionSchedule schedule = law_.schedule(corrections_);
    const RunSummary summary = run_.run(horizon, &schedule, law_.observer());
    if (law_.steps() > grid_.steps()) {
      throw Error(ErrorCode::SolverFailed,
                  {FactCode::StepsBeyondPlan, {}, {{"steps", law_.steps()}, {"planned", grid_.steps()}}});
    }
    interrupted_ = summary.termination == Termination::Interrupted;
    LearnIteration iteration = law_.judged();
    iteration.number = static_cast<int>(result_.iterations.size());
    iteration.horizon = summary.reached;
    if (summary.termination == Termination::Failed || interrupted_) {
      iteration.error = kInfinity;
      iteration.failure = summary.message;
    }
    if (!std::exchange(changed_, false)) iteration.gamma.reset();  // of two runs with the same corrections it is noise
    judge_bench(iteration, summary);
    const Duration whole = run_.settings().stop - run_.settings().start;
    result_.full_runs += (summary.reached - run_.settings().start) / whole;
    if (result_.iterations.empty()) result_.before = law_.courses();
    keep_if_best(iteration);
    result_.iterations.push_back(iteration);
    if (progress_.iterated) progress_.iterated(iteration);
    if (iteration.gamma && !measured_) note_measured_gamma(iteration);
    return iteration.error;
  }

  /// Two runs without change bound what can be learned. False when interrupted.
  bool measure_repeatability(Time horizon) {
    if (!std::isfinite(iterate(horizon)) || interrupted_) return !interrupted_;
    const auto once = law_.sent();
    iterate(horizon);
    const auto difference = law_.compared(once);
    result_.repeatability = difference.difference;
    result_.notes.push_back(
        {FactCode::RepeatabilityMeasured, {difference.worst}, {{"difference", difference.difference}}});
    if (progress_.noted) progress_.noted(result_.notes.back());
    return !interrupted_;
  }

  /// What went wrong on the bench in this run; nothing is learned from it then.
  void judge_bench(LearnIteration& iteration, const RunSummary& summary) {
    if (!run_.on_a_bench()) return;
    std::uint64_t steps = 0;
    for (const auto& subsystem : summary.subsystems) {
      if (!subsystem.datagrams) continue;
      iteration.held_steps += subsystem.datagrams->held;
      steps += subsystem.steps;
    }
    if (summary.pacing) iteration.missed_deadlines = summary.pacing->missed;
    const auto beyond = [](std::uint64_t count, std::uint64_t of) {
      return static_cast<double>(count) > kMostDisturbed * static_cast<double>(of);
    };
    if (beyond(iteration.held_steps, steps)) {
      iteration.not_used = fmt::format("{} of {} steps ended without new outputs", iteration.held_steps, steps);
    } else if (beyond(iteration.missed_deadlines, summary.macro_steps)) {
      iteration.not_used =
          fmt::format("{} of {} deadlines were missed", iteration.missed_deadlines, summary.macro_steps);
    }
    if (iteration.not_used.empty()) return;
    result_.notes.push_back(
        {FactCode::IterationNotUsed, {}, {{"number", iteration.number}, {"why", iteration.not_used}}});
    if (progress_.noted) progress_.noted(result_.notes.back());
  }

  /// Once: what was predicted is seen in the first runs.
  void note_measured_gamma(const LearnIteration& iteration) {
    measured_ = true;
    result_.notes.push_back({FactCode::ConvergenceMeasured,
                             {},
                             {{"from", iteration.number - 1}, {"to", iteration.number}, {"gamma", *iteration.gamma}}});
    if (progress_.noted) progress_.noted(result_.notes.back());
  }

  /// Of the runs to one horizon the one that went further is better; of those that went as far, the nearer one.
  void keep_if_best(const LearnIteration& iteration) {
    if (!iteration.not_used.empty() && best_) return;
    if (best_ && (!std::isfinite(iteration.error) || iteration.horizon < best_->reached ||
                  (iteration.horizon == best_->reached && !(iteration.error < best_->error)))) {
      return;
    }
    best_ = {corrections_, law_.steps(), iteration.horizon, iteration.error, iteration.number, law_.courses()};
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

  learning::RepeatedRun& run_;
  const LearnOptions& options_;
  const LearnProgress& progress_;
  base::Grid grid_;
  learning::LearningLaw& law_;
  std::vector<double> corrections_;  // of the next run
  learning::Acceleration acceleration_;
  std::optional<Kept> best_;  // of the runs to this horizon
  std::optional<Kept> kept_;  // of all
  bool interrupted_ = false;
  bool changed_ = false;   // corrections, since the last run
  bool measured_ = false;  // gamma
  int not_used_ = 0;       // runs
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

/// The learned run once more, or the same without its corrections, with its errors.
JudgedRun judged_run(const SystemDescription& description, const LearnResult& result, const LearnOptions& options,
                     const Extensions& extensions, bool corrects = true) {
  auto corrected = with_learned(description, result.learned);
  corrected.stop = {result.learned_to, {}};
  JudgedRunOptions run;
  run.run.threads = options.threads;
  run.run.interrupt = options.interrupt;
  if (corrects) run.run.learned = &result.learned;
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

/// Of the run without corrections, and of the one with held inputs that were learned.
void compare_others(const SystemDescription& description, LearnResult& result, const LearnOptions& options,
                    const Extensions& extensions) {
  try {
    result.uncorrected = judged_run(description, result, options, extensions, false);
    if (result.plan.inputs == LearnInputs::Held) return;
    LearnOptions held = options;
    held.inputs = LearnInputs::Held;
    held.compares = false;
    result.held_learned = learn(description, held, {}, extensions).judged;
  } catch (const Error& error) {
    result.notes.push_back(error.fact());
  }
}

/// The best that every subsystem with a connected input takes; a part outside gets means.
LearnInputs best_inputs(CoupledSystem& system, Duration step) {
  const auto taken = session::waveforms_of(system, step, learning::WaveformLaw::orders_of(LearnInputs::Hermite));
  int degree = kMaxInputDegree;
  for (const auto& connection : system.graph().connections()) {
    if (system.facets(system.graph().owner(connection.input)).remote != nullptr) continue;  // means
    degree = std::min(degree, taken.input_degree[system.graph().owner(connection.input)]);
  }
  if (degree >= kMaxInputDegree) return LearnInputs::Hermite;
  return degree >= 1 ? LearnInputs::Linear : LearnInputs::Held;
}

/// Steps without iterations pass every output around the loop once: they are unstable where its gain is not below 1.
void require_stable(const learning::WaveformLaw& law, const Graph& graph) {
  if (law.largest_radius() < 1.0) return;
  std::vector<std::string> names;
  for (const OutputId output : law.algebraic().followers()) names.push_back(graph.name(output));
  throw Error(
      ErrorCode::InvalidSystem, {FactCode::AlgebraicGainTooLarge, std::move(names), {{"gain", law.largest_radius()}}},
      {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Couple other variables, or use a method that iterates"});
}

LearnPlan planned_waveforms(const CoupledSystem& system, const learning::FoundFeedthrough& found,
                            const learning::WaveformLaw& law, LearnInputs kind, Duration step) {
  LearnPlan plan;
  plan.inputs = kind;
  plan.notes = found.notes;
  plan.notes.push_back({FactCode::WaveformsLearned, {}, {{"inputs", to_word(kind)}}});
  std::vector<std::string> means;
  const auto taken = session::waveforms_of(system, step, learning::WaveformLaw::orders_of(kind));
  for (const auto& wire : law.wires()) {
    const SubsystemId consumer = system.graph().owner(wire.connection.input);
    const std::string name = "'" + system.graph().name(consumer) + "'";
    const bool known = std::find(means.begin(), means.end(), name) != means.end();
    if (taken.input_degree[consumer] == 0 && !known) means.push_back(name);
    plan.connections.push_back(name_of(wire, system.graph()));
  }
  if (!means.empty()) plan.notes.push_back({FactCode::MeansLearned, means, {{"subsystems", means.size()}}});
  if (law.largest_radius() > 0.0) plan.notes.push_back({FactCode::AlgebraicGain, {}, {{"gain", law.largest_radius()}}});
  return plan;
}

/// What the method extrapolates by itself, where it is written and everything takes polynomials of that degree.
void keep_written_degree(const SystemDescription& description, learning::RepeatedRun& run,
                         const learning::WaveformLaw& law, LearnInputs kind, std::vector<Fact>& notes) {
  const auto method = description.method_options.find(learnable_method());
  if (method == description.method_options.end() || law.largest_radius() > 0.0) return;
  const auto written = method->second.find("degree");
  if (written == method->second.end()) return;
  const auto* degree = std::get_if<std::int64_t>(&written->second.value);
  const auto most = static_cast<std::int64_t>(learning::WaveformLaw::orders_of(kind)) - 1;
  const bool all_take = best_inputs(run.system(), run.settings().step) >= kind;
  if (degree == nullptr || *degree < 1 || *degree > most || !all_take) return;
  run.set_option("degree", *degree);
  std::erase_if(notes, [](const Fact& note) {
    return note.code == FactCode::OptionNotLearned && note.subjects.front() == "degree";
  });
}

/// The runs and what remains of them, but for the errors of the learned run.
class Lessons {
 public:
  Lessons(const SystemDescription& description, const LearnOptions& options, const LearnProgress& progress,
          const Extensions& extensions)
      : description_(description),
        options_(options),
        progress_(progress),
        run_(prepared_for_learning(description, notes_), extensions,
             {options.threads, options.interrupt, options.real_time}),
        found_(learning::find_feedthrough(run_)) {}

  LearnResult learned() {
    const LearnInputs kind = options_.inputs.value_or(best_inputs(run_.system(), run_.settings().step));
    return kind == LearnInputs::Held ? held() : waveforms(kind);
  }

 private:
  LearnResult held() {
    auto wires = learning::learned_wires(run_.system(), found_.outputs, run_.settings().step);
    if (wires.empty()) {
      throw Error(ErrorCode::InvalidSystem, {FactCode::NothingToLearn},
                  {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Run the system with 'entrain run'"});
    }
    LearnPlan plan = planned(run_.system(), found_, wires);
    run_.set_option("delayed", late_outputs(plan));
    add(plan, learning::estimate_convergence(run_, wires, options_));
    learning::HeldLaw law(run_, options_, wires);
    return learned_by(law, std::move(plan), wires);
  }

  LearnResult waveforms(LearnInputs kind) {
    run_.set_option("feedthrough", std::string(to_word(method::FeedthroughTreatment::Hold)));
    learning::WaveformLaw law(run_, options_, kind, found_.outputs);
    if (law.wires().empty()) {
      throw Error(ErrorCode::InvalidSystem, {FactCode::NothingToLearn},
                  {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Run the system with 'entrain run'"});
    }
    require_stable(law, run_.system().graph());
    keep_written_degree(description_, run_, law, kind, notes_);
    LearnPlan plan = planned_waveforms(run_.system(), found_, law, kind, run_.settings().step);
    add(plan, learning::estimate_waveform_convergence(run_, law, kind, options_));
    auto result = learned_by(law, std::move(plan), law.wires());
    require_stable(law, run_.system().graph());
    return result;
  }

  void add(LearnPlan& plan, const learning::ConvergenceEstimate& estimate) {
    plan.gamma = estimate.gamma;
    plan.radius = estimate.radius;
    plan.notes.insert(plan.notes.end(), estimate.notes.begin(), estimate.notes.end());
    plan.notes.insert(plan.notes.end(), notes_.begin(), notes_.end());
    if (progress_.planned) progress_.planned(plan);
  }

  LearnResult learned_by(learning::LearningLaw& law, LearnPlan plan, std::span<const learning::LearnedWire> wires) {
    const RunSettings settings = run_.settings();
    LearnResult result = Learner(run_, options_, progress_, law).learn();
    result.notes.insert(result.notes.begin(), plan.notes.begin(), plan.notes.end());
    Learned& learned = result.learned;
    learned.kind = plan.inputs;
    learned.orders = learning::WaveformLaw::orders_of(plan.inputs);
    result.plan = std::move(plan);
    learned.system = description_.name;
    learned.start = settings.start;
    learned.step = settings.step;
    learned.options = run_.options();
    learned.description = session::description_lines(description_);
    for (const auto& wire : wires) learned.inputs.push_back(run_.system().graph().name(wire.connection.input));
    return result;
  }

  const SystemDescription& description_;
  const LearnOptions& options_;
  const LearnProgress& progress_;
  std::vector<Fact> notes_;
  learning::RepeatedRun run_;
  learning::FoundFeedthrough found_;
};

}  // namespace

LearnResult learn(const SystemDescription& description, const LearnOptions& options, const LearnProgress& progress,
                  const Extensions& extensions) {
  check_options(options);
  LearnResult result = Lessons(description, options, progress, extensions).learned();
  // On a bench there is no truth, and a further run of the rig has a cost.
  if (result.end == LearnEnd::Interrupted || result.repeatability) return result;
  judge_learned(description, result, options, extensions);
  if (options.compares) compare_others(description, result, options, extensions);
  return result;
}

}  // namespace entrain
