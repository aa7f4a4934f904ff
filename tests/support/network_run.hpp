#pragma once

#include <cmath>
#include <string>

#include "entrain/recording.hpp"
#include "support/oscillator_network.hpp"

namespace entrain::test {

struct NetworkRun {
  Sent sent;
  RunSummary summary;
};

inline NetworkRun run_network(const Network& network, const SystemDescription& description, int threads = 1) {
  Simulation simulation(description, {.threads = threads, .interrupt = nullptr}, models_of(network));
  MemoryRecorder recorder({"*.x"});
  simulation.observe(recorder);
  simulation.run();
  NetworkRun run{{}, simulation.summary()};
  for (std::size_t s = 0; s < network.size(); ++s) {
    const auto& column = recorder.column("s" + std::to_string(s) + ".x");
    auto& times = run.sent.times.emplace_back();
    auto& values = run.sent.values.emplace_back();
    for (std::size_t k = 0; k < column.size(); ++k) {
      if (std::isnan(column[k])) continue;  // it did not communicate
      times.push_back(recorder.times[k]);
      values.push_back(column[k]);
    }
  }
  return run;
}

}  // namespace entrain::test
