// The exact step of the better motion, and the polynomial of its rate.
#include "estimate/linear_flow.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "estimate/sample_polynomial.hpp"

namespace entrain {
namespace linear_flow_test {

numerics::SparseRows one_by_one(double value) {
  Matrix a(1, 1);
  a(0, 0) = value;
  return numerics::sparse_rows(a);
}

TEST(LinearFlow, constant_rate_approaches_its_limit) {
  // w' = -2 w + 6 from 1: 3 - 2 exp(-2 t)
  estimate::LinearFlow flow(one_by_one(-2.0));
  std::vector<double> w{1.0};
  const std::vector<double> rate{6.0};
  for (int step = 1; step <= 10; ++step) {  // by a series first, by kept matrices later
    flow.advance(0.25, rate, w);
    EXPECT_NEAR(w[0], 3.0 - 2.0 * std::exp(-0.5 * step), 1e-14) << step;
  }
}

TEST(LinearFlow, rate_is_a_polynomial_of_the_share_of_the_step) {
  // w' = 6 s^5 with s = t / h: w(h) = h
  estimate::LinearFlow flow(one_by_one(0.0));
  std::vector<double> w{0.0};
  const std::vector<double> rates{0.0, 0.0, 0.0, 0.0, 0.0, 6.0};
  for (int step = 1; step <= 5; ++step) {
    flow.advance(0.5, rates, w);
    EXPECT_NEAR(w[0], 0.5 * step, 1e-14);
  }
}

TEST(LinearFlow, several_parts_of_a_series_are_one_step) {
  // Norm 7 over the step: seven parts, while the third use is made by matrices.
  Matrix a(2, 2);
  a(0, 1) = 14.0;
  a(1, 0) = -14.0;
  const std::vector<double> rates{1.0, -1.0, 0.5, 2.0, -3.0, 1.0, 0.0, 1.0, 2.0, 0.0, -1.0, 0.25};
  estimate::LinearFlow flow(numerics::sparse_rows(a));
  std::vector<double> first{1.0, 0.0};
  flow.advance(0.5, rates, first);
  for (int use = 2; use <= 4; ++use) {
    std::vector<double> w{1.0, 0.0};
    flow.advance(0.5, rates, w);
    EXPECT_NEAR(w[0], first[0], 1e-13);
    EXPECT_NEAR(w[1], first[1], 1e-13);
  }
}

TEST(LinearFlow, stiff_motion_follows_its_rate) {
  estimate::LinearFlow flow(one_by_one(-1e6));
  std::vector<double> w{1.0};
  flow.advance(1.0, std::vector<double>{1e6}, w);
  EXPECT_NEAR(w[0], 1.0, 1e-12);
  flow.advance(1.0, std::vector<double>{2e6}, w);
  EXPECT_NEAR(w[0], 2.0, 1e-12);
}

TEST(SamplePolynomial, of_six_samples_is_exact_for_degree_five) {
  const auto value = [](Time t) { return 1.0 + t - 2.0 * t * t + std::pow(t, 5); };
  const std::vector<Time> nodes{0.0, 0.1, 0.25, 0.3, 0.5, 0.6};
  estimate::SamplePolynomial polynomial;
  const auto weights = polynomial.weights(nodes, 0.25, 0.05);
  for (const double share : {0.0, 0.4, 1.0}) {
    double sum = 0.0;
    for (std::size_t p = 0; p < nodes.size(); ++p) {
      for (std::size_t j = 0; j < nodes.size(); ++j) {
        sum += weights[p * nodes.size() + j] * value(nodes[j]) * std::pow(share, static_cast<double>(p));
      }
    }
    EXPECT_NEAR(sum, value(0.25 + 0.05 * share), 1e-13);
  }
}

}  // namespace linear_flow_test
}  // namespace entrain
