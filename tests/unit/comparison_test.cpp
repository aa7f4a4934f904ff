#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "cli/comparison_text.hpp"
#include "cli/sparkline.hpp"
#include "compare/comparison_data.hpp"
#include "compare/difference.hpp"
#include "entrain/comparison.hpp"
#include "entrain/error.hpp"
#include "support/facts.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace comparison_test {

struct Samples {
  std::vector<double> times;
  std::vector<double> values;
  comparing::Course course() const { return {times, values}; }
};

Samples sampled(double from, double to, std::size_t steps, double (*f)(double)) {
  Samples samples;
  for (std::size_t k = 0; k <= steps; ++k) {
    const double t = from + (to - from) * static_cast<double>(k) / static_cast<double>(steps);
    samples.times.push_back(t);
    samples.values.push_back(f(t));
  }
  return samples;
}

TEST(Difference, of_a_straight_line_has_the_closed_form_on_any_two_grids) {
  // d(t) = t on 0 .. 1: rms 1/sqrt(3), max 1 at the end; the trapezoidal rule adds 1/(12 n^2) under the root.
  const auto zero = sampled(0.0, 1.0, 1000, [](double) { return 0.0; });
  const auto ramp = sampled(0.0, 1.0, 700, [](double t) { return t; });
  for (const auto& [run, reference] : {std::pair(&ramp, &zero), std::pair(&zero, &ramp)}) {
    const auto found = comparing::difference(run->course(), reference->course());
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->rms, std::sqrt(1.0 / 3.0), 1e-6);
    EXPECT_EQ(found->max, 1.0);
    EXPECT_EQ(found->at, 1.0);
  }
}

TEST(Difference, does_not_see_the_interpolation_of_the_coarser_run) {
  // Exact samples of a sine on 11 points against 1001: comparing on the fine grid would show h^2 / 8 = 1e-3.
  const auto coarse = sampled(0.0, 1.0, 10, [](double t) { return std::sin(t); });
  const auto fine = sampled(0.0, 1.0, 1000, [](double t) { return std::sin(t); });
  EXPECT_LT(comparing::difference(coarse.course(), fine.course())->max, 1e-15);
  EXPECT_LT(comparing::difference(fine.course(), coarse.course())->max, 1e-15);
}

TEST(Difference, cubics_follow_a_smooth_reference_between_its_samples_and_stop_at_a_jump) {
  std::vector<Time> times;
  std::vector<double> values;
  for (int k = 0; k <= 20; ++k) {
    times.push_back(0.1 * k);
    values.push_back(std::sin(0.1 * k));
    if (k == 10) {  // at 1 s it jumps by 5
      times.push_back(times.back());
      values.push_back(std::sin(1.0) + 5.0);
    } else if (k > 10) {
      values.back() += 5.0;
    }
  }
  const std::vector<Time> at{0.03, 0.57, 0.93, 1.02, 1.47};
  std::vector<double> exact;
  exact.reserve(at.size());
  for (const Time t : at) exact.push_back(std::sin(t) + (t > 1.0 ? 5.0 : 0.0));
  const auto by = [&](comparing::Between between) {
    return comparing::difference({at, exact}, {times, values}, 0.0, between)->max;
  };
  EXPECT_GT(by(comparing::Between::Lines), 5e-4);
  EXPECT_LT(by(comparing::Between::Cubics), 1e-4);  // at the ends, and beside the jump, they are parabolas
}

TEST(Difference, is_not_made_by_a_jump_of_which_one_run_has_both_sides) {
  // 0, then 1 from t = 1 on; one run comes as near to the jump as it can, the other has a step that ends there.
  const std::vector<Time> times{0.0, 0.5, 1.0 - 1e-12, 1.0, 1.5, 2.0};
  const std::vector<double> values{0.0, 0.0, 0.0, 1.0, 1.0, 1.0};
  const std::vector<Time> fine{0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0};
  const std::vector<double> stepped{0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0};
  for (const comparing::Between between : {comparing::Between::Lines, comparing::Between::Cubics}) {
    EXPECT_EQ(comparing::difference({times, values}, {fine, stepped}, 0.0, between)->rms, 0.0);
  }
}

TEST(Difference, is_relative_to_the_range_of_the_reference_or_to_its_size) {
  const auto wave = sampled(0.0, 1.0, 100, [](double t) { return 5.0 + 2.0 * t; });
  const auto shifted = sampled(0.0, 1.0, 100, [](double t) { return 5.5 + 2.0 * t; });
  EXPECT_NEAR(*comparing::difference(shifted.course(), wave.course())->relative, 0.25, 1e-12);
  const auto constant = sampled(0.0, 1.0, 100, [](double) { return 5.0; });
  const auto other = sampled(0.0, 1.0, 100, [](double) { return 5.5; });
  EXPECT_NEAR(*comparing::difference(other.course(), constant.course())->relative, 0.1, 1e-12);
}

