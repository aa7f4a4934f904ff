// Results in CSV as other tools write them.
#include "read/csv_reader.hpp"

#include <gtest/gtest.h>

#include "entrain/error.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace csv_reader_test {

std::string refusal(const std::string& text) {
  try {
    reading::parse_csv(text, "other.csv");
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

void expect_part(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(CsvReader, last_row_without_a_line_end_counts_when_others_wrote_it) {
  const auto whole = reading::parse_csv("time,a\n0,1\n1,2", "other.csv", reading::OpenEnd::Complete);
  EXPECT_EQ(whole.columns[0], (std::vector<double>{1.0, 2.0}));
  EXPECT_FALSE(whole.cut);
  const auto quoted = reading::parse_csv("time,a\n0,1\n\"1\",\"2\"", "other.csv", reading::OpenEnd::Complete);
  EXPECT_EQ(quoted.columns[0], (std::vector<double>{1.0, 2.0}));
  const auto short_row = reading::parse_csv("time,a\n0,1\n1", "other.csv", reading::OpenEnd::Complete);
  EXPECT_EQ(short_row.columns[0], std::vector<double>{1.0});
  EXPECT_TRUE(short_row.cut);
  EXPECT_TRUE(reading::parse_csv("time,a\n0,1\n1,2", "results.csv").cut)
      << "of a killed run: the last digits may be missing";
}

TEST(CsvReader, byte_order_mark_and_blank_lines_are_no_matter) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "other.csv", "\xEF\xBB\xBFtime,a\r\n0,1\r\n\r\n1,2\r\n\n");
  const auto results = reading::read_csv(folder / "other.csv");
  EXPECT_EQ(results.times, (std::vector<double>{0.0, 1.0}));
  EXPECT_FALSE(results.cut);
}

TEST(CsvReader, says_what_a_file_is_that_it_cannot_read) {
  expect_part(refusal("time;a\n0;1\n"), "other.csv:1: the cells are separated by semicolons");
  expect_part(refusal("time\ta\n0\t1\n"), "separated by tabs");
  expect_part(refusal("x,a\n0,1\n"), "no header that starts with 'time', but 'x,a'");
  expect_part(refusal("time,a"), "ends within its header");
  expect_part(refusal(""), "empty");
}

TEST(CsvReader, time_that_falls_or_is_missing_is_named_with_its_line) {
  expect_part(refusal("time,a\n0,1\n1,1\n0.5,1\n"), "other.csv:4: the time falls, from 1 to 0.5");
  expect_part(refusal("time,a\n0,1\n,1\n"), "other.csv:3: a row without a time");
  EXPECT_EQ(refusal("time,a\n0,1\n1,1\n1,2\n"), "") << "a jump has two values at one time";
}

}  // namespace csv_reader_test
}  // namespace entrain
