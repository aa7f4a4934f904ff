#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/csv.hpp"
#include "base/values.hpp"
#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace typed_fmu_test {

using test::TemporaryFolder;

/// The values of every signal that is no real number, at every communication time.
class DiscreteRecorder : public Observer {
 public:
  void begin(std::span<const Signal> signals, const RunSummary&) override {
    for (const auto& signal : signals) {
      if (signal.discrete) names_.push_back(signal.name);
    }
  }
  void communicated(const Sample& sample, const RunSummary&) override {
    for (std::size_t i = 0; i < names_.size(); ++i) rows[names_[i]].push_back(sample.discrete[i]);
  }
  Needs needs() const override { return {.discrete = true}; }

  std::map<std::string, std::vector<Value>> rows;

 private:
  std::vector<std::string> names_;
};

/// Cells of the last row of a results.csv, by the name of their column.
std::map<std::string, std::string> last_row(const std::filesystem::path& file) {
  const std::string content = base::read_csv_text(file);
  std::string_view text = content;
  const auto header = base::take_csv_record(text).value();
  std::vector<std::string> row;
  while (!text.empty()) row = base::take_csv_record(text).value();
  std::map<std::string, std::string> cells;
  for (std::size_t i = 0; i < header.size(); ++i) cells[header[i]] = row.at(i);
  return cells;
}

struct Extreme {
  std::string type;
  std::string written;   ///< in TOML
  std::string recorded;  ///< in a cell
};

const std::vector<Extreme> kExtremes{
    {"Int8", "-128", "-128"},
    {"UInt8", "255", "255"},
    {"Int16", "-32768", "-32768"},
    {"UInt16", "65535", "65535"},
    {"Int32", "-2147483648", "-2147483648"},
    {"UInt32", "4294967295", "4294967295"},
    {"Int64", "-9223372036854775808", "-9223372036854775808"},
    {"UInt64", "\"18446744073709551615\"", "18446744073709551615"},
    {"Boolean", "true", "true"},
    {"String", R"("a, \"b\"\n\u00fc\u732b")", "a, \"b\"\n\u00fc\u732b"},
    {"Binary", "\"00ff10\"", "00ff10"},
    {"Enumeration", "3", "3"},
};

std::string all_types_system(const std::string& flags_of_run = "") {
  std::string start;
  std::string connections;
  for (const auto& [type, written, recorded] : kExtremes) {
    start += fmt::format("\"in.{}\" = {}\n", type, written);
    connections += fmt::format("\"a.out.{0}\" = \"b.in.{0}\"\n", type);
  }
  return fmt::format(R"(
[run]
stop = 0.3
step = 0.1
{}
[subsystems.a]
fmu = "typed3.fmu"
[subsystems.a.start]
"in.Float32" = 0.1
{}
[subsystems.b]
fmu = "typed3.fmu"
[connections]
{}
"a.out.Float32" = "b.in.Float32"
"a.out.pair[1]" = "b.in.pair[2]"
"a.m[2,3]" = "b.a[1,2]"
)",
                     flags_of_run, start, connections);
}

TEST(TypesOfFmi3, cross_a_connection_and_a_recording_unchanged) {
  for (const char* flags : {"", "hasEventMode=\"true\""}) {  // in event mode they are set there, or refused
    const TemporaryFolder folder;
    test::write_typed3(folder, flags);
    Simulation simulation(test::system_in(folder, all_types_system()));
    RecordDescription everything;
    everything.variables = {Written<std::string>{"*", {}}};
    Recorder recorder(folder / "results.csv", everything);
    simulation.observe(recorder);
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    const auto cells = last_row(folder / "results.csv");
    for (const auto* end : {"a.out.", "b.in.", "b.out."}) {
      for (const auto& extreme : kExtremes) EXPECT_EQ(cells.at(end + extreme.type), extreme.recorded);
      EXPECT_EQ(std::stof(cells.at(std::string(end) + "Float32")), 0.1F);
    }
    EXPECT_EQ(cells.at("b.in.pair[1]"), "7");  // without a connection
    EXPECT_EQ(cells.at("b.out.pair[2]"), "7");
    EXPECT_EQ(cells.at("b.m[1,2]"), "6");
    EXPECT_EQ(cells.at("b.m[2,1]"), "4");
  }
}

/// More than any buffer of ours begins with.
TEST(BytesOfFmi3, of_100000_cross_a_connection_and_a_recording_unchanged) {
  std::string bytes;
  for (int i = 0; i < 100000; ++i) bytes += fmt::format("{:02x}", i * 7 % 251);
  for (const char* place : {"", "isolate = true"}) {
    const TemporaryFolder folder;
    test::write_typed3(folder);
    Simulation simulation(test::system_in(folder, fmt::format(R"(
[run]
stop = 0.3
step = 0.1
{0}
[subsystems.a]
fmu = "typed3.fmu"
start = {{ "in.Binary" = "{1}" }}
[subsystems.b]
fmu = "typed3.fmu"
[connections]
"a.out.Binary" = "b.in.Binary"
)",
                                                              place, bytes)));
    RecordDescription everything;
    everything.variables = {Written<std::string>{"*", {}}};
    Recorder recorder(folder / "results.csv", everything);
    simulation.observe(recorder);
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << place << simulation.summary().message;
    EXPECT_EQ(last_row(folder / "results.csv").at("b.out.Binary"), bytes) << place;
  }
}

