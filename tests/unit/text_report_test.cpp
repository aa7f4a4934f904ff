#include "cli/text_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/table.hpp"

namespace entrain::test {
namespace text_report_test {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Table, aligns_columns_by_what_the_eye_sees) {
  cli::Table table({"name", "value"});
  table.align_right(1);
  table.add_row({"Größe", "1"});
  table.add_row({"x", "-12.5"});
  table.add_row({"alone"});
  EXPECT_EQ(table.text(1),
            " name   value\n"
            " -----  -----\n"
            " Größe      1\n"
            " x      -12.5\n"
            " alone\n");
}

TEST(Table, width_ignores_combining_marks_and_colour_codes) {
  EXPECT_EQ(cli::display_width("e\xCC\x81"), 1U);
  EXPECT_EQ(cli::display_width("\x1b[32mok\x1b[0m"), 2U);
  EXPECT_EQ(cli::display_width("\x1b[32"), 0U);
}

TEST(Table, cuts_the_widest_words_to_fit_and_never_a_number) {
  cli::Table table({"name", "value", "meaning"});
  table.align_right(1);
  table.add_row({"degree", "-12.5", "degree of the inputs, by extrapolation"});
  EXPECT_EQ(table.text(1, 30),
            " name    value  meaning\n"
            " ------  -----  --------------\n"
            " degree  -12.5  degree of the…\n");
}

TEST(Wrapped, breaks_at_spaces_and_indents_what_follows) {
  EXPECT_EQ(cli::wrapped("  note: one two three\nshort\n", 15), "  note: one two\n    three\nshort\n");
  EXPECT_EQ(cli::wrapped("averyveryverylongword and\n", 10), "averyveryverylongword\n  and\n");
  EXPECT_EQ(cli::wrapped("\x1b[32mok\x1b[0m two\n", 6), "\x1b[32mok\x1b[0m two\n") << "colours take no room";
}

TEST(Wrapped, command_stays_one_command_for_a_shell) {
  EXPECT_EQ(cli::wrapped("  next: entrain run a --step 0.1\n", 24), "  next: entrain run a \\\n    --step 0.1\n");
}

RunSummary failed_run() {
  RunSummary summary;
  summary.system = "pair";
  summary.method = "jacobi";
  summary.termination = Termination::Failed;
  summary.reached = 1.5;
  summary.step = 0.01;
  summary.macro_steps = 150;
  summary.wall_seconds = 0.5;
  summary.max_coupling_residual = 0.0125;
  summary.worst_connection = "left.x -> right.x";
  summary.warnings = {custom_warning("the range of right.F grew")};
  SubsystemSummary left;
  left.name = "left";
  left.source = "model mechanical.left";
  left.steps = 150;
  summary.subsystems = {left};
  return summary;
}

TEST(FullSummary, contains_the_steps_really_made_where_they_differ) {
  auto summary = failed_run();
  summary.smallest_step = 0.0025;
  summary.largest_step = 0.04;
  EXPECT_NE(cli::full_summary(summary).find("150 macro steps of 0.0025 .. 0.04 s\n"), std::string::npos);
}

TEST(FullSummary, contains_method_steps_speed_quality_and_warnings) {
  EXPECT_EQ(cli::full_summary(failed_run()),
            "pair: failed with jacobi, t = 0 .. 1.5 s\n"
            "  steps              150 macro steps of 0.01 s\n"
            "  wall time          0.500 s (3 simulated s per s)\n"
            "  coupling residual  0.0125 of the output's range, at left.x -> right.x\n"
            "  warning            the range of right.F grew\n"
            "  subsystem  source                 steps  trials  rollbacks  seconds\n"
            "  ---------  ---------------------  -----  ------  ---------  -------\n"
            "  left       model mechanical.left    150       0          0    0.000\n");
}

OutputError output_error(const std::string& name, double bound) {
  OutputError output;
  output.name = name;
  output.unit = "N";
  output.estimate = EstimateKind::Companion;
  output.error = bound / 2.0;
  output.bound = bound;
  output.range = 100.0;
  return output;
}

TEST(BriefSummary, has_the_grade_the_worst_outputs_the_warnings_and_the_command_in_twelve_lines) {
  auto summary = failed_run();
  summary.termination = Termination::Completed;
  for (int i = 0; i < 5; ++i) summary.warnings.push_back(custom_warning("another one"));
  for (int i = 0; i < 9; ++i) summary.notes.push_back(custom_note("an internal"));
  ErrorEstimate estimate;
  for (int i = 1; i < 9; ++i) estimate.outputs.push_back(output_error("a.y" + std::to_string(i), 0.01 * i));
  Verdict verdict;
  verdict.grade = Grade::Check;
  verdict.output = "a.y2";  // by a tolerance of its own
  verdict.bound = 0.02;
  verdict.error = 0.01;
  verdict.reasons = {{FactCode::ErrorOfOutput, {"a.y2"}, {}}};
  verdict.command = "entrain run pair --step 0.001";
  const auto text = cli::brief_summary(summary, verdict, estimate);
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 12) << text;
  EXPECT_TRUE(
      contains(text, "  a.y2      1 %      2 %                1 N\n  a.y8      4 %      8 %                4 N\n"))
      << text;
  EXPECT_FALSE(contains(text, "a.y5")) << text;
  EXPECT_FALSE(contains(text, "an internal")) << text;
  EXPECT_TRUE(contains(text, "and 4 more warnings")) << text;
  EXPECT_TRUE(text.ends_with("  next: entrain run pair --step 0.001\n")) << text;
}

