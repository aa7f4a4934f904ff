// The grade of a run from its estimated errors: every rule, and what is no number.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "entrain/fact_codes.hpp"
#include "entrain/verdict.hpp"
#include "estimate/refine.hpp"
#include "support/facts.hpp"

namespace entrain::test {
namespace grade_test {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

RunSummary completed() {
  RunSummary summary;
  summary.system = "plant";
  summary.method = "some";
  summary.termination = Termination::Completed;
  summary.stop = summary.reached = 10.0;
  summary.step = 0.01;
  summary.connections.push_back({"a.y -> b.u", "a.y", "b.u"});
  summary.subsystems.resize(2);
  return summary;
}

OutputError output(const std::string& name, double bound) {
  OutputError error;
  error.name = name;
  error.unit = "N";
  error.estimate = EstimateKind::Companion;
  error.error = bound / 1.25;
  error.bound = bound;
  error.max_error = 3.0 * bound;
  error.range = 200.0;
  error.valid_until = 10.0;
  return error;
}

ErrorEstimate estimated(std::vector<OutputError> outputs) {
  ErrorEstimate estimate;
  estimate.outputs = std::move(outputs);
  estimate.order = 1;
  return estimate;
}

Grade grade_of_bound(double bound) {
  return judge(completed(), estimated({output("a.y", bound)})).grade;
}

TEST(Grade, is_decided_by_the_bound_and_the_tolerance) {
  EXPECT_EQ(grade_of_bound(0.0), Grade::Trusted);
  EXPECT_EQ(grade_of_bound(0.01), Grade::Trusted);
  EXPECT_EQ(grade_of_bound(0.0101), Grade::Check);
  EXPECT_EQ(grade_of_bound(0.1), Grade::Check);
  EXPECT_EQ(grade_of_bound(0.101), Grade::Unreliable);
  EXPECT_EQ(grade_of_bound(kInfinity), Grade::Unreliable);
}

TEST(Grade, of_what_is_no_number_is_never_trusted) {
  EXPECT_EQ(grade_of_bound(kNaN), Grade::Unknown);
  EXPECT_EQ(grade_of_bound(-1.0), Grade::Unknown);
  auto half = output("a.y", 1e-6);
  half.error = kNaN;
  EXPECT_EQ(judge(completed(), estimated({half})).grade, Grade::Unknown);
  JudgeOptions options;
  options.tolerances.usual = kNaN;
  EXPECT_EQ(judge(completed(), estimated({output("a.y", 1e-6)}), options).grade, Grade::Unreliable);
  auto grown = output("a.y", 1e-6);
  grown.course = {1e-6, kNaN, 1e-6};
  EXPECT_EQ(judge(completed(), estimated({grown})).grade, Grade::Unreliable);
}

TEST(Grade, of_an_output_without_an_estimate_is_unknown_though_others_are_within_the_tolerance) {
  auto none = output("b.x", 1e-6);
  none.estimate = EstimateKind::Unknown;
  const auto verdict = judge(completed(), estimated({output("a.y", 1e-6), none}));
  EXPECT_EQ(verdict.grade, Grade::Unknown);
  EXPECT_EQ(verdict.reasons.front().code, FactCode::OutputsNotEstimated);
  EXPECT_EQ(verdict.reasons.front().subjects, std::vector<std::string>{"b.x"});
  EXPECT_EQ(number_of(verdict.reasons, FactCode::OutputsNotEstimated, "of"), 2.0);
  EXPECT_EQ(verdict.output, "a.y");
  // One that is far beyond the tolerance decides all the same.
  EXPECT_EQ(judge(completed(), estimated({output("a.y", 0.5), none})).grade, Grade::Unreliable);
}

TEST(Grade, without_any_estimate_is_unknown_for_the_reason_of_the_estimate) {
  const auto nothing = judge(completed(), {});
  EXPECT_EQ(nothing.grade, Grade::Unknown);
  EXPECT_EQ(nothing.reasons.front().code, FactCode::OutputsNotEstimated);
  EXPECT_EQ(nothing.output, "");
  EXPECT_EQ(nothing.command, "entrain verify plant");
  ErrorEstimate off;
  off.reasons.push_back({FactCode::EstimateOff});
  off.outputs.resize(1);
  const auto verdict = judge(completed(), off);
  EXPECT_EQ(verdict.grade, Grade::Unknown);
  EXPECT_EQ(verdict.reasons.front().code, FactCode::EstimateOff);
  EXPECT_EQ(verdict.command, "entrain run plant");
}

TEST(Grade, names_the_output_that_is_worst_beside_its_own_tolerance) {
  JudgeOptions options;
  options.tolerances.single["b.x"] = 1e-4;
  const auto verdict = judge(completed(), estimated({output("a.y", 5e-3), output("b.x", 2e-4)}), options);
  EXPECT_EQ(verdict.grade, Grade::Check);
  EXPECT_EQ(verdict.output, "b.x");
  EXPECT_EQ(verdict.bound, 2e-4);
  EXPECT_EQ(verdict.tolerance, 1e-4);
  const auto& decisive = verdict.reasons.front();
  EXPECT_EQ(decisive.code, FactCode::ErrorOfOutput);
  EXPECT_EQ(decisive.subjects.front(), "b.x");
  EXPECT_DOUBLE_EQ(*decisive.number("absolute"), 1.6e-4 * 200.0);  // in N: the error times the range
  EXPECT_EQ(judge(completed(), estimated({output("a.y", 5e-3), output("b.x", 2e-4)})).grade, Grade::Trusted);
}

TEST(Grade, of_a_run_that_did_not_complete_is_unreliable_whatever_was_estimated) {
  for (const auto termination : {Termination::Failed, Termination::Interrupted, Termination::Running}) {
    auto summary = completed();
    summary.termination = termination;
    summary.message = "the disk is full";
    const auto verdict = judge(summary, estimated({output("a.y", 1e-9)}));
    EXPECT_EQ(verdict.grade, Grade::Unreliable);
    EXPECT_EQ(verdict.command, "") << "another step is no cure";
  }
  auto failed = completed();
  failed.termination = Termination::Failed;
  failed.message = "the disk is full";
  EXPECT_EQ(word_of(judge(failed, {}).reasons, FactCode::RunFailed, "why"), "the disk is full");
}

TEST(Grade, of_an_error_that_grows_beyond_the_motion_is_unreliable) {
  auto grown = output("a.y", 5e-3);
  grown.course = {1e-6, 1e-3, 1.5};
  const auto verdict = judge(completed(), estimated({grown}));
  EXPECT_EQ(verdict.grade, Grade::Unreliable);
  EXPECT_EQ(number_of(verdict.reasons, FactCode::ErrorOutgrows, "size", "a.y"), 1.5);
  // Where the estimate saturates, what comes later does not count.
  grown.valid_until = 5.0;
  EXPECT_EQ(judge(completed(), estimated({grown})).grade, Grade::Trusted);
}

TEST(Grade, holds_up_to_where_the_estimate_saturates) {
  auto chaotic = output("a.y", 1e-3);
  chaotic.valid_until = 7.3;
  const auto verdict = judge(completed(), estimated({chaotic, output("b.x", 1e-6)}));
  EXPECT_EQ(verdict.grade, Grade::Trusted);
  EXPECT_EQ(verdict.valid_until, 7.3);
  EXPECT_TRUE(verdict.ends_early);
  EXPECT_TRUE(verdict.headline().starts_with("Trusted up to t = 7.3 s: ")) << verdict.headline();
  chaotic.valid_until = 0.0;
  EXPECT_EQ(judge(completed(), estimated({chaotic})).grade, Grade::Unknown);
}

TEST(Grade, is_limited_by_what_the_estimate_does_not_see) {
  const auto with_reason = [](FactCode code) {
    auto estimate = estimated({output("a.y", 1e-6)});
    estimate.reasons.push_back({code, {"a"}});
    return judge(completed(), estimate);
  };
  EXPECT_EQ(with_reason(FactCode::EstimateImposedStep).grade, Grade::Check);
  EXPECT_EQ(with_reason(FactCode::EstimateImposedStep).reasons.front().code, FactCode::EstimateImposedStep);
  EXPECT_EQ(with_reason(FactCode::EstimateInnerStep).grade, Grade::Check);
  EXPECT_EQ(with_reason(FactCode::EstimateNoCoupling).grade, Grade::Check);
  EXPECT_EQ(with_reason(FactCode::EstimateRangesDiffer).grade, Grade::Unreliable);
  EXPECT_EQ(with_reason(FactCode::EstimateCompanionFailed).grade, Grade::Trusted) << "a note only explains";
}

TEST(Grade, of_coarse_integration_inside_a_black_box_is_check_and_not_unreliable) {
  const auto grade = [](double bound, double inside) {
    auto of = output("a.y", bound);
    of.inside = inside;
    return judge(completed(), estimated({of})).grade;
  };
  EXPECT_EQ(grade(0.18, 0.15), Grade::Check) << "the coupling has 0.03";
  EXPECT_EQ(grade(0.18, 0.0), Grade::Unreliable);
  EXPECT_EQ(grade(0.18, 0.05), Grade::Unreliable) << "the coupling has 0.13";
  EXPECT_EQ(grade(0.005, 0.004), Grade::Trusted);
}

TEST(Grade, of_what_does_not_converge_is_trusted_only_where_the_bound_is_a_third_of_the_tolerance) {
  const auto grade = [](double bound) {
    auto estimate = estimated({output("a.y", bound), output("b.y", 1e-6)});
    estimate.reasons.push_back({FactCode::EstimateNotConverging, {"a.y"}, {{"order", -0.3}}});
    return judge(completed(), estimate).grade;
  };
  EXPECT_EQ(grade(0.0029), Grade::Trusted);
  EXPECT_EQ(grade(0.0031), Grade::Check);
}

TEST(Grade, is_limited_by_warnings_that_all_steps_share) {
  const auto with_warning = [](FactCode code) {
    auto summary = completed();
    summary.warnings.push_back({code, {"a.u"}});
    return judge(summary, estimated({output("a.y", 1e-6)}));
  };
  EXPECT_EQ(with_warning(FactCode::InputsOpen).grade, Grade::Check);
  EXPECT_EQ(with_warning(FactCode::InputsOpen).reasons.front().code, FactCode::InputsOpen);
  EXPECT_EQ(with_warning(FactCode::InputsOpen).command, "entrain check plant");
  EXPECT_EQ(with_warning(FactCode::NothingConnected).grade, Grade::Check);
  EXPECT_EQ(with_warning(FactCode::DiscreteValuesUnsettled).grade, Grade::Check);
  EXPECT_EQ(with_warning(FactCode::UnitsNotConverted).grade, Grade::Check);
  EXPECT_EQ(with_warning(FactCode::EventsSeenLate).grade, Grade::Trusted) << "other steps see them otherwise";
}

TEST(Grade, follows_the_start_of_algebraic_loops) {
  const auto with_loop = [](double residual) {
    auto summary = completed();
    summary.loops.push_back({{"a.y", "b.u"}, residual});
    return judge(summary, estimated({output("a.y", 1e-6)})).grade;
  };
  EXPECT_EQ(with_loop(1e-9), Grade::Trusted);
  EXPECT_EQ(with_loop(1e-4), Grade::Check);
  EXPECT_EQ(with_loop(0.1), Grade::Unreliable);
  EXPECT_EQ(with_loop(kNaN), Grade::Unreliable);
}

TEST(Grade, meets_what_is_required) {
  using enum RequiredGrade;
  for (const auto required : {Trusted, Check, NotUnreliable, Any}) EXPECT_TRUE(meets(Grade::Trusted, required));
  EXPECT_FALSE(meets(Grade::Check, Trusted));
  EXPECT_TRUE(meets(Grade::Check, Check));
  EXPECT_FALSE(meets(Grade::Unknown, Trusted));
  EXPECT_FALSE(meets(Grade::Unknown, Check));
  EXPECT_TRUE(meets(Grade::Unknown, NotUnreliable));
  EXPECT_FALSE(meets(Grade::Unreliable, NotUnreliable));
  EXPECT_TRUE(meets(Grade::Unreliable, Any));
}

TEST(Grade, has_a_word_and_back) {
  for (const auto grade : {Grade::Trusted, Grade::Check, Grade::Unreliable, Grade::Unknown}) {
    EXPECT_EQ(grade_named(to_string(grade)), grade);
  }
  EXPECT_FALSE(grade_named("pending"));
}

TEST(Headline, has_at_most_a_hundred_characters_and_keeps_the_numbers) {
  const std::string name = "plant." + std::string(150, 'x');
  auto verdict = judge(completed(), estimated({output(name, 0.026)}));
  EXPECT_LE(verdict.headline().size(), 100U) << verdict.headline();
  EXPECT_NE(verdict.headline().find("2.6 %"), std::string::npos) << verdict.headline();
  EXPECT_TRUE(verdict.headline().ends_with("1 %")) << verdict.headline();
  auto summary = completed();
  Fact open{FactCode::InputsOpen, {}, {{"connected", 1}, {"open", 40}}};
  for (int i = 0; i < 40; ++i) open.subjects.push_back("plant.größe" + std::to_string(i));
  summary.warnings.push_back(open);
  verdict = judge(summary, estimated({output("a.y", 1e-6)}));
  const auto text = verdict.headline();
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  EXPECT_LE(letters, 100) << text;
  EXPECT_GT(letters, 90) << text;
  EXPECT_TRUE(text.starts_with("Check: ")) << text;
}

TEST(Refinement, is_the_step_that_is_enough_by_the_order) {
  // bound 0.04, tolerance 0.01, order 1: a fifth of the step with a reserve, rounded down.
  const auto first = judge(completed(), estimated({output("a.y", 0.04)}));
  ASSERT_TRUE(first.refinement);
  EXPECT_EQ(first.refinement->step, 0.002);
  EXPECT_EQ(first.command, "entrain run plant --step 0.002");
  auto second = output("a.y", 0.04);
  second.order = 2.0;
  auto estimate = estimated({second});
  estimate.order = 2;
  EXPECT_EQ(judge(completed(), estimate).refinement->step, 0.002) << "0.01 / sqrt(5) = 0.0045";
}

TEST(Refinement, keeps_the_arguments_of_the_program) {
  JudgeOptions options;
  options.system = "examples/car";
  options.arguments = "--method jacobi --stop 2";
  EXPECT_EQ(judge(completed(), estimated({output("a.y", 0.04)}), options).command,
            "entrain run examples/car --method jacobi --stop 2 --step 0.002");
}

TEST(Refinement, of_a_method_that_chooses_its_steps_is_its_tolerances) {
  auto summary = completed();
  summary.step_tolerances = {"relative_tolerance"};
  summary.parameters["relative_tolerance"] = 1e-3;
  const auto verdict = judge(summary, estimated({output("a.y", 0.04)}));
  ASSERT_TRUE(verdict.refinement);
  EXPECT_FALSE(verdict.refinement->step);
  EXPECT_EQ(verdict.refinement->options.at("relative_tolerance"), 2e-4);
  EXPECT_EQ(verdict.command, "entrain run plant --option relative_tolerance=0.0002");
}

TEST(Refinement, of_an_error_as_large_as_the_motion_is_none) {
  const auto verdict = judge(completed(), estimated({output("a.y", 3.0)}));
  EXPECT_FALSE(verdict.refinement);
  EXPECT_EQ(verdict.command, "entrain advise plant");
  EXPECT_FALSE(judge(completed(), estimated({output("a.y", 1e-3)})).refinement) << "it is trusted";
}

TEST(Refinement, fits_the_imposed_steps) {
  auto summary = completed();
  EXPECT_EQ(estimate::fitting_step(summary, 0.0037), 0.002);
  summary.subsystems[0].capabilities.imposed_step = 0.025;
  EXPECT_DOUBLE_EQ(estimate::fitting_step(summary, 0.004), 0.0025)
      << "a tenth of the imposed one: 0.004 would be a 6.25th";
  EXPECT_DOUBLE_EQ(estimate::fitting_step(summary, 0.08), 0.075) << "a multiple of it";
  summary.subsystems[1].capabilities.imposed_step = 0.1;
  EXPECT_DOUBLE_EQ(estimate::fitting_step(summary, 0.004), 0.0025);
}

TEST(RoundBelow, is_one_two_or_five_times_a_power_of_ten) {
  EXPECT_EQ(estimate::round_below(0.0049), 0.002);
  EXPECT_EQ(estimate::round_below(0.005), 0.005);
  EXPECT_EQ(estimate::round_below(1.9), 1.0);
  EXPECT_EQ(estimate::round_below(73.0), 50.0);
  EXPECT_EQ(estimate::round_below(3e-7), 2e-7);
}

}  // namespace grade_test
}  // namespace entrain::test
