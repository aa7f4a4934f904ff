// Results in CSV as other tools write them.
#include "read/csv_reader.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/facts.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace csv_reader_test {

std::string refusal(const std::string& text) {
  return test::refusal_outline([&] { reading::parse_csv(text, "other.csv"); });
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

// The bytes of binary signals are hexadecimal digits in quotes, and "1e39" is a number where the quotes are ignored.
TEST(CsvReader, quoted_cell_is_a_text_unless_the_time_has_quotes_too) {
  const auto ours = reading::parse_csv("time,bytes,x\n0,\"1e39\",1\n1,\"ffff\",2\n2,\"true\",3\n", "results.csv");
  EXPECT_TRUE(ours.text[0]);
  EXPECT_FALSE(ours.text[1]);
  for (const double value : ours.columns[0]) EXPECT_TRUE(std::isnan(value));
  EXPECT_EQ(ours.columns[1], (std::vector<double>{1.0, 2.0, 3.0}));
  const auto other = reading::parse_csv("\"time\",\"x\"\n\"0\",\"1e3\"\n\"1\",\"true\"\n", "other.csv");
  EXPECT_FALSE(other.text[0]);
  EXPECT_EQ(other.columns[0], (std::vector<double>{1000.0, 1.0}));
}

TEST(CsvReader, file_that_it_cannot_read_is_named_for_what_it_is) {
  EXPECT_EQ(refusal("time;a\n0;1\n"), "other.csv:1: csv-separator (separator = semicolons)");
  EXPECT_EQ(refusal("time\ta\n0\t1\n"), "other.csv:1: csv-separator (separator = tabs)");
  EXPECT_EQ(refusal("x,a\n0,1\n"), "other.csv:1: csv-no-header (first = x,a)");
  EXPECT_EQ(refusal("time,a"), "other.csv:1: csv-header-cut");
  EXPECT_EQ(refusal(""), "other.csv:1: csv-empty");
}

TEST(CsvReader, time_that_falls_or_is_missing_is_named_with_its_line) {
  EXPECT_EQ(refusal("time,a\n0,1\n1,1\n0.5,1\n"), "other.csv:4: csv-time-falls (from = 1 s, to = 0.5 s)");
  EXPECT_EQ(refusal("time,a\n0,1\n,1\n"), "other.csv:3: csv-no-time");
  EXPECT_EQ(refusal("time,a\n0,1\n1,1\n1,2\n"), "accepted") << "a jump has two values at one time";
}

}  // namespace csv_reader_test
}  // namespace entrain
