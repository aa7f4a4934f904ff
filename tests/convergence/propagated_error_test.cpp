// The error that is propagated beside a run, against the true one: closed forms of linear systems, all equations in one
// integrator of the test for nonlinear ones.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "entrain/recording.hpp"
#include "estimate/propagated_error.hpp"
#include "numerics/dense.hpp"
#include "numerics/exponential.hpp"
#include "session/session.hpp"
#include "support/linear_networks.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace propagated_error_test {

struct Watched {
  MemoryRecorder recorder{{"*"}};
  std::optional<ErrorEstimate> estimate;
  RunSummary summary;
};

Watched watched(const SystemDescription& description, const ModelFactory& models = {}) {
  Extensions extensions;
  if (models) extensions.models = models;
  Watched run;
  session::Session session(description, {.threads = 1, .interrupt = nullptr}, extensions);
  estimate::PropagatedError error;
  EXPECT_TRUE(estimate::PropagatedError::serves(session.system(), session.method()));
  session.observe(run.recorder);
  session.watch(error);
  run.summary = session.run();
  EXPECT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  run.estimate = error.estimate();
  for (const auto& reason : error.reasons()) ADD_FAILURE() << render(reason);
  return run;
}

/// By output: rms over the run relative to the range of the truth.
using Truth = std::function<std::vector<double>(Time t)>;
std::map<std::string, double> true_errors(const Watched& run, const std::vector<std::string>& names,
                                          const Truth& truth) {
  std::map<std::string, double> result;
  std::vector<double> sum(names.size(), 0.0);
  std::vector<base::SignalRange> ranges(names.size(), base::SignalRange::nothing());
  const Time start = run.recorder.times.front();
  std::vector<Time> before(names.size(), start);  // when each communicated last
  for (std::size_t k = 0; k < run.recorder.times.size(); ++k) {
    const Time t = run.recorder.times[k];
    const auto exact = truth(t);
    for (std::size_t i = 0; i < names.size(); ++i) {
      ranges[i].take(exact[i]);
      const double value = run.recorder.column(names[i])[k];
      if (std::isnan(value)) continue;
      sum[i] += (t - before[i]) * std::pow(value - exact[i], 2);
      before[i] = t;
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    result[names[i]] = std::sqrt(sum[i] / (before[i] - start)) / ranges[i].span();
  }
  return result;
}

void expect_right(const Watched& run, const std::map<std::string, double>& truth, double factor) {
  ASSERT_TRUE(run.estimate);
  for (const auto& [name, error] : truth) {
    const auto& outputs = run.estimate->outputs;
    const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const auto& of) { return of.name == name; });
    ASSERT_NE(found, outputs.end()) << name;
    EXPECT_LT(found->error, factor * error) << name;
    EXPECT_GT(found->error, error / factor) << name;
  }
}

// Linear systems: the two-mass oscillator in closed form.

/// Of `damping` times the parameters of the example.
Truth oscillator(double damping = 1.0) {
  Matrix m(4, 4);
  m(0, 1) = m(2, 3) = 1.0;
  m(1, 0) = -0.2;
  m(1, 1) = -0.3;
  m(1, 2) = 0.1;
  m(1, 3) = 0.2;
  m(3, 0) = 0.1;
  m(3, 1) = 0.2;
  m(3, 2) = -0.2;
  m(3, 3) = -0.4;
  for (const std::size_t row : {1U, 3U}) {
    for (const std::size_t speed : {1U, 3U}) m(row, speed) *= damping;
  }
  return [m, damping](Time t) {
    const auto e = numerics::exact_step_matrices(m, Matrix(4, 0), t, 0).exponential;
    return std::vector<double>{e(0, 2) - e(2, 2) + 2.0 * damping * (e(1, 2) - e(3, 2)), e(2, 2), e(3, 2)};
  };
}

class OfMethod : public testing::TestWithParam<test::Change> {};

TEST_P(OfMethod, oscillator_error_is_the_true_one) {
  auto change = GetParam();
  change.step = 0.1;
  change.stop = 20.0;
  const auto run = watched(test::changed(test::example("oscillator"), change));
  expect_right(run, true_errors(run, {"force_side.F", "motion_side.x", "motion_side.v"}, oscillator()), 1.03);
}

