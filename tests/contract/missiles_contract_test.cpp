// missiles solves at once what ifosmondi with estimates iterates for: both must find the same coupling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "entrain/recording.hpp"
#include "models/chain_system.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace missiles_contract_test {

std::vector<std::vector<double>> outputs(const SystemDescription& description) {
  Simulation simulation(description);
  MemoryRecorder recorder({"*"});
  simulation.observe(recorder);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  std::size_t count = 0;
  while (simulation.signals()[count].causality == Causality::Output) ++count;
  return {recorder.columns.begin(), recorder.columns.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Largest difference of any output at any time, relative to its range.
double difference(SystemDescription description, double step, double stop, const std::vector<std::string>& options) {
  for (auto& subsystem : description.subsystems) subsystem.trials = {TrialChoice::Costarica, {}};
  auto iterated = options;
  iterated.insert(iterated.end(), {"iteration_tolerance=1e-13", "max_iterations=1000", "start=\"short\""});
  const auto one =
      outputs(test::changed(description, {.method = "missiles", .step = step, .stop = stop, .options = options}));
  const auto many =
      outputs(test::changed(description, {.method = "ifosmondi", .step = step, .stop = stop, .options = iterated}));
  double largest = 0.0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto [low, high] = std::minmax_element(many[i].begin(), many[i].end());
    for (std::size_t k = 0; k < one[i].size(); ++k) {
      largest = std::max(largest, std::abs(one[i][k] - many[i][k]) / (*high - *low));
    }
  }
  return largest;
}

class MissilesEqualsIfosmondi : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(MissilesEqualsIfosmondi, on_linear_and_nonlinear_systems) {
  EXPECT_LT(difference(test::example("mechanical"), 1e-3, 0.5, GetParam()), 1e-11);
  EXPECT_LT(difference(test::example("lotka_volterra"), 0.01, 5.0, GetParam()), 1e-11);
  EXPECT_LT(difference(models::chain_system(5), 0.01, 1.0, GetParam()), 1e-11);
}

using Options = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(Options, MissilesEqualsIfosmondi,
                         testing::Values(Options{"reconstruction=0", "linearize=\"every-step\""},
                                         Options{"reconstruction=0", "linearize=\"every-step\"", "restart=\"c1\""},
                                         Options{"reconstruction=2", "linearize=\"once\""},
                                         Options{"reconstruction=2", "linearize=\"when-needed\""}));

}  // namespace missiles_contract_test
}  // namespace entrain
