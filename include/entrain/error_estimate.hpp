#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/fact.hpp"
#include "entrain/subsystem.hpp"

namespace entrain {

/// How the error of an output was found (docs/theory/error_estimate.md).
enum class EstimateKind {
  Unknown,     ///< it was not found; ErrorEstimate::reasons says why
  Propagated,  ///< the defect of the inputs went through the linearized equations beside the run
  Companion,   ///< the run was compared with runs of other steps
};
/// "propagated"
ENTRAIN_API std::string_view to_string(EstimateKind kind);

/// The error of one output over a run. Errors are relative to `range`.
struct OutputError {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  std::string name;  ///< "subsystem.variable"
  std::string unit;
  EstimateKind estimate = EstimateKind::Unknown;
  double error = kUnknown;      ///< central estimate: root mean square over the run
  double bound = kUnknown;      ///< factor of safety times `error`: what the grade is decided by
  double inside = 0.0;          ///< of `bound`: the integration inside subsystems whose equations are not known
  double max_error = kUnknown;  ///< central estimate: largest over the run, outside matched events
  double range = 0.0;           ///< max - min of the better solution, in the unit of the output
  double last = kUnknown;       ///< value at the end of the run
  std::optional<double> order;  ///< in the step, as observed
  /// The estimate holds up to here; the end of the run unless it saturates (chaos, phase drift).
  Time valid_until = std::numeric_limits<double>::quiet_NaN();
  /// The error as it grew, relative to `range`: rms over each of the equal parts of the run. For the band of the page.
  std::vector<double> course = {};
};

/// The errors of all outputs of a run that are connected or recorded.
struct ErrorEstimate {
  std::vector<OutputError> outputs;
  std::vector<Fact> reasons;      ///< what limits the estimate, and why an output has none
  int order = 0;                  ///< of the method in its step, for smooth systems; 0 = not known
  std::uint64_t extra_steps = 0;  ///< of subsystems, made for the estimate alone
  double extra_seconds = 0.0;
};

}  // namespace entrain
