// Variables of an FMU that are no ports: locals and parameters are listed, recorded and started.
#include <gtest/gtest.h>

#include "base/csv.hpp"
#include "entrain/recording.hpp"
#include "record/selection.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace inner_variables_test {

using test::TemporaryFolder;

/// The FMU of all types with these outputs turned into locals.
std::string with_locals(const std::vector<std::string>& names) {
  std::string xml = test::kTyped2;
  for (const auto& name : names) {
    const auto place = xml.find("name=\"" + name + "\"");
    const auto causality = xml.find("\"output\"", place);
    xml.replace(causality, std::string("\"output\"").size(), "\"local\"");
  }
  return xml;
}

SystemDescription system_of(const TemporaryFolder& folder, const std::string& xml, const std::string& more = "") {
  test::write_typed2(folder, "typed2.fmu", xml);
  return test::system_in(folder, R"(
[run]
stop = 0.3
step = 0.1
[subsystems.m]
fmu = "typed2.fmu"
start = { x = 2.0, gain = 3.0, i = 7, b = true, s = "a;b" }
)" + more);
}

using Table = std::map<std::string, std::vector<std::string>>;

Table recorded(const TemporaryFolder& folder, const SystemDescription& system) {
  Simulation simulation(system);
  Recorder recorder(folder / "results.csv", system.record);
  simulation.observe(recorder);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  const std::string content = base::read_csv_text(folder / "results.csv");
  std::string_view text = content;
  const auto header = base::take_csv_record(text).value();
  Table table;
  while (!text.empty()) {
    const auto row = base::take_csv_record(text).value();
    for (std::size_t i = 0; i < header.size(); ++i) table[header[i]].push_back(row.at(i));
  }
  return table;
}

TEST(Locals, are_recorded_by_name_in_their_types_beside_parameters) {
  const TemporaryFolder folder;
  const auto system = system_of(folder, with_locals({"j", "c", "t"}), R"(
[record]
variables = ["m.j", "m.c", "m.t", "m.gain", "m.y"]
)");
  const auto table = recorded(folder, system);
  EXPECT_EQ(table.at("m.j").back(), "7");
  EXPECT_EQ(table.at("m.c").back(), "true");
  EXPECT_EQ(table.at("m.t").back(), "a;b");
  EXPECT_EQ(table.at("m.gain"), std::vector<std::string>(4, "3"));
  EXPECT_EQ(table.at("m.y").back(), "6");
}

