// f3ornits on drawn systems: whatever the subsystems cannot do, the run completes on time, within everyone's limits,
// the same with any number of threads, and better than held inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/network_run.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace f3ornits_random_test {

using test::changed;
using test::ExactMotion;
using test::Network;
using test::NetworkRun;
using test::Oscillator;
using test::run_network;

constexpr double kStop = 4.0;
constexpr double kRounding = 1e-9;
constexpr double kFirstStep = 0.01;
constexpr double kShortest = 0.01 * kFirstStep;  // the default of f3ornits

/// A draw of everything: sizes, graphs, capabilities, steps and their limits, events.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  /// Motions that every step resolves.
  Network network() {
    const auto size = static_cast<std::size_t>(whole(2, 8));
    Network network(size);
    for (std::size_t s = 0; s < size; ++s) {
      draw_motion(network[s]);
      draw_abilities(network[s]);
      if (s == 0 || chance(0.4)) {
        draw_imposed_step(network[s]);
      } else {
        draw_limits(network[s]);
      }
    }
    // The last may have no output; two subsystems must be coupled.
    if (size > 2) network.back().has_output = !chance(0.3);
    if (!network.back().has_output) network.back().states = true;  // else nothing is known of it
    const std::size_t sending = network.back().has_output ? size : size - 1;
    for (std::size_t s = 0; s < size; ++s) {
      const int sources = s == 1 || !network[s].has_output ? 1 : whole(0, 3);
      for (int i = 0; i < sources; ++i) {
        const auto from = (s + static_cast<std::size_t>(whole(1, static_cast<int>(sending) - 1))) % sending;
        network[s].sources.push_back({from, uniform(0.1, 0.25) * network[s].omega * network[s].omega});
      }
    }
    return network;
  }

  /// The same with a fast one, and another whose imposed steps miss most of what it does.
  Network wild_network() {
    Network wild = network();
    wild[0].step = uniform(0.2, 1.0);
    wild[0].offset = 0.0;
    auto& fast = wild[1];
    fast.omega = uniform(10.0, 30.0);
    for (auto& source : fast.sources) source.gain *= fast.omega * fast.omega / 4.0;
    return wild;
  }

  std::vector<std::string> options() {
    std::vector<std::string> options{"max_order=" + std::to_string(whole(0, 3)),
                                     "substeps=" + std::to_string(whole(1, 3)), "relative_tolerance=1e-3",
                                     "absolute_tolerance=1e-3"};
    if (chance(0.5)) options.emplace_back("calibration=\"cls\"");
    if (chance(0.5)) options.emplace_back("smooth=true");
    if (chance(0.3)) options.emplace_back("memory=false");
    if (chance(0.3)) options.emplace_back("locate_jumps=false");
    if (chance(0.3)) options.emplace_back("growth=[1.0, 1.5]");
    if (chance(0.6)) options.emplace_back(chance(0.5) ? "normalisation=\"amplitude\"" : "normalisation=\"magnitude\"");
    return options;
  }

 private:
  double uniform(double low, double high) { return std::uniform_real_distribution<>(low, high)(random_); }
  int whole(int low, int high) { return std::uniform_int_distribution<>(low, high)(random_); }
  bool chance(double probability) { return uniform(0.0, 1.0) < probability; }

  void draw_motion(Oscillator& oscillator) {
    oscillator.omega = uniform(0.5, 2.0);
    oscillator.damping = uniform(0.1, 0.4);
    oscillator.position = uniform(-1.0, 1.0);
    oscillator.velocity = uniform(-1.0, 1.0);
  }
  void draw_abilities(Oscillator& oscillator) {
    oscillator.input_degree = whole(0, 3);
    oscillator.rollback = chance(0.6);
    oscillator.states = chance(0.7);
  }
  void draw_imposed_step(Oscillator& oscillator) {
    oscillator.step = uniform(0.02, 0.1);
    if (chance(0.3)) oscillator.offset = uniform(0.0, 0.99) * *oscillator.step;
  }
  void draw_limits(Oscillator& oscillator) {
    if (chance(0.4)) oscillator.min_step = uniform(0.001, 0.03);
    if (chance(0.4)) oscillator.max_step = uniform(0.06, 0.3);
    if (chance(0.3)) oscillator.initial_step = uniform(0.03, 0.06);
    const int events = chance(0.3) ? whole(1, 3) : 0;
    for (int i = 0; i < events; ++i) oscillator.events.push_back(uniform(0.0, kStop));
    std::sort(oscillator.events.begin(), oscillator.events.end());
  }

  std::mt19937 random_;
};