TEST(Difference, is_taken_where_both_are_known_only) {
  const auto early = sampled(0.0, 2.0, 20, [](double t) { return t; });
  const auto late = sampled(1.0, 3.0, 20, [](double t) { return t; });
  EXPECT_LT(comparing::difference(early.course(), late.course())->max, 1e-15);
  const auto apart = sampled(5.0, 6.0, 10, [](double t) { return t; });
  EXPECT_FALSE(comparing::difference(early.course(), apart.course()));
  EXPECT_FALSE(comparing::difference(early.course(), comparing::Course{}));
}

TEST(Difference, with_a_value_that_is_not_a_number_is_not_a_number) {
  auto broken = sampled(0.0, 1.0, 10, [](double t) { return t; });
  broken.values[4] = std::numeric_limits<double>::quiet_NaN();
  const auto whole = sampled(0.0, 1.0, 10, [](double t) { return t; });
  const auto found = comparing::difference(broken.course(), whole.course());
  EXPECT_TRUE(std::isnan(found->max) && std::isnan(found->rms) && std::isnan(*found->relative));
  EXPECT_EQ(found->at, broken.times[4]);
}

class CompareRuns : public testing::Test {
 protected:
  std::string csv(const std::string& name, const std::string& text) {
    write_text(folder_ / name, text);
    return (folder_ / name).string();
  }
  TemporaryFolder folder_;
};

TEST_F(CompareRuns, lists_the_worst_variable_first_and_names_what_is_missing) {
  const auto a = csv("a.csv", "time,m.x,m.y,m.z\n0,0,0,1\n1,1,10,1\n");
  const auto b = csv("b.csv", "time,m.x,m.y\n0,0,5\n1,1.1,15\n");
  const auto comparison = compare({a, b}, std::nullopt);
  ASSERT_EQ(comparison.differences.size(), 2U);
  EXPECT_EQ(comparison.differences[0].name, "m.y");
  EXPECT_NEAR(*comparison.differences[0].difference.relative, 0.5, 1e-15);
  EXPECT_NEAR(*comparison.runs[1].error, 0.5, 1e-15);
  ASSERT_EQ(comparison.notes.size(), 1U);
  EXPECT_TRUE(has_fact(comparison.notes, FactCode::NothingToCompareFor, "m.z"));
  const auto text = cli::comparison_text(comparison);
  EXPECT_LT(text.find("m.y"), text.find("m.x"));
}

TEST_F(CompareRuns, takes_the_reference_that_is_named) {
  const auto a = csv("a.csv", "time,m.x\n0,0\n1,1\n");
  const auto b = csv("b.csv", "time,m.x\n0,0\n1,2\n");
  EXPECT_EQ(compare({a, b}, b).reference, 1U);
  EXPECT_EQ(compare({a}, b).runs.size(), 2U);
  EXPECT_EQ(compare({a, b}, std::nullopt).reference, 0U);
}

TEST_F(CompareRuns, without_anything_in_common_is_an_error) {
  const auto a = csv("a.csv", "time,m.x\n0,0\n");
  EXPECT_THROW(compare({a, csv("b.csv", "time,m.y\n0,0\n")}, std::nullopt), Error);
  EXPECT_THROW(compare({a, csv("c.csv", "time,m.x\n7,0\n")}, std::nullopt), Error);
  EXPECT_THROW(compare({a, (folder_ / "nowhere").string()}, std::nullopt), Error);
}

TEST_F(CompareRuns, names_the_summary_that_is_damaged) {
  const auto whole = csv("whole.csv", "time,a.x\n0,1\n1,2\n");
  for (const std::string damaged :
       {R"({"subsystems": [{"steps": "x"}]})", R"({"subsystems": [], "method": 5})",
        R"({"subsystems": [], "format": "x"})", R"({"subsystems": [], "signals": {"a.x": {"unit": 5}}})"}) {
    std::filesystem::create_directories(folder_ / "run");
    write_text(folder_ / "run" / "run.json", damaged);
    write_text(folder_ / "run" / "results.csv", "time,a.x\n0,1\n1,2\n");
    try {
      compare({whole, (folder_ / "run").string()}, std::nullopt);
      ADD_FAILURE() << damaged;
    } catch (const std::exception& error) {
      EXPECT_NE(std::string(error.what()).find("run.json"), std::string::npos) << error.what();
    }
  }
}

TEST(Sparkline, goes_from_the_lowest_to_the_highest_block) {
  Envelope course(1, 16);
  for (int i = 0; i < 8; ++i) {
    const double value = i;
    course.add(i, std::span(&value, 1));
  }
  EXPECT_EQ(cli::sparkline(course, 0, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(cli::sparkline(course, 0, 2), "▁█");
  EXPECT_EQ(cli::sparkline(Envelope(1, 4), 0, 8), "");
  Envelope flat(1, 4);
  for (const double value : {2.0, std::numeric_limits<double>::quiet_NaN()}) flat.add(0.0, std::span(&value, 1));
  EXPECT_EQ(cli::sparkline(flat, 0, 8), "▅ ");
}

}  // namespace comparison_test
}  // namespace entrain::test