INSTANTIATE_TEST_SUITE_P(PropagatedError, OfMethod,
                         testing::Values(test::Change{.method = "jacobi", .options = {"degree=0"}},
                                         test::Change{.method = "jacobi", .options = {"degree=1"}},
                                         test::Change{.method = "jacobi", .options = {"degree=2"}},
                                         test::Change{.method = "jacobi", .options = {"degree=3"}},
                                         test::Change{.method = "gauss-seidel", .options = {"degree=0"}},
                                         test::Change{.method = "gauss-seidel", .options = {"degree=1"}},
                                         test::Change{.method = "nepce"}, test::Change{.method = "missiles"},
                                         test::Change{.method = "ifosmondi"}, test::Change{.method = "f3ornits"}));

/// z' = M z of all states and y by z, with connections closed; made of the matrices, without the engine.
Truth linear_truth(const test::LinearSystem& system) {
  std::size_t states = 0, inputs = 0, outputs = 0;
  std::vector<std::size_t> first_output;
  for (const auto& part : system.parts) {
    first_output.push_back(outputs);
    states += part.start.size();
    inputs += part.matrices.B.cols;
    outputs += part.matrices.C.rows;
  }
  numerics::RowMajor a = numerics::RowMajor::Zero(numerics::index(states), numerics::index(states)),
                     b = numerics::RowMajor::Zero(numerics::index(states), numerics::index(inputs));
  numerics::RowMajor c = numerics::RowMajor::Zero(numerics::index(outputs), numerics::index(states)),
                     d = numerics::RowMajor::Zero(numerics::index(outputs), numerics::index(inputs));
  numerics::RowMajor l = numerics::RowMajor::Zero(numerics::index(inputs), numerics::index(outputs));
  Eigen::VectorXd start(numerics::index(states));
  Eigen::Index x = 0, u = 0, y = 0;
  const std::map<std::string, double> per_metre{{"m", 1.0}, {"mm", 1e3}, {"km", 1e-3}};
  for (const auto& part : system.parts) {
    const auto& m = part.matrices;
    a.block(x, x, numerics::index(m.A.rows), numerics::index(m.A.rows)) = numerics::view(m.A);
    b.block(x, u, numerics::index(m.A.rows), numerics::index(m.B.cols)) = numerics::view(m.B);
    c.block(y, x, numerics::index(m.C.rows), numerics::index(m.A.rows)) = numerics::view(m.C);
    d.block(y, u, numerics::index(m.C.rows), numerics::index(m.B.cols)) = numerics::view(m.D);
    for (std::size_t i = 0; i < part.start.size(); ++i) start[x + numerics::index(i)] = part.start[i];
    for (std::size_t i = 0; i < part.sources.size(); ++i) {
      const auto& [from, output] = part.sources[i];
      const double factor = i < part.input_units.size() ? per_metre.at(part.input_units[i]) : 1.0;
      l(u + numerics::index(i), numerics::index(first_output[from] + output)) = factor;
    }
    x += numerics::index(m.A.rows);
    u += numerics::index(m.B.cols);
    y += numerics::index(m.C.rows);
  }
  const Eigen::MatrixXd closed =
      (Eigen::MatrixXd::Identity(numerics::index(inputs), numerics::index(inputs)) - l * d).inverse() *
      Eigen::MatrixXd(l * c);
  const Matrix m = numerics::to_matrix(a + b * closed);
  const numerics::RowMajor y_by_x = c + d * closed;
  return [=](Time t) {
    const auto e = numerics::exact_step_matrices(m, Matrix(m.rows, 0), t, 0).exponential;
    const Eigen::VectorXd at = y_by_x * (numerics::view(e) * start);
    return std::vector<double>(at.begin(), at.end());
  };
}

std::vector<std::string> outputs_of(const test::LinearSystem& system) {
  std::vector<std::string> names;
  for (std::size_t s = 0; s < system.parts.size(); ++s) {
    for (std::size_t y = 0; y < system.parts[s].matrices.C.rows; ++y) {
      names.push_back("s" + std::to_string(s) + ".y" + std::to_string(y));
    }
  }
  return names;
}

class OfRandomSystem : public testing::TestWithParam<unsigned> {};

