// A ball that bounces, coupled with what it moves. Where it bounces, a motion beside the run cannot follow: companions
// serve, or the error is unknown. The truth is a Runge-Kutta integration of all equations at once that finds the
// bounces by bisection.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "entrain/fact_codes.hpp"
#include "entrain/judged_run.hpp"
#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace state_event_truth_test {

constexpr double kGravity = 9.81;
constexpr double kRestitution = 0.8;
constexpr double kPush = 0.5;  // of what the ball moves, back on the ball

/// Continues x over a step by Runge-Kutta steps of at most 1e-3 s, with a bounce wherever x[0] falls below zero.
template <std::size_t N, class Rates>
void advance(std::array<double, N>& x, Time t, Duration size, const Rates& rates) {
  const auto stepped = [&](const std::array<double, N>& from, Time at, Duration h) {
    const auto moved = [&](const std::array<double, N>& slope, double by) {
      auto to = from;
      for (std::size_t i = 0; i < N; ++i) to[i] += by * slope[i];
      return to;
    };
    const auto a = rates(at, from);
    const auto b = rates(at + 0.5 * h, moved(a, 0.5 * h));
    const auto c = rates(at + 0.5 * h, moved(b, 0.5 * h));
    const auto d = rates(at + h, moved(c, h));
    auto to = from;
    for (std::size_t i = 0; i < N; ++i) to[i] += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
    return to;
  };
  const Time end = t + size;
  while (end - t > 1e-12) {
    Duration h = std::min(1e-3, end - t);
    auto next = stepped(x, t, h);
    if (next[0] < 0.0 && next[1] < 0.0) {
      Duration low = 0.0;
      for (int k = 0; k < 60; ++k) {
        const Duration middle = 0.5 * (low + h);
        (stepped(x, t, middle)[0] < 0.0 ? h : low) = middle;
      }
      next = stepped(x, t, low);
      h = low;
      next[0] = 0.0;
      next[1] *= -kRestitution;
    }
    x = next;
    t += h;
  }
}

class Ball final : public Model {
 public:
  Ball() {
    table_.inputs.push_back({"u", "", "", ValueType::Real, 0.0});
    table_.outputs.push_back({"y", "", "", ValueType::Real, {}});
    table_.states = {{"h", "", "", ValueType::Real, 1.0}, {"v", "", "", ValueType::Real, 0.0}};
  }
  const VariableTable& variables() const noexcept override { return table_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {1, 1, false}; }
  void derivatives(const Point& at, std::span<double> dx) const override {
    dx[0] = at.x[1];
    dx[1] = -kGravity - kPush * at.u[0];
  }
  void outputs(const Point& at, std::span<double> y) const override { y[0] = at.x[0]; }
  void linearize(const Point&, Linearization& result) const override {
    result.A.resize(2, 2);
    result.B.resize(2, 1);
    result.C.resize(1, 2);
    result.D.resize(1, 1);
    result.A(0, 1) = result.C(0, 0) = 1.0;
    result.B(1, 0) = -kPush;
  }
  void integrate(Time, Duration size, const InputBlock& inputs, std::span<double> x) override {
    std::array<double, 2> state{x[0], x[1]};
    advance(state, 0.0, size, [&](Time s, const std::array<double, 2>& at) {
      return std::array<double, 2>{at[1], -kGravity - kPush * inputs.value(0, s)};
    });
    x[0] = state[0];
    x[1] = state[1];
  }
  std::size_t event_indicator_count() const override { return 1; }
  /// Up or down: a bounce changes its sign, the top of the flight as well.
  void event_indicators(const Point& at, std::span<double> z) const override { z[0] = at.x[1]; }

 private:
  VariableTable table_;
};

/// x' = u - x: what follows the ball.
ModelFactory bouncing() {
  return [](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "a") return std::make_unique<Ball>();
    return std::make_unique<test::OdeModel>(
        test::OdeModel::Equation{[](double x, double u) { return u - x; }, [](double x, double) { return x; }, 0.0});
  };
}

SystemDescription described(const std::string& method) {
  auto description = test::two_in_a_loop(2.4);  // four bounces
  description.method.value = method;
  description.step = {0.01, {}};
  return description;
}

struct TrueErrors {
  double ball = 0.0, follower = 0.0;  // root mean squares, relative to the ranges
};

TrueErrors true_errors(const MemoryRecorder& run) {
  std::array<double, 3> x{1.0, 0.0, 0.0};
  std::array<double, 2> squares{}, counts{};
  double highest = 0.0;
  Time t = 0.0;
  for (std::size_t k = 0; k < run.times.size(); ++k) {
    advance(x, t, run.times[k] - t, [](Time, const std::array<double, 3>& at) {
      return std::array<double, 3>{at[1], -kGravity - kPush * at[2], at[0] - at[2]};
    });
    t = run.times[k];
    highest = std::max(highest, x[2]);
    const std::array values{run.column("a.y")[k], run.column("b.y")[k]};
    const std::array truth{x[0], x[2]};
    for (std::size_t i = 0; i < 2; ++i) {
      if (std::isnan(values[i])) continue;
      squares[i] += std::pow(values[i] - truth[i], 2);
      counts[i] += 1.0;
    }
  }
  return {std::sqrt(squares[0] / counts[0]), std::sqrt(squares[1] / counts[1]) / highest};
}

class Bouncing : public testing::TestWithParam<std::string> {};

TEST_P(Bouncing, errors_are_found_by_companions_and_near_the_truth) {
  MemoryRecorder recorder({"a.y", "b.y"});
  JudgedRunOptions options;
  options.observers = {recorder};
  const auto run = run_judged(described(GetParam()), options, bouncing());
  ASSERT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  const auto truth = true_errors(recorder);
  for (const auto& output : run.estimate.outputs) {
    const double error = output.name == "a.y" ? truth.ball : truth.follower;
    EXPECT_EQ(output.estimate, EstimateKind::Companion) << output.name;
    EXPECT_GT(output.error, error / 3.0) << output.name;
    EXPECT_LT(output.error, error * 3.0) << output.name;
    EXPECT_GT(output.bound, error) << output.name;
  }
  EXPECT_NE(run.verdict.grade, Grade::Unknown);
}
INSTANTIATE_TEST_SUITE_P(StateEvents, Bouncing, testing::Values("jacobi", "gauss-seidel"));

/// The motion beside the run ends at the first event, and companions share the imposed step.
TEST(StateEvents, with_imposed_steps_keep_the_grade_at_check) {
  auto description = described("jacobi");
  description.subsystems[1].step = Written<double>{0.02, {}};
  const auto run = run_judged(description, {}, bouncing());
  EXPECT_EQ(run.verdict.grade, Grade::Check) << run.verdict.headline();
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateImposedStep, "b"));
}

TEST(StateEvents, leave_the_error_unknown_where_the_run_cannot_be_repeated) {
  auto description = described("jacobi");
  description.subsystems[0].side_effects = Written<bool>{true, {}};
  const auto run = run_judged(description, {}, bouncing());
  EXPECT_EQ(run.verdict.grade, Grade::Unknown) << run.verdict.headline();
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::EstimateSideEffects));
  EXPECT_TRUE(test::has_fact(run.estimate.reasons, FactCode::ErrorNotFollowed));
}

}  // namespace state_event_truth_test
}  // namespace entrain
