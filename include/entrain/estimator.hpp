#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain {

/// Stands in for a subsystem in trials: a surrogate, a reduced model, a table of its answers. The real subsystem makes
/// the real steps; what the estimator misses of them is the gap of its connections, and limits adaptive steps.
///
/// Named in the system file, `[subsystems.X] estimator = "name"`; methods that try steps use it (`missiles`,
/// `ifosmondi`, `waveform`). Calls come from one thread at a time.
class StepEstimator {
 public:
  /// The real subsystem at a communication time.
  struct Point {
    Time t = 0.0;
    std::span<const double> inputs;   ///< as the last step ended with them
    std::span<const double> outputs;  ///< as the subsystem returned them
  };

  virtual ~StepEstimator() = default;
  /// The subsystem is here now; called once before each step.
  virtual void observe(const Point& point) = 0;
  /// The outputs at the end of a step of this size from the point observed last, and their time derivatives there. Any
  /// number of times: it must leave no trace.
  virtual void estimate(Duration size, const InputBlock& inputs, std::span<double> outputs,
                        std::span<double> slopes) = 0;
  /// The signals jump: what was observed lies on the other side.
  virtual void forget_past() {}
  /// What `estimate` depends on beside the point observed next, for checkpoints.
  virtual std::vector<std::byte> save() const { return {}; }
  virtual void restore(std::span<const std::byte> /*bytes*/) {}
};

/// For which subsystem an estimator is made.
struct EstimatorRequest {
  std::string_view subsystem;
  const VariableTable& variables;
  const Capabilities& capabilities;
};
using EstimatorFactory = std::function<std::unique_ptr<StepEstimator>(const EstimatorRequest& request)>;

struct NamedEstimator {
  std::string name;
  EstimatorFactory make;
};

}  // namespace entrain
