// The engine against Algorithm 1 of Glumac and Kovacic (2019) written down by hand for its two-mass oscillator: same
// inputs, same order of calls, same filter, exact integration. Agreement to rounding, also for steps far beyond
// stability.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "numerics/exponential.hpp"
#include "support/matrix_of.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace algorithm1_test {

using test::matrix;

constexpr double kCk = 1.0, kDk = 2.0;  // coupling spring and damper of (41)

struct Side {
  numerics::PhiBlocks step;
  std::array<double, 2> x{};

  Side(const Matrix& a, const Matrix& b, double h, std::array<double, 2> start)
      : step(numerics::exact_step_matrices(a, b, h, 0)), x(start) {}
  void advance(const std::vector<double>& u) {
    std::array<double, 2> next{};
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t j = 0; j < 2; ++j) next[i] += step.exponential(i, j) * x[j];
      for (std::size_t j = 0; j < u.size(); ++j) next[i] += step.gamma[0](i, j) * u[j];
    }
    x = next;
  }
};

struct Master {
  bool sequential = true;
  bool force_first = true;
  double alpha_x = 0.0, alpha_v = 0.0, alpha_f = 0.0;
};

/// x2 after `steps` macro steps.
double by_hand(const Master& master, double h, int steps) {
  Side force(matrix(2, 2, {0, 1, -(1 + kCk) / 10, -(1 + kDk) / 10}), matrix(2, 2, {0, 0, kCk / 10, kDk / 10}), h,
             {0, 0});
  Side motion(matrix(2, 2, {0, 1, -0.1, -0.2}), matrix(2, 1, {0, 0.1}), h, {1, 0});
  double f = kCk * (force.x[0] - motion.x[0]) + kDk * (force.x[1] - motion.x[1]);
  double w_x = motion.x[0], w_v = motion.x[1], w_f = f;
  for (int k = 0; k < steps; ++k) {
    const auto take_motion = [&] {
      w_x = master.alpha_x * w_x + (1 - master.alpha_x) * motion.x[0];
      w_v = master.alpha_v * w_v + (1 - master.alpha_v) * motion.x[1];
    };
    const auto take_force = [&] { w_f = master.alpha_f * w_f + (1 - master.alpha_f) * f; };
    const auto step_force = [&] {
      force.advance({w_x, w_v});
      f = kCk * (force.x[0] - w_x) + kDk * (force.x[1] - w_v);
    };
    const auto step_motion = [&] { motion.advance({w_f}); };
    if (!master.sequential) {
      take_motion();
      take_force();
      step_force();
      step_motion();
    } else if (master.force_first) {
      take_motion();
      step_force();
      take_force();
      step_motion();
    } else {
      take_force();
      step_motion();
      take_motion();
      step_force();
    }
  }
  return motion.x[0];
}

double by_engine(const std::string& method, const std::vector<std::string>& options, double h, int steps) {
  Simulation simulation(
      test::changed(test::example("oscillator"), {.method = method, .step = h, .stop = h * steps, .options = options}));
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return simulation.value("motion_side.x");
}

const std::string kForceFirst = "sequence=[\"force_side\", \"motion_side\"]";
const std::string kMotionFirst = "sequence=[\"motion_side\", \"force_side\"]";

TEST(Algorithm1, jacobi) {
  EXPECT_NEAR(by_engine("jacobi", {}, 1.0, 12), by_hand({.sequential = false}, 1.0, 12), 1e-13);
}

TEST(Algorithm1, seidel_12_and_21) {
  EXPECT_NEAR(by_engine("gauss-seidel", {kForceFirst}, 1.0, 12), by_hand({}, 1.0, 12), 1e-13);
  EXPECT_NEAR(by_engine("gauss-seidel", {kMotionFirst}, 1.0, 12), by_hand({.force_first = false}, 1.0, 12), 1e-13);
}

TEST(Algorithm1, control_12_with_the_gains_of_the_paper) {
  const Master control{.alpha_x = 0.59, .alpha_v = 0.36};
  EXPECT_NEAR(by_engine("nepce", {kForceFirst, "gains={\"force_side.x\" = 0.59, \"force_side.v\" = 0.36}"}, 8.9, 6),
              by_hand(control, 8.9, 6), 1e-12);
}

TEST(Algorithm1, control_21_with_the_gain_of_the_paper) {
  const Master control{.force_first = false, .alpha_f = 0.6};
  EXPECT_NEAR(by_engine("nepce", {kMotionFirst, "gains={\"motion_side.F\" = 0.6}"}, 9.11, 6), by_hand(control, 9.11, 6),
              1e-12);
}

TEST(Algorithm1, a_constant_history_starts_held_and_then_uses_the_whole_degree) {
  const std::vector<std::string> constant{"degree=2", "start=\"constant\""};
  // All samples equal: the first step is held, up to the rounding of the differences.
  EXPECT_NEAR(by_engine("jacobi", constant, 1.0, 1), by_engine("jacobi", {}, 1.0, 1), 1e-15);
  // In the second step the parabola through (y1, y0, y0) is not the line through (y1, y0) that a grown history gives.
  EXPECT_GT(std::abs(by_engine("jacobi", constant, 1.0, 2) - by_engine("jacobi", {"degree=2"}, 1.0, 2)), 1e-4);
}

TEST(Algorithm1, nepce_without_gains_is_gauss_seidel) {
  EXPECT_EQ(by_engine("nepce", {kForceFirst}, 1.0, 12), by_engine("gauss-seidel", {kForceFirst}, 1.0, 12));
}

}  // namespace algorithm1_test
}  // namespace entrain
