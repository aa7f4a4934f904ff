// Terminals, and networks of CAN nodes by FMI-LS-BUS 1.0. The FMUs are those of tests/support/can_fmu3.c.
#include <gtest/gtest.h>

#include <algorithm>

#include "assembly/terminals.hpp"
#include "entrain/new_system.hpp"
#include "entrain/run.hpp"
#include "support/clocked_fmus.hpp"
#include "support/facts.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace can_bus_test {

using test::TemporaryFolder;

std::string node(const std::string& name, int id, double at = 0.3) {
  return fmt::format("[subsystems.{}]\nfmu = \"node.fmu\"\nstart = {{ id = {}, at = {} }}\n", name, id, at);
}

class CanNetwork : public testing::Test {
 protected:
  CanNetwork() {
    test::write_can_node(folder_ / "node.fmu");
    test::write_can_bus(folder_ / "bus.fmu");
  }
  SystemDescription system(const std::string& subsystems, const std::string& connections) const {
    return test::system_in(folder_, "[run]\nstop = 0.4\nstep = 0.1\nmethod = \"jacobi\"\nopen = [\"*.*\"]\n" +
                                        subsystems + "[connections]\n" + connections);
  }
  SystemDescription two_nodes_on_a_bus() const {
    return system(node("node1", 7) + node("node2", 3) + node("node3", 9, 1.0) + "[subsystems.bus]\nfmu = \"bus.fmu\"\n",
                  "\"node1.CanChannel\" = \"bus.Node1\"\n\"bus.Node2\" = \"node2.CanChannel\"\n"
                  "\"node3.CanChannel\" = \"bus.Node3\"\n");
  }
  std::vector<std::string> frames(const SystemDescription& description) const {
    const auto result = entrain::run(description, {.folder = folder_ / "run", .estimate = false});
    EXPECT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
    frames_noted_ = test::number_of(result.summary.notes, FactCode::FramesRecorded, "count");
    std::vector<std::string> lines;
    std::istringstream text(test::text_of(folder_ / "run" / "frames.csv"));
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  TemporaryFolder folder_;
  mutable double frames_noted_ = 0.0;
};

/// The oracle: 48 bits at 100 kbit/s take 480 us. Both nodes transmit at 0.3 s; the frame with the lower id arrives at
/// 0.300480 s, the other at 0.300960 s.
TEST_F(CanNetwork, frames_arrive_by_priority_after_their_time_on_the_bus) {
  const std::vector<std::string> expected{"time,from,to,operation,id,length,data",
                                          "0.3,node1.CanChannel.Tx_Data,bus.Node1.Rx_Data,transmit,7,4,0708090a",
                                          "0.3,node2.CanChannel.Tx_Data,bus.Node2.Rx_Data,transmit,3,4,03040506",
                                          "0.30048,bus.Node1.Tx_Data,node1.CanChannel.Rx_Data,transmit,3,4,03040506",
                                          "0.30048,bus.Node2.Tx_Data,node2.CanChannel.Rx_Data,confirm,3,0,",
                                          "0.30048,bus.Node3.Tx_Data,node3.CanChannel.Rx_Data,transmit,3,4,03040506",
                                          "0.30096,bus.Node1.Tx_Data,node1.CanChannel.Rx_Data,confirm,7,0,",
                                          "0.30096,bus.Node2.Tx_Data,node2.CanChannel.Rx_Data,transmit,7,4,0708090a",
                                          "0.30096,bus.Node3.Tx_Data,node3.CanChannel.Rx_Data,transmit,7,4,0708090a"};
  EXPECT_EQ(frames(two_nodes_on_a_bus()), expected);
  EXPECT_EQ(frames_noted_, 8.0);
}

TEST_F(CanNetwork, nodes_see_the_arrivals_in_their_outputs) {
  const auto rows = test::recorded(two_nodes_on_a_bus());
  EXPECT_EQ(rows.column("node3.arrivals").back(), 2.0);
  EXPECT_EQ(rows.column("node1.latest_time").back(), 0.30048);
  EXPECT_EQ(rows.column("node2.latest_time").back(), 0.30096);
  EXPECT_EQ(rows.column("node1.confirmed").back(), 1.0);
  EXPECT_EQ(rows.column("node3.latest_id").back(), 7.0);
}

TEST_F(CanNetwork, two_nodes_without_a_bus_exchange_their_frames_at_once) {
  const auto lines = frames(system(node("a", 1, 0.25) + node("b", 2), "\"a.CanChannel\" = \"b.CanChannel\"\n"));
  const std::vector<std::string> expected{"time,from,to,operation,id,length,data",
                                          "0.25,a.CanChannel.Tx_Data,b.CanChannel.Rx_Data,transmit,1,4,01020304",
                                          "0.3,b.CanChannel.Tx_Data,a.CanChannel.Rx_Data,transmit,2,4,02030405"};
  EXPECT_EQ(lines, expected);
}

/// Steps of 0.1 s that cannot be shortened: the frames are passed on where the step ends, and stand there.
TEST_F(CanNetwork, frames_that_wait_for_an_imposed_step_have_the_time_of_their_delivery) {
  test::write_clocked(folder_, "imposed.fmu", test::kCountdownTick, "fixedInternalStepSize=\"0.1\"", test::kFixedStep);
  auto description = two_nodes_on_a_bus();
  description.subsystems.push_back(description.subsystems.front());
  description.subsystems.back().name = "imposed";
  description.subsystems.back().fmu = (folder_ / "imposed.fmu").string();
  description.subsystems.back().start.clear();
  const auto lines = frames(description);
  ASSERT_EQ(lines.size(), 9U);
  for (std::size_t i = 3; i < lines.size(); ++i) EXPECT_EQ(lines[i].substr(0, 4), "0.4,") << lines[i];
}

TEST_F(CanNetwork, terminals_of_other_bytes_do_not_fit) {
  test::write_can_node(folder_ / "lin.fmu", "application/org.fmi-standard.fmi-ls-bus.lin");
  const auto facts = test::problem_facts(
      system(node("a", 1) + "[subsystems.b]\nfmu = \"lin.fmu\"\n", "\"a.CanChannel\" = \"b.CanChannel\"\n"));
  EXPECT_TRUE(test::has_fact(facts, FactCode::MimeTypesDiffer, "a.CanChannel.Tx_Data"));
}

TEST_F(CanNetwork, a_terminal_is_connected_with_terminals_only) {
  const auto facts = test::problem_facts(system(node("a", 1) + node("b", 2), "\"a.CanChannel\" = \"b.arrivals\"\n"));
  EXPECT_TRUE(test::has_fact(facts, FactCode::TerminalsDiffer, "b.arrivals"));
}

class NestedTerminals : public testing::Test {
 protected:
  NestedTerminals() {
    from_.outputs.resize(2);
    from_.outputs[0].name = "y";
    from_.outputs[1].name = "w";
    to_.inputs.resize(2);
    to_.inputs[0].name = "u";
    to_.inputs[1].name = "v";
    from_.terminals = {
        {"P", "", "plug", {}}, {"P.A", "", "plug", {{"force", "y"}}}, {"P.A.B", "", "bus", {{"m", "w"}}}};
    to_.terminals = {{"Q", "", "plug", {}}, {"Q.A", "", "plug", {{"force", "u"}}}, {"Q.A.B", "", "bus", {{"m", "v"}}}};
  }
  std::vector<std::pair<std::string, std::string>> connected() {
    ConnectionDescription written;
    written.output = "a.P";
    written.input = "b.Q";
    std::vector<std::pair<std::string, std::string>> pairs;
    const auto made = assembly::terminal_connections(written, &from_, &to_, problems_);
    for (const auto& single : *made) pairs.emplace_back(single.output, single.input);
    return pairs;
  }
  bool refused() const {
    return std::any_of(problems_.begin(), problems_.end(),
                       [](const Problem& problem) { return problem.fact.code == FactCode::TerminalsDiffer; });
  }
  VariableTable from_, to_;
  std::vector<Problem> problems_;
};

TEST_F(NestedTerminals, are_connected_with_their_parents) {
  EXPECT_EQ(connected(), (std::vector<std::pair<std::string, std::string>>{{"a.y", "b.u"}, {"a.w", "b.v"}}));
  EXPECT_FALSE(refused());
}

TEST_F(NestedTerminals, are_judged_by_their_own_rules) {
  to_.terminals[1].members[0].first = "torque";
  EXPECT_TRUE(connected().empty());
  EXPECT_TRUE(refused());
}

TEST_F(NestedTerminals, of_a_rule_that_is_not_known_are_refused) {
  from_.terminals[1].rule = to_.terminals[1].rule = "org.example.rule";
  EXPECT_TRUE(connected().empty());
  EXPECT_TRUE(refused());
}

TEST_F(NestedTerminals, that_have_nothing_to_connect_are_refused) {
  to_.terminals.resize(1);
  EXPECT_TRUE(connected().empty());
  EXPECT_TRUE(refused());
}

TEST_F(CanNetwork, terminals_without_a_partner_for_each_member_do_not_fit) {
  const std::string variables = test::bus_variables(1, "CanChannel");
  std::string terminal = test::bus_terminal("CanChannel");
  terminal.erase(terminal.find("<TerminalMemberVariable"),
                 terminal.find("/>") + 2 - terminal.find("<TerminalMemberVariable"));
  test::write_can(folder_ / "partial.fmu", test::can_description("node", variables, ""), terminal);
  const auto facts = test::problem_facts(
      system(node("a", 1) + "[subsystems.b]\nfmu = \"partial.fmu\"\n", "\"a.CanChannel\" = \"b.CanChannel\"\n"));
  EXPECT_TRUE(test::has_fact(facts, FactCode::TerminalsDiffer, "b.CanChannel"));
}

TEST_F(CanNetwork, a_broken_terminals_file_is_a_warning) {
  test::write_can(folder_ / "broken.fmu", test::can_description("node", test::bus_variables(1, "c"), ""), "<Terminal");
  Simulation simulation(system("[subsystems.b]\nfmu = \"broken.fmu\"\n", ""));
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_TRUE(test::has_fact(simulation.summary().warnings, FactCode::FmuTerminalsBroken));
}

TEST_F(CanNetwork, is_run_by_a_method_with_common_steps_where_it_is_chosen) {
  auto system = two_nodes_on_a_bus();
  system.method = {"auto", {}};
  Simulation simulation(system);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(simulation.summary().family, MethodFamily::Explicit);
  EXPECT_TRUE(test::has_fact(simulation.summary().notes, FactCode::MethodChosen));
  EXPECT_EQ(simulation.value("node2.latest_time"), 0.30096);
}

/// FMUs are looked at in processes of their own.
TEST_F(CanNetwork, is_sound_for_check) {
  test::write_text(folder_ / "system.toml", "[run]\nstop = 0.4\nopen = [\"*.*\"]\n" + node("a", 1) + node("b", 2) +
                                                "[connections]\n\"a.CanChannel\" = \"b.CanChannel\"\n");
  for (const auto& problem : check(folder_.path())) {
    EXPECT_NE(problem.severity, Problem::Severity::Error) << test::outline(problem);
  }
}

TEST_F(CanNetwork, new_pairs_the_nodes_with_the_bus) {
  const auto file = new_system(folder_ / "new", {folder_ / "node.fmu", folder_ / "node.fmu", folder_ / "bus.fmu"});
  const auto made = load(file);
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const auto& connection : made.connections) pairs.emplace_back(connection.output, connection.input);
  const std::vector<std::pair<std::string, std::string>> expected{{"node.CanChannel", "bus.Node1"},
                                                                  {"node_2.CanChannel", "bus.Node2"}};
  EXPECT_EQ(pairs, expected);
}

}  // namespace can_bus_test
}  // namespace entrain