void expect_own_schedule(const Oscillator& oscillator, const std::vector<Time>& times) {
  for (std::size_t k = 1; k < times.size(); ++k) {
    const Duration size = times[k] - times[k - 1];
    ASSERT_GE(size, oscillator.min_step.value_or(1e-12) * (1 - kRounding)) << times[k];
    ASSERT_LE(size, oscillator.max_step.value_or(kStop) * (1 + kRounding)) << times[k];
    if (!oscillator.step) continue;
    const double multiple = static_cast<double>(oscillator.offset > 0.0 ? k - 1 : k);
    ASSERT_NEAR(times[k], oscillator.offset + multiple * *oscillator.step, 1e-12);
  }
  // A subsystem that chooses its steps ends at the stop; an imposed step leaves less than one of it.
  const double left = kStop - times.back();
  ASSERT_LT(left, oscillator.step ? *oscillator.step * (1 - kRounding) + 1e-15 : 1e-300);
  const Duration shortest = oscillator.min_step.value_or(kShortest);
  for (const Time event : oscillator.events) {
    const auto after = std::lower_bound(times.begin(), times.end(), event);
    const bool too_near = event - after[-1] < shortest || (*after != event && kStop - event < shortest);
    EXPECT_TRUE(*after == event || too_near) << event;
  }
}

void expect_completed_on_time(const NetworkRun& run, const Network& network) {
  ASSERT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  ASSERT_EQ(run.summary.reached, kStop);
  for (std::size_t s = 0; s < network.size(); ++s) {
    SCOPED_TRACE(s);
    ASSERT_NO_FATAL_FAILURE(expect_own_schedule(network[s], run.sent.times[s]));
  }
}

/// All together with the smallest imposed step and held inputs, as if no step were imposed.
double jacobi_error(Network network, const ExactMotion& exact) {
  double step = kNever;
  for (auto& oscillator : network) {
    step = std::min(step, oscillator.step.value_or(kNever));
    oscillator.step.reset();
    oscillator.min_step.reset();
    oscillator.max_step.reset();
    oscillator.offset = 0.0;
  }
  return exact.error_of(
      run_network(network, changed(test::description_of(network, kStop), {.method = "jacobi", .step = step})).sent);
}

TEST(F3ornitsRandom, systems_complete_on_time_deterministically_and_beat_held_inputs) {
  constexpr int kDraws = 200;
  Draw draw(20210707);
  int better_than_jacobi = 0;
  for (int i = 0; i < kDraws; ++i) {
    SCOPED_TRACE(i);
    const Network network = draw.network();
    const auto description = changed(test::description_of(network, kStop), {.method = "f3ornits", .step = kFirstStep});
    const NetworkRun run = run_network(network, description);
    ASSERT_NO_FATAL_FAILURE(expect_completed_on_time(run, network));
    for (const int threads : {1, 2}) {
      const NetworkRun again = run_network(network, description, threads);
      ASSERT_EQ(again.sent.times, run.sent.times) << threads;
      ASSERT_EQ(again.sent.values, run.sent.values) << threads;
    }
    const ExactMotion exact(network, kStop);
    const double ours = exact.error_of(run.sent);
    const double jacobi = jacobi_error(network, exact);
    EXPECT_LT(ours, exact.error_of(test::held_on(network, run.sent.times)));
    EXPECT_LT(ours, 2 * jacobi);
    if (ours < jacobi) ++better_than_jacobi;
  }
  EXPECT_GE(better_than_jacobi, kDraws * 95 / 100);
}

TEST(F3ornitsRandom, wild_systems_complete_on_time_deterministically_with_any_options) {
  Draw draw(20260816);
  for (int i = 0; i < 100; ++i) {
    const Network network = draw.wild_network();
    const test::Change change{.method = "f3ornits", .step = kFirstStep, .options = draw.options()};
    SCOPED_TRACE(testing::PrintToString(i) + ": " + testing::PrintToString(change));
    const auto description = changed(test::description_of(network, kStop), change);
    const NetworkRun run = run_network(network, description);
    ASSERT_NO_FATAL_FAILURE(expect_completed_on_time(run, network));
    EXPECT_EQ(run_network(network, description, 2).sent.values, run.sent.values);
  }
}

}  // namespace f3ornits_random_test
}  // namespace entrain
