// The adviser's choice against what every candidate really does.
#include "entrain/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "advise/candidates.hpp"
#include "compare/difference.hpp"
#include "entrain/recording.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace advice_test {

struct Made {
  MemoryRecorder recorder;
  RunSummary summary;

  bool completed() const { return summary.termination == Termination::Completed; }
  /// Of the subsystems, per simulated second.
  double calls() const {
    double calls = static_cast<double>(summary.linearizations);
    for (const auto& of : summary.subsystems) calls += static_cast<double>(of.steps + of.rollbacks);
    return calls / (summary.reached - summary.start);
  }
};

Made made(const SystemDescription& description) {
  Simulation simulation(description);
  Made result;
  simulation.observe(result.recorder);
  result.summary = simulation.run();
  return result;
}

/// The recorded values, with their times.
comparing::Course course_of(const std::vector<Time>& times, const std::vector<double>& column, std::vector<Time>& kept,
                            std::vector<double>& values) {
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (std::isnan(column[k])) continue;
    kept.push_back(times[k]);
    values.push_back(column[k]);
  }
  return {kept, values};
}

/// rms over time of the worst output, relative to its range; infinite for a run that did not complete, or not with
/// numbers.
double error_of(const Made& run, const MemoryRecorder& exact) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (!run.completed()) return kInfinite;
  double worst = 0.0;
  for (const auto& name : run.recorder.names) {
    std::vector<Time> times, reference_times;
    std::vector<double> values, reference_values;
    const auto ours = course_of(run.recorder.times, run.recorder.column(name), times, values);
    const auto reference = course_of(exact.times, exact.column(name), reference_times, reference_values);
    const auto apart = comparing::difference(ours, reference);
    const double relative = apart ? apart->relative.value_or(0.0) : 0.0;
    worst = std::max(worst, std::isnan(relative) ? kInfinite : relative);
  }
  return worst;
}

struct Case {
  std::string example;
  double step;
  double stop;
  std::string reference = {};  // the same as one set of equations; empty = the example itself
};
void PrintTo(const Case& of, std::ostream* out) {
  *out << of.example;
}

const std::set<std::string> kAnnounceEvents{"car", "two_mass"};

class Advised : public ::testing::TestWithParam<Case> {
 protected:
  SystemDescription description_ =
      test::changed(test::example(GetParam().example), {.step = GetParam().step, .stop = GetParam().stop});

  /// The step nearest to this one that can be run: imposed steps allow few, and announced events are met on the grid of
  /// the step asked for, by a step that costs no more.
  Duration runnable(Duration step) const {
    std::vector<Duration> imposed;
    for (const auto& subsystem : description_.subsystems) {
      if (subsystem.step) imposed.push_back(subsystem.step->value);
    }
    if (!imposed.empty()) return advising::nearest_fitting(imposed, step);
    const auto& [example, asked, stop, name] = GetParam();
    if (!kAnnounceEvents.contains(example)) return step;
    constexpr double kAlmost = 1e-9;
    return step > asked ? asked * std::ceil(step / asked - kAlmost) : asked / std::floor(asked / step + kAlmost);
  }
  /// All equations in one integrator, at times so close that straight lines between them cost nothing.
  MemoryRecorder exact() const {
    const auto& [example, step, stop, name] = GetParam();
    auto reference = name.empty() ? description_ : load(test::examples_folder() + "/" + name);
    return made(test::changed(std::move(reference), {"monolithic", step / 8, stop})).recorder;
  }
  Made run(const MethodConfig& way, Duration step) const {
    Advice choice;
    choice.candidates.emplace_back();
    static_cast<MethodConfig&>(choice.candidates[0]) = way;
    choice.choice = 0;
    choice.step = step;
    return made(applied(description_, choice));
  }
  /// At the step with which it calls the subsystems so often; what it needs there is known once it has run.
  Made run_at_cost(const Candidate& of, double calls) const {
    const Duration planned = *of.calls_per_step / calls;
    Made first = run(of, runnable(planned));
    if (!first.completed()) return first;
    const Duration corrected = runnable(planned * first.calls() / calls);
    return corrected == runnable(planned) ? std::move(first) : run(of, corrected);
  }
};

TEST_P(Advised, choice_is_within_twice_the_best_measured_error_at_equal_cost) {
  const Advice advice = advise(description_);
  ASSERT_TRUE(advice.choice) << advice.reason();
  const auto& chosen = advice.candidates[*advice.choice];
  const auto truth = exact();
  const auto usable = [](const Candidate& of) { return of.obstacles.empty() && of.calls_per_step; };
  // What is chosen sets the cost when it has steps of its own; else jacobi does.
  const auto jacobi = std::find_if(advice.candidates.begin(), advice.candidates.end(),
                                   [&](const Candidate& of) { return of.method == "jacobi" && usable(of); });
  ASSERT_NE(jacobi, advice.candidates.end());
  const auto f3ornits = std::find_if(advice.candidates.begin(), advice.candidates.end(),
                                     [&](const Candidate& of) { return of.method == "f3ornits" && usable(of); });
  ASSERT_NE(f3ornits, advice.candidates.end());
  const Made own = run(*f3ornits, advice.step);
  const bool own_is_chosen = &chosen == &*f3ornits;
  const double calls = own_is_chosen ? own.calls() : *jacobi->calls_per_step / advice.step;
  constexpr double kRounding = 1e-7;  // below, inner tolerances and straight lines decide
  const double own_error = error_of(own, truth);
  double best = own_is_chosen ? own_error : std::numeric_limits<double>::infinity();
  double ours = own_error;
  std::string all = "f3ornits: measured " + std::to_string(own_error) + "\n";
  if (!own_is_chosen) {
    const double at_its_cost = error_of(run_at_cost(chosen, own.calls()), truth);
    EXPECT_LE(at_its_cost, std::max(kRounding, 2.0 * own_error)) << chosen.title() << " at the cost of f3ornits";
  }
  for (const auto& candidate : advice.candidates) {
    if (!usable(candidate) || candidate.method == "f3ornits") continue;
    const double measured = error_of(run_at_cost(candidate, calls), truth);
    if (&candidate == &chosen) ours = measured;
    best = std::min(best, measured);
    all += candidate.title() + ": measured " + std::to_string(measured) + ", merit " +
           std::to_string(candidate.merit().value_or(-1.0)) + "\n";
  }
  EXPECT_LE(ours, std::max(kRounding, 2.0 * best)) << "chose " << chosen.title() << ": " << advice.reason() << "\n"
                                                   << all;
}

const std::vector<Case> kCases{{"mechanical", 1e-3, 0.3},     {"oscillator", 0.1, 20.0},
                               {"lotka_volterra", 2e-2, 6.0}, {"chain", 1e-2, 2.0},
                               {"two_mass", 0.1, 200.0},      {"car", 0.02, 12.0},
                               {"learning", 1e-3, 2.0},       {"fmu", 1e-3, 0.3, "mechanical"},
                               {"learning_cubic", 1e-3, 2.0}, {"drivetrain", 0.01, 16.0, "drivetrain/reference.toml"}};

INSTANTIATE_TEST_SUITE_P(Examples, Advised, ::testing::ValuesIn(kCases),
                         [](const auto& of) { return of.param.example; });

TEST(AdvisedExamples, are_all_judged) {
  std::set<std::string> judged;
  for (const auto& of : kCases) judged.insert(of.example);
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(test::examples_folder())) {
    if (entry.is_directory()) all.insert(entry.path().filename().string());
  }
  EXPECT_EQ(judged, all);
}

}  // namespace advice_test
}  // namespace entrain
