#include "numerics/sparse_lu.hpp"

#include <gtest/gtest.h>

#include "entrain/error.hpp"

namespace entrain {
namespace sparse_lu_test {

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
  numerics::SparseLu lu(kFirst, kRows);
  ASSERT_TRUE(lu.factor(kValues));
  auto x = times(kValues, {1.0, -2.0, 3.0});
  lu.solve(x);
  EXPECT_NEAR(x[0], 1.0, 1e-15);
  EXPECT_NEAR(x[1], -2.0, 1e-15);
  EXPECT_NEAR(x[2], 3.0, 1e-15);
}

TEST(SparseLu, refactors_for_other_values_of_the_same_pattern) {
  numerics::SparseLu lu(kFirst, kRows);
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
  numerics::SparseLu once(kFirst, kRows);
  numerics::SparseLu twice(kFirst, kRows);
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
  numerics::SparseLu lu({0, 2, 4}, {0, 1, 0, 1});
  ASSERT_TRUE(lu.factor(std::vector{1.0, 0.1, 0.1, 1.0}));
  EXPECT_FALSE(lu.refactor(std::vector{1e-12, 1.0, 1.0, 1e-12}));
  EXPECT_TRUE(lu.factor(std::vector{1e-12, 1.0, 1.0, 1e-12}));
}

TEST(SparseLu, names_the_column_without_a_pivot) {
  numerics::SparseLu lu({0, 2, 4}, {0, 1, 0, 1});
  EXPECT_FALSE(lu.factor(std::vector{1.0, 2.0, 2.0, 4.0}));
  EXPECT_LT(lu.singular_column(), 2U);
}

// The last pivot is nothing but rounding: 0.1 + 0.2 is not 0.3.
TEST(SparseLu, takes_a_matrix_that_is_singular_but_for_rounding_for_singular) {
  numerics::SparseLu lu({0, 2, 4}, {0, 1, 0, 1});
  const std::vector<double> singular{1.0, 0.1 + 0.2, 1.0, 0.3};
  EXPECT_FALSE(lu.factor(singular));
  EXPECT_LT(lu.singular_column(), 2U);
  ASSERT_TRUE(lu.factor(std::vector{1.0, 0.3, 1.0, 0.6}));
  EXPECT_FALSE(lu.refactor(singular));
}

// Units make entries as large as they like: that alone is no lack of a solution.
TEST(SparseLu, solves_with_rows_and_columns_of_any_unit) {
  numerics::SparseLu lu({0, 2, 4}, {0, 1, 0, 1});
  ASSERT_TRUE(lu.factor(std::vector{1.0, 1e-30, 1e30, 2.0}));
  std::vector<double> x{1.0 + 3e30, 1e-30 + 6.0};
  lu.solve(x);
  EXPECT_NEAR(x[1], 3.0, 1e-14);
}

TEST(SparseLu, does_not_solve_without_factors) {
  numerics::SparseLu lu({0, 2, 4}, {0, 1, 0, 1});
  std::vector<double> b{1.0, 1.0};
  EXPECT_THROW(lu.solve(b), Error);
  EXPECT_FALSE(lu.factor(std::vector{1.0, 2.0, 2.0, 4.0}));
  EXPECT_THROW(lu.solve(b), Error);
}

}  // namespace sparse_lu_test
}  // namespace entrain
