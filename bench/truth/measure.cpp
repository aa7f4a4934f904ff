#include "truth/measure.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "advise/choose_method.hpp"
#include "estimate/run_estimator.hpp"
#include "session/session.hpp"
#include "truth/engine.hpp"

namespace entrain::truth {

const std::vector<TriedMethod>& tried_methods() {
  const auto degree = [](std::int64_t value) -> std::map<std::string, OptionValue> { return {{"degree", value}}; };
  static const std::vector<TriedMethod> methods = {
      {"jacobi 0", "jacobi", {}, true},
      {"jacobi 1", "jacobi", degree(1), true},
      {"jacobi 2", "jacobi", degree(2)},
      {"jacobi 1 adaptive", "jacobi", {{"degree", std::int64_t{1}}, {"adaptive", true}}},
      {"gauss-seidel 0", "gauss-seidel", {}},
      {"gauss-seidel 1", "gauss-seidel", degree(1), true},
      {"gauss-seidel 2", "gauss-seidel", degree(2)},
      {"gauss-seidel 0 adaptive", "gauss-seidel", {{"adaptive", true}}},
      {"nepce 0", "nepce", {}},
      {"missiles", "missiles", {}, true},
      {"missiles adaptive", "missiles", {{"adaptive", true}}},
      {"ifosmondi", "ifosmondi", {}, true},
      {"ifosmondi adaptive", "ifosmondi", {{"adaptive", true}}},
      {"f3ornits", "f3ornits", {}, true},
      {"f3ornits smooth", "f3ornits", {{"smooth", true}}},
      {"auto", "auto", {}, true},
  };
  return methods;
}

namespace {

/// The outputs in the order of the parts, at every communication time.
class Collector final : public Observer {
 public:
  explicit Collector(const System& system) {
    for (const auto& part : system.parts) {
      for (const auto& output : part.outputs) names_.push_back(part.name + "." + output.name);
    }
  }
  void begin(std::span<const Signal> signals, const RunSummary&) override {
    for (const auto& name : names_) {
      const auto found = std::find_if(signals.begin(), signals.end(), [&](const Signal& signal) {
        return signal.name == name && signal.causality == Causality::Output;
      });
      if (found == signals.end()) throw Error(ErrorCode::InvalidSystem, "no signal " + name);
      places_.push_back(static_cast<std::size_t>(found - signals.begin()));
      subsystems_.push_back(found->subsystem);
    }
  }
  void communicated(const Sample& sample, const RunSummary&) override {
    times_.push_back(sample.t);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      values_.push_back(sample.values[places_[i]]);
      valid_.push_back(sample.communicated[subsystems_[i]] != 0);
    }
  }

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<double>& times() const { return times_; }
  double value(std::size_t k, std::size_t output) const { return values_[k * names_.size() + output]; }
  bool valid(std::size_t k, std::size_t output) const { return valid_[k * names_.size() + output]; }

