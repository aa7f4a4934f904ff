#include "entrain/recording.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "entrain/recording.hpp"
#include "read/csv_reader.hpp"
#include "record/selection.hpp"
#include "support/facts.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {
namespace csv_recorder_test {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Signal signal(const std::string& name, std::size_t subsystem, Causality causality = Causality::Output) {
  return {name, "", "", causality, subsystem};
}

RecordDescription record(const std::vector<std::string>& patterns) {
  RecordDescription description;
  description.variables.emplace();
  for (const auto& pattern : patterns) description.variables->push_back({pattern, {"system.toml", 7, 1}});
  return description;
}

RecordDescription every(double interval) {
  RecordDescription description;
  description.interval = Written<double>{interval, {}};
  return description;
}

/// Plays a run by hand.
class PlayedRun {
 public:
  PlayedRun(Observer& observer, std::vector<Signal> signals, Time start = 0.0, Time stop = 1.0)
      : observer_(observer), signals_(std::move(signals)) {
    summary_.start = start;
    summary_.stop = stop;
    observer_.begin(signals_, summary_);
  }
  void at(Time t, const std::vector<double>& values, const std::vector<unsigned char>& communicated,
          const std::vector<double>& slopes = {}) {
    observer_.communicated({t, values, slopes, communicated, {}}, summary_);
  }
  void end() { observer_.end(summary_); }
  void resume_at(Time t, const std::vector<double>& values, std::span<const std::byte> memory) {
    observer_.resume({t, values, {}, {}, {}}, summary_, memory);
  }

 private:
  Observer& observer_;
  std::vector<Signal> signals_;
  RunSummary summary_;
};

class CsvRecorderTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_ / "results.csv"; }
  std::string text() const { return text_of(file()); }
  std::string header_for(const RecordDescription& description, const std::vector<Signal>& signals) {
    Recorder recorder(file(), description);
    PlayedRun(recorder, signals).end();
    return text();
  }
  TemporaryFolder folder_;
};

TEST_F(CsvRecorderTest, records_all_outputs_by_default) {
  EXPECT_EQ(header_for({}, {signal("a.u", 0, Causality::Input), signal("a.y", 0), signal("b.y", 1)}), "time,a.y,b.y\n");
}

TEST_F(CsvRecorderTest, puts_outputs_before_inputs_and_states_and_names_each_once) {
  const std::vector<Signal> signals = {signal("a.u", 0, Causality::Input), signal("a.x", 0),
                                       signal("a.x", 0, Causality::State), signal("b.x", 1)};
  EXPECT_EQ(header_for(record({"a.*", "*.x"}), signals), "time,a.x,b.x,a.u\n");
}

TEST_F(CsvRecorderTest, quotes_names_as_rfc_4180_asks) {
  EXPECT_EQ(header_for({}, {signal("a.y[1,2]", 0), signal("a.\"q\"", 0)}), "time,\"a.y[1,2]\",\"a.\"\"q\"\"\"\n");
  EXPECT_EQ(reading::read_csv(file()).names, (std::vector<std::string>{"a.y[1,2]", "a.\"q\""}));
}

TEST_F(CsvRecorderTest, reports_every_pattern_that_matches_nothing_with_a_suggestion) {
  Recorder recorder(file(), record({"prey.q", "prey.p", "zz*"}));
  try {
    const PlayedRun run(recorder, {signal("prey.p", 0)});
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidSystem);
    ASSERT_EQ(error.problems().size(), 2U);
    EXPECT_EQ(outline(error.problems()[0]), "system.toml:7: nothing-matches prey.q; did you mean 'prey.p'?");
  }
}

TEST_F(CsvRecorderTest, asks_for_states_and_slopes_only_when_it_uses_them) {
  const std::vector<Signal> signals = {signal("a.y", 0), signal("a.x", 0, Causality::State)};
  Recorder outputs(file());
  PlayedRun outputs_run(outputs, signals);
  EXPECT_FALSE(outputs.needs().states || outputs.needs().slopes);
  Recorder states(file(), record({"*"}));
  PlayedRun states_run(states, signals);
  EXPECT_TRUE(states.needs().states);
  Recorder gridded(file(), every(0.1));
  PlayedRun gridded_run(gridded, signals);
  EXPECT_TRUE(gridded.needs().slopes);
}

