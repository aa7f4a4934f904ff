#include "verify/verification.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/signal_range.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"
#include "estimate/formal_order.hpp"
#include "estimate/replay.hpp"
#include "methods/registry.hpp"
#include "methods/requirements.hpp"
#include "session/prepare.hpp"
#include "session/session.hpp"
#include "verify/output_courses.hpp"
#include "verify/run_measurements.hpp"

namespace entrain::verifying {
namespace {

constexpr int kRuns = 3;

/// 1, 2 and 4: what the step of run `k` is divided by.
double divisor_of(int k) {
  return std::ldexp(1.0, k);
}

struct Differences {
  double largest = 0.0;
  double mean_square = 0.0;
  std::size_t compared = 0;
};

Differences differences(const OutputCourses::Course& a, const OutputCourses::Course& b) {
  Differences result;
  for (std::size_t i = 0; i < std::min(a.values.size(), b.values.size()); ++i) {
    const double difference = std::abs(a.values[i] - b.values[i]);
    if (std::isnan(difference)) continue;
    result.largest = std::max(result.largest, difference);
    result.mean_square += difference * difference;
    ++result.compared;
  }
  if (result.compared > 0) result.mean_square /= static_cast<double>(result.compared);
  return result;
}

double range_of(const OutputCourses::Course& course) {
  return std::max(0.0, base::SignalRange::of(course.values).span());
}

/// The range of the finest run; where those of others are another motion's, the smallest of them.
double agreed_range(const std::array<double, kRuns>& ranges) {
  constexpr double kOfOneMotion = 2.0;
  const auto [least, most] = std::minmax_element(ranges.begin(), ranges.end());
  return *most > kOfOneMotion * *least ? *least : ranges.back();
}

/// From the differences of the three runs; `end`: the value that the output has at the end, the smallest of the three.
void judge(OutputVerification& output, const Differences& first, const Differences& second, double end) {
  // Below, rounding and the tolerance of inner solvers decide, not the coupling.
  constexpr double kRounding = 1e-11;
  // An order below a half is none of a coupling's: what is seen then is a jump that moves, or a step too long.
  constexpr double kLeastOrder = 0.5;
  // No method has more than 4. An error that falls faster and is large is no power of the step: it grew in time.
  constexpr double kMostOrder = 9.0;
  constexpr double kLarge = 0.1;
  if (first.compared < 2 || second.compared < 2) return;
  const double magnitude = std::max(output.range, end);
  if (first.largest <= kRounding * magnitude) {
    output.verdict = OutputVerdict::AtRounding;
    output.error_bar = first.largest;
    return;
  }
  // A run with a smaller step that leaves the motion altogether: one of them blows up.
  if (output.range > 0.0 && first.largest > output.range && second.largest > first.largest) {
    output.error_bar = first.largest;
    output.verdict = OutputVerdict::StepTooLong;
    return;
  }
  if (second.mean_square > 0.0) output.order = 0.5 * std::log2(first.mean_square / second.mean_square);
  const bool far_below = second.largest <= kRounding * magnitude;  // the finer runs agree: the difference is the error
  if (!far_below && !(output.order.value_or(0.0) >= kLeastOrder)) return;
  // y_h - y = (y_h - y_h/2) / (1 - 2^-p).
  const double whole = far_below ? 1.0 : 1.0 / (1.0 - std::exp2(-*output.order));
  output.error_bar = whole * first.largest;
  output.rms_error *= whole;
  const double relative = *output.error_bar / std::max(output.range, std::numeric_limits<double>::min());
  const bool grew =
      output.range > 0.0 && (relative > 1.0 || (!far_below && *output.order > kMostOrder && relative > kLarge));
  output.verdict = grew ? OutputVerdict::StepTooLong : OutputVerdict::Converging;
}

/// What is expected of the method and seen of the output agree; else what remains if the differences fall with the
/// least order that is accepted, 0.5, from the finest run on: twice that from it.
double safety_of(const OutputVerification& output, std::optional<double> formal_order) {
  constexpr double kAlike = 0.1;
  constexpr double kAsExpected = 1.25;
  constexpr double kElse = 2.0;
  if (output.verdict == OutputVerdict::AtRounding) return kAsExpected;
  const bool expected =
      output.order && formal_order && std::abs(*output.order - *formal_order) <= kAlike * *formal_order;
  return expected ? kAsExpected : kElse;
}

OutputVerification verified(const std::array<OutputCourses, kRuns>& runs, std::size_t index, double least_range) {
  const auto& finest = runs[2].outputs[index];
  const Differences first = differences(runs[0].outputs[index], runs[1].outputs[index]);
  const Differences second = differences(runs[1].outputs[index], finest);
  OutputVerification result;
  result.name = finest.name;
  result.unit = finest.unit;
  std::array<double, kRuns> ranges{};
  double end = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < runs.size(); ++k) {
    const auto& course = runs[k].outputs[index];
    ranges[k] = range_of(course);
    if (!course.values.empty()) end = std::min(end, std::abs(course.values.back()));
  }
  const double own_range = agreed_range(ranges);
  result.range = std::max(own_range, least_range);
  result.first_difference = first.largest;
  result.second_difference = second.largest;
  result.rms_error = std::sqrt(first.mean_square);
  judge(result, first, second, end);
  const bool negligible = own_range < least_range && first.compared > 1 && first.largest <= least_range;
  if (negligible && result.verdict != OutputVerdict::AtRounding) {
    result.verdict = OutputVerdict::Negligible;
    result.error_bar = first.largest;
  }
  return result;
}

/// The steps that the three runs have in common, whatever the macro step: what they cost is not seen.
void note_imposed_steps(const std::vector<SubsystemSummary>& subsystems, bool own_steps, Verification& result) {
  for (const auto& subsystem : subsystems) {
    const auto& imposed = subsystem.capabilities.imposed_step;
    if (!imposed) continue;
    // On a common grid, shorter steps are only parts of the macro step that every subsystem refines.
    if (!own_steps && *imposed <= result.step / 4 * (1 + 1e-9)) continue;
    result.unrefined.push_back(subsystem.name);
    result.remarks.push_back({FactCode::ImposedStepUnseen, {subsystem.name}, {{"step", *imposed, "s"}}});
  }
}

/// Outputs of subsystems with the same steps in all runs can agree to the last digit, with the error of those steps.
void mark_unseen(Verification& result) {
  for (auto& output : result.outputs) {
    const auto subsystem = output.name.substr(0, output.name.find('.'));
    const bool refined =
        std::find(result.unrefined.begin(), result.unrefined.end(), subsystem) == result.unrefined.end();
    if (refined || !output.sound()) continue;
    output.verdict = OutputVerdict::NotSeen;
    output.error_bar.reset();
  }
}

/// Runs that are hardly finer differ little, whatever their error.
void note_steps_that_stay(const std::array<RunMeasurements, kRuns>& runs, Verification& result) {
  std::array<std::uint64_t, kRuns> macro_steps{};
  for (std::size_t k = 0; k < runs.size(); ++k) macro_steps[k] = runs[k].summary.macro_steps;
  constexpr double kLeastGrowth = 1.1;
  const auto hardly_more = [](std::uint64_t few, std::uint64_t many) {
    return static_cast<double>(many) < kLeastGrowth * static_cast<double>(few);
  };
  if (!hardly_more(macro_steps[0], macro_steps[1]) && !hardly_more(macro_steps[1], macro_steps[2])) return;
  result.unrefined.push_back(result.method);
  result.remarks.push_back(
      {FactCode::StepsNotRefined, {result.method}, {{"steps", fmt::format("{}", fmt::join(macro_steps, ", "))}}});
}

/// What a system that can be run at h lacks to be run at a part of it too.
class Refinement {
 public:
  /// Throws Error with everything that is wrong at h.
  Refinement(const SystemDescription& description, const RunOptions& options, const Extensions& extensions) {
    std::vector<Problem> problems;
    prepared_ =
        session::prepare(description, options.threads, extensions, problems, session::interruptible(options.interrupt));
    if (!prepared_.system) throw Error(std::move(problems));
    for (std::size_t s = 0; s < prepared_.system->size(); ++s) {
      capabilities_.push_back(&prepared_.system->capabilities(SubsystemId{s}));
    }
    if (const auto found = description.method_options.find(description.method.value);
        found != description.method_options.end()) {
      written_ = found->second;
    }
  }

