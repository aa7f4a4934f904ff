#include "subsystem/native/csv_source.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "entrain/error.hpp"
#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace csv_source_test {

std::unique_ptr<subsystem::CsvSource> source(std::string_view text,
                                             TableInterpolation interpolation = TableInterpolation::Hold) {
  return subsystem::parse_csv_source(text, "load.csv", interpolation);
}

double value_at(const Model& model, Time t, std::size_t output = 0) {
  std::vector<double> y(model.variables().outputs.size());
  model.outputs({t, {}, {}, {}, {}}, y);
  return y[output];
}

double rate_at(const Model& model, Time t) {
  std::vector<double> dy(model.variables().outputs.size());
  model.output_rates({t, {}, {}, {}, {}}, dy);
  return dy[0];
}

constexpr std::string_view kTable = "time,torque [N.m],speed\n0,1,10\n1,3,10\n2,3,20\n";

TEST(CsvSource, holds_each_row_until_the_next_and_announces_every_change) {
  const auto table = source(kTable);
  EXPECT_EQ(value_at(*table, 0.0), 1.0);
  EXPECT_EQ(value_at(*table, 0.999), 1.0);
  EXPECT_EQ(value_at(*table, 1.0), 3.0);
  EXPECT_EQ(value_at(*table, 1.0 - 1e-16), 3.0);  // one rounding before is the row itself
  EXPECT_EQ(value_at(*table, 2.0, 1), 20.0);
  EXPECT_EQ(rate_at(*table, 0.5), 0.0);
  EXPECT_EQ(table->next_discontinuity(-1.0), 1.0);
  EXPECT_EQ(table->next_discontinuity(1.0), 2.0);
  EXPECT_EQ(table->next_discontinuity(2.0), kNever);
}

TEST(CsvSource, draws_straight_lines_and_returns_their_slope) {
  const auto table = source(kTable, TableInterpolation::Linear);
  EXPECT_DOUBLE_EQ(value_at(*table, 0.25), 1.5);
  EXPECT_EQ(rate_at(*table, 0.25), 2.0);
  EXPECT_EQ(rate_at(*table, 0.0), 2.0);    // to the right
  EXPECT_EQ(value_at(*table, 0.25), 1.5);  // also after a later time was asked for
  EXPECT_EQ(value_at(*table, 1.75), 3.0);
  EXPECT_EQ(value_at(*table, 0.25), 1.5);
  EXPECT_EQ(table->next_discontinuity(-1.0), kNever);
}

TEST(CsvSource, of_two_rows_with_one_time_jumps_there) {
  const auto table = source("time,x\n0,0\n1,1\n1,5\n2,7\n", TableInterpolation::Linear);
  EXPECT_DOUBLE_EQ(value_at(*table, 0.999), 0.999);
  EXPECT_EQ(value_at(*table, 1.0), 5.0);
  EXPECT_EQ(table->next_discontinuity(0.0), 1.0);
  EXPECT_EQ(table->next_discontinuity(1.0), kNever);
}

/// A number of 53 bits would round both, and the second would not fit any more.
TEST(CsvSource, reads_integers_of_64_bits_to_the_last_digit) {
  subsystem::FedInputs fed;
  fed["low"].type = ValueType::Integer;
  fed["high"].type = ValueType::Unsigned;
  const auto table = subsystem::parse_csv_source("time,low,high\n0,-9223372036854775808,18446744073709551615\n",
                                                 "in.csv", TableInterpolation::Hold, fed);
  std::vector<Value> values(2);
  table->discrete_outputs({0.0, {}, {}, {}, {}}, values);
  EXPECT_EQ(values[0], Value(std::numeric_limits<std::int64_t>::min()));
  EXPECT_EQ(values[1], Value(std::numeric_limits<std::uint64_t>::max()));
}

