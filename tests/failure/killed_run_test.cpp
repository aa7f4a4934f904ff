// A run that is killed leaves results that can be read, in all formats.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "entrain/results.hpp"
#include "report/page.hpp"
#include "support/long_run.hpp"
#include "support/program.hpp"

namespace entrain::test {
namespace killed_run_test {

struct Format {
  const char* name;
  const char* file;
  const char* written;  ///< while the run goes on
};

class KilledRun : public testing::TestWithParam<Format> {
 protected:
  /// A run of millions of rows, killed some time after its first rows were on the disk for good.
  void run_and_kill(int more_milliseconds) {
    std::filesystem::remove_all(folder_ / "out");
    Program program(folder_, {"run", "system.toml", "--out", "out", "--quiet"});
    const auto file = folder_ / "out" / GetParam().written;
    std::error_code missing;
    ASSERT_TRUE(eventually([&] { return std::filesystem::file_size(file, missing) > 2'000'000 && !missing; }));
    std::this_thread::sleep_for(std::chrono::milliseconds(more_milliseconds));
    program.send(SIGKILL);
    ASSERT_EQ(program.wait().end_signal, SIGKILL) << "the run was over before it could be killed";
  }
  void write_system() { write_text(folder_ / "system.toml", long_run(1e-5, GetParam().name)); }
  TemporaryFolder folder_;
};

TEST_P(KilledRun, leaves_whole_rows_that_a_report_shows) {
  write_system();
  for (const int later : {0, 137}) {
    run_and_kill(later);
    const auto results = read_results(folder_ / "out" / GetParam().file);
    ASSERT_GT(results.samples(), 1000U);
    for (const auto& axis : results.axes) {
      for (std::size_t k = 0; k < axis.size(); ++k) ASSERT_NEAR(axis[k], 1e-5 * static_cast<double>(k), 1e-12);
    }
    for (const auto& column : results.columns) {
      ASSERT_EQ(column.values.size(), results.axes[column.axis].size());
      // Both populations are positive: a row that was counted but not written would be zero.
      for (const double value : column.values) ASSERT_TRUE(std::isfinite(value) && value > 0.0) << column.name;
    }
  }
  if (reporting::page_template().empty()) return;
  const auto report = run_program(folder_, {"report", "out"});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_NE(text_of(folder_ / "out/report.html").find("run was killed"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(, KilledRun,
                         testing::Values(Format{"csv", "results.csv", "results.csv"},
                                         Format{"hdf5", "results.h5", "results.h5.journal"},
                                         Format{"mat", "results.mat", "results.mat.journal"}),
                         [](const auto& format) { return std::string(format.param.name); });

}  // namespace killed_run_test
}  // namespace entrain::test
