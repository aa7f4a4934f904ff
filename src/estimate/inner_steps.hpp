#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "entrain/error_estimate.hpp"
#include "entrain/simulation.hpp"
#include "estimate/output_samples.hpp"

namespace entrain::estimate {

/// How the run is repeated to see what its subsystems do inside their steps.
struct InnerRun {
  int calls = 1;         ///< each step of a black box is made in so many, under the inputs of the run
  bool tighter = false;  ///< with tighter tolerances inside, where they can be set
  int macro = 1;         ///< the macro step is divided by it: everything changes then
  std::optional<Time> until = {};
};

/// The integration inside subsystems whose equations are not known, which runs with other macro steps do not show: a
/// fixed step inside that is shorter than the macro step is the same in all of them (docs/theory/error_estimate.md).
class InnerSteps {
 public:
  /// Repeats the run up to `until`; false when it does not get there.
  using Repeat = std::function<bool(const InnerRun&, Observer&)>;

  struct Options {
    std::span<const std::size_t> black_boxes;  ///< subsystems
    std::uint64_t macro_steps = 0;             ///< of the run
    double negligible = 1e-3;                  ///< an error that does not matter, of the range
    bool fixed_steps = true;                   ///< the method does not choose them
  };
  /// A step on a clock inside, which nothing outside changes.
  struct Clock {
    std::size_t subsystem;
    Duration step;
  };

  InnerSteps(const OutputSamples& run, Options options, Repeat repeat)
      : run_(run), options_(options), repeat_(std::move(repeat)) {}

  std::vector<Clock> find_clocks();
  /// Adds what smaller steps inside change to the errors of the outputs, in the order of the samples. False when it may
  /// matter and could not be found.
  bool add_errors(std::span<OutputError> errors);

 private:
  std::size_t first_motion() const;
  std::optional<double> largest_difference(const InnerRun& how);
  bool add_whole_run(int calls, double share, std::span<OutputError> errors);

  const OutputSamples& run_;
  Options options_;
  Repeat repeat_;
};

}  // namespace entrain::estimate
