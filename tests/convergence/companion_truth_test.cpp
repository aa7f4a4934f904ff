// Claimed errors against true ones, which no run of the engine knows: closed forms, and a Runge-Kutta integration of
// all equations at once.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "entrain/fact_codes.hpp"
#include "support/estimated_run.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace companion_truth_test {

using State = std::array<double, 2>;
using Derivative = State (*)(const State&);

/// The states at each of the times, by classical Runge-Kutta steps of at most 1e-3: below 1e-10 for motions of 1 rad/s.
std::vector<State> reference(Derivative f, State x, const std::vector<Time>& times) {
  const auto moved = [](const State& from, const State& slope, double by) {
    return State{from[0] + by * slope[0], from[1] + by * slope[1]};
  };
  std::vector<State> states;
  Time t = times.front();
  for (const Time until : times) {
    const double count = std::ceil((until - t) / 1e-3);
    const double h = count > 0.0 ? (until - t) / count : 0.0;
    for (double k = 0.0; k < count; k += 1.0) {
      const State a = f(x);
      const State b = f(moved(x, a, 0.5 * h));
      const State c = f(moved(x, b, 0.5 * h));
      const State d = f(moved(x, c, h));
      for (std::size_t i = 0; i < 2; ++i) x[i] += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
    }
    t = until;
    states.push_back(x);
  }
  return states;
}

State circle(const State& x) {
  return {x[1], -x[0]};
}
State oscillation(const State& x) {  // van der Pol, of moderate strength
  return {x[1] - (x[0] * x[0] * x[0] / 3.0 - x[0]), -x[0]};
}

ModelFactory pair_of(test::OdeModel::Function f_a, test::OdeModel::Function f_b) {
  return [=](std::string_view name) -> std::unique_ptr<Model> {
    const bool first = name == "a";
    return std::make_unique<test::OdeModel>(test::OdeModel::Equation{
        .f = first ? f_a : f_b, .g = [](double x, double) { return x; }, .start = first ? 0.5 : 1.0});
  };
}

struct Motion {
  const char* name;
  Derivative equations;
  ModelFactory models;
};
std::vector<Motion> motions() {
  return {{"circle", circle, pair_of([](double, double u) { return u; }, [](double, double u) { return -u; })},
          {"van der Pol", oscillation,
           pair_of([](double x, double u) { return u - (x * x * x / 3.0 - x); }, [](double, double u) { return -u; })}};
}

class CompanionTruth : public testing::TestWithParam<test::Change> {};

/// Root mean square, weighted by time as the steps may vary, relative to the range.
double true_error(const test::EstimatedRun& run, const std::vector<State>& truth, std::size_t component) {
  const auto& times = run.recorder.times;
  const auto& values = run.recorder.column(component == 0 ? "a.y" : "b.y");
  double squares = 0.0;
  double low = truth[0][component];
  double high = low;
  Time before = times.front();
  for (std::size_t k = 0; k < times.size(); ++k) {
    low = std::min(low, truth[k][component]);
    high = std::max(high, truth[k][component]);
    if (std::isnan(values[k])) continue;  // others communicated
    squares += (times[k] - before) * std::pow(values[k] - truth[k][component], 2);
    before = times[k];
  }
  return std::sqrt(squares / (times.back() - times.front())) / (high - low);
}

TEST_P(CompanionTruth, claimed_error_is_within_a_factor_three_of_the_true_one) {
  for (const auto& motion : motions()) {
    SCOPED_TRACE(motion.name);
    const auto description = test::changed(test::two_in_a_loop(12.0), GetParam());
    const auto run = test::estimated_run(description, motion.models);
    ASSERT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
    const auto truth = reference(motion.equations, {0.5, 1.0}, run.recorder.times);
    for (const std::size_t component : {0u, 1u}) {
      const auto& claimed = run.output(component == 0 ? "a.y" : "b.y");
      const double error = true_error(run, truth, component);
      EXPECT_GT(claimed.error, error / 3.0) << claimed.name;
      EXPECT_LT(claimed.error, error * 3.0) << claimed.name;
      EXPECT_GT(claimed.bound, error) << claimed.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Methods, CompanionTruth,
    testing::Values(test::Change{"jacobi", 0.02, 0.0, {"degree=0"}}, test::Change{"jacobi", 0.02, 0.0, {"degree=1"}},
                    test::Change{"jacobi", 0.05, 0.0, {"degree=2"}},
                    test::Change{"gauss-seidel", 0.05, 0.0, {"degree=1"}}, test::Change{"missiles", 0.2},
                    test::Change{"ifosmondi", 0.2}, test::Change{"jacobi", 0.02, 0.0, {"adaptive=true"}},
                    test::Change{"jacobi", 0.02, 0.0, {"degree=1", "adaptive=true", "relative_tolerance=1e-4"}},
                    test::Change{"missiles", 0.1, 0.0, {"adaptive=true", "relative_tolerance=1e-4"}},
                    test::Change{"ifosmondi", 0.1, 0.0, {"adaptive=true"}}, test::Change{"f3ornits", 0.02},
                    test::Change{"f3ornits", 0.01, 0.0, {"relative_tolerance=1e-6", "absolute_tolerance=1e-6"}}));

/// A replay of the steps as they were is the run itself, up to the rounding of the times.
class Replayed : public testing::TestWithParam<test::Change> {};

TEST_P(Replayed, steps_of_a_run_give_the_run) {
  const auto description = resolved(test::changed(test::two_in_a_loop(6.0), GetParam()));
  const auto models = motions()[1].models;
  MemoryRecorder first;
  MemoryRecorder again;
  {
    session::Session session(description, {}, models);
    session.observe(first);
    session.run();
  }
  session::Session session(description, {}, models);
  session.prescribe({first.times, first.times});
  session.observe(again);
  EXPECT_EQ(session.run().termination, Termination::Completed);
  ASSERT_EQ(first.times.size(), again.times.size());
  for (std::size_t k = 0; k < first.times.size(); ++k) {
    ASSERT_NEAR(first.times[k], again.times[k], 1e-14 * first.times[k]);
    ASSERT_NEAR(first.column("a.y")[k], again.column("a.y")[k], 1e-9) << first.times[k];
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Replayed,
                         testing::Values(test::Change{"jacobi", 0.02, 0.0, {"degree=1", "adaptive=true"}},
                                         test::Change{"missiles", 0.1, 0.0, {"adaptive=true"}},
                                         test::Change{"ifosmondi", 0.1, 0.0, {"adaptive=true"}}));

TEST(CompanionTruth, announced_jump_of_an_input_is_no_error_beside_it) {
  const auto description = test::changed(test::example("two_mass"), {.method = "missiles", .step = 0.4, .stop = 200.0});
  const auto run = test::estimated_run(description);
  const auto& force = run.output("right.F");
  EXPECT_LT(force.bound, 1e-5);
  EXPECT_EQ(force.valid_until, 200.0);
  EXPECT_FALSE(test::has_fact(run.estimate.reasons, FactCode::EstimateEventsDiffer));
}

}  // namespace companion_truth_test
}  // namespace entrain