TEST(CsvSource, keeps_its_first_and_last_row_outside) {
  for (const auto interpolation : {TableInterpolation::Hold, TableInterpolation::Linear}) {
    const auto table = source(kTable, interpolation);
    EXPECT_EQ(value_at(*table, -5.0), 1.0);
    EXPECT_EQ(value_at(*table, 99.0, 1), 20.0);
    EXPECT_EQ(rate_at(*table, -5.0), 0.0);
    EXPECT_EQ(rate_at(*table, 99.0), 0.0);
  }
}

TEST(CsvSource, reads_units_quotes_blanks_and_a_byte_order_mark) {
  const auto table = source("\xEF\xBB\xBFtime [s],\"a, b [m/s]\",x[1], c \r\n0, 1 ,2,3\r\n\r\n1,4,5,6");
  const auto& outputs = table->variables().outputs;
  ASSERT_EQ(outputs.size(), 3U);
  EXPECT_EQ(outputs[0].name, "a, b");
  EXPECT_EQ(outputs[0].unit, "m/s");
  EXPECT_EQ(outputs[1].name, "x[1]");
  EXPECT_EQ(outputs[2].name, "c");
  EXPECT_EQ(value_at(*table, 1.0, 2), 6.0);
}

TEST(CsvSource, that_makes_no_sense_is_refused_with_its_line) {
  const auto expect = [](std::string_view text, const std::string& why) {
    EXPECT_EQ(test::refusal_outline([&] { source(text); }), "load.csv:" + why) << text;
  };
  expect("", "1: csv-no-header");
  expect("a,b\n1,2\n", "1: csv-no-header");
  expect("time [min],b\n1,2\n", "1: csv-no-header");
  expect("time\n1\n", "1: csv-no-columns");
  expect("time,x,x\n", "1: csv-column-twice x");
  expect("time,,x\n", "1: csv-unnamed-column (column = 2)");
  expect("time,x\n", "2: csv-no-rows");
  expect("time,x\n0,1\n1,2,3\n", "3: csv-cell-count (cells = 3, expected = 2)");
  expect("time,x\n0,1\n\n-1,2\n", "4: csv-time-falls (from = 0 s, to = -1 s)");
  expect("time,x\n0,nan\n", "2: csv-no-number (cell = nan, column = 2)");
  expect("time,x\n0,inf\n", "2: csv-no-number (cell = inf, column = 2)");
  expect("time,x\n0,\n", "2: csv-no-number (cell = , column = 2)");
  expect("time,x\n0,1e999\n", "2: csv-no-number (cell = 1e999, column = 2)");
  expect("time,x\nnan,1\n", "2: csv-no-number (cell = nan, column = 1)");
  expect("time,x\n0,\"1\n", "2: csv-open-quote");
  expect("time,\xff\n0,1\n", "1: not-utf8");
}

/// A mass of 1 kg, pushed by the table and by nothing else.
SystemDescription pushed_mass(const test::TemporaryFolder& folder, TableInterpolation interpolation,
                              const std::string& rows) {
  test::write_text(folder / "force.csv", "time,F [N]\n" + rows);
  auto system = test::system_in(folder, R"(
[run]
stop = 2.0
step = 0.125
[subsystems.force]
csv = "force.csv"
[subsystems.mass]
model = "car.body"
start = { m = 1.0, wind_1 = 0.0, wind_2 = 0.0, wind_3 = 0.0 }
[connections]
"force.F" = "mass.F"
)");
  system.subsystems[0].interpolation = {interpolation, {}};
  return system;
}

class PushedMass : public testing::TestWithParam<test::Change> {
 protected:
  test::TemporaryFolder folder_;
};

