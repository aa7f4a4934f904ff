#pragma once

#include <gtest/gtest.h>

#include "entrain/entrain.hpp"
#include "entrain/recording.hpp"

namespace entrain::test {

/// What a run to the end records.
inline MemoryRecorder recorded(const SystemDescription& description, const ModelFactory& models = {}) {
  Simulation simulation(description, {}, models);
  MemoryRecorder recorder;
  simulation.observe(recorder);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return recorder;
}

}  // namespace entrain::test
