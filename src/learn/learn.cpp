
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
#include "learn/convergence.hpp"
#include "learn/feedthrough.hpp"
#include "learn/held_law.hpp"
#include "learn/learned_connections.hpp"
#include "learn/learner.hpp"
#include "learn/learning_state.hpp"
#include "learn/recorded_learner.hpp"
#include "learn/repeated_run.hpp"
#include "learn/waveform_law.hpp"
#include "methods/explicit/jacobi.hpp"
#include "session/learned.hpp"

namespace entrain {
namespace {

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
  require_size(options.cutoff.value_or(0.0), "cutoff frequency");
  require(options.forgetting.value_or(0.0) >= 0.0 && options.forgetting.value_or(0.0) < 1.0, "forgetting",
          "0 or more and below 1");
  require_size(options.fade, "fade");
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
    held.state.clear();
    held.resumes = false;
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
        extensions_(extensions),
        run_(prepared_for_learning(description, notes_), extensions,
             {options.threads, options.interrupt, options.real_time}),
        found_() {}

  LearnResult learned() {
    found_ = learning::find_feedthrough(run_);
    const LearnInputs kind = options_.inputs.value_or(best_inputs(run_.system(), run_.settings().step));
    return kind == LearnInputs::Held ? held() : waveforms(kind);
  }

  /// Nothing is run, and nothing outside is asked.
  LearnResult learned_from(std::span<const RecordedRun> runs) {
    const bool outside = run_.has_parts_outside();
    found_ = outside ? learning::declared_feedthrough(run_.system()) : learning::find_feedthrough(run_);
    const auto& newest = runs.back().applied;
    const LearnInputs kind =
        options_.inputs.value_or(newest ? newest->kind : best_inputs(run_.system(), run_.settings().step));
    if (kind == LearnInputs::Held) {
      auto wires = learning::learned_wires(run_.system(), found_.outputs, run_.settings().step);
      require_any(wires);
      LearnPlan plan = planned(run_.system(), found_, wires);
      run_.set_option("delayed", late_outputs(plan));
      learning::HeldLaw law(run_, wires);
      return recorded_by(law, std::move(plan), wires, runs);
    }
    run_.set_option("feedthrough", std::string(to_word(method::FeedthroughTreatment::Hold)));
    using Source = learning::WaveformLaw::Source;
    learning::WaveformLaw law(run_, kind, outside ? std::vector<OutputId>() : found_.outputs,
                              outside ? Source::RecordsOfABench : Source::Records);
    require_any(law.wires());
    require_stable(law, run_.system().graph());
    LearnPlan plan = planned_waveforms(run_.system(), found_, law, kind, run_.settings().step);
    return recorded_by(law, std::move(plan), law.wires(), runs);
  }

 private:
  static void require_any(std::span<const learning::LearnedWire> wires) {
    if (!wires.empty()) return;
    throw Error(ErrorCode::InvalidSystem, {FactCode::NothingToLearn},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Run the system with 'entrain run'"});
  }

  LearnResult recorded_by(learning::LearningLaw& law, LearnPlan plan, std::span<const learning::LearnedWire> wires,
                          std::span<const RecordedRun> runs) {
    add(plan, {});
    auto result = learning::RecordedLearner(run_, options_, progress_, {law, wires}).learn(runs);
    return completed(std::move(result), std::move(plan), wires);
  }

  LearnResult held() {
    auto wires = learning::learned_wires(run_.system(), found_.outputs, run_.settings().step);
    require_any(wires);
    LearnPlan plan = planned(run_.system(), found_, wires);
    run_.set_option("delayed", late_outputs(plan));
    add(plan, learning::estimate_convergence(run_, wires, options_));
    learning::HeldLaw law(run_, wires);
    return learned_by(law, std::move(plan), wires);
  }

  LearnResult waveforms(LearnInputs kind) {
    run_.set_option("feedthrough", std::string(to_word(method::FeedthroughTreatment::Hold)));
    learning::WaveformLaw law(run_, kind, found_.outputs);
    require_any(law.wires());
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
    learning::Learner learner(run_, options_, progress_, law);
    learning::LearningIdentity identity;
    if (!options_.state.empty()) {
      identity = learning::identity_of(description_, options_, plan.inputs, extensions_);
      if (options_.resumes) learner.resume(learning::read_state(options_.state, identity), options_.state.string());
      learner.keep_by([&](const learning::LearningPosition& position) {
        learning::write_state(options_.state, identity, position);
      });
    }
    return completed(learner.learn(), std::move(plan), wires);
  }

  LearnResult completed(LearnResult result, LearnPlan plan, std::span<const learning::LearnedWire> wires) {
    const RunSettings settings = run_.settings();
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
  const Extensions& extensions_;
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

LearnResult learn_from(const SystemDescription& description, std::span<const RecordedRun> runs,
                       const LearnOptions& options, const LearnProgress& progress, const Extensions& extensions) {
  check_options(options);
  if (runs.empty()) throw Error({problem_of({FactCode::LearnOptionRange, {"runs"}, {{"range", "at least one"}}})});
  return Lessons(description, options, progress, extensions).learned_from(runs);
}

}  // namespace entrain
