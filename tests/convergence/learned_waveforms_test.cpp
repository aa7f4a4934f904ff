// Learned waveforms against solutions that the engine did not compute: both masses as one set of equations by
// Runge-Kutta steps of a tenth of the macro step, or closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "entrain/fact_codes.hpp"
#include "entrain/learning.hpp"
#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace learned_waveforms_test {

template <std::size_t N>
using State = std::array<double, N>;

/// The states at every macro step.
template <std::size_t N>
std::vector<State<N>> solved(State<N> s, Duration step, std::size_t steps,
                             const std::function<State<N>(const State<N>&)>& rates) {
  const auto moved = [](State<N> from, const State<N>& by, double h) {
    for (std::size_t i = 0; i < N; ++i) from[i] += h * by[i];
    return from;
  };
  constexpr int kParts = 10;
  const double h = step / kParts;
  std::vector<State<N>> states{s};
  for (std::size_t k = 1; k <= steps; ++k) {
    for (int part = 0; part < kParts; ++part) {
      const auto a = rates(s);
      const auto b = rates(moved(s, a, h / 2));
      const auto c = rates(moved(s, b, h / 2));
      const auto d = rates(moved(s, c, h));
      for (std::size_t i = 0; i < N; ++i) s[i] += h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
    }
    states.push_back(s);
  }
  return states;
}

struct Case {
  bool damped = true;
  bool cubic = false;
  Duration step = 1e-3;
  Time stop = 5.0;
  std::string slow = {};   ///< a subsystem with steps twice as long
  bool constants = false;  ///< the motion side takes constants
};

/// The paper's pair, integrated to rounding, or with springs that harden by 1 N/m3.
SystemDescription pair(const Case& of) {
  SystemDescription description = test::example("learning");
  description.stop = {of.stop, {}};
  description.step = Written<double>{of.step, {}};
  for (auto& subsystem : description.subsystems) {
    const bool force = subsystem.name == "force_side";
    subsystem.start["integrator"] = {std::string("exact"), {}};
    if (of.cubic) {
      subsystem.model = force ? "cubic.force_side" : "cubic.motion_side";
      subsystem.start = {};
    }
    if (!of.damped) {
      subsystem.start[force ? "d1" : "d2"] = {0.0, {}};
      if (force) subsystem.start["d_k"] = {0.0, {}};
    }
    if (subsystem.name == of.slow) subsystem.step = Written<double>{2.0 * of.step, {}};
    if (of.constants && !force) subsystem.input_degree = Written<std::int64_t>{0, {}};
  }
  return description;
}

std::vector<State<4>> truth(const Case& of) {
  const double d = of.damped ? 0.1 : 0.0;
  const double hard = of.cubic ? 1.0 : 0.0;
  const auto spring = [hard](double c, double x) { return c * x + hard * x * x * x; };
  return solved<4>(
      {0.0, 100.0, 0.0, -100.0}, of.step, static_cast<std::size_t>(std::lround(of.stop / of.step)),
      [=](const State<4>& s) -> State<4> {
        const double force = spring(100.0, s[0] - s[2]) + d * (s[1] - s[3]);
        return {s[1], -spring(10.0, s[0]) - d * s[1] - force, s[3], -spring(1000.0, s[2]) - d * s[3] + force};
      });
}

MemoryRecorder recorded(const SystemDescription& description, const Learned* learned,
                        const Extensions& extensions = {}) {
  Simulation simulation(description, {.threads = 1, .interrupt = nullptr, .learned = learned}, extensions);
  MemoryRecorder record({"*"});
  simulation.observe(record);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return record;
}

LearnOptions options_of(LearnInputs inputs, int iterations) {
  LearnOptions options;
  options.inputs = inputs;
  options.iterations = iterations;
  options.tolerance = 1e-12;
  return options;
}

