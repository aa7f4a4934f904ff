// f3ornits: check values, measured orders, asynchronous systems against held inputs on the same schedule.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "results/memory_recorder.hpp"
#include "support/oscillator_network.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace {

using test::changed;
using test::ExactMotion;
using test::Network;
using test::Oscillator;
using test::Told;

struct NetworkRun {
  Told told;
  RunSummary summary;
};

NetworkRun run_network(const Network& network, SystemDescription description, int threads = 1) {
  Simulation simulation(description, {.threads = threads, .interrupt = nullptr}, test::models_of(network));
  MemoryRecorder recorder({"*.x"});
  simulation.observe(recorder);
  simulation.run();
  NetworkRun run{{}, simulation.summary()};
  for (std::size_t s = 0; s < network.size(); ++s) {
    const auto& column = recorder.column("s" + std::to_string(s) + ".x");
    auto& times = run.told.times.emplace_back();
    auto& values = run.told.values.emplace_back();
    for (std::size_t k = 0; k < column.size(); ++k) {
      if (std::isnan(column[k])) continue;  // it did not communicate
      times.push_back(recorder.times[k]);
      values.push_back(column[k]);
    }
  }
  return run;
}

NetworkRun run_f3ornits(const Network& network, double stop, double step = 0.01,
                        std::vector<std::string> options = {}) {
  return run_network(network, changed(test::description_of(network, stop),
                                      {.method = "f3ornits", .step = step, .options = std::move(options)}));
}

/// As in the paper: nothing announced, no memory of cut steps.
SystemDescription two_masses(double stop) {
  auto description =
      changed(test::example("two_mass"),
              {.method = "f3ornits", .step = 0.01, .stop = stop, .options = {"min_step=0.01", "memory=false"}});
  description.subsystems[1].events = Written<std::vector<double>>{};
  return description;
}

// An independent implementation gave 127 steps, t[20] = 0.253109972421, t[50] = 1.5080874138 and
// x1(10) = -2.04861476898. The times amplify the rounding of forces of 7000 N: in 40-digit arithmetic they are
// 0.25310997109 and 1.50808740525.
TEST(F3ornits, damped_extrapolation_meets_the_check_values) {
  Simulation simulation(two_masses(10.0));
  MemoryRecorder recorder({"left.x"});
  simulation.observe(recorder);
  EXPECT_EQ(simulation.run().macro_steps, 127U);
  EXPECT_NEAR(recorder.times[20], 0.253109972421, 2e-9);
  EXPECT_NEAR(recorder.times[50], 1.5080874138, 1e-8);
  EXPECT_NEAR(simulation.value("left.x"), -2.04861476898, 1e-11);
}

TEST(F3ornits, holds_the_car_that_held_inputs_drive_away) {
  Simulation simulation(changed(test::example("car"), {.method = "f3ornits", .step = 0.01, .stop = 30.0}));
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  EXPECT_NEAR(simulation.value("body.v"), 16.09, 0.05);
}

// Everyone steps together with a fixed step: estimates of order p leave a coupling error of order p + 1. From rest: the
// first two steps are held, which else would leave an error of order 2.
TEST(F3ornits, order_of_the_coupling_error_follows_the_order_of_the_estimates) {
  const Network network{{.omega = 1.0, .sources = {{1, 0.5}}}, {.omega = 1.3, .position = 0.5, .sources = {{0, 0.6}}}};
  const ExactMotion exact(network, 4.0);
  for (const int order : {0, 1, 2}) {
    const auto error = [&](double h) {
      const std::string size = std::to_string(h);
      return exact.error_of(run_f3ornits(network, 4.0, h,
                                         {"max_order=" + std::to_string(order), "min_step=" + size, "max_step=" + size,
                                          "detect_jumps=false"})
                                .told);
    };
    const double observed = std::log2(error(0.02) / error(0.01));
    EXPECT_NEAR(observed, order + 1.0, 0.25) << "max_order = " << order;
  }
}

/// Lightly damped, so that an error that feeds energy in shows.
Network asynchronous(int input_degree) {
  Network network{{.omega = 1.1, .sources = {{1, 0.4}, {2, 0.3}}, .step = 0.03},
                  {.omega = 0.8, .position = -0.6, .sources = {{0, 0.2}, {2, 0.2}}, .step = 0.05},
                  {.omega = 1.5, .position = 0.3, .velocity = 1.0, .sources = {{0, 0.8}, {1, 0.5}}}};
  for (auto& oscillator : network) {
    oscillator.damping = 0.02;
    oscillator.input_degree = input_degree;
  }
  return network;
}

double gain_over_held_inputs(int input_degree) {
  const auto network = asynchronous(input_degree);
  const ExactMotion exact(network, 40.0);
  const auto run = run_f3ornits(network, 40.0, 0.01);
  EXPECT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  const double held = exact.error_of(test::held_on(network, run.told.times));
  const double ours = exact.error_of(run.told);
  testing::Test::RecordProperty("held", std::to_string(held));
  testing::Test::RecordProperty("ours", std::to_string(ours));
  return held / ours;
}

TEST(F3ornits, asynchronous_steps_beat_held_inputs_a_hundredfold_where_inputs_may_be_lines) {
  for (const int degree : {1, 2, 3}) EXPECT_GE(gain_over_held_inputs(degree), 100.0) << degree;
}

