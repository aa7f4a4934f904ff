// Values that are no real numbers reach a file of results unchanged, or the run reports that they cannot.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <limits>

#include "entrain/error.hpp"
#include "entrain/recording.hpp"
#include "entrain/results.hpp"
#include "support/facts.hpp"
#include "support/record_format.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain::test {
namespace typed_recording_test {

struct Row {
  std::int64_t integer;
  std::uint64_t natural;
  bool flag;
  std::string text;
  Binary bytes;
};

const std::vector<Row> kRows{
    {std::numeric_limits<std::int64_t>::min(), 0, false, "", {}},
    {9007199254740993, std::numeric_limits<std::uint64_t>::max(), true, "a, \"b\"; Grüße\n", {{0x00, 0xff, 0x0a}}},
    {std::numeric_limits<std::int64_t>::max(), 9007199254740993U, true, "漢字", {{0x7f}}}};

const std::vector<Signal> kSignals{{"a.y", "m", "", Causality::Output, 0, ValueType::Real, std::nullopt},
                                   {"a.i", "", "", Causality::Output, 0, ValueType::Integer, 0},
                                   {"a.n", "", "", Causality::Output, 0, ValueType::Unsigned, 1},
                                   {"a.b", "", "", Causality::Output, 0, ValueType::Boolean, 2},
                                   {"a.s", "", "", Causality::Output, 0, ValueType::String, 3},
                                   {"a.x", "", "", Causality::Output, 0, ValueType::Binary, 4}};

void record(Recorder& recorder, std::span<const Row> rows) {
  RunSummary summary;
  summary.stop = 1.0;
  recorder.begin(kSignals, summary);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto& of = rows[row];
    const std::vector<double> values(kSignals.size(), 0.5);
    const std::vector<Value> discrete{of.integer, of.natural, of.flag, of.text, of.bytes};
    recorder.communicated({0.1 * static_cast<double>(row), values, {}, {}, {}, discrete}, summary);
  }
  recorder.end(summary);
}

struct OpenSet {
  OpenSet(const std::filesystem::path& path, const char* name)
      : file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)), set(H5Dopen2(file, name, H5P_DEFAULT)) {}
  ~OpenSet() {
    H5Dclose(set);
    H5Fclose(file);
  }
  OpenSet(const OpenSet&) = delete;
  OpenSet& operator=(const OpenSet&) = delete;

  hid_t file;
  hid_t set;
};

template <class Number>
std::vector<Number> read_numbers(const std::filesystem::path& path, const char* name, hid_t type) {
  const OpenSet open(path, name);
  const hid_t stored = H5Dget_type(open.set);
  EXPECT_GT(H5Tequal(stored, type), 0) << name << " must be stored in its own type";
  H5Tclose(stored);
  std::vector<Number> numbers(kRows.size());
  EXPECT_GE(H5Dread(open.set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()), 0);
  return numbers;
}

std::vector<std::string> read_texts(const std::filesystem::path& path, const char* name) {
  const OpenSet open(path, name);
  const hid_t type = H5Dget_type(open.set);
  std::vector<char*> pointers(kRows.size());
  EXPECT_GE(H5Dread(open.set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), 0);
  std::vector<std::string> texts;
  for (char* pointer : pointers) {
    texts.emplace_back(pointer);
    H5free_memory(pointer);
  }
  H5Tclose(type);
  return texts;
}

TEST(TypedRecording, in_hdf5_keeps_every_type_exactly) {
  const TemporaryFolder folder;
  const auto file = folder / "results.h5";
  {
    Recorder recorder(file, in_format(kHdf5Format));
    record(recorder, kRows);
  }
  const auto integers = read_numbers<std::int64_t>(file, "a/i", H5T_NATIVE_INT64);
  const auto naturals = read_numbers<std::uint64_t>(file, "a/n", H5T_NATIVE_UINT64);
  const auto flags = read_numbers<std::int8_t>(file, "a/b", H5T_NATIVE_INT8);
  const auto texts = read_texts(file, "a/s");
  const auto bytes = read_texts(file, "a/x");
  for (std::size_t row = 0; row < kRows.size(); ++row) {
    EXPECT_EQ(integers[row], kRows[row].integer);
    EXPECT_EQ(naturals[row], kRows[row].natural);
    EXPECT_EQ(flags[row], kRows[row].flag ? 1 : 0);
    EXPECT_EQ(texts[row], kRows[row].text);
  }
  EXPECT_EQ(bytes, (std::vector<std::string>{"", "00ff0a", "7f"}));
}

TEST(TypedRecording, in_hdf5_is_read_back_as_the_nearest_numbers_and_texts_as_none) {
  const TemporaryFolder folder;
  const auto file = folder / "results.h5";
  {
    Recorder recorder(file, in_format(kHdf5Format));
    record(recorder, kRows);
  }
  const auto results = read_results(file);
  ASSERT_EQ(results.columns.size(), kSignals.size());
  EXPECT_FALSE(results.cut);
  EXPECT_EQ(results.find("a.n")->values[1], 18446744073709551616.0);
  EXPECT_EQ(results.find("a.b")->values[2], 1.0);
  EXPECT_TRUE(std::isnan(results.find("a.s")->values[0]));
  EXPECT_TRUE(results.find("a.s")->text && results.find("a.x")->text);
  EXPECT_FALSE(results.find("a.y")->text || results.find("a.i")->text);
  EXPECT_EQ(results.find("a.y")->values, (std::vector<double>{0.5, 0.5, 0.5}));
}

