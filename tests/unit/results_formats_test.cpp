#include <gtest/gtest.h>
#include <matio.h>
#include <sys/resource.h>

#include <array>
#include <bit>
#include <cmath>
#include <csignal>
#include <limits>
#include <memory>

#include "entrain/error.hpp"
#include "entrain/recording.hpp"
#include "entrain/results.hpp"
#include "record/results_file.hpp"
#include "support/facts.hpp"
#include "support/record_format.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace results_formats_test {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// What formats often lose: signs of zero, the smallest and largest numbers, digits that need all 17 places.
const std::vector<double> kNumbers{0.0,  -0.0, 1.0 / 3.0, 5e-324,     2.2250738585072014e-308, 1.7976931348623157e308,
                                   -0.1, kNaN, kInfinity, -kInfinity, 0.30000000000000004,     6.02214076e23};

std::vector<Signal> signals() {
  return {{"fast.x", "m", "position of the mass", Causality::Output, 0},
          {"fast.v/1", "m/s", "", Causality::Output, 0},
          {"slow.time", "", "a variable with a name of ours", Causality::Output, 1}};
}

double value_at(std::size_t row, std::size_t column) {
  return column == 0 ? kNumbers[row % kNumbers.size()] : 0.1 * static_cast<double>(row) + static_cast<double>(column);
}

/// `fast` communicates at every row, `slow` at every third.
void record(Recorder& recorder, std::size_t rows) {
  RunSummary summary;
  summary.stop = 0.1 * static_cast<double>(rows);
  const auto all = signals();
  recorder.begin(all, summary);
  for (std::size_t row = 0; row < rows; ++row) {
    const double values[] = {value_at(row, 0), value_at(row, 1), value_at(row, 2)};
    const unsigned char communicated[] = {1,
                                          row % 3 == 0 ? static_cast<unsigned char>(1) : static_cast<unsigned char>(0)};
    recorder.communicated({0.1 * static_cast<double>(row), values, {}, communicated, {}}, summary);
  }
  recorder.end(summary);
}

void expect_same_bits(double actual, double expected) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(actual));
  } else {
    EXPECT_EQ(std::bit_cast<std::uint64_t>(actual), std::bit_cast<std::uint64_t>(expected))
        << actual << " " << expected;
  }
}

class Format : public testing::TestWithParam<std::string_view> {
 protected:
  std::filesystem::path file() const { return folder_ / recording::results_file_name(GetParam()); }
  void record_rows(std::size_t rows) {
    Recorder recorder(file(), in_format(GetParam()));
    record(recorder, rows);
  }
  TemporaryFolder folder_;
};

TEST_P(Format, reads_back_to_the_same_bits_over_many_blocks) {
  constexpr std::size_t kRows = 10'000;
  record_rows(kRows);
  const auto results = read_results(file());
  EXPECT_FALSE(results.cut);
  ASSERT_EQ(results.columns.size(), 3U);
  const auto* fast = results.find("fast.x");
  const auto* slow = results.find("slow.time");
  ASSERT_TRUE(fast != nullptr && slow != nullptr && results.find("fast.v/1") != nullptr);
  ASSERT_EQ(fast->values.size(), kRows);
  for (std::size_t row = 0; row < kRows; ++row) {
    expect_same_bits(results.axes[fast->axis][row], 0.1 * static_cast<double>(row));
    expect_same_bits(fast->values[row], value_at(row, 0));
  }
  ASSERT_EQ(slow->values.size(), (kRows + 2) / 3) << "a row without news of a subsystem is no row of it";
  for (std::size_t row = 0; row < kRows; row += 3) {
    expect_same_bits(results.axes[slow->axis][row / 3], 0.1 * static_cast<double>(row));
    expect_same_bits(slow->values[row / 3], value_at(row, 2));
  }
}