/// Loops through feedthrough, units, imposed steps, lowered degrees, sub-steps.
TEST_P(OfRandomSystem, error_is_the_true_one) {
  std::mt19937 random(GetParam());
  auto system = test::random_linear_system(random);
  const std::array<test::Change, 6> methods{{{.method = "jacobi", .options = {"degree=1"}},
                                             {.method = "gauss-seidel", .options = {"degree=0"}},
                                             {.method = "jacobi", .options = {"degree=2"}},
                                             {.method = "gauss-seidel", .options = {"degree=1"}},
                                             {.method = "missiles"},
                                             {.method = "ifosmondi"}}};
  const auto& change = methods[GetParam() % methods.size()];
  constexpr double kStep = 0.02;
  if (GetParam() % methods.size() < 4) {
    system.parts[0].imposed_step = 2 * kStep;
    system.parts[1].imposed_step = 3 * kStep;
  } else {
    system.parts[0].input_degree = 1;
    system.parts[0].substeps = 2;
    system.parts[1].input_degree = 0;
  }
  const auto description = test::changed(system.description("jacobi", kStep, 6.0), change);
  const auto run = watched(description, system.models());
  auto truth = true_errors(run, outputs_of(system), linear_truth(system));
  std::erase_if(truth, [](const auto& of) { return of.second < 1e-9; });
  expect_right(run, truth, 1.1);
}

INSTANTIATE_TEST_SUITE_P(PropagatedError, OfRandomSystem, testing::Range(1U, 13U));

// Nonlinear systems, x' = f(x, y), y' = g(x, y), each of one subsystem.

struct Pair {
  std::string name;
  test::OdeModel::Equation a, b;
  double step;
};

Truth pair_truth(const Pair& pair) {
  return [pair, at = std::vector<double>{pair.a.start, pair.b.start}, before = 0.0,
          solver = std::make_shared<numerics::OdeSolver>(2)](Time t) mutable {
    if (t > before) {
      solver->integrate(before, t, at, [&](Time, std::span<const double> x, std::span<double> dx) {
        dx[0] = pair.a.f(x[0], x[1]);
        dx[1] = pair.b.f(x[1], x[0]);
      });
    }
    before = t;
    return at;
  };
}

std::vector<Pair> pairs() {
  const auto self = [](double x, double) { return x; };
  const auto follow = [](double, double u) { return u; };
  return {
      {"lotka_volterra",
       {[](double x, double u) { return x * (1.0 - 0.5 * u); }, self, 2.0},
       {[](double x, double u) { return x * (-1.0 + 0.4 * u); }, self, 1.0},
       0.05},
      {"van_der_pol",
       {follow, self, 2.0},
       {[](double x, double u) { return 2.0 * (1.0 - u * u) * x - u; }, self, 0.0},
       0.02},
      {"duffing", {follow, self, 1.0}, {[](double x, double u) { return -0.1 * x + u - u * u * u; }, self, 0.5}, 0.05}};
}

class OfNonlinear : public testing::TestWithParam<std::tuple<std::size_t, test::Change>> {};

TEST_P(OfNonlinear, pair_error_is_right_within_a_factor_of_2) {
  const auto& [which, method] = GetParam();
  const Pair pair = pairs()[which];
  SystemDescription description = test::two_in_a_loop(10.0);
  auto change = method;
  change.step = pair.step;
  const auto run = watched(test::changed(description, change), [&](std::string_view name) {
    return std::make_unique<test::OdeModel>(name == "a" ? pair.a : pair.b);
  });
  expect_right(run, true_errors(run, {"a.y", "b.y"}, pair_truth(pair)), 2.0);
}

INSTANTIATE_TEST_SUITE_P(
    PropagatedError, OfNonlinear,
    testing::Combine(testing::Range(std::size_t{0}, std::size_t{3}),
                     testing::Values(test::Change{.method = "jacobi", .options = {"degree=1"}},
                                     test::Change{.method = "jacobi", .options = {"degree=2"}},
                                     test::Change{.method = "jacobi", .options = {"degree=3"}},
                                     test::Change{.method = "gauss-seidel", .options = {"degree=1"}},
                                     test::Change{.method = "missiles"}, test::Change{.method = "ifosmondi"})));

// What a run meets besides.

