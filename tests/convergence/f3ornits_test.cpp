// f3ornits: check values, measured orders, asynchronous systems against held inputs on the same schedule.
#include <gtest/gtest.h>

#include <cmath>

#include "entrain/recording.hpp"
#include "support/network_run.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace f3ornits_test {

using test::changed;
using test::ExactMotion;
using test::Network;
using test::NetworkRun;
using test::Oscillator;
using test::run_network;

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

struct CheckValues {
  std::uint64_t steps;
  double t20, t50, x;  // s, s, m
};
CheckValues check_values(double start_position) {
  auto description = two_masses(10.0);
  description.subsystems[0].start["x"] = {start_position, {}};
  Simulation simulation(description);
  MemoryRecorder recorder({"left.x"});
  simulation.observe(recorder);
  const auto steps = simulation.run().macro_steps;
  return {steps, recorder.times[20], recorder.times[50], simulation.value("left.x")};
}

// An independent implementation gave 127 steps, t[20] = 0.253109972421, t[50] = 1.5080874138 and
// x1(10) = -2.04861476898. Their last digits are its rounding: the first errors of the force are some 1e-4 N of 7000 N,
// so that a rounding of the force (9e-13 N) moves t[20] by 1.2e-10 s, and more by t[50]. (In 40-digit arithmetic they
// are 0.25310997109 and 1.50808740525.) The times are met as sharply as they are determined: two roundings of the start
// position move them by 1.2e-10 s and more than 1e-9 s.
TEST(F3ornits, damped_extrapolation_meets_the_check_values) {
  const CheckValues ours = check_values(-10.0);
  EXPECT_EQ(ours.steps, 127U);
  EXPECT_NEAR(ours.t20, 0.253109972421, 1.5e-10);
  EXPECT_NEAR(ours.t50, 1.5080874138, 1e-9);
  EXPECT_NEAR(ours.x, -2.04861476898, 5e-12);  // half its last digit
}

TEST(F3ornits, holds_the_car_that_held_inputs_drive_away) {
  Simulation simulation(changed(test::example("car"), {.method = "f3ornits", .step = 0.01, .stop = 30.0}));
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  EXPECT_NEAR(simulation.value("body.v"), 16.09, 0.05);
}

// Everyone steps together with a fixed step: estimates of order p leave a coupling error of order p + 1. From rest: the
// first two steps are held, which else would leave an error of order 2; so they leave one of order 3.
TEST(F3ornits, order_of_the_coupling_error_follows_the_order_of_the_estimates) {
  const Network network{{.omega = 1.0, .sources = {{1, 0.5}}}, {.omega = 1.3, .position = 0.5, .sources = {{0, 0.6}}}};
  const ExactMotion exact(network, 4.0);
  constexpr double kOfHeldStartAtRest = 3.0;
  for (const int order : {0, 1, 2, 3}) {
    const auto error = [&](double h) {
      const std::string size = std::to_string(h);
      return exact.error_of(run_f3ornits(network, 4.0, h,
                                         {"max_order=" + std::to_string(order), "min_step=" + size, "max_step=" + size,
                                          "detect_jumps=false"})
                                .sent);
    };
    const double observed = std::log2(error(0.02) / error(0.01));
    EXPECT_NEAR(observed, std::min(order + 1.0, kOfHeldStartAtRest), 0.25) << "max_order = " << order;
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
  const double held = exact.error_of(test::held_on(network, run.sent.times));
  const double ours = exact.error_of(run.sent);
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
        run_f3ornits(network, 10.0, 0.1, {"min_step=0.1", "max_step=0.1", "substeps=" + substeps}).sent);
  };
  EXPECT_LT(error("4"), error("1") / 4);
}

TEST(F3ornits, memory_of_cut_steps_saves_steps) {
  const auto network = asynchronous(2);
  const auto with = run_f3ornits(network, 20.0, 0.005, {"max_step=0.1"});
  const auto without = run_f3ornits(network, 20.0, 0.005, {"max_step=0.1", "memory=false"});
  EXPECT_LT(with.summary.subsystems[2].steps, without.summary.subsystems[2].steps);
}

/// A mass of 10 kg driven by the force of the mechanical pair (whose steps are some milliseconds long) at steps of its
/// own. Largest distance from the motion without coupling error at its communication times, in m.
double error_of_slow_reader(const std::string& method, bool is_read) {
  auto description = changed(test::system_from(R"(
    [run]
    stop = 2.0
    [subsystems.left]
    model = "mechanical.left"
    [subsystems.right]
    model = "mechanical.right"
    [subsystems.reader]
    model = "two_mass.left"
    start = { m1 = 10.0, x = 0.0 }
    step = 0.2
    [connections]
    "left.v" = "right.v"
    "left.x" = "right.x"
    "right.F" = ["left.F", "reader.F"]
  )"),
                             {.method = method, .step = 0.001});
  if (is_read) {
    auto prey = test::example("lotka_volterra").subsystems[0];
    prey.name = "last";
    description.connections.push_back({"reader.x", "last.u", {}});
    description.subsystems.push_back(prey);
  }
  const auto run = test::recorded(description);
  description.subsystems[2].step.reset();
  const auto exact = test::recorded(changed(description, {.method = "monolithic", .step = 0.2}));
  double worst = 0.0;
  for (std::size_t k = 0; k < run.times.size(); ++k) {
    const double at = run.times[k] / 0.2;
    if (std::abs(at - std::round(at)) > 1e-9) continue;
    const auto same = static_cast<std::size_t>(std::lround(at));
    worst = std::max(worst, std::abs(run.column("reader.x")[k] - exact.column("reader.x")[same]));
  }
  return worst;
}

TEST(F3ornitsSlowReader, that_can_wait_follows_every_sample_of_a_fast_source) {
  EXPECT_LT(error_of_slow_reader("f3ornits", false), error_of_slow_reader("jacobi", false) / 20.0);
}

TEST(F3ornitsSlowReader, that_cannot_wait_is_not_misled_by_samples_that_lie_close_together) {
  EXPECT_LT(error_of_slow_reader("f3ornits", true), error_of_slow_reader("jacobi", true));
}

/// An announced event in the right mass at 100 s; the left one steps by 0.3 s, next from 100.2 s on.
TEST(F3ornitsSlowReader, smooth_inputs_do_not_span_a_jump_that_happened_between_its_steps) {
  const auto speed = [](const std::string& smooth) {
    auto description =
        changed(test::example("two_mass"),
                {.method = "f3ornits", .step = 0.01, .stop = 100.5, .options = {"min_step=0.01", "smooth=" + smooth}});
    description.subsystems[0].step = Written<double>{0.3, {}};
    return test::recorded(description).column("left.v").back();
  };
  // Half a step later it would be 0.015 m/s slower.
  EXPECT_NEAR(speed("true"), speed("false"), 1e-3);
}

}  // namespace f3ornits_test
}  // namespace entrain
