#include "learn/acceleration.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace entrain {
namespace learning_acceleration_test {

/// G(c) = c + e(c) with e = b - M c, of one connection and three macro steps; M is far from the identity.
std::vector<double> learned_from(const std::vector<double>& c) {
  return {c[0] + 1.0 - (0.3 * c[0] + 0.1 * c[1]), c[1] + 2.0 - (0.2 * c[0] + 1.4 * c[1] + 0.3 * c[2]),
          c[2] - 1.0 - (0.5 * c[1] + 0.6 * c[2])};
}

double missed(const std::vector<double>& c) {
  const auto next = learned_from(c);
  double sum = 0.0;
  for (std::size_t k = 0; k < c.size(); ++k) sum += (next[k] - c[k]) * (next[k] - c[k]);
  return std::sqrt(sum);
}

double missed_after(int runs, int memory) {
  learning::Acceleration acceleration(memory, 1);
  std::vector<double> c(3, 0.0);
  for (int run = 0; run < runs; ++run) {
    auto next = learned_from(c);
    acceleration.combine(c, next);
    c = next;
  }
  return missed(c);
}

// As many differences as dimensions determine a linear map, so the run after them is exact.
TEST(LearningAcceleration, solves_a_linear_loop_of_three_unknowns_in_five_runs) {
  EXPECT_LT(missed_after(5, 4), 1e-12);
  EXPECT_GT(missed_after(5, 0), 1e-2);
}

TEST(LearningAcceleration, without_memory_leaves_what_was_learned) {
  learning::Acceleration acceleration(0, 1);
  const std::vector<double> c{1.0, 2.0, 3.0};
  auto next = learned_from(c);
  const auto expected = next;
  acceleration.combine(c, next);
  EXPECT_EQ(next, expected);
}

TEST(LearningAcceleration, a_run_that_repeats_another_changes_nothing_and_is_finite) {
  learning::Acceleration acceleration(4, 1);
  const std::vector<double> c{1.0, 2.0, 3.0};
  auto first = learned_from(c);
  acceleration.combine(c, first);
  auto second = learned_from(c);
  const auto expected = second;
  acceleration.combine(c, second);
  EXPECT_EQ(second, expected);
}

}  // namespace learning_acceleration_test
}  // namespace entrain
