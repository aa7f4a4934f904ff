#pragma once

#include <optional>
#include <string>
#include <vector>

#include "entrain/simulation.hpp"

namespace entrain {

/// What runs at h, h/2 and h/4 tell about one output of the run at h.
struct OutputVerification {
  enum class Verdict {
    Converging,    ///< the differences fall as an order says: the error bar can be trusted
    AtRounding,    ///< the runs agree to rounding
    NotConverging  ///< no order to be seen: the step is too long, or something is not smooth
  };
  std::string name;
  Verdict verdict = Verdict::NotConverging;
  std::optional<double> order;      ///< log2 of the ratio of the two differences (root mean square over time)
  std::optional<double> error_bar;  ///< of the run at h: largest over time, in the unit of the output (Richardson)
  double rms_error = 0.0;           ///< the same as a root mean square over time; without an order, the difference
  double range = 0.0;               ///< max - min of the output in the finest run
  double first_difference = 0.0;    ///< largest |y_h - y_h/2|
  double second_difference = 0.0;   ///< largest |y_h/2 - y_h/4|
};

struct Verification {
  std::string system;
  std::string method;
  Duration step = 0.0;  ///< h
  std::vector<OutputVerification> outputs;
  std::vector<std::string> remarks;    ///< what limits the answer
  std::vector<std::string> unrefined;  ///< subsystems whose imposed step does not shrink with the macro step
  std::optional<std::string> failure;  ///< a run that did not complete, and why; then `outputs` is empty

  /// Every output converges, everybody was refined, and no relative error bar exceeds the limit.
  bool confirmed(double largest_relative_error) const;
  /// error_bar / range; of an output that does not move, the bar itself.
  static double relative_error(const OutputVerification& output);
};

/// Runs the system three times, with its own step h, h/2 and h/4, and compares the outputs at the communication times
/// of the first run. Works with any method and any black box. Throws Error for a system that cannot be run at all.
Verification verify(const SystemDescription& description, const RunOptions& options = {},
                    const ModelFactory& models = {});

}  // namespace entrain