/// Of the second mass, relative to its range.
double error_of(const Case& of, LearnInputs inputs, int iterations) {
  const auto description = pair(of);
  const auto result = learn(description, options_of(inputs, iterations));
  const auto record = recorded(with_learned(description, result.learned), &result.learned);
  const auto exact = truth(of);
  const auto& x = record.column("motion_side.x");
  double largest = 0.0, low = 0.0, high = 0.0;
  for (std::size_t k = 0; k < exact.size(); ++k) {
    low = std::min(low, exact[k][2]);
    high = std::max(high, exact[k][2]);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto k = static_cast<std::size_t>(std::lround(record.times[i] / of.step));
    largest = std::max(largest, std::abs(x[i] - exact[k][2]));
  }
  return largest / (high - low);
}

TEST(LearnedWaveforms, damped_pair_cubics_are_1000_times_and_lines_50_times_nearer_than_held_inputs) {
  const Case damped;
  const double held = error_of(damped, LearnInputs::Held, 25);
  EXPECT_LT(50.0 * error_of(damped, LearnInputs::Linear, 25), held);
  EXPECT_LT(1000.0 * error_of(damped, LearnInputs::Hermite, 25), held);
}

TEST(LearnedWaveforms, undamped_pair_likewise) {
  const Case undamped{.damped = false};
  const double held = error_of(undamped, LearnInputs::Held, 30);
  EXPECT_LT(50.0 * error_of(undamped, LearnInputs::Linear, 30), held);
  EXPECT_LT(1000.0 * error_of(undamped, LearnInputs::Hermite, 30), held);
}

TEST(LearnedWaveforms, order_is_two_for_lines_and_four_for_cubics) {
  const auto order = [](LearnInputs inputs) {
    const double coarse = error_of({.step = 4e-3, .stop = 2.0}, inputs, 60);
    const double fine = error_of({.step = 2e-3, .stop = 2.0}, inputs, 60);
    return std::log2(coarse / fine);
  };
  EXPECT_NEAR(order(LearnInputs::Linear), 2.0, 0.1);
  EXPECT_NEAR(order(LearnInputs::Hermite), 4.0, 0.2);
}

TEST(LearnedWaveforms, hardening_springs_converge_to_the_solution) {
  const Case cubic{.cubic = true, .stop = 2.0};
  EXPECT_LT(1000.0 * error_of(cubic, LearnInputs::Hermite, 40), error_of(cubic, LearnInputs::Held, 40));
}

TEST(LearnedWaveforms, steps_of_two_sizes_converge_to_the_solution) {
  for (const char* slow : {"force_side", "motion_side"}) {
    const Case of{.stop = 2.0, .slow = slow};
    EXPECT_LT(error_of(of, LearnInputs::Hermite, 40), 1e-6) << slow;
  }
}

TEST(LearnedWaveforms, means_have_order_two_for_a_subsystem_that_takes_constants) {
  const double coarse = error_of({.step = 2e-3, .stop = 2.0, .constants = true}, LearnInputs::Hermite, 40);
  const double fine = error_of({.step = 1e-3, .stop = 2.0, .constants = true}, LearnInputs::Hermite, 40);
  EXPECT_NEAR(std::log2(coarse / fine), 2.0, 0.2);
}

/// a: x' = -x + u / 20, y = x + u; b: x' = -2 x + u / 40, y = x + gain u. The states decay for all gains below 0.95.
std::unique_ptr<Model> two_sided(std::string_view name, double gain) {
  const auto make = [](test::OdeModel::Equation equation) { return std::make_unique<test::OdeModel>(equation); };
  if (name == "a") {
    return make(
        {[](double x, double u) { return -x + 0.05 * u; }, [](double x, double u) { return x + u; }, 1.0, true});
  }
  return make({[](double x, double u) { return -2.0 * x + 0.025 * u; },
               [gain](double x, double u) { return x + gain * u; }, 0.5, true});
}