  bool chooses_steps() const { return method::chooses_steps(*prepared_.method); }

  /// Throws Error when a run at h/2 or h/4 is not possible, with a step h that is. Chosen steps can always be divided.
  void check() const {
    if (chooses_steps()) return;
    std::vector<Problem> problems;
    for (int k = 1; k < kRuns && problems.empty(); ++k) problems = problems_at(k);
    if (!problems.empty()) throw Error(std::move(problems));
  }

 private:
  std::vector<method::UnmetRequirement> unmet_at(Duration step) const {
    auto settings = prepared_.settings;
    settings.step = step;
    return method::unmet_requirements(*prepared_.method, prepared_.system->graph(), capabilities_, settings);
  }

  std::vector<Problem> problems_at(int k) const {
    const Duration step = prepared_.settings.step / divisor_of(k);
    const std::string which = fmt::format("h/{} = {} s", divisor_of(k), step);
    std::vector<Problem> problems;
    for (const auto& [subsystem, fact, remedy] : unmet_at(step)) {
      const auto& imposed = capabilities_[subsystem]->imposed_step;
      if (!imposed) {
        problems.push_back(problem_of({FactCode::NotRefinable, {}, {{"at", which}, {"why", render(fact)}}}, remedy));
        continue;
      }
      const auto better = step_near(*imposed);
      problems.push_back(problem_of(Fact{FactCode::PartDoesNotFit,
                                         {prepared_.system->graph().name(subsystem)},
                                         {{"at", which}, {"imposed", *imposed, "s"}}},
                                    better ? fmt::format("verify with --step {}", *better)
                                           : "verify with " + method::built_in_methods().undemanding().name,
                                    {}));
    }
    auto settings = prepared_.settings;
    settings.step = step;
    prepared_.method->check_times(settings, written_, problems);
    return problems;
  }

