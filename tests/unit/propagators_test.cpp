#include "numerics/propagators.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <unsupported/Eigen/MatrixFunctions>

#include "entrain/error.hpp"
#include "support/matrix_of.hpp"

namespace entrain {
namespace propagators_test {

using test::matrix;

constexpr int kCount = 5;  // Q_0 .. Q_4: cubic inputs

/// The same augmented exponential in long double (19 digits): [[h A^T, C^T, 0 ..], [0, shift]], scaled to norm 1 with
/// the shift block set to its exact value before every squaring.
std::vector<Matrix> in_long_double(const Matrix& a, const Matrix& c, long double h) {
  using Long = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  const auto n = static_cast<Eigen::Index>(a.rows);
  const auto m = static_cast<Eigen::Index>(c.rows);
  const Eigen::Index size = n + m * (kCount - 1);
  Long big = Long::Zero(size, size);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) big(i, j) = h * a(static_cast<std::size_t>(j), static_cast<std::size_t>(i));
    for (Eigen::Index j = 0; j < m; ++j) big(i, n + j) = c(static_cast<std::size_t>(j), static_cast<std::size_t>(i));
  }
  for (Eigen::Index i = n; i + m < size; ++i) big(i, i + m) = 1.0L;
  int squarings = 0;
  for (long double norm = big.cwiseAbs().colwise().sum().maxCoeff(); norm > 0.5L; norm /= 2) ++squarings;
  Long e = (big * std::ldexp(1.0L, -squarings)).exp();
  for (int k = squarings; k > 0; --k) {
    const Eigen::Index rest = size - n;
    e.bottomRightCorner(rest, rest).setZero();
    long double power = 1.0L;
    for (Eigen::Index distance = 0; distance * m < rest; ++distance) {
      for (Eigen::Index i = 0; i + distance * m < rest; ++i) e(n + i, n + i + distance * m) = power;
      power *= std::ldexp(1.0L, -k) / static_cast<long double>(distance + 1);
    }
    e = (e * e).eval();
  }
  std::vector<Matrix> q(kCount, Matrix(c.rows, c.cols));
  for (Eigen::Index i = 0; i < m; ++i) {
    for (Eigen::Index k = 0; k < n; ++k) {
      const auto row = static_cast<std::size_t>(i);
      const auto col = static_cast<std::size_t>(k);
      long double first = 0.0L;
      for (Eigen::Index l = 0; l < n; ++l) first += c(row, static_cast<std::size_t>(l)) * e(k, l);
      q[0](row, col) = static_cast<double>(first);
      for (int j = 1; j < kCount; ++j) {
        q[static_cast<std::size_t>(j)](row, col) = static_cast<double>(std::pow(h, j) * e(k, n + (j - 1) * m + i));
      }
    }
  }
  return q;
}

/// Largest difference of any entry of any Q_j, relative to the largest entry of all.
double error_of(const std::vector<Matrix>& q, const std::vector<Matrix>& reference) {
  double largest = 0.0;
  double difference = 0.0;
  for (std::size_t j = 0; j < reference.size(); ++j) {
    for (std::size_t i = 0; i < reference[j].values.size(); ++i) {
      largest = std::max(largest, std::abs(reference[j].values[i]));
      const double d = std::abs(q[j].values[i] - reference[j].values[i]);
      difference = d <= difference ? difference : d;  // NaN wins
    }
  }
  return difference / largest;
}

struct Case {
  std::string name;
  Matrix a;
  Matrix c;
  double h;
  double tolerance;
};

std::vector<Case> cases() {
  const double pole = 2.0 * std::log(2.0);  // the second Stehfest node at h = 1
  return {
      {"stiff", matrix(1, 1, {-1e6}), matrix(1, 1, {1.0}), 1.0, 1e-11},
      {"stiff_pair", matrix(2, 2, {-1e6, 1e3, 2.0, -1.0}), matrix(2, 2, {1.0, 0.0, 3.0, 1e4}), 1.0, 1e-11},
      {"moderately_stiff", matrix(2, 2, {-900.0, 30.0, 1.0, -2.0}), matrix(1, 2, {1.0, 1.0}), 1.0, 1e-13},
      {"nilpotent", matrix(4, 4, {0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0}), matrix(1, 4, {1, 0, 0, 0}), 2.0,
       1e-13},
      {"oscillatory", matrix(2, 2, {0, 1, -900, 0}), matrix(1, 2, {1, 0}), 1.0, 1e-13},
      {"oscillatory_balanced", matrix(2, 2, {0, 30, -30, 0}), matrix(2, 2, {1, 0, 0, 1}), 1.0, 1e-13},
      {"pole_at_a_node", matrix(1, 1, {pole}), matrix(1, 1, {1.0}), 1.0, 1e-13},
      {"mechanical", matrix(2, 2, {-2, -2000, 1, 0}), matrix(2, 2, {1, 0, 0, 1}), 1e-3, 1e-13},
  };
}