TEST(TypesOfFmi3, of_arrays_take_one_call_to_set_a_step) {
  const TemporaryFolder folder;
  test::write_typed3(folder);
  Simulation simulation(test::system_in(folder, all_types_system()));
  simulation.run();
  EXPECT_EQ(simulation.value("b.calls"), 3.0);  // one for each of the three steps, scalars and arrays together
}

TEST(TypesOfFmi3, are_held_on_a_uniform_grid_of_rows) {
  const TemporaryFolder folder;
  test::write_typed3(folder);
  auto system = test::system_in(folder, all_types_system());
  Simulation simulation(system);
  RecordDescription record;
  record.variables = {{"b.out.Int64", {}}, {"b.out.String", {}}};
  record.interval = {0.05, {}};
  Recorder recorder(folder / "results.csv", record);
  simulation.observe(recorder);
  simulation.run();
  const auto cells = last_row(folder / "results.csv");
  EXPECT_EQ(cells.at("time"), "0.30000000000000004");
  EXPECT_EQ(cells.at("b.out.Int64"), "-9223372036854775808");
  EXPECT_EQ(cells.at("b.out.String"), "a, \"b\"\n\u00fc\u732b");
}

TEST(TypesOfFmi2, cross_a_connection_and_take_the_value_of_the_last_communication_time) {
  const TemporaryFolder folder;
  test::write_typed2(folder);
  auto system = test::system_in(folder, R"(
[run]
stop = 0.3
step = 0.1
[subsystems.a]
fmu = "typed2.fmu"
start = { i = -2147483648, b = true, s = "über, alles", e = 2 }
[subsystems.b]
fmu = "typed2.fmu"
[subsystems.c]
fmu = "typed2.fmu"
[connections]
"a.j" = "b.i"
"a.c" = ["b.b", "c.i"]
"a.t" = "b.s"
"a.f" = "b.e"
"b.j" = "c.x"
)");
  Simulation simulation(system);
  DiscreteRecorder recorder;
  simulation.observe(recorder);
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(recorder.rows.at("b.j").front(), Value(std::int64_t{-2147483648}));  // at the start all is consistent
  EXPECT_EQ(recorder.rows.at("b.t").back(), Value(std::string("\u00fcber, alles")));
  EXPECT_EQ(recorder.rows.at("b.c").back(), Value(true));
  EXPECT_EQ(recorder.rows.at("b.f").back(), Value(std::int64_t{2}));
  EXPECT_EQ(recorder.rows.at("c.j").back(), Value(std::int64_t{1}));  // a boolean as an integer
  EXPECT_EQ(simulation.value("c.x"), -2147483648.0);                  // an integer as a real number
  EXPECT_EQ(simulation.value("c.y"), -2147483648.0);
}

// 'calls' counts the calls that set inputs, n in each step: the force on the k-th step is n k N, so
// v = 0.1 n (0 + 1 + 2 + 3) m/s after four.
TEST(IntegerIntoARealInput, holds_from_one_communication_time_to_the_next) {
  for (const char* method : {"jacobi", "gauss-seidel", "missiles"}) {
    const TemporaryFolder folder;
    test::write_typed3(folder);
    auto system = test::system_in(folder, R"(
[run]
stop = 0.4
step = 0.1
[subsystems.counter]
fmu = "typed3.fmu"
[subsystems.mass]
model = "car.body"
start = { m = 1.0, wind_1 = 0.0, wind_2 = 0.0, wind_3 = 0.0 }
[connections]
"counter.calls" = "mass.F"
)");
    Simulation simulation(test::changed(system, {method}));
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    const double calls = simulation.value("counter.calls");
    EXPECT_GE(calls, 4.0) << method;
    EXPECT_EQ(simulation.value("mass.F"), calls) << method;
    EXPECT_NEAR(simulation.value("mass.v"), 0.6 * calls / 4.0, 1e-12) << method;
  }
}

TEST(TypesOfFmi2, that_do_not_fit_are_refused_with_both_types) {
  const TemporaryFolder folder;
  test::write_typed2(folder);
  const auto message = [&](const std::string& connection) {
    try {
      const Simulation simulation(test::system_in(folder,
                                                  "[run]\nstop = 1.0\n[subsystems.a]\nfmu = \"typed2.fmu\"\n"
                                                  "[subsystems.b]\nfmu = \"typed2.fmu\"\n[connections]\n" +
                                                      connection));
    } catch (const Error& error) {
      return test::outline(error.problems().front().fact);
    }
    return std::string();
  };
  EXPECT_EQ(message("\"a.t\" = \"b.i\""), "types-differ a.t, b.i (input_type = Int32, type = String)");
  EXPECT_EQ(message("\"a.y\" = \"b.i\""), "types-differ a.y, b.i (input_type = Int32, type = Float64)");
  EXPECT_EQ(message("\"a.j\" = \"b.b\""), "types-differ a.j, b.b (input_type = Boolean, type = Int32)");
  EXPECT_EQ(message("\"a.j\" = [\"b.x\", \"b.i\", \"b.e\"]"), "");
  EXPECT_EQ(message("\"a.j\" = \"b.i\"\n\"a.f\" = \"b.i\""), "input-fed-twice b.i, a.j, a.f (line = 8)");
}

