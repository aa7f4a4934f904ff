#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "support/clocked_fmus.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"
#include "support/typed_fmus.hpp"

namespace entrain::test {

inline std::string fmu_part(const std::string& name, const std::string& fmu, const std::string& start = "") {
  return fmt::format("[subsystems.{}]\nfmu = \"{}\"\nstart = {{ {} }}\n", name, fmu, start);
}

/// Systems that meet instants of their own: clocks, event phases, buses, scheduled execution, values of every type.
struct EventScenario {
  std::string name;
  std::string run;  ///< besides the stop time
  std::string subsystems;
  std::string connections;
};

inline const std::vector<EventScenario>& event_scenarios() {
  static const std::vector<EventScenario> all = [] {
    const std::string pair = "\"a.out\" = \"b.in\"\n\"a.value\" = \"b.received\"\n\"a.z\" = \"b.x\"\n";
    const std::string step = "step = 0.25\nmethod = \"jacobi\"\n";
    std::vector<EventScenario> list;
    for (const char* kind : {"constant", "changing", "tunable", "countdown", "fraction"}) {
      list.push_back({fmt::format("clock_{}", kind), step,
                      fmu_part("a", fmt::format("{}.fmu", kind)) + fmu_part("b", "countdown.fmu", "interval = 0.07"),
                      pair});
    }
    for (const char* method : {"gauss-seidel", "nepce", "ifosmondi"}) {
      list.push_back({fmt::format("method_{}", method), fmt::format("step = 0.25\nmethod = \"{}\"\n", method),
                      fmu_part("a", "constant.fmu") + fmu_part("b", "constant.fmu"), pair});
    }
    for (int mode = FindsEvent; mode <= StartsCountdown; ++mode) {
      if (mode == NeedsInput) continue;
      const std::string modes = fmt::format("mode = {}, interval = 0.21", mode);
      list.push_back({fmt::format("mode_{}", mode), step,
                      fmu_part("a", "countdown.fmu", modes) + fmu_part("b", "constant.fmu") +
                          fmu_part("c", "countdown.fmu", fmt::format("mode = {}, interval = 5", FindsEventLater)),
                      pair + "\"b.z\" = \"c.x\"\n"});
    }
    list.push_back({"needs_input", step,
                    fmu_part("b", "constant.fmu", "mode = 9") + fmu_part("a", "constant.fmu", "mode = 9"),
                    "\"a.z\" = \"b.u\"\n\"b.y\" = \"a.u\"\n"});
    list.push_back({"both_go_back", step,
                    fmu_part("a", "countdown.fmu", "mode = 2, interval = 5") +
                        fmu_part("b", "countdown.fmu", "mode = 3, interval = 5"),
                    "\"a.out\" = \"b.in\"\n"});
    list.push_back({"neither_goes_back", step,
                    fmu_part("a", "forward.fmu", "mode = 3, interval = 5") +
                        fmu_part("b", "forward.fmu", "mode = 2, interval = 5"),
                    "\"a.out\" = \"b.in\"\n"});
    list.push_back({"jump_of_a_table", "step = 0.2\nmethod = \"jacobi\"\n",
                    fmu_part("a", "countdown.fmu", "interval = 5") + "[subsystems.table]\ncsv = \"steps.csv\"\n",
                    "\"table.x\" = \"a.x\"\n"});
    list.push_back({"schedule", step + "[schedule]\n\"a.interval\" = [[0.5, 0.2]]\n\"a.x\" = [[0.3, 7.0]]\n",
                    fmu_part("a", "tunable.fmu"), ""});
    list.push_back({"scheduled_execution", step,
                    fmu_part("a", "scheduled.fmu") + fmu_part("b", "countdown.fmu", "interval = 5, x = 4") +
                        fmu_part("c", "scheduled_countdown.fmu", "interval = 0.03"),
                    "\"a.out\" = [\"b.in\", \"c.in\"]\n\"a.value\" = [\"b.received\", \"c.received\"]\n"
                    "\"b.z\" = \"a.u\"\n"});
    list.push_back({"model_exchange", "step = 0.5\nmethod = \"jacobi\"\n",
                    fmu_part("b", "counting.fmu", "x = -10") + fmu_part("a", "counting.fmu"),
                    "\"a.count\" = \"b.in\"\n"});
    list.push_back({"can_bus", "step = 0.1\nmethod = \"jacobi\"\n",
                    fmu_part("node1", "node.fmu", "id = 7, at = 0.3") +
                        fmu_part("node2", "node.fmu", "id = 3, at = 0.3") +
                        fmu_part("node3", "node.fmu", "id = 9, at = 0.8") + fmu_part("bus", "bus.fmu"),
                    "\"node1.CanChannel\" = \"bus.Node1\"\n\"bus.Node2\" = \"node2.CanChannel\"\n"
                    "\"node3.CanChannel\" = \"bus.Node3\"\n"});
    std::string types;
    for (const char* type : {"Float32", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64",
                             "Boolean", "String", "Binary", "Enumeration"}) {
      types += fmt::format("\"a.out.{0}\" = \"b.in.{0}\"\n", type);
    }
    const std::string values =
        R"("in.Int64" = -9223372036854775808, "in.UInt64" = "18446744073709551615", "in.Boolean" = true, )"
        R"("in.String" = "a, \"b\"\n\u00fc", "in.Binary" = "00ff10", "in.Enumeration" = 3, "in.Float32" = 0.1)";
    for (const char* fmu : {"typed", "typed_events"}) {
      const std::string file = fmt::format("{}.fmu", fmu);
      list.push_back({fmu, step, fmu_part("a", file, values) + fmu_part("b", file),
                      types + "\"a.out.pair[1]\" = \"b.in.pair[2]\"\n\"a.m[2,3]\" = \"b.a[1,2]\"\n"});
    }
    return list;
  }();
  return all;
}

/// The FMUs and the table that they are made of.
inline void write_event_parts(const TemporaryFolder& folder) {
  const std::string back = "canGetAndSetFMUState=\"true\"";
  write_clocked(folder, "constant.fmu", kConstantTick, back);
  write_clocked(folder, "changing.fmu", "intervalVariability=\"changing\"", back);
  write_clocked(folder, "tunable.fmu", "intervalVariability=\"tunable\"", back);
  write_clocked(folder, "fraction.fmu", "intervalVariability=\"fixed\" supportsFraction=\"true\"", back);
  write_clocked(folder, "countdown.fmu", kCountdownTick, back);
  write_clocked(folder, "forward.fmu", kCountdownTick);
  write_scheduled(folder, "scheduled.fmu", kConstantTick);
  write_scheduled(folder, "scheduled_countdown.fmu", kCountdownTick);
  write_counting(folder);
  write_can_node(folder / "node.fmu");
  write_can_bus(folder / "bus.fmu");
  for (const auto& [name, flags] : {std::pair{"typed.fmu", ""}, std::pair{"typed_events.fmu", "hasEventMode=\"true\""}})
    std::filesystem::rename(write_typed3(folder, flags), folder / name);
  write_text(folder / "steps.csv", "time,x\n0,1\n0.3,7\n2,7\n");
}

/// With its parts in `folder`; everything is recorded.
inline SystemDescription event_system(const std::filesystem::path& folder, const EventScenario& scenario) {
  auto system = system_from("[run]\nstop = 1.0\nopen = [\"*.*\"]\n" + scenario.run + scenario.subsystems +
                            "[connections]\n" + scenario.connections);
  system.file = folder / "system.toml";
  system.record.variables = {Written<std::string>{"*", {}}};
  return system;
}

}  // namespace entrain::test