// 1 N for 0.5 s, 3 N for 1 s, -2 N for 0.5 s: v = 2.5 m/s, x = 0.125 + 2 + 1.5 m.
TEST_P(PushedMass, gets_the_impulse_of_held_rows_on_communication_times) {
  Simulation simulation(
      test::changed(pushed_mass(folder_, TableInterpolation::Hold, "0,1\n0.5,3\n1.5,-2\n2,0\n"), GetParam()));
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_TRUE(summary.warnings.empty()) << summary.warnings.front();
  // Iterative methods cross a jump in a held step of a billionth of the macro step.
  EXPECT_NEAR(simulation.value("mass.v"), 2.5, 1e-8);
  EXPECT_NEAR(simulation.value("mass.x"), 3.625, 1e-8);
  EXPECT_EQ(simulation.value("force.F"), 0.0);
  EXPECT_EQ(summary.subsystems[0].source, "csv force.csv (hold)");
}

INSTANTIATE_TEST_SUITE_P(Methods, PushedMass,
                         testing::Values(test::Change{"jacobi"}, test::Change{"jacobi", 0, 0, {"degree=2"}},
                                         test::Change{"ifosmondi"}, test::Change{"missiles"}, test::Change{"f3ornits"},
                                         test::Change{"monolithic"}));

// F = 2 t: v = t^2, x = t^3 / 3. The slope is known, so cubic inputs are the ramp itself.
TEST(PushedMassOnARamp, is_exact_where_slopes_are_used) {
  for (const char* method : {"ifosmondi", "monolithic"}) {
    const test::TemporaryFolder folder;
    Simulation simulation(
        test::changed(pushed_mass(folder, TableInterpolation::Linear, "0,0\n0.5,1\n3,6\n"), {method}));
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << method;
    EXPECT_NEAR(simulation.value("mass.v"), 4.0, 1e-9) << method;
    EXPECT_NEAR(simulation.value("mass.x"), 8.0 / 3.0, 1e-9) << method;
  }
}

TEST(PushedMassOffTheGrid, is_warned_of_rows_between_communication_times_and_outside_the_run) {
  const test::TemporaryFolder folder;
  Simulation simulation(pushed_mass(folder, TableInterpolation::Hold, "0.3,1\n1,3\n"));
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.warnings.size(), 1U);
  EXPECT_EQ(test::number_of(summary.warnings, FactCode::TableShorterThanRun, "first", "force"), 0.3);
  EXPECT_EQ(test::number_of(summary.warnings, FactCode::TableShorterThanRun, "last", "force"), 1.0);

  Simulation late(pushed_mass(folder, TableInterpolation::Hold, "0,1\n0.3,3\n2,3\n"));
  ASSERT_EQ(late.run().warnings.size(), 1U);
  EXPECT_EQ(test::number_of(late.summary().warnings, FactCode::EventsSeenLate, "first", "force"), 0.3);
}

TEST(CsvInASystemFile, is_checked_and_written_back) {
  const auto problems_of = [](std::string_view table) {
    std::vector<Problem> problems;
    description::parse_system("[run]\nstop = 1.0\n[subsystems.load]\n" + std::string(table), "test.toml", problems);
    return problems.empty() ? std::string() : test::outline(problems.front().fact);
  };
  EXPECT_EQ(problems_of("csv = \"a.csv\"\nmodel = \"tough\""), "table-and-other load (other = a model)");
  EXPECT_EQ(problems_of("csv = \"a.csv\"\nfmu = \"a.fmu\""), "table-and-other load (other = an fmu)");
  EXPECT_EQ(problems_of("model = \"tough\"\ninterpolation = \"hold\""),
            "key-misplaced subsystems.load.interpolation (owner = csv tables)");
  EXPECT_EQ(problems_of("csv = \"a.csv\"\ninterpolation = \"cubic\""),
            "word-not-allowed subsystems.load.interpolation (value = cubic)");
  const auto system = test::system_from("[subsystems.load]\ncsv = \"a.csv\"\ninterpolation = \"linear\"\n");
  const auto again = test::system_from(system_text(system));
  EXPECT_EQ(again.subsystems[0].csv, "a.csv");
  EXPECT_EQ(again.subsystems[0].interpolation->value, TableInterpolation::Linear);
}

}  // namespace csv_source_test
}  // namespace entrain