TEST(TypesOfFmi3, whose_value_does_not_fit_the_input_end_the_run_by_name) {
  const TemporaryFolder folder;
  test::write_typed3(folder);
  Simulation simulation(test::system_in(folder, R"(
[run]
stop = 0.3
step = 0.1
[subsystems.a]
fmu = "typed3.fmu"
start = { "in.Int64" = 300 }
[subsystems.b]
fmu = "typed3.fmu"
[connections]
"a.out.Int64" = "b.in.UInt8"
)"));
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  EXPECT_EQ(test::outline(test::failure_of(simulation.summary())), "value-does-not-fit (type = UInt8, value = 300)");
  EXPECT_EQ(test::place_of_failure(simulation.summary()).subsystem, "b");
}

TEST(StructuralParameters, decide_the_size_of_arrays) {
  const TemporaryFolder folder;
  test::write_typed3(folder);
  Simulation simulation(test::system_in(folder, R"(
[run]
stop = 0.2
step = 0.1
[subsystems.a]
fmu = "typed3.fmu"
start = { n = 3, "v[1]" = 1.5, "v[2]" = 2.5, "v[3]" = 3.5 }
[subsystems.b]
fmu = "typed3.fmu"
[connections]
"a.w[3]" = "b.v[2]"
)"));
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(simulation.value("a.w[3]"), 3.5);
  EXPECT_EQ(simulation.value("b.w[2]"), 3.5);
  EXPECT_THROW(simulation.value("b.w[3]"), Error);
}

TEST(StructuralParameters, that_make_no_sense_are_refused) {
  const TemporaryFolder folder;
  test::write_typed3(folder);
  const auto error = [&](const std::string& start) {
    return test::error_of([&] {
      const Simulation simulation(
          test::system_in(folder, "[run]\nstop = 1.0\n[subsystems.a]\nfmu = \"typed3.fmu\"\nstart = " + start));
    });
  };
  const Fact empty = error("{ n = 0 }")->fact();
  EXPECT_EQ(empty.text("of"), "fmu-array-size") << empty;
  EXPECT_EQ(empty.subjects.back(), "v");
  EXPECT_FALSE(empty.number("limit"));
  EXPECT_EQ(error("{ n = 9000000000000000000 }")->fact().number("limit"), 100000.0);
  EXPECT_EQ(error("{ n = -1 }")->fact().subjects.front(), "a.n");
  const Fact missing = error("{ n = 4, \"v[4]\" = 1.0 }")->fact();
  EXPECT_EQ(missing.text("of"), "fmu-starts-missing") << missing;
  EXPECT_EQ(missing.number("elements"), 4.0);
  EXPECT_EQ(missing.subjects.back(), "v");
  EXPECT_FALSE(error("{ n = 3, \"v[3]\" = 1.0 }"));
  EXPECT_FALSE(error("{ \"a[2,3]\" = 9.0 }"));
}

TEST(TunableParametersOfAnFmu, change_by_schedule_and_others_are_refused) {
  for (const char* flags : {"", "hasEventMode=\"true\""}) {
    const TemporaryFolder folder;
    test::write_typed3(folder, flags);
    Simulation simulation(test::system_in(folder, R"(
[run]
stop = 0.4
step = 0.1
[subsystems.a]
fmu = "typed3.fmu"
start = { x = 2.0 }
[schedule]
"a.gain" = [[0.2, 10.0]]
)"));
    simulation.run_until(0.1);
    EXPECT_EQ(simulation.value("a.y"), 2.0);
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    EXPECT_EQ(simulation.value("a.y"), 20.0);
  }
  const TemporaryFolder folder;
  test::write_typed2(folder);
  EXPECT_THROW(Simulation(test::system_in(folder,
                                          "[run]\nstop = 1.0\n[subsystems.a]\nfmu = \"typed2.fmu\"\n[schedule]\n"
                                          "\"a.fixed\" = [[0.5, 2.0]]")),
               Error);
}

TEST(UnitsOfAnFmu, are_converted_by_its_definitions) {
  const TemporaryFolder folder;
  test::write_typed2(folder);
  test::write_text(folder / "warm.csv", "time,T [K]\n0,300\n1,300\n");
  Simulation simulation(test::system_in(folder, R"(
[run]
stop = 0.3
step = 0.1
[subsystems.warm]
csv = "warm.csv"
[subsystems.a]
fmu = "typed2.fmu"
[connections]
"warm.T" = "a.x"
)"));
  simulation.run();
  EXPECT_NEAR(simulation.value("a.x"), 26.85, 1e-12);
}

}  // namespace typed_fmu_test
}  // namespace entrain
