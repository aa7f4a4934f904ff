#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/registry.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "subsystem/restricted.hpp"
#include "support/any_polynomials.hpp"
#include "support/places.hpp"

// What every subsystem must do, tried on every built-in model, before and after its discontinuity if it has one, and on
// strict FMUs of them for model exchange, which the engine integrates.

namespace entrain {
namespace subsystem_contract_test {

using test::any_polynomials;

struct Case {
  std::string model;
  Time start;
  int fmi = 0;  ///< version of an FMU for model exchange; 0 = native
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.model << " from t = " << c.start;
  if (c.fmi > 0) *out << " as FMU " << c.fmi;
}

// Sharp, to find errors of the adapter and not of the integrator.
constexpr double kTolerance = 1e-12;

std::unique_ptr<Subsystem> subsystem_of(const Case& c) {
  if (c.fmi == 0) return subsystem::make_native_subsystem("s", models::make_built_in_model(c.model));
  std::string name = c.model;
  std::replace(name.begin(), name.end(), '.', '_');
  subsystem::FmuChoice choice;
  choice.interface = FmuInterface::ModelExchange;
  choice.relative_tolerance = kTolerance;
  auto subsystem = subsystem::make_fmu_subsystem(
      "s",
      fmt::format("{}/test/{}/{}/{}.fmu", test::fmu_folder(), c.fmi == 1 ? "fmi1_exchange" : "strict", c.fmi, name),
      choice);
  EXPECT_TRUE(subsystem->capabilities().equations);
  return subsystem;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& entry : models::built_in_models()) {
    for (const Time start : {0.0, 150.0}) cases.push_back({entry.name, start});
  }
  for (const char* model : {"mechanical.left", "mechanical.right"}) cases.push_back({model, 0.0, 1});
  for (const int version : {2, 3}) {
    for (const char* model : {"mechanical.left", "mechanical.right", "lotka_volterra.prey", "lotka_volterra.predator",
                              "lotka_volterra.modulated_prey", "oscillator.motion_side", "ball.bounce"}) {
      cases.push_back({model, 0.0, version});
    }
    for (const Time start : {0.0, 150.0}) cases.push_back({"two_mass.right", start, version});
  }
  return cases;
}

/// The same polynomials written around s = shift.
std::vector<double> shifted(std::vector<double> c, std::size_t inputs, int degree, double shift) {
  for (int low = 0; low < degree; ++low) {
    for (int p = degree - 1; p >= low; --p) {
      for (std::size_t i = 0; i < inputs; ++i) {
        c[static_cast<std::size_t>(p) * inputs + i] += shift * c[static_cast<std::size_t>(p + 1) * inputs + i];
      }
    }
  }
  return c;
}

class SubsystemContract : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { subsystem_ = make({}); }

  static std::unique_ptr<Subsystem> make(const SubsystemDescription& restrictions) {
    auto subsystem = subsystem_of(GetParam());
    if (subsystem::restricts(restrictions)) subsystem = subsystem::restricted(std::move(subsystem), restrictions);
    subsystem->initialize(GetParam().start, GetParam().start + 1.0);
    return subsystem;
  }

  std::size_t inputs() const { return subsystem_->variables().inputs.size(); }
  std::size_t outputs() const { return subsystem_->variables().outputs.size(); }
  std::size_t states() const { return subsystem_->variables().states.size(); }

  std::vector<double> step(Subsystem& subsystem, Time from, Duration size, const std::vector<double>& coefficients,
                           int degree) const {
    std::vector<double> y(outputs());
    const auto report = subsystem.step({from, size, {coefficients.data(), inputs(), degree}}, y);
    EXPECT_EQ(report.outcome, StepOutcome::Completed);
    EXPECT_EQ(report.reached, from + size);
    return y;
  }
  std::vector<double> step(Time from, Duration size, int degree) const {
    return step(*subsystem_, from, size, any_polynomials(inputs(), degree), degree);
  }
  std::vector<double> states_reached() const {
    std::vector<double> x(states());
    subsystem_->facets().states->states(x);
    return x;
  }
  /// Outputs and states after each of three steps.
  std::vector<double> run(Time from) const {
    std::vector<double> trace;
    for (int k = 0; k < 3; ++k) {
      const auto y = step(from + k * 0.02, 0.02, k + 1);
      const auto x = states_reached();
      trace.insert(trace.end(), y.begin(), y.end());
      trace.insert(trace.end(), x.begin(), x.end());
    }
    return trace;
  }

