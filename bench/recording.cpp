// What recording costs the run per number, and what it costs in all: a run of 20 signals is played to the recorder.
// The cost of creating a file, with the names of all signals, is reported separately: it does not grow with the run. So
// is the cost of making HDF5 and MAT of the journal when the run has ended.
#include <pthread.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <vector>

#include "budget.hpp"
#include "entrain/recording.hpp"
#include "record/results_file.hpp"

namespace {

using namespace entrain;

constexpr std::size_t kSignals = 20;
constexpr std::size_t kSubsystems = 4;
constexpr std::size_t kRows = 100'000;

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Cost {
  double opening = 1e9;  ///< of the file, s
  double run = 1e9;      ///< of the thread of the run from then on, s
  double all = 1e9;      ///< of all threads, s
  double making = 1e9;   ///< of the file after the run, s
};

Cost record(std::string_view format, const std::filesystem::path& file) {
  std::vector<Signal> signals;
  for (std::size_t i = 0; i < kSignals; ++i) {
    signals.push_back({fmt::format("s{}.y{}", i % kSubsystems, i), "m", "", Causality::Output, i % kSubsystems});
  }
  RunSummary summary;
  summary.stop = 1e-3 * kRows;
  summary.step = 1e-3;
  const std::vector<unsigned char> communicated(kSubsystems, 1);
  std::vector<double> values(kSignals);
  RecordDescription description;
  description.format = {std::string(format), {}};
  Recorder recorder(file, description);
  const double begin = thread_seconds();
  recorder.begin(signals, summary);
  const double all_before = bench::processor_seconds();
  const double before = thread_seconds();
  for (std::size_t row = 0; row < kRows; ++row) {
    // Digits as in a real run, at the cost of one multiplication.
    for (std::size_t i = 0; i < kSignals; ++i)
      values[i] = (values[i] + 0.123456789 * static_cast<double>(i + 1)) * 0.987654321;
    recorder.communicated({1e-3 * static_cast<double>(row), values, {}, communicated, {}}, summary);
  }
  const auto written = recorder.memory();  // waits for all rows
  const double run = thread_seconds() - before;
  const double all = bench::processor_seconds() - all_before;
  const double ended = thread_seconds();
  recorder.end(summary);
  return {before - begin, run, all, thread_seconds() - ended};
}

}  // namespace

int main() {
  bench::Budgets budgets;
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("entrain-recording-{}", ::getpid());
  std::filesystem::create_directories(folder);
  fmt::print("{} rows of {} signals of {} subsystems, per number in the file, best of {}\n", kRows, kSignals,
             kSubsystems, bench::kRepetitions);
  struct Case {
    const char* format;
    std::size_t times;  ///< in a row; HDF5 has a time axis per subsystem
    double budget;      ///< ns in all
  };
  for (const auto& [format, times, budget] :
       {Case{"csv", 1, 60.0}, Case{"hdf5", kSubsystems, 10.0}, Case{"mat", 1, 10.0}}) {
    Cost best;
    for (int i = 0; i < bench::kRepetitions; ++i) {
      const Cost cost = record(format, folder / recording::results_file_name(format));
      best = {std::min(best.opening, cost.opening), std::min(best.run, cost.run), std::min(best.all, cost.all),
              std::min(best.making, cost.making)};
    }
    const double to_ns = 1e9 / static_cast<double>(kRows * (kSignals + times));
    budgets.check(fmt::format("{}: to make the file", format), 1e3 * best.opening, 10.0, "ms");
    budgets.check(fmt::format("{}: in the run", format), best.run * to_ns, 6.0, "ns");
    budgets.check(fmt::format("{}: with the writer's thread", format), best.all * to_ns, budget, "ns");
    budgets.check(fmt::format("{}: to make it of the journal, afterwards", format), best.making * to_ns, 20.0, "ns");
  }
  std::filesystem::remove_all(folder);
  return budgets.exit_code();
}