// In every format the same signals are texts, with a sample in every row: an empty text is one, too.
TEST(TypedRecording, texts_are_distinguished_from_numbers_in_every_format) {
  std::vector<Row> rows = kRows;
  rows[1].integer = 7;  // MAT holds integers up to 2 to the 53
  rows[1].natural = rows[2].natural = 7;
  rows[2].integer = rows[0].integer = 7;
  rows[1].text = "1e3";
  rows[1].bytes.bytes = {0x1e, 0x39};  // "1e39", if it were a number
  for (const auto format : kRecordFormats) {
    SCOPED_TRACE(format);
    const TemporaryFolder folder;
    const auto file = folder / ("results." + std::string(format == kHdf5Format ? "h5" : format));
    {
      Recorder recorder(file, in_format(format));
      record(recorder, rows);
    }
    const auto results = read_results(file);
    ASSERT_EQ(results.columns.size(), kSignals.size());
    EXPECT_EQ(results.axes.size(), 1U);
    for (const auto& column : results.columns) {
      SCOPED_TRACE(column.name);
      EXPECT_EQ(column.values.size(), rows.size());
      EXPECT_EQ(column.text, column.name == "a.s" || column.name == "a.x");
      for (const double value : column.values) EXPECT_EQ(std::isnan(value), column.text);
    }
    EXPECT_EQ(results.find("a.s")->description, "");
  }
}

TEST(TypedRecording, results_are_saved_without_texts_and_their_times) {
  const Results results{
      .axes = {{0.0, 1.0}, {}, {0.5}},
      .columns = {{"a.y", "m", "", 0, {1.0, 2.0}}, {"b.s", "", "", 1, {}, true}, {"b.x", "", "", 2, {}, true}}};
  for (const char* name : {"saved.csv", "saved.h5", "saved.mat"}) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    write_results(results, folder / name);
    const auto saved = read_results(folder / name);
    ASSERT_EQ(saved.columns.size(), 1U);
    EXPECT_EQ(saved.axes, (std::vector<std::vector<Time>>{{0.0, 1.0}}));
    EXPECT_EQ(saved.find("a.y")->values, (std::vector<double>{1.0, 2.0}));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "."), {}), 1) << "nothing but the file";
  }
}

TEST(TypedRecording, in_mat_keeps_integers_up_to_2_to_the_53) {
  const TemporaryFolder folder;
  Recorder recorder(folder / "results.mat", in_format(kMatFormat));
  record(recorder,
         std::vector<Row>{{9007199254740992, 9007199254740992U, true, "x", {}}, {-9007199254740992, 0, false, "", {}}});
  const auto results = read_results(folder / "results.mat");
  EXPECT_EQ(results.find("a.i")->values, (std::vector<double>{9007199254740992.0, -9007199254740992.0}));
  EXPECT_EQ(results.find("a.b")->values, (std::vector<double>{1.0, 0.0}));
  EXPECT_TRUE(std::isnan(results.find("a.s")->values[0]));
}

TEST(TypedRecording, in_mat_fails_rather_than_round_an_integer) {
  const auto failure = [](const Row& row) {
    const TemporaryFolder folder;
    Recorder recorder(folder / "results.mat", in_format(kMatFormat));
    const auto error = error_of([&] { record(recorder, std::vector<Row>{row}); });
    EXPECT_EQ(error->fact().code, FactCode::IntegerTooLarge);
    return error->fact();
  };
  const Fact signed_one = failure({9007199254740993, 0, false, "", {}});
  EXPECT_EQ(signed_one.subjects.back(), "a.i");
  EXPECT_EQ(signed_one.text("value"), "9007199254740993");
  EXPECT_EQ(signed_one.number("time"), 0.0);
  EXPECT_NE(signed_one.remedy.find("hdf5"), std::string::npos) << signed_one;
  EXPECT_EQ(failure({-9007199254740993, 0, false, "", {}}).text("value"), "-9007199254740993");
  EXPECT_EQ(failure({0, 9007199254740993U, false, "", {}}).subjects.back(), "a.n");
}

TEST(TypedRecording, in_mat_reports_before_the_run_that_texts_and_bytes_have_no_place) {
  const TemporaryFolder folder;
  write_typed3(folder);
  const auto description = system_in(
      folder,
      "[run]\nstop = 1.0\nopen = [\"a.*\"]\n[subsystems.a]\nfmu = \"typed3.fmu\"\n[record]\nformat = \"mat\"\n"
      "variables = [\"a.out.String\", \"a.out.Binary\", \"a.out.Int64\"]\n");
  const Simulation simulation(description);
  ASSERT_EQ(simulation.summary().warnings.size(), 1U);
  EXPECT_EQ(word_of(simulation.summary().warnings, FactCode::LostInMat, "names"), "a.out.String, a.out.Binary");
}

}  // namespace typed_recording_test
}  // namespace entrain::test
