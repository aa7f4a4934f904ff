#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "entrain/fact_codes.hpp"
#include "entrain/verdict.hpp"
#include "estimate/refine.hpp"

namespace entrain {
namespace {

constexpr double kUnreliableFrom = 10.0;  // times the tolerance
// Times the tolerance: where the bound is no larger, it does not matter that an output does not converge. The bound is
// ten times the difference between two runs there; what is left of it is that of the integration inside the subsystems.
constexpr double kFarBelow = 0.3;
// Initialisation solves loops far better, unless it fails to.
constexpr double kSmallLoopResidual = 1e-6;
constexpr double kLargeLoopResidual = 1e-2;

int severity(Grade grade) {
  switch (grade) {
    case Grade::Trusted: return 0;
    case Grade::Check: return 1;
    case Grade::Unknown: return 2;
    case Grade::Unreliable: break;
  }
  return 3;
}

/// Of the bound beside the tolerance; what is no number is no good one.
Grade grade_of(double ratio) {
  if (ratio <= 1.0) return Grade::Trusted;
  return ratio <= kUnreliableFrom ? Grade::Check : Grade::Unreliable;
}

/// Warnings of a run that no comparison with other steps shows: all of them would err alike.
bool limits_trust(FactCode warning) {
  switch (warning) {
    case FactCode::InputsOpen:
    case FactCode::NothingConnected:
    case FactCode::DiscreteValuesUnsettled:
    case FactCode::FmuOutputsAfterInitialization:
    case FactCode::UnitsNotConverted:
    case FactCode::UnitNotTransformed:
    case FactCode::CustomWarning: return true;
    default: return false;
  }
}

class Grading {
 public:
  Grading(const RunSummary& summary, const ErrorEstimate& estimate, const JudgeOptions& options)
      : summary_(summary), estimate_(estimate), options_(options) {}

  Verdict verdict() {
    judge_end();
    judge_loops();
    judge_outputs();
    judge_limits();
    std::stable_sort(reasons_.begin(), reasons_.end(),
                     [](const Reason& a, const Reason& b) { return severity(a.grade) > severity(b.grade); });
    for (auto& reason : reasons_) verdict_.reasons.push_back(std::move(reason.fact));
    verdict_.grade = reasons_.front().grade;  // an estimate, or that there is none, is always among them
    verdict_.command = command();
    return std::move(verdict_);
  }

 private:
  struct Reason {
    Grade grade;
    Fact fact;
  };

  void add(Grade grade, Fact fact) { reasons_.push_back({grade, std::move(fact)}); }

  void judge_end() {
    if (summary_.termination == Termination::Completed) return;
    const bool running =
        summary_.termination == Termination::Running || summary_.termination == Termination::NotStarted;
    Fact ended{running                                       ? FactCode::RunKilled
               : summary_.termination == Termination::Failed ? FactCode::RunFailed
                                                             : FactCode::RunInterrupted};
    if (!running && !summary_.message.empty()) ended.values.emplace_back("why", summary_.message);
    add(Grade::Unreliable, std::move(ended));
  }

  void judge_loops() {
    for (const auto& loop : summary_.loops) {
      if (loop.initial_residual <= kSmallLoopResidual) continue;
      add(loop.initial_residual <= kLargeLoopResidual ? Grade::Check : Grade::Unreliable,
          {FactCode::LoopStartResidual, loop.variables, {{"residual", loop.initial_residual}}});
    }
  }

  bool is_known(const OutputError& output) const {
    return output.estimate != EstimateKind::Unknown && !std::isnan(output.error) && output.bound >= 0.0 &&
           !(output.valid_until <= summary_.start);
  }

  double ratio_of(const OutputError& output) const { return output.bound / options_.tolerances.of(output.name); }

  /// Unreliable is a coupling. How coarsely a black box integrates inside its steps keeps the grade at check by itself.
  Grade grade_by_bound(const OutputError& output) const {
    const double of_coupling = (output.bound - output.inside) / options_.tolerances.of(output.name);
    const Grade grade = grade_of(ratio_of(output));
    return grade == Grade::Unreliable && of_coupling <= kUnreliableFrom ? Grade::Check : grade;
  }

  void judge_outputs() {
    Fact missing{FactCode::OutputsNotEstimated};
    const OutputError* worst = nullptr;
    verdict_.valid_until = summary_.reached;
    verdict_.tolerance = options_.tolerances.usual;
    for (const auto& output : estimate_.outputs) {
      if (!is_known(output)) {
        missing.subjects.push_back(output.name);
        continue;
      }
      if (worst == nullptr || !(ratio_of(output) <= ratio_of(*worst))) worst = &output;
      judge_growth(output);
      if (output.valid_until < verdict_.valid_until) verdict_.valid_until = output.valid_until;
    }
    verdict_.ends_early = verdict_.valid_until < summary_.reached;
    if (worst != nullptr) {
      take(*worst);
      missing.values = {{"count", missing.subjects.size()}, {"of", estimate_.outputs.size()}};
    }
    is_missing_ = worst == nullptr || !missing.subjects.empty();
    if (is_missing_) missing_ = std::move(missing);
  }