SystemDescription loop() {
  return test::system_from(
      "[run]\nstop = 2.0\nstep = 0.02\n[subsystems.a]\nmodel = \"a\"\n[subsystems.b]\nmodel = \"b\"\n[connections]\n"
      "\"a.y\" = \"b.u\"\n\"b.y\" = \"a.u\"\n");
}

class TwoSidedFeedthrough : public testing::TestWithParam<double> {};

TEST_P(TwoSidedFeedthrough, converges_within_20_runs) {
  const double gain = GetParam();
  const auto models = [gain](std::string_view name) { return two_sided(name, gain); };
  LearnOptions options = options_of(LearnInputs::Hermite, 20);
  options.progressive = ProgressiveLearning::Never;
  const auto result = learn(loop(), options, {}, models);
  const auto record = recorded(with_learned(loop(), result.learned), &result.learned, models);
  // a.y = x_a + b.y and b.y = x_b + gain a.y.
  const auto exact = solved<2>({1.0, 0.5}, 0.02, 100, [gain](const State<2>& x) -> State<2> {
    const double of_a = (x[0] + x[1]) / (1.0 - gain);
    const double of_b = x[1] + gain * of_a;
    return {-x[0] + 0.05 * of_b, -2.0 * x[1] + 0.025 * of_a};
  });
  const auto& x = record.column("a.x");
  ASSERT_EQ(x.size(), exact.size());
  double largest = 0.0, size = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    largest = std::max(largest, std::abs(x[k] - exact[k][0]));
    size = std::max(size, std::abs(exact[k][0]));
  }
  EXPECT_LT(largest / size, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Gains, TwoSidedFeedthrough, testing::Values(-0.9, -0.6, 0.6, 0.9));

TEST(LearnedWaveforms, loop_gain_beyond_one_is_refused) {
  for (const double gain : {-1.2, 1.2}) {
    const auto refusal = test::error_of([gain] {
      learn(loop(), options_of(LearnInputs::Hermite, 5), {},
            [gain](std::string_view name) { return two_sided(name, gain); });
    });
    ASSERT_TRUE(refusal) << gain;
    EXPECT_EQ(refusal->fact().code, FactCode::AlgebraicGainTooLarge) << gain;
    EXPECT_EQ(refusal->fact().subjects, (std::vector<std::string>{"a.y", "b.y"}));
  }
}

TEST(LearnedWaveforms, replay_from_the_file_has_the_same_bits) {
  const auto description = pair({.stop = 0.5});
  const auto result = learn(description, options_of(LearnInputs::Hermite, 6));
  const test::TemporaryFolder folder;
  save_learned(result.learned, folder / "learned.json");
  const Learned read = read_learned(folder / "learned.json");
  EXPECT_EQ(read.kind, LearnInputs::Hermite);
  EXPECT_EQ(read.corrections, result.learned.corrections);
  EXPECT_EQ(recorded(with_learned(description, read), &read).column("motion_side.x"),
            recorded(with_learned(description, result.learned), &result.learned).column("motion_side.x"));
}

TEST(LearnedWaveforms, default_is_the_best_that_all_subsystems_take) {
  LearnOptions options;
  options.iterations = 1;
  EXPECT_EQ(learn(pair({.stop = 0.1}), options).plan.inputs, LearnInputs::Hermite);
  EXPECT_EQ(learn(pair({.stop = 0.1, .constants = true}), options).plan.inputs, LearnInputs::Held);
}

// The largest singular value over the unit circle, by an implementation with numpy of the same operator, all
// connections measured in their units; the engine measures them by their ranges.
TEST(LearnedWaveforms, estimated_gamma_does_not_promise_that_every_run_is_better) {
  LearnOptions options;
  options.iterations = 2;
  const auto result = learn(pair({.stop = 1.0}), options);
  ASSERT_TRUE(result.plan.gamma);
  EXPECT_GT(*result.plan.gamma, 1.0);
  ASSERT_TRUE(result.iterations.at(1).gamma) << "measured from the first two runs";
}

}  // namespace learned_waveforms_test
}  // namespace entrain