void PrintTo(const Case& tested, std::ostream* out) {
  *out << tested.name;
}

class Propagators : public testing::TestWithParam<Case> {};

TEST_P(Propagators, agree_with_long_double) {
  const auto& [name, a, c, h, tolerance] = GetParam();
  EXPECT_LE(error_of(numerics::propagators(a, c, h, kCount), in_long_double(a, c, h)), tolerance);
}

INSTANTIATE_TEST_SUITE_P(Cases, Propagators, testing::ValuesIn(cases()),
                         [](const auto& tested) { return tested.param.name; });

/// Without the stiff cases: they would take a million Taylor steps.
std::vector<Case> moderate_cases() {
  auto all = cases();
  std::erase_if(all, [](const Case& tested) { return tested.tolerance > 1e-12; });
  return all;
}

class PropagatorsByAction : public testing::TestWithParam<Case> {};

TEST_P(PropagatorsByAction, agree_with_long_double) {
  const auto& [name, a, c, h, tolerance] = GetParam();
  EXPECT_LE(error_of(numerics::propagators_by_action(a, c, h, kCount), in_long_double(a, c, h)), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Cases, PropagatorsByAction, testing::ValuesIn(moderate_cases()),
                         [](const auto& tested) { return tested.param.name; });

TEST(PropagatorRows, stiff_scalar_equals_its_closed_form) {
  // Q_j = (Q_{j-1} - 1/(j-1)!) / z up to exp(z) = 0.
  const double z = -1e6;
  const auto q = numerics::propagators(matrix(1, 1, {z}), matrix(1, 1, {1.0}), 1.0, kCount);
  double expected = 0.0;
  double factorial = 1.0;
  for (std::size_t j = 1; j < q.size(); ++j) {
    expected = (expected - 1.0 / factorial) / z;
    factorial *= static_cast<double>(j);
    EXPECT_NEAR(q[j](0, 0), expected, 1e-11 * std::abs(expected)) << j;
  }
}

Matrix tridiagonal(std::size_t states, double norm) {
  Matrix a(states, states);
  for (std::size_t i = 0; i < states; ++i) {
    a(i, i) = -0.5 * norm;
    if (i > 0) a(i, i - 1) = 0.25 * norm;
    if (i + 1 < states) a(i, i + 1) = 0.25 * norm;
  }
  return a;
}

TEST(PropagatorRows, many_states_agree_with_the_exponential) {
  const Matrix a = tridiagonal(120, 10.0);
  Matrix c(2, 120);
  c(0, 3) = 1.0;
  c(1, 100) = 1e4;
  EXPECT_LE(error_of(numerics::propagators(a, c, 1.0, kCount), numerics::propagators_by_exponential(a, c, 1.0, kCount)),
            1e-13);
}

TEST(PropagatorRows, stehfest_is_near_for_a_slow_decay_and_far_for_an_oscillation) {
  // docs/theory/costarica.md: 0.7 (8 terms) and 0.2 (14 terms) at omega dt = 5.
  const Matrix slow = matrix(1, 1, {-1.0});
  const Matrix one = matrix(1, 1, {1.0});
  EXPECT_LE(error_of(numerics::propagators_by_stehfest(slow, one, 0.5, kCount, 14),
                     numerics::propagators(slow, one, 0.5, kCount)),
            1e-5);
  const Matrix fast = matrix(2, 2, {0, 5, -5, 0});
  const Matrix both = matrix(1, 2, {1, 0});
  const auto error = [&](int terms) {
    const auto q = numerics::propagators_by_stehfest(fast, both, 1.0, kCount, terms);
    const auto exact = numerics::propagators(fast, both, 1.0, kCount);
    return std::max(std::abs(q[0](0, 0) - exact[0](0, 0)), std::abs(q[0](0, 1) - exact[0](0, 1)));
  };
  EXPECT_NEAR(error(8), 0.7, 0.05);
  EXPECT_NEAR(error(14), 0.2, 0.05);
}

TEST(PropagatorRows, of_no_states_are_empty) {
  const auto q = numerics::propagators(Matrix(0, 0), Matrix(2, 0), 1.0, kCount);
  ASSERT_EQ(q.size(), 5U);
  EXPECT_EQ(q[0].rows, 2U);
  EXPECT_TRUE(q[0].values.empty());
}

TEST(PropagatorRows, refuse_a_linearization_that_is_not_finite) {
  EXPECT_THROW(numerics::propagators(matrix(1, 1, {NAN}), matrix(1, 1, {1.0}), 1.0, kCount), Error);
}

}  // namespace propagators_test
}  // namespace entrain
