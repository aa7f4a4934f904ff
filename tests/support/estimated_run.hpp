#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/grid.hpp"
#include "entrain/recording.hpp"
#include "entrain/system.hpp"
#include "estimate/run_estimator.hpp"
#include "session/session.hpp"

namespace entrain::test {

/// A run with the estimate of its error.
struct EstimatedRun {
  RunSummary summary;
  ErrorEstimate estimate;
  MemoryRecorder recorder;

  const OutputError& output(std::string_view name) const {
    const auto found = std::find_if(estimate.outputs.begin(), estimate.outputs.end(),
                                    [&](const OutputError& of) { return of.name == name; });
    if (found == estimate.outputs.end()) throw std::runtime_error("no estimate of " + std::string(name));
    return *found;
  }
};

inline EstimatedRun estimated_run(const SystemDescription& written, const Extensions& extensions = {},
                                  const RunOptions& options = {}, estimate::EstimateOptions how = {}) {
  const auto description = resolved(written, extensions);
  EstimatedRun result;
  estimate::RunEstimator estimator(description, options, extensions, std::move(how));
  {
    session::Session session(description, options, extensions);
    session.observe(estimator.observer());
    session.observe(result.recorder);
    result.summary = session.run();
  }
  result.estimate = estimator.estimate(result.summary);
  return result;
}

struct TrueError {
  double rms = 0.0;
  double largest = 0.0;
};

/// Against all equations in one integrator, at its times that the run has met too, relative to the range of the truth.
inline TrueError true_error(const EstimatedRun& run, const MemoryRecorder& exact, const std::string& name,
                            Time until = kNever) {
  const auto& ours = run.recorder.column(name);
  const auto& truth = exact.column(name);
  const auto [low, high] = std::minmax_element(truth.begin(), truth.end());
  TrueError result;
  double squares = 0.0;
  double count = 0.0;
  std::size_t k = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    while (k < ours.size() && run.recorder.times[k] < exact.times[i] &&
           !base::same_time(run.recorder.times[k], exact.times[i]))
      ++k;
    if (k == ours.size() || !base::same_time(run.recorder.times[k], exact.times[i]) || exact.times[i] > until) continue;
    const double error = std::abs(ours[k] - truth[i]) / (*high - *low);
    squares += error * error;
    count += 1.0;
    result.largest = std::max(result.largest, error);
  }
  result.rms = std::sqrt(squares / count);
  return result;
}

}  // namespace entrain::test