TEST_F(CsvRecorderTest, leaves_cells_empty_where_a_subsystem_did_not_communicate) {
  Recorder recorder(file());
  PlayedRun run(recorder, {signal("a.y", 0), signal("b.y", 1)});
  run.at(0.0, {1.0, 2.0}, {1, 1});
  run.at(0.5, {-0.25, 2.0}, {1, 0});
  run.at(1.0, {kNaN, 1e300}, {1, 1});
  run.end();
  EXPECT_EQ(text(), "time,a.y,b.y\n0,1,2\n0.5,-0.25,\n1,NaN,1e+300\n");
}

TEST_F(CsvRecorderTest, writes_numbers_that_read_back_to_the_same_bits) {
  const std::vector<double> values = {0.1 + 0.2,
                                      -std::numeric_limits<double>::max(),
                                      -std::numeric_limits<double>::min(),
                                      5e-324,
                                      -1.2345678901234567e-308,
                                      1.0 / 3.0};
  std::vector<Signal> signals;
  for (std::size_t i = 0; i < values.size(); ++i) signals.push_back(signal("a.y" + std::to_string(i), 0));
  Recorder recorder(file());
  PlayedRun run(recorder, signals);
  run.at(0.0, values, {1});
  run.end();
  const auto results = reading::read_csv(file());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(results.columns[i].at(0), values[i]);
}