  std::unique_ptr<Subsystem> subsystem_;
};

INSTANTIATE_TEST_SUITE_P(AllModels, SubsystemContract, testing::ValuesIn(all_cases()), [](const auto& of) {
  std::string name = of.param.model + (of.param.start > 0.0 ? "_late" : "");
  if (of.param.fmi > 0) name += "_fmu" + std::to_string(of.param.fmi);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST_P(SubsystemContract, restored_state_replays_to_the_same_bits) {
  Rollback& rollback = *subsystem_->facets().rollback;
  const Time start = GetParam().start;
  step(start, 0.01, 2);
  const StateId first = rollback.save();
  const auto expected = run(start + 0.01);
  const StateId second = rollback.save();  // another one in between
  const auto expected_after = run(start + 0.07);
  for (const double size : {0.003, 0.004, 0.005, 0.006, 0.007}) step(start + 5.0, size, 3);

  rollback.restore(first);
  EXPECT_EQ(run(start + 0.01), expected);
  rollback.restore(second);
  EXPECT_EQ(run(start + 0.07), expected_after);
  rollback.release(second);
  rollback.restore(first);
  const StateId reused = rollback.save();
  EXPECT_EQ(reused, second);  // the pool does not grow
  rollback.restore(reused);
  EXPECT_EQ(run(start + 0.01), expected);
}

TEST_P(SubsystemContract, restored_state_has_the_same_derivatives_and_linearization) {
  Facets can = subsystem_->facets();
  step(GetParam().start, 0.01, 3);
  const auto read_all = [&] {
    std::vector<double> dx(states());
    std::vector<double> dy(outputs());
    Linearization l;
    can.states->derivatives(dx);
    can.output_derivatives->output_derivatives(dy);
    can.linearizer->linearize(l);
    dx.insert(dx.end(), dy.begin(), dy.end());
    for (const auto* m : {&l.A, &l.B, &l.C, &l.D}) dx.insert(dx.end(), m->values.begin(), m->values.end());
    return dx;
  };
  const auto expected = read_all();
  const StateId id = can.rollback->save();
  step(GetParam().start + 0.01, 0.3, 1);
  can.rollback->restore(id);
  EXPECT_EQ(read_all(), expected);
}

TEST_P(SubsystemContract, outputs_are_stable_between_steps) {
  const Facets can = subsystem_->facets();
  const Time start = GetParam().start;
  const auto expected = step(start, 0.01, 0);
  // Everything that only asks.
  std::vector<double> x(states(), 0.5);
  std::vector<double> u(inputs(), 0.25);
  std::vector<double> y(outputs());
  Linearization l;
  can.rollback->release(can.rollback->save());
  can.states->derivatives(x);
  can.linearizer->linearize(l);
  can.output_derivatives->output_derivatives(y);
  can.equations->right_hand_side({start + 3.0, x, u, u}, x);
  can.equations->outputs({start + 3.0, x, u, u}, y);
  can.equations->output_rates({start + 3.0, x, u, u}, y);
  subsystem_->evaluate(any_polynomials(inputs(), 0), y);
  EXPECT_EQ(y, expected);
}

TEST_P(SubsystemContract, reset_runs_again_to_the_same_bits) {
  const auto expected = run(GetParam().start);
  subsystem_->facets().reset->reset();
  subsystem_->initialize(GetParam().start, GetParam().start + 1.0);
  EXPECT_EQ(run(GetParam().start), expected);
}

TEST_P(SubsystemContract, polynomial_inputs_are_exact) {
  constexpr int kParts = 8;
  const Duration size = 0.08;
  for (int degree = 0; degree <= kMaxInputDegree; ++degree) {
    const auto whole = any_polynomials(inputs(), degree);
    const auto one = make({});
    const auto many = make({});
    const auto expected = step(*one, GetParam().start, size, whole, degree);
    std::vector<double> y;
    for (int k = 0; k < kParts; ++k) {
      const double at = k * size / kParts;
      y = step(*many, GetParam().start + at, size / kParts, shifted(whole, inputs(), degree, at), degree);
    }
    for (std::size_t i = 0; i < y.size(); ++i) {
      // The integrator of an FMU makes about a hundred steps, each with an error of its tolerance.
      const double tolerance = GetParam().fmi > 0 ? 1e3 * kTolerance : 1e-11;
      EXPECT_NEAR(y[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "degree " << degree;
    }
  }
}

TEST_P(SubsystemContract, inputs_act_inside_the_step_to_third_degree) {
  const bool can_act = inputs() > 0 && states() > 0;
  const auto held = any_polynomials(inputs(), 0);
  const Duration size = 0.08;
  for (int order = 1; order <= kMaxInputDegree; ++order) {
    auto moving = held;
    moving.resize(inputs() * static_cast<std::size_t>(order + 1), 0.0);
    std::fill(moving.end() - static_cast<std::ptrdiff_t>(inputs()), moving.end(), 100.0);
    std::vector<double> x_held(states());
    std::vector<double> x_moving(states());
    const auto one = make({});
    const auto other = make({});
    step(*one, GetParam().start, size, held, 0);
    step(*other, GetParam().start, size, moving, order);
    one->facets().states->states(x_held);
    other->facets().states->states(x_moving);
    EXPECT_EQ(x_held != x_moving, can_act) << "order " << order;
  }
}

TEST_P(SubsystemContract, linearization_agrees_with_central_differences) {
  step(GetParam().start, 0.05, 3);
  Linearization l;
  subsystem_->facets().linearizer->linearize(l);
  ASSERT_EQ(l.A.rows, states());
  ASSERT_EQ(l.B.cols, inputs());
  ASSERT_EQ(l.C.rows, outputs());
  ASSERT_EQ(l.D.cols, inputs());
  Equations& equations = *subsystem_->facets().equations;
  const Time t = GetParam().start + 0.05;
  const auto u_polynomial = any_polynomials(inputs(), 3);
  const InputBlock block(u_polynomial.data(), inputs(), 3);
  std::vector<double> x = states_reached();
  std::vector<double> u(inputs());
  for (std::size_t i = 0; i < inputs(); ++i) u[i] = block.value(i, 0.05);
  const std::vector<double> du(inputs(), 0.0);

  const auto expect_column = [&](double& argument, const Matrix& to_dx, const Matrix& to_y, std::size_t column) {
    // Wide differences of fourth order: nothing but rounding where the model is at most cubic in x and u. Elsewhere
    // halving the width bounds the truncation.
    const double kept = argument;
    const auto at = [&](double moved) {
      std::vector<double> f(states() + outputs());
      argument = kept + moved;
      equations.right_hand_side({t, x, u, du}, std::span(f).first(states()));
      equations.outputs({t, x, u, du}, std::span(f).last(outputs()));
      argument = kept;
      return f;
    };
    const double width = 0.005 * std::max(1.0, std::abs(kept));
    std::vector<std::vector<double>> up, down;  // at 1, 2 and 4 widths
    for (const double moved : {width, 2.0 * width, 4.0 * width}) {
      up.push_back(at(moved));
      down.push_back(at(-moved));
    }
    for (std::size_t i = 0; i < up[0].size(); ++i) {
      const auto slope = [&](std::size_t n, double h) {
        return (8.0 * (up[n][i] - down[n][i]) - (up[n + 1][i] - down[n + 1][i])) / (12.0 * h);
      };
      const double narrow = slope(0, width);
      const double truncation = std::abs(slope(1, 2.0 * width) - narrow);
      const double actual = i < states() ? to_dx(i, column) : to_y(i - states(), column);
      // FMI 1 has no derivatives, so the engine itself takes differences, over the third root of the rounding unit.
      const double unit = GetParam().fmi == 1 ? std::pow(std::numeric_limits<double>::epsilon(), 2.0 / 3.0) : 1e-13;
      const double rounding = (std::abs(up[0][i]) + std::abs(down[0][i])) * unit;
      EXPECT_NEAR(actual, narrow, rounding + 1e-10 * std::abs(narrow) + truncation)
          << "row " << i << " column " << column;
    }
  };
  for (std::size_t j = 0; j < states(); ++j) expect_column(x[j], l.A, l.C, j);
  for (std::size_t j = 0; j < inputs(); ++j) expect_column(u[j], l.B, l.D, j);
  for (std::size_t i = 0; i < outputs(); ++i) {
    for (std::size_t j = 0; j < inputs(); ++j) {
      EXPECT_TRUE(l.D(i, j) == 0.0 || subsystem_->capabilities().feedthrough(i, j));
    }
  }
}

TEST_P(SubsystemContract, state_derivatives_agree_with_the_equations) {
  const Duration size = 0.05;
  step(GetParam().start, size, 3);
  const auto coefficients = any_polynomials(inputs(), 3);
  const InputBlock block(coefficients.data(), inputs(), 3);
  std::vector<double> u(inputs());
  std::vector<double> du(inputs());
  for (std::size_t i = 0; i < inputs(); ++i) {
    u[i] = block.value(i, size);
    du[i] = block.slope(i, size);
  }
  const auto x = states_reached();
  std::vector<double> actual(states());
  std::vector<double> expected(states());
  subsystem_->facets().states->derivatives(actual);
  subsystem_->facets().equations->right_hand_side({GetParam().start + size, x, u, du}, expected);
  EXPECT_EQ(actual, expected);
}

TEST_P(SubsystemContract, output_derivatives_agree_with_the_motion) {
  const Duration size = 0.05;
  const double width = 1e-5;
  const auto before = make({});
  const auto after = make({});
  const auto coefficients = any_polynomials(inputs(), 3);
  const auto y = step(*subsystem_, GetParam().start, size, coefficients, 3);
  const auto low = step(*before, GetParam().start, size - width, coefficients, 3);
  const auto high = step(*after, GetParam().start, size + width, coefficients, 3);
  std::vector<double> dy(outputs());
  subsystem_->facets().output_derivatives->output_derivatives(dy);
  for (std::size_t i = 0; i < outputs(); ++i) {
    const double difference = (high[i] - low[i]) / (2.0 * width);
    // Truncation (45 rad/s * 1e-5 s)^2 / 6 of the fastest signal, and its rounding.
    // An FMU's integrator adds its error, divided by the width.
    const double tolerance = GetParam().fmi > 0 ? 1e2 * kTolerance / width : 1e-6;
    EXPECT_NEAR(dy[i], difference, std::max(tolerance, 1e-6) * (std::abs(difference) + std::abs(y[i]) + 1.0));
  }
}

TEST_P(SubsystemContract, moved_by_an_integrator_outside_it_speaks_of_that_point) {
  Equations& equations = *subsystem_->facets().equations;
  const std::vector<double> x(states(), 0.5);
  const std::vector<double> u(inputs(), 0.25);
  const std::vector<double> du(inputs(), 2.0);
  const Equations::Point point{GetParam().start + 2.0, x, u, du};
  equations.move_to(point);
  EXPECT_EQ(states_reached(), x);
  std::vector<double> actual(states());
  std::vector<double> expected(states());
  subsystem_->facets().states->derivatives(actual);
  equations.right_hand_side(point, expected);
  EXPECT_EQ(actual, expected);
}

void expect_facets_match_capabilities(Subsystem& subsystem) {
  const Capabilities& can = subsystem.capabilities();
  const Facets facets = subsystem.facets();
  EXPECT_EQ(can.rollback, facets.rollback != nullptr);
  EXPECT_EQ(can.states, facets.states != nullptr);
  EXPECT_EQ(can.linearization, facets.linearizer != nullptr);
  EXPECT_EQ(can.output_derivative_order > 0, facets.output_derivatives != nullptr);
  EXPECT_EQ(can.equations, facets.equations != nullptr);
  EXPECT_EQ(can.announces_events, facets.events != nullptr);
  EXPECT_EQ(can.reset, facets.reset != nullptr);
}

TEST_P(SubsystemContract, facets_exist_exactly_when_capabilities_claim_them) {
  expect_facets_match_capabilities(*subsystem_);
  EXPECT_EQ(subsystem_->capabilities().input_degree, kMaxInputDegree);
}

TEST_P(SubsystemContract, restricted_versions_have_true_capabilities_and_move_alike) {
  std::vector<SubsystemDescription> all(7);
  all[0].rollback = {false, {}};
  all[1].states = {false, {}};
  all[2].state_derivatives = {false, {}};
  all[3].linearization = {false, {}};
  all[4].output_derivative_order = {0, {}};
  all[5].events = {{1.0, 2.0}, {}};
  all[6].input_degree = {1, {}};
  const auto coefficients = any_polynomials(inputs(), 1);
  const auto expected = step(*subsystem_, GetParam().start, 0.03, coefficients, 1);
  for (const auto& restrictions : all) {
    EXPECT_TRUE(subsystem::additions(subsystem_->capabilities(), restrictions).empty());
    const auto less = make(restrictions);
    expect_facets_match_capabilities(*less);
    EXPECT_EQ(step(*less, GetParam().start, 0.03, coefficients, 1), expected);
  }
}

}  // namespace subsystem_contract_test
}  // namespace entrain
