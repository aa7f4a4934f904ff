#include "numerics/sparse_lu.hpp"

#include <gtest/gtest.h>

namespace entrain {
namespace {

// By columns: [2 0 1; 1 3 0; 0 1 4]
const std::vector<int> kFirst{0, 2, 4, 6};
const std::vector<int> kRows{0, 1, 1, 2, 0, 2};
const std::vector<double> kValues{2.0, 1.0, 3.0, 1.0, 1.0, 4.0};

std::vector<double> times(const std::vector<double>& values, const std::vector<double>& x) {
  std::vector<double> b(3, 0.0);
  for (std::size_t j = 0; j < 3; ++j) {
    for (auto k = static_cast<std::size_t>(kFirst[j]); k < static_cast<std::size_t>(kFirst[j + 1]); ++k) {
      b[static_cast<std::size_t>(kRows[k])] += values[k] * x[j];
    }
  }
  return b;
}

TEST(SparseLu, solves) {
  SparseLu lu(kFirst, kRows);
  ASSERT_TRUE(lu.factor(kValues));
  auto x = times(kValues, {1.0, -2.0, 3.0});
  lu.solve(x);
  EXPECT_NEAR(x[0], 1.0, 1e-15);
  EXPECT_NEAR(x[1], -2.0, 1e-15);
  EXPECT_NEAR(x[2], 3.0, 1e-15);
}

TEST(SparseLu, refactors_for_other_values_of_the_same_pattern) {
  SparseLu lu(kFirst, kRows);
  ASSERT_TRUE(lu.factor(kValues));
  const std::vector<double> other{5.0, -1.0, 2.0, 0.5, 0.25, 3.0};
  ASSERT_TRUE(lu.refactor(other));
  auto x = times(other, {1.0, -2.0, 3.0});
  lu.solve(x);
  EXPECT_NEAR(x[0], 1.0, 1e-15);
  EXPECT_NEAR(x[1], -2.0, 1e-15);
  EXPECT_NEAR(x[2], 3.0, 1e-15);
}

TEST(SparseLu, gives_the_same_bits_after_factor_and_after_refactor) {
  SparseLu once(kFirst, kRows);
  SparseLu twice(kFirst, kRows);
  ASSERT_TRUE(once.factor(kValues));
  ASSERT_TRUE(twice.factor(kValues));
  ASSERT_TRUE(twice.refactor(kValues));
  std::vector<double> a{0.1, 0.2, 0.3};
  auto b = a;
  once.solve(a);
  twice.solve(b);
  EXPECT_EQ(a, b);
}

TEST(SparseLu, refuses_pivots_that_no_longer_suit) {
  SparseLu lu({0, 2, 4}, {0, 1, 0, 1});
  ASSERT_TRUE(lu.factor(std::vector{1.0, 0.1, 0.1, 1.0}));
  EXPECT_FALSE(lu.refactor(std::vector{1e-12, 1.0, 1.0, 1e-12}));
  EXPECT_TRUE(lu.factor(std::vector{1e-12, 1.0, 1.0, 1e-12}));
}

TEST(SparseLu, tells_which_column_has_no_pivot) {
  SparseLu lu({0, 2, 4}, {0, 1, 0, 1});
  EXPECT_FALSE(lu.factor(std::vector{1.0, 2.0, 2.0, 4.0}));
  EXPECT_LT(lu.singular_column(), 2U);
}

}  // namespace
}  // namespace entrain
