#include "numerics/exponential.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "entrain/error.hpp"
#include "support/matrix_of.hpp"

namespace entrain {
namespace exponential_test {

using test::matrix;

Matrix identity(std::size_t size) {
  Matrix result(size, size);
  for (std::size_t i = 0; i < size; ++i) result(i, i) = 1.0;
  return result;
}

Matrix transposed(const Matrix& m) {
  Matrix result(m.cols, m.rows);
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t j = 0; j < m.cols; ++j) result(j, i) = m(i, j);
  }
  return result;
}

void expect_close(double actual, double expected, double relative) {
  EXPECT_LE(std::abs(actual - expected), relative * std::abs(expected)) << actual << " instead of " << expected;
}

TEST(Exponential, step_matrices_of_a_nilpotent_matrix_are_its_finite_series) {
  // x' = v, v' = u: x = x0 + h v0 + sum_p c_p h^(p+2) / ((p+1)(p+2)), v = v0 + sum_p c_p h^(p+1) / (p+1).
  const double h = 0.7;
  const auto blocks = numerics::exact_step_matrices(matrix(2, 2, {0, 1, 0, 0}), matrix(2, 1, {0, 1}), h, 3);
  EXPECT_DOUBLE_EQ(blocks.exponential(0, 1), h);
  EXPECT_DOUBLE_EQ(blocks.exponential(0, 0), 1.0);
  EXPECT_DOUBLE_EQ(blocks.exponential(1, 0), 0.0);
  ASSERT_EQ(blocks.gamma.size(), 4U);
  for (int p = 0; p <= 3; ++p) {
    const auto& gamma = blocks.gamma[static_cast<std::size_t>(p)];
    expect_close(gamma(0, 0), std::pow(h, p + 2) / ((p + 1) * (p + 2)), 4e-15);
    expect_close(gamma(1, 0), std::pow(h, p + 1) / (p + 1), 4e-15);
  }
}

TEST(Exponential, is_accurate_to_rounding_for_a_very_stiff_matrix) {
  // x' = -z x + c s^p: gamma_0 = 1/z, gamma_p = (1 - p gamma_{p-1}) / z, up to exp(-z) = 0. The bound is that of the
  // reference for |A dt| = 1e6 and needs the exact shift block before every squaring.
  const double z = 1e6;
  const auto blocks = numerics::exact_step_matrices(matrix(1, 1, {-z}), matrix(1, 1, {1.0}), 1.0, 3);
  double expected = 1.0 / z;
  for (int p = 0; p <= 3; ++p) {
    if (p > 0) expected = (1.0 - p * expected) / z;
    expect_close(blocks.gamma[static_cast<std::size_t>(p)](0, 0), expected, 1e-12);
  }
  EXPECT_EQ(blocks.exponential(0, 0), 0.0);
}

TEST(Exponential, follows_an_oscillator_over_many_periods_in_one_step) {
  const double omega = 300.0;
  const auto blocks = numerics::exact_step_matrices(matrix(2, 2, {0, 1, -omega * omega, 0}), matrix(2, 0, {}), 1.0, 0);
  // Ten squarings of entries up to omega: rounding grows to about omega * 2^10 * eps.
  EXPECT_NEAR(blocks.exponential(0, 0), std::cos(omega), 1e-10);
  EXPECT_NEAR(blocks.exponential(0, 1) * omega, std::sin(omega), 1e-10);
}

TEST(Exponential, scales_with_the_size_of_b_without_loss) {
  const Matrix a = matrix(2, 2, {0, 1, -2000, -2});
  const auto small = numerics::exact_step_matrices(a, matrix(2, 1, {0, 1}), 1e-3, 3);
  const auto large = numerics::exact_step_matrices(a, matrix(2, 1, {0, 0x1p40}), 1e-3, 3);
  for (std::size_t p = 0; p < 4; ++p) EXPECT_EQ(large.gamma[p](0, 0), 0x1p40 * small.gamma[p](0, 0));
}

TEST(Exponential, row_form_is_the_transpose_of_the_transposed_problem) {
  const Matrix a = matrix(2, 2, {0.1, 1.5, -3.0, -0.4});
  const Matrix c = matrix(1, 2, {2.0, -1.0});
  const auto columns = numerics::phi_products(a, identity(2), 3);
  const auto rows = numerics::phi_products(transposed(a), transposed(c), 3);
  for (std::size_t j = 0; j < 3; ++j) {
    for (std::size_t k = 0; k < 2; ++k) {
      const double expected = c(0, 0) * columns.products[j](0, k) + c(0, 1) * columns.products[j](1, k);
      EXPECT_NEAR(rows.products[j](k, 0), expected, 1e-15);
    }
  }
}

TEST(Exponential, mechanical_pair_has_the_reference_solution_at_two_seconds) {
  // Table 3 of MISSILES as one system in (x1, v1, x2, v2); check value at t = 2 in docs/theory/reproduction.md.
  const double c1 = 1e4, c2 = 1e4, c3 = 1e5, d1 = 10, d2 = 10, d3 = 40, m1 = 5, m2 = 80;
  const Matrix a = matrix(4, 4,
                          {0, 1, 0, 0,                                          //
                           -(c1 + c2) / m1, -(d1 + d2) / m1, c2 / m1, d2 / m1,  //
                           0, 0, 0, 1,                                          //
                           c2 / m2, d2 / m2, -(c2 + c3) / m2, -(d2 + d3) / m2});
  const Matrix e = numerics::exact_step_matrices(a, matrix(4, 0, {}), 2.0, 0).exponential;
  const double expected[] = {-0.986469627429, -25.1520489634, -1.36587081953, -35.1663950333};
  for (std::size_t i = 0; i < 4; ++i) expect_close(e(i, 0) * 1.0 + e(i, 2) * 3.0, expected[i], 1e-11);  // 12 digits
}

TEST(Exponential, refuses_a_matrix_that_is_not_finite) {
  const double bad = std::numeric_limits<double>::quiet_NaN();
  try {
    numerics::exact_step_matrices(matrix(1, 1, {bad}), matrix(1, 1, {1.0}), 1.0, 0);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::SolverFailed);
  }
}

TEST(Exponential, of_no_states_is_empty) {
  const auto blocks = numerics::exact_step_matrices(Matrix(0, 0), Matrix(0, 2), 1.0, 1);
  EXPECT_EQ(blocks.gamma.size(), 2U);
  EXPECT_TRUE(blocks.exponential.values.empty());
}

}  // namespace exponential_test
}  // namespace entrain