TEST(Locals, are_meant_by_patterns_but_not_by_a_bare_star) {
  const std::vector<Signal> signals{{"m.y", "", "", Causality::Output, 0},
                                    {"m.x", "", "", Causality::State, 0},
                                    {"m.y.inner", "", "", Causality::Local, 0},
                                    {"m.gain", "", "", Causality::Parameter, 0}};
  const auto chosen = [&](const char* pattern) {
    return recording::select_signals(signals, {{Written<std::string>{pattern, {}}}});
  };
  EXPECT_EQ(chosen("*"), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(chosen("m.*"), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(chosen("m.**"), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(chosen("m.y*"), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(chosen("*gain"), (std::vector<std::size_t>{3}));
  EXPECT_EQ(recording::select_signals(signals, std::nullopt), (std::vector<std::size_t>{0}));
}

TEST(Locals, of_a_subsystem_without_outputs_are_recorded_unasked) {
  const TemporaryFolder folder;
  const auto system = system_of(folder, with_locals({"y", "j", "f", "c", "t"}));
  const auto table = recorded(folder, system);
  EXPECT_EQ(table.at("m.y").back(), "6");
  EXPECT_EQ(table.at("m.j").back(), "7");
  EXPECT_FALSE(table.contains("m.gain"));  // a parameter says nothing over time
  Simulation simulation(system);
  EXPECT_FALSE(test::has_fact(simulation.summary().warnings, FactCode::NothingToRecord));
}

TEST(Locals, are_read_without_a_recorder) {
  const TemporaryFolder folder;
  Simulation simulation(system_of(folder, with_locals({"y"})));
  simulation.run();
  EXPECT_EQ(simulation.value("m.y"), 6.0);
  EXPECT_EQ(simulation.value("m.gain"), 3.0);
}

TEST(Locals, are_started_where_the_description_allows_it) {
  const TemporaryFolder folder;
  std::string xml = test::kTyped2;
  const std::string parameter = R"(causality="parameter" variability="tunable")";
  xml.replace(xml.find(parameter), parameter.size(), R"(causality="local" variability="continuous" initial="exact")");
  Simulation simulation(system_of(folder, xml));  // gain = 3
  simulation.run();
  EXPECT_EQ(simulation.value("m.y"), 6.0);
}

TEST(Locals, that_the_fmu_calculates_take_no_start_value) {
  const TemporaryFolder folder;
  auto system = system_of(folder, with_locals({"y"}));
  system.subsystems[0].start["y"] = {1.0, {}};
  EXPECT_TRUE(test::has_fact(test::problem_facts(system), FactCode::StartRefused, "m.y"));
}

TEST(NothingToRecord, is_a_warning) {
  const TemporaryFolder folder;
  std::string xml = test::kTyped2;
  for (const auto* name : {"y", "j", "f", "c", "t"}) {  // as independent as the time: neither ports nor locals
    const auto place = xml.find("<ScalarVariable name=\"" + std::string(name) + "\"");
    const auto end = xml.find("</ScalarVariable>", place);
    xml.erase(place, end + std::string("</ScalarVariable>").size() - place);
  }
  const auto structure = xml.find("<Outputs>");
  xml.erase(structure, xml.find("</Outputs>") + std::string("</Outputs>").size() - structure);
  Simulation simulation(system_of(folder, xml));
  EXPECT_TRUE(test::has_fact(simulation.summary().warnings, FactCode::NothingToRecord));
}

TEST(Table, feeds_inputs_of_all_types) {
  for (const char separator : {',', ';', '\t'}) {
    const TemporaryFolder folder;
    std::string rows = "time,x,i,b,e,s\n0,1.5,3,0,eco,on\n0.15,2.5,4.0,true,4,off\n";
    std::replace(rows.begin(), rows.end(), ',', separator);
    test::write_text(folder / "in.csv", rows);
    auto system = system_of(folder, test::kTyped2, R"(
[subsystems.in]
csv = "in.csv"
[connections]
"in.x" = "m.x"
"in.i" = "m.i"
"in.b" = "m.b"
"in.e" = "m.e"
"in.s" = "m.s"
[record]
variables = ["m.y", "m.j", "m.c", "m.f", "m.t"]
)");
    const auto table = recorded(folder, system);
    EXPECT_EQ(table.at("m.j"), (std::vector<std::string>{"3", "3", "3", "4"})) << separator;
    EXPECT_EQ(table.at("m.c"), (std::vector<std::string>{"false", "false", "false", "true"}));
    EXPECT_EQ(table.at("m.f"), (std::vector<std::string>{"1", "1", "1", "4"}));
    EXPECT_EQ(table.at("m.t"), (std::vector<std::string>{"on", "on", "on", "off"}));
  }
}

TEST(Table, with_a_cell_that_its_input_cannot_take_is_refused_with_the_line) {
  const auto problems = [](const std::string& cell) {
    const TemporaryFolder folder;
    test::write_text(folder / "in.csv", "time,i\n0,1\n1," + cell + "\n");
    return test::problem_facts(system_of(folder, test::kTyped2, R"(
[subsystems.in]
csv = "in.csv"
[connections]
"in.i" = "m.i"
)"));
  };
  EXPECT_FALSE(test::has_fact(problems("2"), FactCode::TableUnusable));
  for (const auto* cell : {"2.5", "two", "1e30"}) {
    EXPECT_TRUE(test::has_fact(problems(cell), FactCode::TableUnusable, "in")) << cell;
  }
}

TEST(Schedule, sets_inputs_that_nothing_feeds) {
  const TemporaryFolder folder;
  const auto system = system_of(folder, test::kTyped2, R"(
[schedule]
"m.x" = [[0.0, 4.0], [0.1, 5.0]]
"m.i" = [[0.15, 9]]
[record]
variables = ["m.x", "m.y", "m.j"]
)");
  const auto table = recorded(folder, system);
  EXPECT_EQ(table.at("m.x"), (std::vector<std::string>{"4", "5", "5", "5"}));
  EXPECT_EQ(table.at("m.y"), (std::vector<std::string>{"12", "12", "15", "15"}));
  EXPECT_EQ(table.at("m.j"), (std::vector<std::string>{"7", "7", "7", "9"}));
}

TEST(Schedule, of_an_input_that_is_fed_is_refused) {
  const TemporaryFolder folder;
  test::write_text(folder / "in.csv", "time,x\n0,1\n1,1\n");
  const auto problems = test::problem_facts(system_of(folder, test::kTyped2, R"(
[subsystems.in]
csv = "in.csv"
[connections]
"in.x" = "m.x"
[schedule]
"m.x" = [[0.1, 5.0]]
)"));
  EXPECT_TRUE(test::has_fact(problems, FactCode::ScheduledInputFed, "m.x"));
}

}  // namespace inner_variables_test
}  // namespace entrain
