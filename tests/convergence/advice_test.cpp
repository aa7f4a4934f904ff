// The adviser's choice against what every candidate really does.
#include "facade/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "results/memory_recorder.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace {

MemoryRecorder recorded(const SystemDescription& description) {
  Simulation simulation(description);
  MemoryRecorder recorder;
  simulation.observe(recorder);
  simulation.run();
  return recorder;
}

std::vector<double> at_times(const MemoryRecorder& run, const std::string& name, const std::vector<Time>& times) {
  const auto& column = run.column(name);
  std::vector<double> values;
  std::size_t row = 0;
  for (const Time t : times) {
    while (row + 1 < run.times.size() && run.times[row] < t - 1e-9) ++row;
    values.push_back(column[row]);
  }
  return values;
}

/// rms over the run of the worst output, relative to its range; infinite for a run that did not complete.
double measured_error(SystemDescription description, const Candidate& candidate, Duration step) {
  description.step = {step, {}};
  description.method = {candidate.method, {}};
  if (candidate.explicit_method()) {
    description.method_options[candidate.method]["degree"] = {std::int64_t{candidate.degree}, {}};
    description.method_options[candidate.method].erase("sequence");
  }
  const auto run = recorded(description);
  description.method = {"monolithic", {}};
  const auto exact = recorded(description);
  double worst = 0.0;
  if (run.times.empty() || run.times.back() < exact.times.back()) return std::numeric_limits<double>::infinity();
  for (const auto& name : exact.names) {
    const auto& reference = exact.column(name);
    const auto ours = at_times(run, name, exact.times);  // a method may stop at events besides
    double sum = 0.0;
    for (std::size_t k = 0; k < ours.size(); ++k) sum += (ours[k] - reference[k]) * (ours[k] - reference[k]);
    const auto [low, high] = std::minmax_element(reference.begin(), reference.end());
    worst = std::max(worst, std::sqrt(sum / static_cast<double>(ours.size())) / (*high - *low));
  }
  return worst;
}

struct Case {
  std::string example;
  double step;
  double stop;
};
void PrintTo(const Case& of, std::ostream* out) {
  *out << of.example;
}

class Advised : public ::testing::TestWithParam<Case> {};

TEST_P(Advised, choice_is_within_twice_the_best_measured_error_at_equal_cost) {
  const auto description =
      test::changed(test::example(GetParam().example), {.step = GetParam().step, .stop = GetParam().stop});
  const Advice advice = advise(description);
  ASSERT_TRUE(advice.choice) << advice.reason;
  const auto jacobi = std::find_if(advice.candidates.begin(), advice.candidates.end(),
                                   [](const Candidate& of) { return of.method == "jacobi" && of.calls_per_step; });
  const double plain = *jacobi->calls_per_step;
  std::vector<double> errors;
  double best = std::numeric_limits<double>::infinity();
  std::string all;
  for (const auto& candidate : advice.candidates) {
    const bool comparable = candidate.obstacles.empty() && candidate.calls_per_step && candidate.method != "f3ornits";
    errors.push_back(
        comparable ? measured_error(description, candidate, description.step->value * *candidate.calls_per_step / plain)
                   : std::numeric_limits<double>::infinity());
    best = std::min(best, errors.back());
    all += candidate.method + " " + std::to_string(candidate.degree) + ": measured " + std::to_string(errors.back()) +
           ", merit " + std::to_string(candidate.merit().value_or(-1.0)) + "\n";
  }
  constexpr double kRounding = 1e-10;  // below, inner tolerances decide
  EXPECT_LE(errors[*advice.choice], std::max(kRounding, 2.0 * best))
      << "chose " << advice.candidates[*advice.choice].method << " " << advice.candidates[*advice.choice].degree << "\n"
      << all;
}

INSTANTIATE_TEST_SUITE_P(Examples, Advised,
                         ::testing::Values(Case{"mechanical", 1e-3, 0.3}, Case{"oscillator", 0.1, 20.0},
                                           Case{"lotka_volterra", 2e-2, 6.0}, Case{"chain", 1e-2, 2.0},
                                           Case{"two_mass", 0.1, 40.0}, Case{"car", 0.02, 12.0}),
                         [](const auto& of) { return of.param.example; });

}  // namespace
}  // namespace entrain
