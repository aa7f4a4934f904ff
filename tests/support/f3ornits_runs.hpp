#pragma once

#include <gtest/gtest.h>

#include "entrain/recording.hpp"
#include "support/systems.hpp"

namespace entrain::test {

/// The two masses with a change at 100 s, which is announced or not.
inline SystemDescription two_masses(bool announced, std::vector<std::string> options = {}) {
  options.insert(options.begin(), "min_step=0.01");
  auto description =
      changed(example("two_mass"), {.method = "f3ornits", .step = 0.01, .stop = 110.0, .options = std::move(options)});
  if (!announced) description.subsystems[1].events = Written<std::vector<double>>{};
  return description;
}

struct Finished {
  MemoryRecorder record;
  RunSummary summary;
};
inline Finished finished(const SystemDescription& description, const std::vector<std::string>& signals) {
  Simulation simulation(description);
  Finished result{MemoryRecorder(signals), {}};
  simulation.observe(result.record);
  result.summary = simulation.run();
  EXPECT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
  return result;
}

}  // namespace entrain::test
