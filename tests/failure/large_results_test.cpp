// Results that are larger than the memory that a reader may take: they are read some columns at a time.
#include <gtest/gtest.h>

#include <filesystem>

#include "entrain/results.hpp"
#include "entrain/system_description.hpp"
#include "read/drawn_results.hpp"
#include "read/results_readers.hpp"
#include "support/large_results.hpp"
#include "support/limited_program.hpp"

namespace entrain {
namespace large_results_test {

using test::TemporaryFolder;

class LargeResults : public testing::TestWithParam<std::string_view> {
 protected:
  std::filesystem::path file() const { return folder_ / recording::results_file_name(GetParam()); }
  TemporaryFolder folder_;
};

/// 40 million numbers take 320 MB as doubles.
TEST_P(LargeResults, report_takes_less_memory_than_they_do) {
  constexpr std::size_t kColumns = 10;
  constexpr std::size_t kRows = 4'000'000;
  constexpr long kMostKilobytes = 200 * 1024;
  const auto run = test::run_program(
      folder_, {"run", test::examples_folder() + "/oscillator", "--stop", "0.1", "--no-estimate", "--out", "out"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::filesystem::remove(folder_ / "out/results.csv");
  test::write_large_results(GetParam(), folder_ / "out" / recording::results_file_name(GetParam()), kColumns, kRows);
  const auto report = test::run_limited(folder_, {"report", "out"}, 120);
  EXPECT_EQ(report.ended.exit_code, 0) << report.ended.err;
  EXPECT_LT(report.peak_kilobytes, kMostKilobytes);
  EXPECT_GT(std::filesystem::file_size(folder_ / "out/report.html"), 100'000U);
}

TEST_P(LargeResults, drawn_in_parts_have_the_extremes_and_ends_of_the_whole) {
  constexpr std::size_t kRows = 300'000;
  test::write_large_results(GetParam(), file(), 5, kRows);
  const auto whole = reading::read_drawn(file());
  const auto parts = reading::read_drawn(file(), 2 * kRows);  // a column at a time
  ASSERT_EQ(whole.results.columns.size(), 5U);
  ASSERT_EQ(parts.results.columns.size(), 5U);
  EXPECT_EQ(parts.samples, std::vector<std::size_t>(5, kRows));
  EXPECT_EQ(parts.samples, whole.samples);
  EXPECT_EQ(parts.last, whole.last);
  EXPECT_EQ(parts.not_finite, 0U);
  for (std::size_t c = 0; c < 5; ++c) {
    const auto& all = whole.results.columns[c];
    const auto& drawn = parts.results.columns[c];
    EXPECT_EQ(drawn.name, all.name);
    EXPECT_LT(drawn.values.size(), all.values.size());
    EXPECT_EQ(drawn.values.size(), parts.results.times(drawn).size());
    EXPECT_EQ(*std::max_element(drawn.values.begin(), drawn.values.end()),
              *std::max_element(all.values.begin(), all.values.end()));
    EXPECT_EQ(parts.results.times(drawn).front(), 0.0);
    EXPECT_EQ(parts.results.times(drawn).back(), static_cast<double>(kRows - 1));
  }
}

TEST_P(LargeResults, chosen_columns_are_those_of_the_whole) {
  test::write_large_results(GetParam(), file(), 12, 3000);
  const auto whole = read_results(file());
  const auto some = read_results(file(), {"s.x3", "s.x1*"});
  ASSERT_EQ(whole.columns.size(), 12U);
  std::vector<std::string> names;
  for (const auto& column : some.columns) names.push_back(column.name);
  EXPECT_EQ(names, (std::vector<std::string>{"s.x1", "s.x3", "s.x10", "s.x11"}));
  for (const auto& column : some.columns) {
    EXPECT_EQ(column.values, whole.find(column.name)->values);
    EXPECT_EQ(some.times(column), whole.times(*whole.find(column.name)));
  }
  EXPECT_TRUE(read_results(file(), {"nothing"}).columns.empty());
}

INSTANTIATE_TEST_SUITE_P(Formats, LargeResults, testing::ValuesIn(kRecordFormats),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace large_results_test
}  // namespace entrain