  /// The output that decides.
  void take(const OutputError& output) {
    verdict_.output = output.name;
    verdict_.error = output.error;
    verdict_.bound = output.bound;
    verdict_.max_error = output.max_error;
    verdict_.tolerance = options_.tolerances.of(output.name);
    const Grade grade = grade_by_bound(output);
    if (grade != Grade::Trusted)
      verdict_.refinement = estimate::refinement(summary_, output, estimate_.order, verdict_.tolerance);
    add(grade, {FactCode::ErrorOfOutput,
                {output.name},
                {{"error", output.error},
                 {"absolute", output.error * output.range, output.unit},
                 {"bound", output.bound},
                 {"tolerance", verdict_.tolerance},
                 {"found", to_string(output.estimate)}}});
  }

  /// An error beyond the whole range of the motion, in a part of the run for which the estimate holds.
  void judge_growth(const OutputError& output) {
    const double part = (summary_.reached - summary_.start) / static_cast<double>(output.course.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < output.course.size(); ++i) {
      if (output.valid_until < summary_.start + part * static_cast<double>(i + 1)) break;
      largest =
          std::max(largest, std::isnan(output.course[i]) ? std::numeric_limits<double>::infinity() : output.course[i]);
    }
    if (!(largest <= 1.0)) add(Grade::Unreliable, {FactCode::ErrorOutgrows, {output.name}, {{"size", largest}}});
  }

  bool is_far_below(const std::string& name) const {
    const auto output = std::find_if(estimate_.outputs.begin(), estimate_.outputs.end(),
                                     [&](const OutputError& one) { return one.name == name; });
    return output != estimate_.outputs.end() && ratio_of(*output) <= kFarBelow;
  }

  Grade grade_of_reason(const Fact& reason) const {
    if (reason.code == FactCode::EstimateRangesDiffer) return Grade::Unreliable;
    if (reason.code == FactCode::EstimateNoCoupling) return Grade::Check;
    if (reason.code == FactCode::EstimateNotConverging && is_far_below(reason.subjects.front())) return Grade::Trusted;
    if (is_missing_ && (verdict_.output.empty() || kind_of(reason.code) == FactKind::Warning)) return Grade::Unknown;
    return kind_of(reason.code) == FactKind::Note ? Grade::Trusted : Grade::Check;
  }

  void judge_limits() {
    for (const auto& reason : estimate_.reasons) add(grade_of_reason(reason), reason);
    if (missing_) add(Grade::Unknown, std::move(*missing_));  // why comes first
    for (const auto& warning : summary_.warnings) {
      if (warning.code == FactCode::HeldInputDifferentiated) add(Grade::Unreliable, warning);
      if (limits_trust(warning.code)) add(Grade::Check, warning);
    }
  }

  /// What would do better; what would tell more where nothing is known.
  std::string command() const {
    if (verdict_.grade == Grade::Trusted || summary_.termination != Termination::Completed) return {};
    const auto& system = options_.system.empty() ? summary_.system : options_.system;
    const auto call = [&](std::string_view verb) { return fmt::format("entrain {} {}", verb, system); };
    const auto changed = [&](std::string_view verb) {
      return call(verb) + (options_.arguments.empty() ? "" : " " + options_.arguments);
    };
    const FactCode decisive = verdict_.reasons.front().code;
    if (decisive == FactCode::EstimateOff) return changed("run");
    if (decisive == FactCode::HeldInputDifferentiated) return call("advise");
    if (decisive == FactCode::EstimateRealTime || decisive == FactCode::EstimatePartOutside) return {};
    if (verdict_.grade == Grade::Unknown) return changed("verify");
    if (verdict_.refinement) return changed("run") + estimate::arguments_of(*verdict_.refinement);
    if (decisive == FactCode::InputsOpen || decisive == FactCode::NothingConnected) return call("check");
    return verdict_.grade == Grade::Unreliable ? call("advise") : std::string();
  }

  const RunSummary& summary_;
  const ErrorEstimate& estimate_;
  const JudgeOptions& options_;
  std::vector<Reason> reasons_;
  bool is_missing_ = false;  // an output has no estimate, or there is none at all
  std::optional<Fact> missing_;
  Verdict verdict_;
};

}  // namespace

Verdict judge(const RunSummary& summary, const ErrorEstimate& estimate, const JudgeOptions& options) {
  return Grading(summary, estimate, options).verdict();
}

}  // namespace entrain
