#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/fact.hpp"
#include "entrain/simulation.hpp"
#include "entrain/verdict.hpp"

namespace entrain {

/// What is known of the error of one output.
enum class OutputVerdict {
  Converging,     ///< the differences fall as an order requires: the error bar can be trusted
  AtRounding,     ///< the runs agree to rounding
  Negligible,     ///< moves so much less than others of its unit that its own digits mean nothing
  StepTooLong,    ///< the run at h has a larger error than the output moves, as unstable runs have
  NotSeen,        ///< its subsystem makes the same steps in all runs: that they agree proves nothing
  NotConverging,  ///< no order to be seen: the step is too long, or something is not smooth
};
/// "converging", "step too long": the verdict in words.
ENTRAIN_API std::string_view to_string(OutputVerdict verdict);

/// What a run and two refined ones show about one output of the first.
struct ENTRAIN_API OutputVerification {
  std::string name;
  std::string unit;
  OutputVerdict verdict = OutputVerdict::NotConverging;
  std::optional<double> order;      ///< log2 of the ratio of the two differences (root mean square over time)
  std::optional<double> error_bar;  ///< of the run at h: largest over time, in the unit of the output (Richardson)
  double rms_error = 0.0;           ///< the same as a root mean square over time; without an order, the difference
  /// What errors are relative to: max - min of the output in the finest run, or in the one where it is smallest if they
  /// differ by more than a factor of 2; and at least 1e-9 of the largest of an output with the same unit.
  double range = 0.0;
  /// 1.25 where the order that is seen is that of the method to 10 %, else 2: what the error may be instead of what it
  /// is estimated to be.
  double safety = 2.0;
  double first_difference = 0.0;   ///< largest |y_h - y_h/2|
  double second_difference = 0.0;  ///< largest |y_h/2 - y_h/4|

  /// The error bar is as good as it looks, and the run at h not useless.
  bool sound() const { return verdict != OutputVerdict::NotConverging && verdict != OutputVerdict::StepTooLong; }
  /// error_bar / range; of an output that does not move, the bar itself.
  double relative_error() const;
  /// What decides on the grade: `safety` times the root mean square, as for a run, and no less than the error bar.
  double relative_bound() const;
};

struct ENTRAIN_API Verification {
  std::string system;
  std::string method;   ///< the one that was run, where the file has "auto"
  Duration step = 0.0;  ///< h
  std::vector<OutputVerification> outputs;
  std::vector<Fact> remarks;  ///< what limits the answer
  /// What made the same steps in all runs: subsystems that impose one, or the method itself.
  std::vector<std::string> unrefined;
  /// Why runs that agree may still be wrong: by what they measured of themselves.
  std::vector<Fact> doubts;
  std::optional<std::string> failure;  ///< a run that did not complete, and why; then `outputs` is empty

  /// Every output is sound, every subsystem was refined, there are no doubts, and no relative bound exceeds the limit.
  bool confirmed(double largest_relative_bound) const;
  /// As for a run, by the bounds; unknown where they are not confirmed.
  Grade grade(const Tolerances& tolerances = {}) const;
  /// The grade and what decides it, in one sentence of at most 100 characters.
  std::string headline(const Tolerances& tolerances = {}) const;
};

/// Runs the system three times, with its own step h, h/2 and h/4, and compares the outputs at the communication times
/// of the first run. Of a method that chooses its steps, those that it chose at h are divided by 2 and 4. Works with
/// any method and any black box; "auto" is decided once, at h. Throws Error for a system that cannot be run at all, or
/// not with h/2 and h/4.
ENTRAIN_API Verification verify(const SystemDescription& description, const RunOptions& options = {},
                                const Extensions& extensions = {});

/// All of it as JSON. `grade`: as Verification::grade said; `confirmed` in it is true for a trusted one.
ENTRAIN_API std::string verification_json(const Verification& verification, Grade grade);

}  // namespace entrain