  /// The step nearest to h that can be halved twice: the imposed one itself, or a multiple of its fourfold.
  std::optional<Duration> step_near(Duration imposed) const {
    const double wanted = std::round(prepared_.settings.step / (4 * imposed));
    for (double multiple = std::max(1.0, wanted); multiple >= 0.0; multiple -= 1.0) {
      const Duration step = multiple > 0.0 ? multiple * 4 * imposed : imposed;
      bool fits = true;
      for (int k = 0; k < kRuns; ++k) fits = fits && unmet_at(step / divisor_of(k)).empty();
      if (fits) return step;
    }
    return std::nullopt;
  }

  session::Prepared prepared_;
  std::vector<const Capabilities*> capabilities_;
  WrittenOptions written_;
};

/// The steps of the first run, each divided for run `k`.
std::vector<std::vector<Time>> divided_steps_of(const OutputCourses& first, int k) {
  std::vector<std::vector<Time>> lists;
  for (std::size_t s = 0; s < first.subsystems(); ++s) {
    lists.push_back(estimate::divided_steps(first.times_of(s), static_cast<std::size_t>(divisor_of(k))));
  }
  return lists;
}

/// Three runs of a system, which differ in their steps alone.
class RefinedRuns {
 public:
  RefinedRuns(const SystemDescription& description, const RunOptions& options, const Extensions& extensions,
              bool chooses_steps)
      : description_(description), options_(options), extensions_(extensions), chooses_steps_(chooses_steps) {}

  /// Makes run `k` after those before it. Returns why it did not complete.
  std::optional<std::string> make(int k) {
    auto description = description_;
    if (!chooses_steps_) description.step->value /= divisor_of(k);
    auto& courses = courses_[static_cast<std::size_t>(k)];
    if (k > 0) courses = OutputCourses(courses_.data());
    session::Session session(description, options_, extensions_);
    if (chooses_steps_ && k > 0) session.prescribe(divided_steps_of(courses_.front(), k));
    session.observe(courses);
    session.observe(measurements_[static_cast<std::size_t>(k)]);
    const auto& summary = session.run();
    if (summary.termination == Termination::Completed) return std::nullopt;
    return fmt::format("the run with a step of {} s {}: {}", description_.step->value / divisor_of(k),
                       to_string(summary.termination), summary.message);
  }

  const std::array<OutputCourses, kRuns>& courses() const { return courses_; }
  const std::array<RunMeasurements, kRuns>& measurements() const { return measurements_; }

 private:
  const SystemDescription& description_;
  const RunOptions& options_;
  const Extensions& extensions_;
  bool chooses_steps_;
  std::array<OutputCourses, kRuns> courses_;
  std::array<RunMeasurements, kRuns> measurements_;
};

}  // namespace

}  // namespace entrain::verifying