TEST_F(CsvRecorderTest, holds_rows_wider_than_its_buffer) {
  std::vector<Signal> signals;
  for (std::size_t i = 0; i < 20'000; ++i) signals.push_back(signal("a.y" + std::to_string(i), 0));
  const std::vector<double> values(signals.size(), -1.2345678901234567e-300);
  Recorder recorder(file());
  PlayedRun run(recorder, signals);
  for (const double t : {0.0, 0.5, 1.0}) run.at(t, values, {1});
  run.end();
  const auto results = reading::read_csv(file());
  EXPECT_EQ(results.times, (std::vector<double>{0.0, 0.5, 1.0}));
  EXPECT_EQ(results.columns.back().back(), values.back());
}

double cubic(double t) {
  return 1.0 - 2.0 * t + 0.5 * t * t + 3.0 * t * t * t;
}
double cubic_slope(double t) {
  return -2.0 + t + 9.0 * t * t;
}

// A cubic is its own Hermite interpolant: what is left is the rounding of a few operations on numbers near 4.
constexpr double kRounding = 1e-14;

TEST_F(CsvRecorderTest, interval_reproduces_a_cubic_from_values_and_slopes) {
  Recorder recorder(file(), every(0.1));
  PlayedRun run(recorder, {signal("a.y", 0)});
  for (const double t : {0.0, 0.33, 0.5, 1.0}) run.at(t, {cubic(t)}, {1}, {cubic_slope(t)});
  run.end();
  const auto results = reading::read_csv(file());
  ASSERT_EQ(results.times.size(), 11U);
  for (std::size_t k = 0; k < 11; ++k) {
    EXPECT_EQ(results.times[k], static_cast<double>(k) * 0.1);
    EXPECT_NEAR(results.columns[0][k], cubic(results.times[k]), kRounding);
  }
}

TEST_F(CsvRecorderTest, interval_is_linear_where_a_slope_is_unknown) {
  Recorder recorder(file(), every(0.25));
  PlayedRun run(recorder, {signal("a.y", 0)});
  run.at(0.0, {0.0}, {1}, {5.0});
  run.at(1.0, {2.0}, {1}, {kNaN});
  run.end();
  EXPECT_EQ(text(), "time,a.y\n0,0\n0.25,0.5\n0.5,1\n0.75,1.5\n1,2\n");
}

TEST_F(CsvRecorderTest, interval_takes_the_value_itself_at_communication_times) {
  Recorder recorder(file(), every(0.1));
  PlayedRun run(recorder, {signal("a.y", 0)}, 0.0, 0.3);
  for (int k = 0; k <= 3; ++k) run.at(k == 3 ? 0.3 : k * 0.1, {1.0 / (k + 3.0)}, {1}, {1e9});
  run.end();
  const auto results = reading::read_csv(file());
  ASSERT_EQ(results.times.size(), 4U);  // 3 * 0.1 is not 0.3, yet it is the same row
  for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(results.columns[0][k], 1.0 / (static_cast<double>(k) + 3.0));
}

TEST_F(CsvRecorderTest, interval_has_no_row_at_a_stop_time_off_the_grid) {
  Recorder recorder(file(), every(0.4));
  PlayedRun run(recorder, {signal("a.y", 0)});
  for (int k = 0; k <= 10; ++k) run.at(k * 0.1, {1.0}, {1}, {0.0});
  run.end();
  EXPECT_EQ(reading::read_csv(file()).times, (std::vector<double>{0.0, 0.4, 0.8}));
}

// The start time's rounding is 1e-16, far more than that of the small times near zero.
TEST_F(CsvRecorderTest, interval_finds_the_last_row_of_a_run_that_ends_near_zero) {
  Recorder recorder(file(), every(0.001));
  PlayedRun run(recorder, {signal("a.y", 0)}, -1.0, 0.001);
  run.at(-1.0, {1.0}, {1}, {0.0});
  run.at(0.001, {1.0}, {1}, {0.0});
  run.end();
  EXPECT_EQ(reading::read_csv(file()).times.size(), 1002U);
}

// The slow subsystem communicates every 50 steps: 500 rows wait for it, and come out as if they had not.
TEST_F(CsvRecorderTest, interval_waits_for_a_slow_subsystem_and_uses_each_signals_own_times) {
  Recorder recorder(file(), every(0.001));
  PlayedRun run(recorder, {signal("fast.y", 0), signal("slow.y", 1)});
  for (int k = 0; k <= 100; ++k) {
    const double t = k * 0.01;
    const unsigned char slow = k % 50 == 0 ? 1 : 0;
    run.at(t, {cubic(t), slow != 0 ? cubic(t) : kNaN}, {1, slow}, {cubic_slope(t), slow != 0 ? cubic_slope(t) : kNaN});
  }
  run.end();
  const auto results = reading::read_csv(file());
  ASSERT_EQ(results.times.size(), 1001U);
  for (std::size_t k = 0; k < results.times.size(); ++k) {
    EXPECT_NEAR(results.columns[0][k], cubic(results.times[k]), kRounding);
    EXPECT_NEAR(results.columns[1][k], cubic(results.times[k]), kRounding);
  }
}

TEST_F(CsvRecorderTest, interval_flushes_waiting_rows_when_the_run_ends_early) {
  Recorder recorder(file(), every(0.1));
  PlayedRun run(recorder, {signal("fast.y", 0), signal("slow.y", 1)});
  run.at(0.0, {1.0, 2.0}, {1, 1}, {0.0, 0.0});
  run.at(0.15, {1.0, 2.0}, {1, 0}, {0.0, 0.0});
  run.end();
  EXPECT_EQ(text(), "time,fast.y,slow.y\n0,1,2\n0.1,1,\n");
}

/// The slow one has communicated at 0 alone when the run is interrupted: the rows since are written without it. In the
/// run that goes on they come again, complete; also in the file of the first.
TEST_F(CsvRecorderTest, interval_goes_on_from_a_checkpoint_with_the_rows_that_were_not_complete) {
  const std::vector<Signal> signals{signal("fast.y", 0), signal("slow.y", 1)};
  const auto half = [](PlayedRun& run) {
    run.at(0.0, {0.0, 0.0}, {1, 1});
    run.at(0.25, {1.0, 0.0}, {1, 0});
    run.at(0.5, {2.0, 0.0}, {1, 0});
  };
  const auto rest = [](PlayedRun& run) {
    run.at(0.75, {3.0, 6.0}, {1, 1});
    run.at(1.0, {4.0, 8.0}, {1, 1});
    run.end();
  };
  {
    Recorder recorder(folder_ / "whole.csv", every(0.25));
    PlayedRun run(recorder, signals);
    half(run);
    rest(run);
  }
  const auto whole = text_of(folder_ / "whole.csv");
  std::vector<std::byte> memory;
  {
    Recorder recorder(file(), every(0.25));
    PlayedRun run(recorder, signals);
    half(run);
    const auto running = recorder.memory();
    run.end();
    memory = recorder.memory();
    EXPECT_TRUE(memory == running);
  }
  EXPECT_EQ(text(), "time,fast.y,slow.y\n0,0,0\n0.25,1,\n0.5,2,\n");
  {
    Recorder recorder(folder_ / "rest.csv", every(0.25));
    PlayedRun run(recorder, signals);
    run.resume_at(0.5, {2.0, 0.0}, memory);
    rest(run);
  }
  EXPECT_EQ(text_of(folder_ / "rest.csv"), "time,fast.y,slow.y\n0.25,1,2\n0.5,2,4\n0.75,3,6\n1,4,8\n");
  {
    Recorder recorder(file(), every(0.25), true);
    PlayedRun run(recorder, signals);
    run.resume_at(0.5, {2.0, 0.0}, memory);
    rest(run);
  }
  EXPECT_EQ(text(), whole);
}

TEST_F(CsvRecorderTest, interval_that_makes_no_usable_rows_is_refused) {
  for (const double interval : {0.0, -1.0, kNaN, 1e-300}) {
    Recorder recorder(file(), every(interval));
    EXPECT_THROW(PlayedRun(recorder, {signal("a.y", 0)}), Error) << interval;
  }
}

TEST_F(CsvRecorderTest, file_that_cannot_be_created_is_named_with_a_remedy) {
  write_text(folder_ / "plain", "");
  try {
    Recorder recorder(folder_ / "plain/results.csv");
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::FileFailed);
    EXPECT_TRUE(error.fact().subjects.front().ends_with("plain/results.csv"));
    EXPECT_FALSE(error.context().remedy.empty());
  }
}

