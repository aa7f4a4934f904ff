#include "trials/estimator.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "models/registry.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "trials/observe.hpp"

namespace entrain {
namespace estimator_test {

/// A subsystem and its estimator, side by side.
struct Pair {
  std::unique_ptr<Subsystem> subsystem;
  trials::Estimator estimator;
  std::vector<double> inputs, outputs;
  Time t = 0.0;

  Pair(const std::string& model, std::vector<double> start_inputs, const trials::EstimatorOptions& options = {},
       bool state_derivatives = true)
      : subsystem(subsystem::make_native_subsystem("s", models::make_built_in_model(model))),
        estimator({subsystem->variables().states.size(), subsystem->variables().inputs.size(),
                   subsystem->variables().outputs.size()},
                  state_derivatives, options),
        inputs(std::move(start_inputs)),
        outputs(subsystem->variables().outputs.size()) {}

  void set_start(const std::string& name, double value) {
    subsystem->set_start(*subsystem->variables().find_startable(name), value);
  }
  void begin() {
    subsystem->initialize(0.0, 100.0);
    subsystem->evaluate(inputs, outputs);
    look();
  }
  bool look() { return trials::observe(estimator, subsystem->facets(), {t, 0.1, inputs, outputs, {}}); }
  /// One real step, then look again.
  void step(const InputBlock& block, Duration h) {
    EXPECT_EQ(subsystem->step({t, h, block}, outputs).outcome, StepOutcome::Completed);
    t += h;
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = block.value(i, h);
    look();
  }
  struct Values {
    std::vector<double> y, dy;
  };
  Values estimate(const InputBlock& block, Duration h) {
    Values values{outputs, outputs};
    estimator.set_step(h);
    estimator.estimate(block, values.y, values.dy);
    return values;
  }
};

TEST(Estimator, has_the_check_values_of_the_mechanical_pair) {
  Pair left("mechanical.left", {20000.0});
  left.begin();
  left.estimator.set_step(1e-3);
  const double expected_left[] = {-1.99733539886, 0.997003497457, 0.999000832856, 9.98667699432e-4};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(left.estimator.propagator(0)[i], expected_left[i], 1e-11 * std::abs(expected_left[i]));
  }
  Pair right("mechanical.right", {0.0, 1.0});
  right.begin();
  right.estimator.set_step(1e-3);
  EXPECT_NEAR(right.estimator.propagator(0)[0], 9979.38466542, 1e-8);
  EXPECT_NEAR(right.estimator.propagator(0)[1], 19.9814654618, 1e-10);
  EXPECT_NEAR(right.estimator.propagator(1)[0], 9.99083606847, 1e-11);
  EXPECT_NEAR(right.estimator.propagator(1)[1], 0.0149929706066, 1e-13);
}

TEST(Estimator, is_exact_for_a_linear_subsystem_under_cubic_inputs) {
  Pair right("mechanical.right", {0.5, 1.0});
  right.begin();
  const double h = 0.02;
  const std::vector<double> coefficients{0.5, 1.0, 30.0, 0.5, -400.0, 15.0, 7e3, -130.0};
  const InputBlock block(coefficients.data(), 2, 3);
  const auto estimated = right.estimate(block, h);
  right.step(block, h);
  std::vector<double> slope(1);
  right.subsystem->facets().output_derivatives->output_derivatives(slope);
  EXPECT_NEAR(estimated.y[0], right.outputs[0], 1e-12 * std::abs(right.outputs[0]));
  EXPECT_NEAR(estimated.dy[0], slope[0], 1e-11 * std::abs(slope[0]));
}

// One step of the prey under the stimulus of the COSTARICA paper, tables 4 and 5.
const std::vector<double> kStimulus{0.8, -0.16, -0.11008};
const std::vector<double> kDailyStimulus{0.8, -0.448, 0.5173559185};

Pair prey(bool daily, const trials::EstimatorOptions& options = {}) {
  Pair pair(daily ? "lotka_volterra.modulated_prey" : "lotka_volterra.prey", {0.8}, options);
  pair.set_start("p", 0.8);
  if (!daily) {
    pair.set_start("alpha", 0.67);
    pair.set_start("beta", 1.33);
  }
  pair.begin();
  return pair;
}

TEST(Estimator, has_the_check_values_of_the_prey) {
  struct Case {
    bool daily;
    const std::vector<double>& stimulus;
    double estimate, truth;
  };
  for (const auto& [daily, stimulus, expected, truth] : {Case{false, kStimulus, 0.769971658949, 0.769949193190},
                                                         Case{true, kDailyStimulus, 0.808026273632, 0.803184661033}}) {
    auto pair = prey(daily);
    const InputBlock block(stimulus.data(), 1, 2);
    EXPECT_NEAR(pair.estimate(block, 0.1).y[0], expected, 1e-12);
    pair.step(block, 0.1);
    EXPECT_NEAR(pair.outputs[0], truth, 1e-12);
  }
}

TEST(Estimator, without_state_derivatives_holds_instead) {
  Pair pair("tough", {}, {}, false);
  pair.begin();
  EXPECT_TRUE(pair.estimator.degraded());
  EXPECT_NEAR(pair.estimate(InputBlock(nullptr, 0, 0), 0.1).y[0], pair.outputs[0], 1e-15);
}

TEST(Estimator, keeps_its_matrices_while_the_linearization_and_the_step_stay) {
  Pair pair("mechanical.left", {20000.0});
  pair.begin();
  pair.estimator.set_step(1e-3);
  const auto matrices = pair.estimator.gains_revision();
  const std::vector<double> held{20000.0};
  pair.step(InputBlock(held.data(), 1, 0), 1e-3);
  pair.estimator.set_step(1e-3);
  EXPECT_EQ(pair.estimator.gains_revision(), matrices);
  pair.estimator.set_step(2e-3);
  EXPECT_NEAR(pair.estimator.propagator(0)[3], 2e-3, 1e-5);
}

TEST(Estimator, linearizes_when_the_linearization_tolerance_asks) {
  trials::EstimatorOptions options;
  options.linearize = trials::LinearizationRenewal::WhenNeeded;
  Pair linear("mechanical.left", {20000.0}, options);
  linear.begin();
  EXPECT_FALSE(linear.estimator.needs_linearization(1e-3));
  auto bent = prey(false, options);
  const InputBlock block(kStimulus.data(), 1, 2);
  EXPECT_EQ(bent.subsystem->step({0.0, 0.5, block}, bent.outputs).outcome, StepOutcome::Completed);
  bent.t = 0.5;
  bent.inputs[0] = block.value(0, 0.5);
  EXPECT_TRUE(bent.look());
  options.linearize = trials::LinearizationRenewal::Once;
  auto once = prey(false, options);
  once.t = 0.5;
  EXPECT_FALSE(once.look());
}

TEST(Estimator, comes_back_from_what_it_remembered) {
  auto pair = prey(true);
  const InputBlock block(kDailyStimulus.data(), 1, 2);
  pair.step(block, 0.1);
  pair.step(block, 0.1);
  const auto memory = pair.estimator.memory();
  const auto expected = pair.estimate(block, 0.1);
  auto other = prey(true);
  other.estimator.restore(memory);
  EXPECT_EQ(other.estimate(block, 0.1).y, expected.y);
}

TEST(Estimator, with_stehfest_is_wrong_for_oscillations) {
  trials::EstimatorOptions options;
  options.laplace = trials::LaplaceInversion::GaverStehfest;
  options.stehfest_terms = 8;
  Pair stehfest("mechanical.left", {20000.0}, options);
  Pair exact("mechanical.left", {20000.0});
  stehfest.begin();
  exact.begin();
  const std::vector<double> held{20000.0};
  const InputBlock block(held.data(), 1, 0);
  const double h = 0.1;  // omega h = 4.5
  EXPECT_GT(std::abs(stehfest.estimate(block, h).y[1] - exact.estimate(block, h).y[1]), 0.1);
}

// Under u = c t^3 the speed begins as c t^4 / (4 m), whose quotient (48) is (0.8^4 - 4 * 0.9^4 + 3) / 0.2 = 3.926 t^3
// instead of 4 t^3.
TEST(Estimator, slopes_by_quotients_are_those_of_the_paper) {
  trials::EstimatorOptions options;
  options.laplace = trials::LaplaceInversion::GaverStehfestQuotients;
  Pair quotients("mechanical.left", {0.0}, options);
  Pair exact("mechanical.left", {0.0});
  quotients.begin();
  exact.begin();
  const std::vector<double> cubic{0.0, 0.0, 0.0, 1e9};
  const InputBlock rising(cubic.data(), 1, 3);
  const InputBlock none(cubic.data(), 1, 2);
  const double h = 1e-3;
  const auto slope = [&](Pair& pair) { return pair.estimate(rising, h).dy[0] - pair.estimate(none, h).dy[0]; };
  EXPECT_NEAR(slope(quotients) / slope(exact), 3.926 / 4.0, 1e-3);
}

}  // namespace estimator_test
}  // namespace entrain
