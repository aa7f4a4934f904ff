// Adaptive steps keep what their tolerance says, and unannounced jumps are located. docs/bench_tolerance.md
// has more systems.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/network_run.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace tolerance_test {

using test::changed;
using test::ExactMotion;
using test::Network;

const Network kPair{{.omega = 1.0, .sources = {{1, 0.5}}},
                    {.omega = 1.3, .position = 0.5, .velocity = 1.0, .sources = {{0, 0.6}}}};
constexpr Time kStop = 8.0;

struct Tolerated {
  double error;  // root mean square
  RunSummary summary;
};

/// The step of the run is far too long for all of these tolerances.
Tolerated run_pair(const std::string& method, double tolerance, bool rollback = true) {
  static const ExactMotion exact(kPair, kStop);
  std::vector<std::string> options{"relative_tolerance=" + std::to_string(tolerance)};
  options.push_back(method == "f3ornits" ? "absolute_tolerance=" + std::to_string(tolerance) : "adaptive=true");
  Network network = kPair;
  for (auto& oscillator : network) oscillator.rollback = rollback;
  auto run = test::run_network(
      network, changed(test::description_of(network, kStop), {.method = method, .step = 0.4, .options = options}));
  EXPECT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  return {exact.error_of(run.sent), run.summary};
}

class Tolerance : public testing::TestWithParam<std::string> {};

// Before first steps were chosen, f3ornits, jacobi and gauss-seidel had the error of one step of 0.4 s at every
// tolerance: a slope of 0.
TEST_P(Tolerance, and_error_fall_together_over_three_decades) {
  const double rough = run_pair(GetParam(), 1e-3).error;
  const double tight = run_pair(GetParam(), 1e-6).error;
  EXPECT_NEAR(std::log10(rough / tight) / 3.0, 1.0, 0.2) << rough << " " << tight;
  EXPECT_LT(tight, 5e-6);
}

INSTANTIATE_TEST_SUITE_P(Methods, Tolerance,
                         testing::Values("jacobi", "gauss-seidel", "missiles", "ifosmondi", "f3ornits"),
                         [](const auto& of) {
                           std::string name = of.param;
                           name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
                           return name;
                         });

/// Where the left mass ends, whose right neighbour changes at 2.53 s.
std::vector<double> end_of(const std::string& method, const std::string& locate, bool announced) {
  std::vector<std::string> options{"locate_jumps=" + locate};
  if (method == "jacobi" || method == "gauss-seidel") options.emplace_back("degree=2");
  auto description =
      changed(test::example("two_mass"), {.method = method, .step = 0.1, .stop = 6.0, .options = options});
  description.subsystems[1].start["change_time"] = {2.53, {}};
  description.subsystems[1].events =
      Written<std::vector<double>>{announced ? std::vector{2.53} : std::vector<double>{}, {}};
  Simulation simulation(description);
  simulation.run();
  EXPECT_EQ(simulation.summary().termination, Termination::Completed) << simulation.summary().message;
  const bool watched = locate == "true" || method == "missiles" || method == "ifosmondi";
  EXPECT_EQ(test::has_fact(simulation.summary().warnings, FactCode::SignalJumps), watched && !announced);
  return {simulation.value("left.x"), simulation.value("left.v")};
}

TEST(UnannouncedJump, is_located_to_a_thousandth_of_a_step_where_all_can_go_back) {
  for (const std::string method : {"missiles", "ifosmondi", "jacobi", "gauss-seidel"}) {
    const auto exact = end_of(method, "true", true);
    const auto located = end_of(method, "true", false);
    const auto late = end_of(method, "false", false);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_LT(std::abs(located[i] - exact[i]), 0.02 * std::abs(late[i] - exact[i])) << method << " " << i;
    }
  }
}

}  // namespace tolerance_test
}  // namespace entrain