TEST(F3ornits, asynchronous_steps_beat_held_inputs_fivefold_with_constants_only) {
  EXPECT_GE(gain_over_held_inputs(0), 5.0);
}

// Fast and stiffly driven, it follows whatever its input does: a constant over the step is half a step late.
TEST(F3ornits, sub_steps_recover_what_constant_inputs_lose) {
  const Network network{{.omega = 1.0, .damping = 0.0},
                        {.omega = 20.0, .damping = 0.7, .position = 1.0, .sources = {{0, 400.0}}, .input_degree = 0}};
  const ExactMotion exact(network, 10.0);
  const auto error = [&](const std::string& substeps) {
    return exact.error_of(
        run_f3ornits(network, 10.0, 0.1, {"min_step=0.1", "max_step=0.1", "substeps=" + substeps}).told);
  };
  EXPECT_LT(error("4"), error("1") / 4);
}

TEST(F3ornits, memory_of_cut_steps_saves_steps) {
  const auto network = asynchronous(2);
  const auto with = run_f3ornits(network, 20.0, 0.005, {"max_step=0.1"});
  const auto without = run_f3ornits(network, 20.0, 0.005, {"max_step=0.1", "memory=false"});
  EXPECT_LT(with.summary.subsystems[2].steps, without.summary.subsystems[2].steps);
}

/// A draw of everything: sizes, graphs, capabilities, steps.
Network random_network(std::mt19937& draw) {
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<>(low, high)(draw); };
  const auto whole = [&](int low, int high) { return std::uniform_int_distribution<>(low, high)(draw); };
  const auto size = static_cast<std::size_t>(whole(2, 8));
  Network network(size);
  for (std::size_t s = 0; s < size; ++s) {
    auto& oscillator = network[s];
    oscillator.omega = uniform(0.5, 2.0);
    oscillator.damping = uniform(0.1, 0.4);
    oscillator.position = uniform(-1.0, 1.0);
    oscillator.velocity = uniform(-1.0, 1.0);
    oscillator.input_degree = whole(0, 3);
    const bool imposes = s == 0 || uniform(0.0, 1.0) < 0.4;
    if (imposes) oscillator.step = uniform(0.02, 0.1);
    if (imposes && uniform(0.0, 1.0) < 0.3) oscillator.offset = uniform(0.0, 0.99) * *oscillator.step;
    const int sources = s == 1 ? 1 : whole(0, 3);  // somebody is coupled
    for (int i = 0; i < sources; ++i) {
      const auto from = (s + static_cast<std::size_t>(whole(1, static_cast<int>(size) - 1))) % size;
      oscillator.sources.push_back({from, uniform(0.1, 0.25) * oscillator.omega * oscillator.omega});
    }
  }
  return network;
}

double smallest_imposed_step(const Network& network) {
  double smallest = kNever;
  for (const auto& oscillator : network) smallest = std::min(smallest, oscillator.step.value_or(kNever));
  return smallest;
}

/// Everyone together with the smallest imposed step and held inputs, as if nobody insisted on another.
double jacobi_error(Network network, const ExactMotion& exact, double stop) {
  const double step = smallest_imposed_step(network);
  for (auto& oscillator : network) {
    oscillator.step.reset();
    oscillator.offset = 0.0;
  }
  return exact.error_of(
      run_network(network, changed(test::description_of(network, stop), {.method = "jacobi", .step = step})).told);
}

TEST(F3ornits, random_systems_complete_and_beat_held_inputs) {
  constexpr int kDraws = 200;
  constexpr double kStop = 4.0;
  std::mt19937 draw(20210707);
  int better_than_jacobi = 0;
  for (int i = 0; i < kDraws; ++i) {
    const Network network = random_network(draw);
    const auto description = changed(test::description_of(network, kStop), {.method = "f3ornits", .step = 0.01});
    const NetworkRun run = run_network(network, description);
    ASSERT_EQ(run.summary.termination, Termination::Completed) << i << ": " << run.summary.message;
    ASSERT_EQ(run.summary.reached, kStop) << i;
    for (std::size_t s = 0; s < network.size(); ++s) {
      // Who chooses its steps ends at the stop; an imposed step leaves less than one of it.
      ASSERT_GT(run.told.times[s].back(), kStop - network[s].step.value_or(0.0) * (1 - 1e-9) - 1e-15) << i << ' ' << s;
    }
    if (i % 10 == 0) {
      const NetworkRun again = run_network(network, description, 4);
      ASSERT_EQ(again.told.times, run.told.times) << i;
      ASSERT_EQ(again.told.values, run.told.values) << i;
    }
    const ExactMotion exact(network, kStop);
    const double ours = exact.error_of(run.told);
    const double held = exact.error_of(test::held_on(network, run.told.times));
    const double jacobi = jacobi_error(network, exact, kStop);
    EXPECT_LT(ours, held) << i;
    EXPECT_LT(ours, 2 * jacobi) << i;
    if (ours < jacobi) ++better_than_jacobi;
  }
  EXPECT_GE(better_than_jacobi, kDraws * 95 / 100);
}

}  // namespace
}  // namespace entrain
