#include "entrain/reproduce.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "entrain/entrain.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "reproduce/entry.hpp"
#include "reproduce/measure.hpp"
#include "support/places.hpp"

namespace entrain {
namespace reproduce_test {

TEST(Reproduce, a_row_is_ok_within_its_tolerance_on_both_sides) {
  const reproducing::Tolerance ten_percent{0.1, "for the test"};
  EXPECT_TRUE(reproducing::compared("q", {}, 2.0, 2.19, ten_percent).ok);
  EXPECT_TRUE(reproducing::compared("q", {}, 2.0, 1.81, ten_percent).ok);
  EXPECT_FALSE(reproducing::compared("q", {}, 2.0, 2.21, ten_percent).ok);
  EXPECT_FALSE(reproducing::compared("q", {}, 2.0, 1.0, ten_percent).ok);
}

TEST(Reproduce, an_error_may_beat_the_reference_where_smaller_is_better) {
  const reproducing::Tolerance error{0.1, "for the test", reproducing::Better::Smaller};
  EXPECT_TRUE(reproducing::compared("q", {}, 2.0, 1e-9, error).ok);
  EXPECT_FALSE(reproducing::compared("q", {}, 2.0, 2.3, error).ok);
}

TEST(Reproduce, printed_numbers_are_met_beaten_or_not_met) {
  using reproducing::Better;
  const auto printed = [](std::optional<double> paper, double ours, Better better) {
    const auto number = paper ? reproducing::Printed(*paper, "somewhere", better) : reproducing::Printed();
    return reproducing::compared("", number, 1.0, ours, {0.0, ""}).printed;
  };
  EXPECT_EQ(printed({}, 1.0, Better::Smaller), PrintedNumber::NotPrinted);
  EXPECT_EQ(printed(2.0, 2.09, Better::Smaller), PrintedNumber::Met);
  EXPECT_EQ(printed(2.0, 2.11, Better::Smaller), PrintedNumber::NotMet);
  EXPECT_EQ(printed(2.0, 1.0, Better::Smaller), PrintedNumber::Beaten);
  EXPECT_EQ(printed(2.0, 1.0, Better::Neither), PrintedNumber::NotMet);
  EXPECT_EQ(printed(3.0, 4.0, Better::Larger), PrintedNumber::Beaten);
  EXPECT_EQ(printed(3.0, 2.0, Better::Larger), PrintedNumber::NotMet);
  EXPECT_EQ(printed(3.0, std::numeric_limits<double>::quiet_NaN(), Better::Larger), PrintedNumber::NotMet);
}

TEST(Reproduce, a_printed_number_counts_once_by_the_best_of_its_rows) {
  using reproducing::Better;
  const auto row = [](const char* where, double ours) {
    return reproducing::compared("q", {2.0, where, Better::Smaller}, 1.0, ours, {0.0, ""});
  };
  auto incomparable = reproducing::Printed(2.0, "time");
  incomparable.comparable = false;
  const std::vector<ReproduceResult> results{
      {"a.one", "", {row("x", 9.0), row("x", 1.0), row("y", 2.0), row("z", 9.0)}, {}, {}},
      {"a.two", "", {row("y", 9.0), reproducing::compared("q", incomparable, 1.0, 1.0, {0.0, ""})}, {}, {}},
      {"b.one", "", {row("x", 9.0), reproducing::compared("q", {}, 1.0, 1.0, {0.0, ""})}, {}, {}}};
  const auto counts = printed_counts(results);
  EXPECT_EQ(counts.beaten, 1U);          // x of paper a
  EXPECT_EQ(counts.met, 1U);             // y of paper a, in both of its tables
  EXPECT_EQ(counts.not_met, 2U);         // z of paper a, x of paper b
  EXPECT_EQ(counts.not_comparable, 1U);  // the time of paper a
  EXPECT_EQ(counts.numbers(), 5U);
}

TEST(Reproduce, nan_is_never_ok) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(reproducing::compared("q", {}, 2.0, nan, {0.1, "", reproducing::Better::Smaller}).ok);
  EXPECT_FALSE(reproducing::compared("q", {}, 2.0, nan, {0.1, ""}).ok);
}

TEST(Reproduce, the_error_is_relative_to_the_range_of_the_reference) {
  EXPECT_DOUBLE_EQ(reproducing::percent_error({1.0, 3.0}, {0.0, 4.0}), 25.0);  // rms 1 of a range of 4
}

TEST(Reproduce, an_unknown_id_gets_a_suggestion) {
  try {
    reproduce("missiles.table5", Examples{"."});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'missiles.table4'?"), std::string::npos) << error.what();
  }
}

TEST(Reproduce, models_are_swapped_for_their_fmus_and_nothing_else_changes) {
  const auto native = load(test::examples_folder() + "/lotka_volterra");
  const auto swapped = reproducing::with_fmus(native, {test::fmu_folder() + "/test/strict/2"});
  ASSERT_EQ(swapped.subsystems.size(), 2U);
  EXPECT_EQ(swapped.subsystems[0].name, "prey");
  EXPECT_EQ(swapped.subsystems[0].fmu, test::fmu_folder() + "/test/strict/2/lotka_volterra_prey.fmu");
  for (const auto& subsystem : swapped.subsystems) EXPECT_TRUE(subsystem.model.empty());
  EXPECT_EQ(swapped.subsystems[0].start.size(), native.subsystems[0].start.size());
}

TEST(Reproduce, missing_fmu_is_named_with_the_remedy) {
  try {
    reproducing::with_fmus(load(test::examples_folder() + "/mechanical"), {"nowhere"});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::FileFailed);
    EXPECT_EQ(error.fact().code, FactCode::NoSuchFile);
    EXPECT_EQ(error.fact().subjects, std::vector<std::string>{"nowhere/mechanical_left.fmu"});
    EXPECT_EQ(error.context().subsystem, "left");
    EXPECT_NE(error.fact().remedy.find("ENTRAIN_FMUS"), std::string::npos);
  }
}

}  // namespace reproduce_test
}  // namespace entrain