namespace entrain {

bool Verification::confirmed(double largest_relative_bound) const {
  return !failure && unrefined.empty() && doubts.empty() &&
         std::all_of(outputs.begin(), outputs.end(), [&](const OutputVerification& output) {
           return output.sound() && output.relative_bound() <= largest_relative_bound;
         });
}

Grade Verification::grade(const Tolerances& tolerances) const {
  constexpr double kUnreliableFrom = 10.0;  // times the tolerance, as for a run
  double worst = 0.0;
  for (const auto& output : outputs) {
    if (output.verdict == OutputVerdict::StepTooLong) return Grade::Unreliable;
    if (!output.error_bar) continue;
    const double ratio = output.relative_bound() / tolerances.of(output.name);
    worst = ratio <= worst ? worst : ratio;
  }
  if (failure || worst > kUnreliableFrom) return Grade::Unreliable;
  if (!confirmed(std::numeric_limits<double>::infinity())) return Grade::Unknown;
  return worst <= 1.0 ? Grade::Trusted : worst <= kUnreliableFrom ? Grade::Check : Grade::Unreliable;
}

std::string Verification::headline(const Tolerances& tolerances) const {
  Verdict verdict;
  verdict.grade = grade(tolerances);
  const OutputVerification* worst = nullptr;
  const OutputVerification* unsound = nullptr;
  const auto too_long = [](const OutputVerification* of) {
    return of != nullptr && of->verdict == OutputVerdict::StepTooLong;
  };
  for (const auto& output : outputs) {
    if (unsound == nullptr && !output.sound()) unsound = &output;
    if (output.verdict == OutputVerdict::StepTooLong && !too_long(unsound)) unsound = &output;
    if (!output.error_bar) continue;
    const double ratio = output.relative_bound() / tolerances.of(output.name);
    if (worst == nullptr || !(ratio <= worst->relative_bound() / tolerances.of(worst->name))) worst = &output;
  }
  if (failure) {
    verdict.reasons = {custom_note(*failure)};
  } else if (unsound != nullptr && (too_long(unsound) || verdict.grade == Grade::Unknown)) {
    verdict.reasons = {{FactCode::OutputNotVerified, {unsound->name}, {{"verdict", to_string(unsound->verdict)}}}};
    if (too_long(unsound)) verdict.reasons.front().values.emplace_back("outgrows", 1);
  } else if (verdict.grade == Grade::Unknown && !doubts.empty()) {
    verdict.reasons = {doubts.front()};
  } else if (verdict.grade == Grade::Unknown && !unrefined.empty()) {
    for (const auto& remark : remarks) {
      const bool is_reason = remark.code == FactCode::ImposedStepUnseen || remark.code == FactCode::StepsNotRefined;
      if (is_reason && verdict.reasons.empty()) verdict.reasons = {remark};
    }
  } else if (worst != nullptr) {
    verdict.output = worst->name;
    verdict.bound = worst->relative_bound();
    verdict.tolerance = tolerances.of(worst->name);
    verdict.reasons = {{FactCode::ErrorOfOutput, {worst->name}}};
  }
  return verdict.headline();
}

}  // namespace entrain

namespace entrain::verifying {

Verification verify_chosen(const SystemDescription& written, const RunOptions& options, const Extensions& extensions) {
  const SystemDescription description = resolved(written, extensions);
  Verification result;
  result.system = description.name;
  result.method = description.method.value;
  bool chooses_steps = false;
  {
    const Refinement refinement(description, options, extensions);  // gone before the runs: an FMU may be the only one
    refinement.check();
    chooses_steps = refinement.chooses_steps();
  }
  result.step = description.step->value;
  RefinedRuns made(description, options, extensions, chooses_steps);
  for (int k = 0; k < kRuns; ++k) {
    result.failure = made.make(k);
    if (result.failure) return result;
  }
  const auto& runs = made.courses();
  base::UnitSizes sizes;
  for (const auto& course : runs[2].outputs) sizes.take(course.unit, range_of(course));
  const method::MethodRegistry registry(extensions);
  const auto* entry = registry.find(result.method);
  std::optional<double> order;
  if (entry != nullptr) order = estimate::formal_order(entry->traits, made.measurements().front().summary);
  for (std::size_t i = 0; i < runs[0].outputs.size(); ++i) {
    auto& output = result.outputs.emplace_back(verified(runs, i, sizes.least(runs[2].outputs[i].unit)));
    output.safety = safety_of(output, order);
  }
  note_imposed_steps(made.measurements().back().summary.subsystems, chooses_steps, result);
  mark_unseen(result);
  note_steps_that_stay(made.measurements(), result);
  note_warnings(made.measurements(), result);
  if (chooses_steps) result.remarks.push_back({FactCode::StepsByTolerance, {result.method}});
  return result;
}

}  // namespace entrain::verifying
