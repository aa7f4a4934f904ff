#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/error_estimate.hpp"
#include "entrain/export.hpp"
#include "entrain/fact.hpp"
#include "entrain/run_summary.hpp"

namespace entrain {

/// What the estimated errors of a run are worth beside what is tolerated (docs/report.md).
enum class Grade {
  Trusted,     ///< the bound of every output is within its tolerance
  Check,       ///< up to ten times beyond, or something limits what the estimate sees
  Unreliable,  ///< further beyond, or the coupling failed, or the run did not complete
  Unknown,     ///< an output has no estimate; the reasons say why
};
/// "trusted"
ENTRAIN_API std::string_view to_string(Grade grade);
/// The other way; nullopt for another word.
ENTRAIN_API std::optional<Grade> grade_named(std::string_view word);

/// The least grade that is asked for.
enum class RequiredGrade { Trusted, Check, NotUnreliable, Any };
/// An unknown grade is neither trusted nor one to check.
ENTRAIN_API bool meets(Grade grade, RequiredGrade required);

/// What is tolerated of an error, relative to the range of the output.
struct Tolerances {
  double usual = kDefaultTolerance;
  std::map<std::string, double> single = {};  ///< of "subsystem.variable"

  double of(const std::string& output) const {
    const auto found = single.find(output);
    return found == single.end() ? usual : found->second;
  }
};
ENTRAIN_API Tolerances tolerances_of(const SystemDescription& description);

/// What brings the bound within the tolerance, by the order that was found.
struct RunRefinement {
  std::optional<Duration> step = {};           ///< the macro step
  std::map<std::string, double> options = {};  ///< tolerances of a method that chooses its steps itself
};

/// May the result be trusted? The numbers are of the output that decides: the largest bound beside its tolerance.
struct ENTRAIN_API Verdict {
  Grade grade = Grade::Unknown;
  std::string output;  ///< empty: none has an estimate
  double error = OutputError::kUnknown;
  double bound = OutputError::kUnknown;
  double max_error = OutputError::kUnknown;
  double tolerance = kDefaultTolerance;
  /// The grade holds up to here: the end of the run, or earlier where an estimate saturates.
  Time valid_until = OutputError::kUnknown;
  bool ends_early = false;                  ///< `valid_until` is before the end of the run
  std::vector<Fact> reasons;                ///< what decided comes first
  std::optional<RunRefinement> refinement;  ///< if there is one that the estimate can predict
  std::string command;                      ///< the call that would do better or tell more; may be empty

  /// One sentence of at most 100 characters.
  std::string headline() const;
};

struct JudgeOptions {
  Tolerances tolerances = {};
  std::string system = {};     ///< as named on the command line: "examples/car"; empty = the name of the system
  std::string arguments = {};  ///< the other arguments: "--method missiles --stop 2"
};

/// The grade of a run that has ended, by the estimate of its errors.
ENTRAIN_API Verdict judge(const RunSummary& summary, const ErrorEstimate& estimate, const JudgeOptions& options = {});

/// Of the run whose files are in the folder, as run.json has it. Throws Error{FileFailed}.
ENTRAIN_API Verdict verdict(const std::filesystem::path& run_directory);

}  // namespace entrain