TEST(FullSummary, has_colour_only_when_asked) {
  EXPECT_FALSE(contains(cli::full_summary(failed_run()), "\x1b"));
  EXPECT_TRUE(contains(cli::full_summary(failed_run(), {.colour = true}), "\x1b[31mfailed\x1b[0m"));
}

VariableTable example_variables() {
  VariableTable variables;
  variables.inputs = {{"v", "m/s", "speed", ValueType::Real, std::nullopt}};
  variables.outputs = {{"F", "N", "force", ValueType::Real, std::nullopt}};
  variables.parameters = {{"mode", "", "how", ValueType::String, Value{std::string("exact")}}};
  return variables;
}

TEST(Inspection, lists_variables_with_kind_unit_and_start) {
  EXPECT_EQ(cli::variables_text(example_variables()),
            "  variable  kind       unit  start  description\n"
            "  --------  ---------  ----  -----  -----------\n"
            "  v         input      m/s       -  speed\n"
            "  F         output     N         -  force\n"
            "  mode      parameter        exact  how\n");
}

TEST(Inspection, contains_capabilities_in_plain_words) {
  Capabilities capabilities;
  capabilities.rollback = true;
  capabilities.input_degree = 1;
  capabilities.imposed_step = 0.05;
  capabilities.feedthrough = Feedthrough(1, 1, true);
  const auto text = cli::capabilities_text(capabilities, example_variables());
  EXPECT_TRUE(contains(text, "  can be rolled back: yes\n"));
  EXPECT_TRUE(contains(text, "  inputs inside a step: straight lines\n"));
  EXPECT_TRUE(contains(text, "  provides its linearization: no\n"));
  EXPECT_TRUE(contains(text, "  imposed step: 0.05 s\n"));
  EXPECT_TRUE(contains(text, "  direct feedthrough: F <- v\n"));
  EXPECT_FALSE(contains(text, "smallest step"));
}

TEST(Inspection, contains_how_inputs_are_cut_inside_a_step) {
  Capabilities capabilities;
  capabilities.input_degree = 3;
  capabilities.internal_step = 0.01;
  capabilities.substeps = 4;
  const auto text = cli::capabilities_text(capabilities, {});
  EXPECT_TRUE(contains(text, "  inputs inside a step: cubics, held over internal steps of 0.01 s\n"));
  EXPECT_TRUE(contains(text, "  sub-steps: 4, each with its own inputs\n"));
}

TEST(Inspection, numbers_the_groups_or_reports_that_there_are_none) {
  EXPECT_EQ(cli::groups_text({{"a", "b"}, {"c"}}, "none"), "  1. a, b\n  2. c\n");
  EXPECT_EQ(cli::groups_text({}, "none"), "  none\n");
}

TEST(OptionsText, has_a_line_per_option) {
  const std::vector<OptionHelp> options = {{"degree", "integer", "0", "degree of the inputs"}};
  EXPECT_EQ(cli::options_text(options), "  degree: integer, default 0\n    degree of the inputs\n");
  EXPECT_EQ(cli::options_text({}), "  (no options)\n");
}

TEST(TextReport, of_many_subsystems_shows_those_that_took_longest) {
  RunSummary summary = failed_run();
  summary.subsystems.clear();
  for (int s = 0; s < 1000; ++s) {
    auto& subsystem = summary.subsystems.emplace_back();
    subsystem.name = "part" + std::to_string(s);
    subsystem.seconds = s == 777 ? 2.0 : 0.001;
  }
  const std::string text = cli::full_summary(summary);
  EXPECT_TRUE(contains(text, "part777 ")) << text;
  EXPECT_TRUE(contains(text, "and 976 others that took less time, see run.json")) << text;
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 40);
}

}  // namespace text_report_test
}  // namespace entrain::test