 private:
  std::vector<std::string> names_;
  std::vector<std::size_t> places_, subsystems_;
  std::vector<double> times_, values_;
  std::vector<bool> valid_;
};

/// Which error is asked for.
struct Asked {
  std::size_t output;
  double range;
  double until;
};

/// Root mean square over the time, by trapezoids; relative to the range. Infinite for what is no number.
double relative_error(const Collector& run, const Course& truth, const Asked& asked) {
  const std::size_t output = asked.output;
  double sum = 0.0;
  double last_time = 0.0;
  double last_square = -1.0;
  double first_time = 0.0;
  for (std::size_t k = 0; k < run.times().size(); ++k) {
    if (!run.valid(k, output) || run.times()[k] > asked.until) continue;
    const std::size_t place = k * truth.outputs + output;
    const double value = run.value(k, output);
    const double error = std::min(std::abs(value - truth.before[place]), std::abs(value - truth.behind[place]));
    const double square = error * error;
    if (last_square < 0.0) {
      first_time = run.times()[k];
    } else {
      sum += 0.5 * (square + last_square) * (run.times()[k] - last_time);
    }
    last_time = run.times()[k];
    last_square = square;
  }
  const double error = std::sqrt(sum / (last_time - first_time)) / asked.range;
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

SystemDescription description_with(const System& system, const TriedMethod& tried, double step) {
  SystemDescription description = description_of(system);
  description.method.value = tried.method;
  description.step = {step, {}};
  for (const auto& [name, value] : tried.options) description.method_options[tried.method][name] = {value, {}};
  if (!tried.estimator.empty()) {
    for (auto& subsystem : description.subsystems) subsystem.estimator = {tried.estimator, {}};
  }
  if (tried.method == "nepce") {
    std::map<std::string, double> gains;
    for (const auto& connection : description.connections) gains[connection.input] = 0.2;
    description.method_options[tried.method]["gains"] = {gains, {}};
  }
  return description;
}

}  // namespace

double MeasuredRun::worst_truth() const {
  double worst = 0.0;
  // An estimate that saturates early is no excuse for the rest of a run that is called unreliable.
  const bool whole = verdict.grade == Grade::Unreliable;
  for (const auto& output : outputs) worst = std::max(worst, whole ? output.whole : output.graded);
  return worst;
}

Measurement::Measurement(const System& system) : system_(system), floor_(integration_floor(system)) {}

const Course& Measurement::truth_at(const std::vector<double>& times) {
  for (const auto& course : known_) {
    if (course->times == times) return *course;
  }
  constexpr std::size_t kKept = 8;
  if (known_.size() == kKept) known_.erase(known_.begin());
  known_.push_back(std::make_unique<Course>(true_course(system_, times)));
  return *known_.back();
}

MeasuredRun Measurement::run(const TriedMethod& tried, double step) {
  MeasuredRun result;
  result.system = system_.name;
  result.kind = system_.kind;
  result.events = system_.events;
  result.method = tried.name;
  result.step = step;
  Collector collector(system_);
  ErrorEstimate found;
  try {
    const Extensions extensions = extensions_of(system_);
    const auto description = advising::choose_method(description_with(system_, tried, step), extensions).description;
    std::optional<session::Session> simulation(std::in_place, description, RunOptions{}, extensions);
    estimate::RunEstimator estimator(description, {}, extensions, {});
    estimator.watch(*simulation);
    simulation->observe(estimator.observer());
    simulation->observe(collector);
    const RunSummary summary = simulation->run();
    simulation.reset();
    found = estimator.estimate(summary);
    result.verdict = judge(summary, found);
    result.end = summary.termination == Termination::Completed ? MeasuredRun::End::Completed : MeasuredRun::End::Failed;
    result.message = summary.message;
    result.macro_steps = summary.macro_steps;
  } catch (const Error& error) {
    result.message = error.what();
    return result;
  }
  const Course& truth = truth_at(collector.times());
  for (std::size_t i = 0; i < collector.names().size(); ++i) {
    MeasuredOutput output;
    output.name = collector.names()[i];
    output.range = range_of(truth, i);
    output.floor = floor_[i];
    for (const auto& claimed : found.outputs) {
      if (claimed.name == output.name) output.claimed = claimed;
    }
    const double until = std::isnan(output.claimed.valid_until) ? system_.stop : output.claimed.valid_until;
    output.whole = relative_error(collector, truth, {i, output.range, system_.stop});
    output.truth = relative_error(collector, truth, {i, output.range, until});
    const double graded_until = result.verdict.ends_early ? result.verdict.valid_until : system_.stop;
    output.graded = relative_error(collector, truth, {i, output.range, graded_until});
    result.outputs.push_back(output);
  }
  return result;
}

BareRun Measurement::run_bare(const TriedMethod& tried, double step) {
  BareRun result;
  Collector collector(system_);
  try {
    const Extensions extensions = extensions_of(system_);
    session::Session simulation(description_with(system_, tried, step), RunOptions{}, extensions);
    simulation.observe(collector);
    const std::clock_t began = std::clock();
    const RunSummary summary = simulation.run();
    result.seconds = static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC;
    result.completed = summary.termination == Termination::Completed;
    result.message = summary.message;
    result.macro_steps = summary.macro_steps;
    result.iterations = summary.iterations;
    result.notes = summary.notes;
    for (const auto& subsystem : summary.subsystems) {
      const bool goes_back = subsystem.rollbacks > 0;  // else its trials are estimates
      result.calls += subsystem.steps + (goes_back ? std::max(subsystem.rollbacks, subsystem.trials) : 0);
    }
    if (!result.completed) return result;
    const Course truth = true_course(system_, collector.times());
    for (std::size_t i = 0; i < collector.names().size(); ++i) {
      result.error = std::max(result.error, relative_error(collector, truth, {i, range_of(truth, i), system_.stop}));
    }
  } catch (const std::exception& error) {
    result.completed = false;
    result.message = error.what();
  }
  return result;
}

}  // namespace entrain::truth