TEST(PropagatedError, of_an_unstable_coupling_is_measured_by_the_true_range) {
  // Undamped and coupled late: the run gains energy, the truth does not.
  auto description = test::changed(test::example("oscillator"), {.method = "jacobi", .step = 0.5, .stop = 400.0});
  for (const auto* name : {"d1", "d_k"}) description.subsystems[0].start[name] = {Value(0.0), {}};
  description.subsystems[1].start["d2"] = {Value(0.0), {}};
  const auto run = watched(description);
  const auto truth = true_errors(run, {"force_side.F", "motion_side.x", "motion_side.v"}, oscillator(0.0));
  EXPECT_GT(truth.at("motion_side.x"), 10.0);
  expect_right(run, truth, 1.1);
}

/// y = 1 from `at` on.
class Switch final : public Model {
 public:
  explicit Switch(Time at) : at_(at) { table_.outputs.push_back({"y", "", "", ValueType::Real, {}}); }
  const VariableTable& variables() const noexcept override { return table_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {1, 0}; }
  void derivatives(const Point&, std::span<double>) const override {}
  void outputs(const Point& at, std::span<double> y) const override { y[0] = at.t < at_ - 1e-12 ? 0.0 : 1.0; }
  void linearize(const Point&, Linearization& result) const override {
    result.A.resize(0, 0);
    result.B.resize(0, 0);
    result.C.resize(1, 0);
    result.D.resize(1, 0);
  }
  void integrate(Time, Duration, const InputBlock&, std::span<double>) override {}
  Time next_discontinuity(Time t) const override { return t < at_ - 1e-12 ? at_ : kNever; }

 private:
  Time at_;
  VariableTable table_;
};

class OfSwitch : public testing::TestWithParam<std::tuple<Time, std::string>> {};

TEST_P(OfSwitch, announced_between_or_at_steps_is_followed) {
  // x' = u - x after a step at t1: 1 - exp(-(t - t1)). Seen late between two communication times.
  const auto [at, method] = GetParam();
  SystemDescription description = test::two_in_a_loop(4.0);
  description.connections.erase(description.connections.begin() + 1);
  const test::OdeModel::Equation lag{[](double x, double u) { return u - x; }, [](double x, double) { return x; }, 0.0};
  const auto run = watched(test::changed(description, {.method = method, .step = 0.1}),
                           [&, at = at](std::string_view name) -> std::unique_ptr<Model> {
                             if (name == "a") return std::make_unique<Switch>(at);
                             return std::make_unique<test::OdeModel>(lag);
                           });
  auto truth = true_errors(run, {"b.y"},
                           [at = at](Time t) { return std::vector<double>{t > at ? 1.0 - std::exp(at - t) : 0.0}; });
  std::erase_if(truth, [](const auto& of) { return of.second < 1e-9; });
  expect_right(run, truth, 1.1);
}

INSTANTIATE_TEST_SUITE_P(PropagatedError, OfSwitch,
                         testing::Combine(testing::Values(1.0, 1.03),
                                          testing::Values(std::string("jacobi"), std::string("gauss-seidel"),
                                                          std::string("missiles"))));

TEST(PropagatedError, leaves_the_run_as_it_is) {
  for (const std::string method : {"jacobi", "missiles", "f3ornits"}) {
    const auto description = test::changed(test::example("lotka_volterra"), {.method = method, .step = 0.02});
    const auto with = watched(description);
    MemoryRecorder recorder({"*"});
    session::Session session(description, {.threads = 1, .interrupt = nullptr}, {});
    session.observe(recorder);
    const RunSummary& without = session.run();
    EXPECT_EQ(with.recorder.times, recorder.times);
    for (const std::string name : {"prey.p", "predator.P"})
      EXPECT_EQ(with.recorder.column(name), recorder.column(name));
    EXPECT_EQ(with.summary.linearizations, without.linearizations);
  }
}

TEST(PropagatedError, is_not_for_one_integrator_nor_for_subsystems_without_states) {
  auto description = test::example("oscillator");
  session::Session monolithic(test::changed(description, {.method = "monolithic"}), {}, {});
  EXPECT_FALSE(estimate::PropagatedError::serves(monolithic.system(), monolithic.method()));
  description.subsystems[0].states = Written<bool>{false, {}};
  session::Session without_states(description, {}, {});
  EXPECT_FALSE(estimate::PropagatedError::serves(without_states.system(), without_states.method()));
}

}  // namespace propagated_error_test
}  // namespace entrain
