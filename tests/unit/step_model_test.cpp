#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "numerics/fixed_point.hpp"
#include "numerics/interface_columns.hpp"
#include "numerics/step_model.hpp"

namespace entrain::numerics {
namespace step_model_test {

/// y'' = -4 y - 0.4 y' + 3 u + 0.5 u' + direct u'': an oscillation under held inputs, exactly.
class Oscillation {
 public:
  explicit Oscillation(double direct) : direct_(direct) {}

  double step(double h, double u) {
    // Steps so small that the classical Runge-Kutta formula is exact to rounding.
    constexpr int kParts = 64;
    const double part = h / kParts;
    for (int k = 0; k < kParts; ++k) {
      const auto rate = [&](double x, double v) { return -4.0 * x - 0.4 * v + u; };
      const double v1 = v_, a1 = rate(x_, v_);
      const double v2 = v_ + 0.5 * part * a1, a2 = rate(x_ + 0.5 * part * v1, v2);
      const double v3 = v_ + 0.5 * part * a2, a3 = rate(x_ + 0.5 * part * v2, v3);
      const double v4 = v_ + part * a3, a4 = rate(x_ + part * v3, v4);
      x_ += part / 6.0 * (v1 + 2.0 * v2 + 2.0 * v3 + v4);
      v_ += part / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
    return 3.0 * x_ + 0.5 * v_ + direct_ * u;
  }

 private:
  double direct_;
  double x_ = 0.2, v_ = 0.0;
};

struct Learned {
  StepModel model;
  BoxHistory history;
  double worst = 0.0;  // error of the last predictions
};

Learned learned(int order, double h, int steps, const std::function<double(int)>& input, double direct = 0.7) {
  Learned result{StepModel(1, 1, order), BoxHistory(1, 1)};
  Oscillation box(direct);
  StepModel::Prediction prediction;
  double t = 0.0;
  result.history.push(0.0, std::vector{box.step(1e-12, input(0))}, std::vector{input(0)});
  for (int k = 1; k <= steps; ++k) {
    const double u = input(k);
    const double y = box.step(h, u);
    if (result.model.can_predict(result.history)) {
      result.model.predict(result.history, h, prediction);
      if (k > steps - 20)
        result.worst = std::max(result.worst, std::abs(y - prediction.free[0] - prediction.gains[0] * u));
      result.model.learn(result.history, h, std::vector{u}, std::vector{y}, true);
    }
    t += h;
    result.history.push(t, std::vector{y}, std::vector{u});
  }
  return result;
}

double wild(int k) {
  return std::sin(1.7 * k) + std::cos(0.31 * k * k);
}

TEST(StepModel, of_the_right_order_predicts_a_linear_black_box) {
  EXPECT_LT(learned(2, 0.1, 80, wild).worst, 1e-9);  // outputs are of size 1; the rows are rounded
  EXPECT_GT(learned(1, 0.1, 80, wild).worst, 1e-4);  // two states cannot be seen in one output of one step
}

TEST(StepModel, finds_how_outputs_follow_inputs_at_once_to_second_order) {
  const auto miss = [](double h) {
    std::vector<double> gains(1);
    learned(2, h, 120, wild).model.direct_gains(h, gains);
    return std::abs(gains[0] - 0.7);
  };
  EXPECT_LT(miss(0.05), 0.01);
  EXPECT_GT(std::log2(miss(0.05) / miss(0.025)), 1.7);
}

TEST(StepModel, continues_the_past_before_it_has_learned) {
  const StepModel model(1, 1, 2);
  BoxHistory history(1, 1);
  history.push(0.0, std::vector{1.0}, std::vector{5.0});
  history.push(0.1, std::vector{1.5}, std::vector{7.0});
  StepModel::Prediction prediction;
  model.predict(history, 0.2, prediction);
  EXPECT_NEAR(prediction.free[0], 2.5, 1e-14);
  EXPECT_EQ(prediction.gains[0], 0.0);
}

TEST(StepModel, keeps_what_it_knows_of_inputs_while_they_are_constant) {
  const auto excited = learned(2, 0.1, 80, wild);
  const auto rested = learned(2, 0.1, 400, [](int k) { return k <= 80 ? wild(k) : 0.3; });
  StepModel::Prediction before;
  StepModel::Prediction after;
  excited.model.predict(excited.history, 0.1, before);
  rested.model.predict(rested.history, 0.1, after);
  EXPECT_NEAR(after.gains[0], before.gains[0], 1e-3 * std::abs(before.gains[0]));
}

TEST(StepModel, knows_its_growth) {
  EXPECT_NEAR(learned(2, 0.1, 80, wild).model.growth(0.1), std::exp(-0.02), 0.03);
}

TEST(StepModel, goes_on_with_its_memory_bit_by_bit) {
  auto whole = learned(2, 0.1, 40, wild);
  StepModel copy(1, 1, 2);
  copy.restore(whole.model.memory());
  StepModel::Prediction a;
  StepModel::Prediction b;
  for (auto* model : {&whole.model, &copy}) model->learn(whole.history, 0.1, std::vector{0.4}, std::vector{0.9}, true);
  whole.model.predict(whole.history, 0.1, a);
  copy.predict(whole.history, 0.1, b);
  EXPECT_EQ(a.free, b.free);
  EXPECT_EQ(a.gains, b.gains);
}

/// z = M z + b, with eigenvalues of M far beyond 1: plain iteration diverges.
struct LinearMap {
  std::vector<double> offset;

  bool operator()(std::span<const double> z, std::span<double> image) const {
    const std::size_t n = offset.size();
    for (std::size_t i = 0; i < n; ++i) image[i] = offset[i] - 3.0 * z[(i + 1) % n] + 0.5 * z[i];
    return true;
  }
};

int evaluations(FixedPointSolver& solver, const LinearMap& map) {
  std::vector<double> z(map.offset.size(), 0.0);
  std::vector<double> image(z);
  const std::vector<double> scale(z.size(), 1.0);
  const auto result = solver.solve(z, image, {1e-9, 50, scale}, map);
  EXPECT_TRUE(result.converged);
  return result.evaluations;
}

TEST(QuasiNewton, solves_a_linear_map_with_one_column_per_unknown_and_then_at_once) {
  FixedPointSolver solver(4, FixedPointMethod::QuasiNewton);
  EXPECT_LE(evaluations(solver, {{1.0, 2.0, -1.0, 0.5}}), 6);
  EXPECT_EQ(evaluations(solver, {{-3.0, 0.1, 4.0, 1.5}}), 2);
  solver.forget();
  EXPECT_GT(evaluations(solver, {{-3.0, 0.1, 4.0, 1.5}}), 3);
}

TEST(QuasiNewton, remembers_its_columns_as_a_value) {
  FixedPointSolver solver(3, FixedPointMethod::QuasiNewton);
  evaluations(solver, {{1.0, 2.0, -1.0}});
  FixedPointSolver other(3, FixedPointMethod::QuasiNewton);
  other.restore(solver.memory());
  EXPECT_EQ(evaluations(other, {{0.3, 0.0, 9.0}}), 2);
}

}  // namespace step_model_test
}  // namespace entrain::numerics