TEST_P(Format, contains_units_and_descriptions_unless_it_is_a_bare_table) {
  record_rows(10);
  const auto results = read_results(file());
  const bool table = GetParam() == kCsvFormat;
  EXPECT_EQ(results.find("fast.x")->unit, table ? "" : "m");
  EXPECT_EQ(results.find("fast.x")->description, table ? "" : "position of the mass");
  EXPECT_EQ(results.find("fast.v/1")->unit, table ? "" : "m/s");
}

TEST_P(Format, of_a_run_without_rows_is_a_file_without_samples) {
  record_rows(0);
  const auto results = read_results(file());
  EXPECT_EQ(results.columns.size(), 3U);
  EXPECT_EQ(results.samples(), 0U);
}

/// Signals of bonds belong to a subsystem, and lie with it, but do not have its name.
TEST_P(Format, takes_bonds_of_two_subsystems_alone_and_beside_a_variable_of_the_same_name) {
  const std::vector<Signal> all{{"left.shaft.residual_power", "", "", Causality::Output, 0},
                                {"right.x", "", "", Causality::Output, 1},
                                {"bonds.shaft.residual_power", "W", "", Causality::Method, 0},
                                {"bonds.belt.residual_power", "W", "", Causality::Method, 1}};
  for (const std::string pattern : {"bonds.*", "*"}) {
    RecordDescription description = in_format(GetParam());
    description.variables.emplace().push_back({pattern, {}});
    Recorder recorder(file(), description);
    const double values[] = {1.0, 2.0, 3.0, 4.0};
    recorder.begin(all, {});
    recorder.communicated({0.0, values, {}, {}, {}}, {});
    recorder.end({});
    const auto results = read_results(file());
    ASSERT_EQ(results.columns.size(), pattern == "*" ? 4U : 2U);
    EXPECT_EQ(results.find("bonds.shaft.residual_power")->values, std::vector<double>{3.0});
    EXPECT_EQ(results.find("bonds.belt.residual_power")->values, std::vector<double>{4.0});
  }
}

TEST_P(Format, can_be_read_while_it_is_written) {
  auto recorder = std::make_unique<Recorder>(file(), in_format(GetParam()));
  record(*recorder, 5000);
  EXPECT_EQ(read_results(file()).samples(), 5000U) << "after the end of the run, before the file is closed";
}

TEST_P(Format, that_cannot_be_created_names_the_file_and_a_remedy) {
  write_text(folder_ / "plain", "");
  try {
    Recorder recorder(folder_ / "plain" / "results", in_format(GetParam()));
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::FileFailed);
    EXPECT_TRUE(error.fact().subjects.front().ends_with("plain/results"));
    EXPECT_FALSE(error.context().remedy.empty());
  }
}

