// The forecast limit of the step is where real runs begin to grow.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "entrain/advice.hpp"
#include "entrain/recording.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace stability_limit_test {

struct Case {
  std::string example;
  std::string method;
  int degree;
  std::string output;
};
void PrintTo(const Case& of, std::ostream* out) {
  *out << of.example << " " << of.method << " " << of.degree;
}

class StabilityLimit : public ::testing::TestWithParam<Case> {};

double largest(const std::vector<double>& values, std::size_t first, std::size_t last) {
  double size = 0.0;
  for (std::size_t k = first; k < last; ++k) size = std::max(size, std::abs(values[k]));
  return size;
}

/// Over the second half of so many steps; a run that leaves the numbers grows.
bool grows(const Case& of, Duration step) {
  constexpr int kSteps = 20'000;
  auto description = test::changed(test::example(of.example), {of.method, step, kSteps * step});
  description.method_options.clear();
  if (of.method != "missiles") apply_option(description, "degree=" + std::to_string(of.degree));
  description.record = {};
  Simulation simulation(description);
  MemoryRecorder recorder({of.output});
  simulation.observe(recorder);
  if (simulation.run().termination != Termination::Completed) return true;
  const auto& values = recorder.column(of.output);
  const std::size_t tenth = values.size() / 10;
  return largest(values, 9 * tenth, values.size()) > largest(values, 5 * tenth, 6 * tenth);
}

TEST_P(StabilityLimit, is_where_real_runs_begin_to_grow) {
  const auto& of = GetParam();
  const Advice advice = advise(test::example(of.example));
  const auto candidate = std::find_if(advice.candidates.begin(), advice.candidates.end(), [&](const Candidate& one) {
    return one.method == of.method && (of.method == "missiles" || one.degree == of.degree);
  });
  ASSERT_NE(candidate, advice.candidates.end());
  ASSERT_FALSE(candidate->stable_steps.ranges.empty());
  const Duration limit = candidate->stable_steps.ranges.front().high;
  EXPECT_FALSE(grows(of, 0.99 * limit)) << limit;
  EXPECT_TRUE(grows(of, 1.01 * limit)) << limit;
}

INSTANTIATE_TEST_SUITE_P(
    Examples, StabilityLimit,
    ::testing::Values(Case{"mechanical", "jacobi", 0, "left.x"}, Case{"mechanical", "jacobi", 2, "left.x"},
                      Case{"mechanical", "gauss-seidel", 1, "left.x"}, Case{"mechanical", "gauss-seidel", 3, "left.x"},
                      Case{"mechanical", "missiles", 0, "left.x"}, Case{"chain", "jacobi", 1, "m3.x"},
                      Case{"chain", "gauss-seidel", 2, "m3.x"}, Case{"chain", "missiles", 0, "m3.x"}));

}  // namespace stability_limit_test
}  // namespace entrain
