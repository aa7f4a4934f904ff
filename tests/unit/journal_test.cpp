#include "record/journal.hpp"

#include <gtest/gtest.h>

#include "entrain/fact_codes.hpp"
#include "entrain/recording.hpp"
#include "entrain/results.hpp"
#include "entrain/system_description.hpp"
#include "support/record_format.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace journal_test {

namespace fs = std::filesystem;
using recording::RecordedLayout;
using recording::RowBlock;

/// A real number, an integer that no double has, and a text; two groups, of which the second is known in even rows.
RecordedLayout layout() {
  RecordedLayout layout;
  layout.groups = {"a", "b"};
  layout.columns.push_back({"a.x", "m", "", 0});
  layout.columns.push_back({"a.n", "", "", 0, ValueType::Integer, 0});
  layout.columns.push_back({"b.s", "", "", 1, ValueType::String, 1});
  return layout;
}
constexpr std::int64_t kLarge = (std::int64_t{1} << 60U) + 1;

RowBlock block_of(std::size_t first, std::size_t rows) {
  RowBlock block(3, 2, rows, 2);
  for (std::size_t i = first; i < first + rows; ++i) {
    const auto row = block.add(0.1 * static_cast<double>(i));
    row.values[0] = static_cast<double>(i);
    row.known[0] = 1;
    row.known[1] = i % 2 == 0 ? 1 : 0;
    row.discrete[0] = kLarge + static_cast<std::int64_t>(i);
    row.discrete[1] = std::string(i, 's');
  }
  return block;
}

/// Two records, of 3 and 5 rows.
fs::path written(const TemporaryFolder& folder) {
  const auto file = folder / "results.h5";
  const auto journal = recording::journal_file(kHdf5Format, file);
  journal->write_header(layout());
  const auto first = block_of(0, 3);
  const auto second = block_of(3, 5);
  journal->write(first, first.all());
  journal->write(second, {0, 2});
  journal->write(second, {2, 5});
  EXPECT_EQ(journal->last_time(), 0.1 * 7);
  return recording::journal_of(file);
}

std::size_t rows_in(const fs::path& journal) {
  recording::JournalReader reader(journal);
  std::size_t rows = 0;
  while (const auto block = reader.next()) {
    for (std::size_t i = 0; i < block->rows(); ++i, ++rows) {
      EXPECT_EQ(block->time(i), 0.1 * static_cast<double>(rows));
      EXPECT_EQ(block->value(i, 0), static_cast<double>(rows));
      EXPECT_TRUE(block->known(i, 0));
      EXPECT_EQ(block->known(i, 1), rows % 2 == 0);
      EXPECT_EQ(block->discrete(i, 0), Value(kLarge + static_cast<std::int64_t>(rows)));
      EXPECT_EQ(block->discrete(i, 1), Value(std::string(rows, 's')));
    }
  }
  return rows;
}

TEST(Journal, reads_back_what_was_written_with_its_layout) {
  const TemporaryFolder folder;
  const auto journal = written(folder);
  const recording::JournalReader reader(journal);
  EXPECT_EQ(reader.format(), kHdf5Format);
  EXPECT_EQ(reader.layout().columns[2].name, "b.s");
  EXPECT_EQ(reader.layout().columns[1].discrete, 0U);
  EXPECT_EQ(rows_in(journal), 8U);
}

TEST(Journal, cut_anywhere_ends_with_its_last_complete_record) {
  const TemporaryFolder folder;
  const auto bytes = text_of(written(folder));
  const auto cut = folder / "cut";
  std::size_t most = 0;
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    write_text(cut, bytes.substr(0, size));
    try {
      const auto rows = rows_in(cut);
      EXPECT_TRUE(rows == 0 || rows == 3 || rows == 5 || rows == 8) << rows;
      EXPECT_GE(rows, most) << "more bytes cannot be fewer rows";
      most = rows;
    } catch (const Error& error) {
      EXPECT_EQ(error.fact().code, FactCode::JournalUnreadable);
      EXPECT_EQ(most, 0U);
    }
  }
  EXPECT_EQ(most, 8U);
}

TEST(Journal, with_a_byte_that_is_another_ends_before_that_record) {
  const TemporaryFolder folder;
  const auto bytes = text_of(written(folder));
  for (std::size_t at = bytes.size() / 2; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write_text(folder / "damaged", damaged);
    EXPECT_LT(rows_in(folder / "damaged"), 8U) << at;
  }
}

TEST(Journal, with_a_column_of_no_group_or_value_is_none) {
  const TemporaryFolder folder;
  for (const auto& [group, discrete] : {std::pair<std::size_t, std::size_t>{2, 0}, {1, 2}}) {
    auto wrong = layout();
    wrong.columns[1].group = group;
    wrong.columns[1].discrete = discrete;
    const auto file = folder / "results.mat";
    const auto journal = recording::journal_file(kMatFormat, file);
    journal->write_header(wrong);
    EXPECT_THROW(recording::JournalReader{recording::journal_of(file)}, Error) << group << ' ' << discrete;
  }
}

TEST(Journal, of_a_killed_run_is_made_into_the_file_by_the_first_reader) {
  const TemporaryFolder folder;
  const auto journal = written(folder);
  const auto file = folder / "results.h5";
  ASSERT_FALSE(fs::exists(file));
  const auto results = read_results(file);
  EXPECT_EQ(results.find("a.x")->values, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(results.times(*results.find("b.s")).size(), 4U);
  EXPECT_TRUE(fs::exists(file));
  EXPECT_FALSE(fs::exists(journal));
}

TEST(Journal, of_a_run_that_ends_is_gone_and_its_file_is_there) {
  const TemporaryFolder folder;
  const auto file = folder / "results.mat";
  {
    Recorder recorder(file, in_format(kMatFormat));
    const std::vector<Signal> signals{{"a.y", "", "", Causality::Output, 0}};
    recorder.begin(signals, {});
    const double value = 1.0;
    recorder.communicated({0.0, {&value, 1}, {}, {}, {}}, {});
    EXPECT_TRUE(fs::exists(recording::journal_of(file)));
    EXPECT_FALSE(fs::exists(file)) << "no reader meets a part of it";
    recorder.end({});
    EXPECT_EQ(recorder.recorded_until(), 0.0);
  }
  EXPECT_FALSE(fs::exists(recording::journal_of(file)));
  EXPECT_EQ(read_results(file).samples(), 1U);
}

}  // namespace journal_test
}  // namespace entrain::test