TEST_P(Format, on_a_full_disk_is_one_error_of_the_run) {
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit{50'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &limit);
  auto recorder = std::make_unique<Recorder>(file(), in_format(GetParam()));
  EXPECT_THROW(record(*recorder, 100'000), Error);
  EXPECT_NO_THROW(recorder->end({}));
  recorder.reset();
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
}

INSTANTIATE_TEST_SUITE_P(All, Format, testing::ValuesIn(kRecordFormats),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(MatFile, is_read_by_matio_as_dymola_and_openmodelica_lay_it_out) {
  const TemporaryFolder folder;
  const auto file = folder / "results.mat";
  {
    Recorder recorder(file, in_format(kMatFormat));
    record(recorder, 100);
  }
  const std::unique_ptr<mat_t, int (*)(mat_t*)> mat(Mat_Open(file.c_str(), MAT_ACC_RDONLY), Mat_Close);
  ASSERT_NE(mat, nullptr);
  std::vector<std::string> names;
  const auto next = [&] {
    return std::unique_ptr<matvar_t, void (*)(matvar_t*)>(Mat_VarReadNext(mat.get()), Mat_VarFree);
  };
  for (auto matrix = next(); matrix; matrix = next()) {
    names.emplace_back(matrix->name);
    const auto rows = matrix->dims[0];
    const auto columns = matrix->dims[1];
    if (names.back() == "Aclass") {
      EXPECT_EQ(rows, 4U);
    } else if (names.back() == "name") {
      EXPECT_EQ(columns, 4U);
      EXPECT_EQ(std::string(static_cast<const char*>(matrix->data) + rows, 6), "fast.x");
    } else if (names.back() == "data_2") {
      ASSERT_EQ(rows, 4U);
      ASSERT_EQ(columns, 100U);
      const auto* data = static_cast<const double*>(matrix->data);
      for (std::size_t row = 0; row < 100; ++row) {
        expect_same_bits(data[4 * row], 0.1 * static_cast<double>(row));
        expect_same_bits(data[4 * row + 1], value_at(row, 0));
        expect_same_bits(data[4 * row + 3], row % 3 == 0 ? value_at(row, 2) : kNaN);
      }
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"Aclass", "name", "description", "dataInfo", "data_1", "data_2"}));
}

TEST(MatFile, that_is_none_or_cut_is_named) {
  const TemporaryFolder folder;
  write_text(folder / "a.mat", "MATLAB 5.0 MAT-file, of a version we do not read, with a text of this length");
  EXPECT_THROW(read_results(folder / "a.mat"), Error);
  write_text(folder / "b.h5", "no HDF5");
  EXPECT_THROW(read_results(folder / "b.h5"), Error);
  EXPECT_THROW(read_results(folder / "missing.h5"), Error);
  EXPECT_THROW(read_results(folder / "missing.mat"), Error);
}

/// A matrix of version 4, of doubles or (type 51) of letters.
std::string matrix_bytes(std::int32_t type, std::int32_t rows, std::int32_t columns, const std::string& name,
                         const std::string& content) {
  const std::array<std::int32_t, 5> header{type, rows, columns, 0, static_cast<std::int32_t>(name.size()) + 1};
  return std::string(reinterpret_cast<const char*>(header.data()), sizeof header) + name + '\0' + content;
}

TEST(MatFile, with_sizes_and_places_that_make_no_sense_is_refused_at_once) {
  const TemporaryFolder folder;
  constexpr std::int32_t kLetters = 51;
  constexpr std::int32_t kDoubles = 0;
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  write_text(folder / "empty.mat", matrix_bytes(kLetters, kMost, 0, "Aclass", ""));
  EXPECT_THROW(read_results(folder / "empty.mat"), Error);  // there are not two thousand million texts in it
  for (const double place : {0.5, 2.0, -3.0, 1e300, -1e300, kNaN}) {
    const auto numbers = [](const std::vector<double>& values) {
      return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
    };
    write_text(folder / "place.mat", matrix_bytes(kLetters, 1, 1, "Aclass", "A") +
                                         matrix_bytes(kLetters, 1, 1, "name", "x") +
                                         matrix_bytes(kDoubles, 1, 1, "description", numbers({1e300})) +
                                         matrix_bytes(kDoubles, 1, 2, "dataInfo", numbers({2.0, place})) +
                                         matrix_bytes(kDoubles, 1, 1, "data_2", numbers({0.0})));
    EXPECT_THROW(read_results(folder / "place.mat"), Error) << place;
  }
}

TEST(RecordFormat, in_the_system_file_is_checked_and_written_back) {
  const auto system = [](const std::string& format) {
    return "[run]\nstop = 1.0\n[subsystems.a]\nmodel = \"mechanical.left\"\n[record]\nformat = " + format + "\n";
  };
  const auto description = system_from(system("\"hdf5\""));
  EXPECT_EQ(description.record.format->value, "hdf5");
  EXPECT_NE(system_text(description).find("format = \"hdf5\""), std::string::npos);
  const auto problems = refusal_of([&] { system_from(system("\"hdf\"")); });
  ASSERT_TRUE(has_fact(problems, FactCode::UnknownFormat, "hdf"));
  EXPECT_EQ(problems[0].remedy, "did you mean 'hdf5'?");
  EXPECT_THROW(system_from(system("5")), Error);
}

}  // namespace results_formats_test
}  // namespace entrain::test