TEST_F(CsvRecorderTest, full_device_is_one_error_and_end_is_silent) {
  Recorder recorder("/dev/full");
  try {
    const PlayedRun run(recorder, {signal("a.y", 0)});
    FAIL() << "must throw";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::FileFailed);
    EXPECT_EQ(error.fact().text("why"), "no space left on device");
  }
  EXPECT_NO_THROW(recorder.end({}));
}

/// No file of this process may grow beyond `bytes` while this lives: a disk that becomes full in the middle of a write.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : ignored_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, ignored_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  void (*ignored_)(int);
  rlimit before_{};
};

TEST_F(CsvRecorderTest, cuts_a_half_written_row_when_space_runs_out) {
  const FileSizeLimit limit(1000);
  Recorder recorder(file());
  PlayedRun run(recorder, {signal("a.y", 0)});
  for (int k = 0; k < 200; ++k) run.at(k, {1.0 / 3.0}, {1});
  EXPECT_THROW(run.end(), Error);
  EXPECT_NO_THROW(run.end());
  const auto results = reading::read_csv(file());
  EXPECT_FALSE(results.cut);
  EXPECT_GT(results.times.size(), 30U);
  EXPECT_GT(std::filesystem::file_size(file()), 970U);
}

TEST(CsvReader, leaves_out_a_cut_last_line) {
  const auto results = reading::parse_csv("time,a.y\n0,1\n0.5,NaN\n1,", "results.csv");
  EXPECT_TRUE(results.cut);
  EXPECT_EQ(results.times, (std::vector<double>{0.0, 0.5}));
  EXPECT_TRUE(std::isnan(results.column("a.y")[1]));
  EXPECT_THROW(results.column("a.z"), Error);
}

TEST(CsvReader, names_the_line_that_makes_no_sense) {
  for (const auto* text : {"time,a.y\n0,1\n0.5,x\n", "time,a.y\n0,1\n0.5\n"}) {
    try {
      reading::parse_csv(text, "results.csv");
      FAIL() << "must throw";
    } catch (const Error& error) {
      EXPECT_TRUE(error.message().starts_with("results.csv:3: ")) << error.message();
    }
  }
  EXPECT_THROW(reading::parse_csv("", "results.csv"), Error);
}

TEST(MemoryRecorder, keeps_chosen_signals_and_marks_what_was_not_communicated) {
  MemoryRecorder recorder({"b.*"});
  PlayedRun run(recorder, {signal("a.y", 0), signal("b.y", 1)});
  run.at(0.0, {1.0, 2.0}, {1, 1});
  run.at(0.5, {3.0, 4.0}, {1, 0});
  EXPECT_EQ(recorder.names, std::vector<std::string>{"b.y"});
  EXPECT_EQ(recorder.times, (std::vector<double>{0.0, 0.5}));
  EXPECT_EQ(recorder.column("b.y")[0], 2.0);
  EXPECT_TRUE(std::isnan(recorder.column("b.y")[1]));
}

TEST(Patterns, star_stands_for_any_run_of_characters) {
  EXPECT_TRUE(recording::matches("*", ""));
  EXPECT_TRUE(recording::matches("a*c*e", "abcde"));
  EXPECT_TRUE(recording::matches("*.x", "a.x.x"));
  EXPECT_TRUE(recording::matches("a.x**", "a.x"));
  EXPECT_FALSE(recording::matches("a*c", "abcd"));
  EXPECT_FALSE(recording::matches("", "a"));
  EXPECT_FALSE(recording::matches("a?c", "abc"));
}

}  // namespace csv_recorder_test
}  // namespace entrain::test
