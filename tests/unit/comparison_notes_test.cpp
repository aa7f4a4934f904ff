// What a comparison reports of units, spans, ends and references that are 0.
#include <gtest/gtest.h>

#include "entrain/comparison.hpp"
#include "entrain/error.hpp"
#include "support/facts.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace comparison_notes_test {

class ComparisonNotes : public testing::Test {
 protected:
  /// A folder as a run leaves it.
  std::string run(const std::string& name, const std::string& unit, const std::string& csv,
                  const std::string& end = "\"completed\"") {
    std::filesystem::create_directory(folder_ / name);
    write_text(folder_ / name / "run.json",
               R"({"subsystems": {}, "termination": )" + end + R"(, "signals": {"m.v": {"unit": ")" + unit + R"("}}})");
    write_text(folder_ / name / "results.csv", csv);
    return (folder_ / name).string();
  }
  std::string csv(const std::string& name, const std::string& text) {
    write_text(folder_ / name, text);
    return (folder_ / name).string();
  }
  static Fact refusal(const std::vector<std::filesystem::path>& runs,
                      const std::optional<std::filesystem::path>& reference) {
    const auto error = test::error_of([&] { compare(runs, reference); });
    return error ? error->fact() : Fact{};
  }
  TemporaryFolder folder_;
};

constexpr const char* kMetres = "time,m.v\n0,0\n1,2\n";

TEST_F(ComparisonNotes, values_are_compared_in_the_unit_of_the_reference) {
  const auto comparison =
      compare({run("a", "m/s", kMetres), run("b", "mm/s", "time,m.v\n0,0\n1,2500\n")}, std::nullopt);
  ASSERT_EQ(comparison.differences.size(), 1U);
  EXPECT_DOUBLE_EQ(comparison.differences[0].difference.max, 0.5);
  EXPECT_EQ(comparison.runs[1].results.columns[0].unit, "m/s");
}

TEST_F(ComparisonNotes, units_that_do_not_go_together_are_named_and_left_out) {
  const auto what = refusal({run("a", "m/s", kMetres), run("b", "kg", kMetres)}, std::nullopt);
  EXPECT_EQ(what.code, FactCode::NothingInCommon);
  EXPECT_NE(what.text("why").find("m.v (kg | m/s)"), std::string::npos) << what;
  EXPECT_EQ(compare({run("c", "m/s", kMetres), csv("d.csv", kMetres)}, std::nullopt).differences.size(), 1U)
      << "a file without units is taken at its word";
}

TEST_F(ComparisonNotes, last_row_of_a_foreign_file_without_a_line_end_is_compared) {
  const auto comparison = compare({csv("a.csv", "time,x\n0,0\n1,1"), csv("b.csv", "time,x\n0,0\n1,3")}, std::nullopt);
  EXPECT_EQ(comparison.differences[0].difference.max, 2.0);
  EXPECT_TRUE(comparison.notes.empty());
}

TEST_F(ComparisonNotes, spans_that_differ_and_runs_that_did_not_complete_are_reported) {
  const auto a = run("a", "m/s", kMetres);
  const auto b = run("b", "m/s", "time,m.v\n0,0\n0.5,1\n0.7", R"("failed", "message": "subsystem 'm' gave up")");
  const auto c = run("c", "m/s", kMetres, "\"running\"");
  const auto notes = compare({a, b, c}, std::nullopt).notes;
  EXPECT_EQ(number_of(notes, FactCode::ComparedInPart, "to", "b"), 0.5);
  EXPECT_EQ(number_of(notes, FactCode::ComparedInPart, "reference_to", "b"), 1.0);
  EXPECT_NE(word_of(notes, FactCode::RunEndedEarly, "how", "b").find("'m' gave up"), std::string::npos);
  EXPECT_TRUE(has_fact(notes, FactCode::RowLeftOut, "b"));
  EXPECT_TRUE(has_fact(notes, FactCode::RunEndedEarly, "c"));
  EXPECT_EQ(notes.size(), 4U) << "nothing of a, nor of the span of c";
}

TEST_F(ComparisonNotes, reference_that_is_zero_hides_nothing) {
  const auto comparison =
      compare({csv("a.csv", "time,x,y\n0,0,0\n1,1,0\n"), csv("b.csv", "time,x,y\n0,0,0\n1,1.5,1e-19\n")}, std::nullopt);
  EXPECT_EQ(comparison.differences[0].name, "x");
  EXPECT_FALSE(comparison.differences[1].difference.relative);
  EXPECT_LT(*comparison.runs[1].error, 1.0);
  EXPECT_TRUE(has_fact(comparison.notes, FactCode::NoRelativeDifference));
}

TEST_F(ComparisonNotes, signals_of_one_unit_measure_one_that_is_zero) {
  const auto of = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directory(folder_ / name);
    write_text(folder_ / name / "run.json",
               R"({"subsystems": {}, "signals": {"m.x": {"unit": "m"}, "m.y": {"unit": "m"}}})");
    write_text(folder_ / name / "results.csv", text);
    return (folder_ / name).string();
  };
  const auto reference = of("a", "time,m.x,m.y\n0,0,0\n1,1,0\n");
  const auto noise = compare({of("b", "time,m.x,m.y\n0,0,0\n1,1.5,1e-19\n")}, reference);
  EXPECT_EQ(noise.differences[0].name, "m.x") << "noise of a signal that rests is not the worst";
  const auto moved = compare({of("c", "time,m.x,m.y\n0,0,0\n1,1.5,1e-3\n")}, reference);
  EXPECT_EQ(moved.differences[0].name, "m.y") << "but motion is";
}

TEST_F(ComparisonNotes, run_alone_with_itself_is_refused) {
  const auto a = run("a", "m/s", kMetres);
  EXPECT_EQ(refusal({a}, a + "/.").code, FactCode::NothingToCompareWith);
}

}  // namespace comparison_notes_test
}  // namespace entrain::test
