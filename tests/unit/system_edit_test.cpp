#include "entrain/system_edit.hpp"

#include <gtest/gtest.h>

#include "entrain/error.hpp"
#include "entrain/system.hpp"

namespace entrain {
namespace {

namespace system_edit_test {

constexpr std::string_view kText = R"(# Two masses.
#   with a spring between them

[run]
stop = 2.0       # s
step = 1e-3      # s, "quoted" # and more

# the left one
[subsystems.left]
model = "mechanical.left"
start = { x = 1.0, m1 = 5.0 }   # metres

[subsystems.right]
model = "mechanical.right"

[connections]                       # "output" = "input"
"left.v" = "right.v"
'left.x' = [ "right.x",             # the position
             "logger.x" ]
"right.F" = { to = "left.F", factor = 2.0 }   # scaled

# the end
)";

/// Lines that differ: those of one text alone, in order.
std::vector<std::string> lines_only_in(std::string_view text, std::string_view other) {
  std::vector<std::string> lines;
  std::size_t from = 0;
  while (from < text.size()) {
    const auto end = std::min(text.find('\n', from), text.size());
    const auto line = text.substr(from, end - from);
    if (("\n" + std::string(other) + "\n").find("\n" + std::string(line) + "\n") == std::string::npos)
      lines.emplace_back(line);
    from = end + 1;
  }
  return lines;
}
using Lines = std::vector<std::string>;

}  // namespace system_edit_test

using namespace system_edit_test;

TEST(SystemEdit, value_that_is_there_changes_alone) {
  const auto text = with_value(kText, {"run", "step"}, "0.5");
  EXPECT_EQ(lines_only_in(text, kText), Lines{"step = 0.5      # s, \"quoted\" # and more"});
  EXPECT_EQ(with_value(text, {"run", "step"}, "1e-3"), kText);
}

TEST(SystemEdit, value_in_braces_changes_alone) {
  const auto text = with_value(kText, {"subsystems", "left", "start", "x"}, "-3.5");
  EXPECT_EQ(lines_only_in(text, kText), Lines{"start = { x = -3.5, m1 = 5.0 }   # metres"});
}

TEST(SystemEdit, new_start_value_joins_the_others_or_begins_the_table) {
  EXPECT_EQ(lines_only_in(with_value(kText, {"subsystems", "left", "start", "k 1"}, "7"), kText),
            Lines{"start = { x = 1.0, m1 = 5.0, \"k 1\" = 7 }   # metres"});
  const auto text = with_value(kText, {"subsystems", "right", "start", "x"}, "2");
  EXPECT_EQ(lines_only_in(text, kText), Lines{"start = { x = 2 }"});
  EXPECT_EQ(lines_only_in(kText, text), Lines{});
  EXPECT_EQ(parse(text, "system.toml").subsystems[1].start.at("x").value, Value(std::int64_t{2}));
}

TEST(SystemEdit, key_goes_into_its_table_before_what_follows) {
  const auto text = with_value(kText, {"run", "method"}, "\"jacobi\"");
  EXPECT_NE(text.find("and more\nmethod = \"jacobi\"\n\n# the left one"), std::string::npos) << text;
}

TEST(SystemEdit, new_tables_stand_where_a_reader_looks_for_them) {
  auto text = with_value(kText, {"subsystems", "a.b", "fmu"}, "\"a b.fmu\"");
  EXPECT_NE(text.find("model = \"mechanical.right\"\n\n[subsystems.\"a.b\"]\nfmu = \"a b.fmu\"\n\n[connections]"),
            std::string::npos)
      << text;
  EXPECT_EQ(lines_only_in(kText, text), Lines{});
  EXPECT_EQ(with_value("", {"run", "stop"}, "1"), "[run]\nstop = 1\n");
  EXPECT_EQ(with_value("# only this", {"subsystems", "a", "model"}, "\"x.y\""),
            "# only this\n\n[subsystems.a]\nmodel = \"x.y\"\n");
  text = with_value("[subsystems.a]\nmodel = \"x.y\"\n", {"run", "stop"}, "1");
  EXPECT_EQ(text, "[run]\nstop = 1\n\n[subsystems.a]\nmodel = \"x.y\"\n");
  EXPECT_EQ(with_value(text, {"method", "jacobi", "degree"}, "2"),
            "[run]\nstop = 1\n\n[subsystems.a]\nmodel = \"x.y\"\n\n[method.jacobi]\ndegree = 2\n");
}

TEST(SystemEdit, value_that_is_no_toml_is_refused) {
  EXPECT_THROW(with_value(kText, {"run", "step"}, "1 2"), Error);
  EXPECT_THROW(with_value(kText, {"run", "step"}, "1\n[other"), Error);
  EXPECT_THROW(with_value("[run\n", {"run", "step"}, "1"), Error);
}

TEST(SystemEdit, connection_is_added_to_none_one_or_several) {
  EXPECT_EQ(lines_only_in(with_connection(kText, "right.x", "left.u"), kText), Lines{"\"right.x\" = \"left.u\""});
  EXPECT_EQ(lines_only_in(with_connection(kText, "left.v", "left.u"), kText),
            Lines{"\"left.v\" = [\"right.v\", \"left.u\"]"});
  EXPECT_EQ(lines_only_in(with_connection(kText, "left.x", "left.u"), kText),
            Lines{"             \"logger.x\", \"left.u\" ]"});
  const auto text = with_connection(kText, "right.F", "logger.F");
  EXPECT_EQ(lines_only_in(text, kText),
            Lines{"\"right.F\" = [{ to = \"left.F\", factor = 2.0 }, \"logger.F\"]   # scaled"});
  EXPECT_EQ(with_connection(kText, "left.v", "right.v"), kText);
  EXPECT_EQ(parse(text, "system.toml").connections.size(), 5U);
}

TEST(SystemEdit, connection_is_taken_from_one_or_several) {
  EXPECT_EQ(without_connection(with_connection(kText, "left.v", "left.u"), "left.v", "left.u"), kText);
  const auto text = without_connection(kText, "left.v", "right.v");
  EXPECT_EQ(lines_only_in(kText, text), Lines{"\"left.v\" = \"right.v\""});
  EXPECT_EQ(lines_only_in(text, kText), Lines{});
  EXPECT_NE(without_connection(kText, "left.x", "right.x").find("'left.x' = \"logger.x\"\n"), std::string::npos);
  EXPECT_EQ(without_connection(kText, "right.F", "left.F").find("right.F"), std::string::npos);
  EXPECT_EQ(without_connection(kText, "left.v", "other.v"), kText);
  const auto three = with_connection(kText, "left.x", "c.x");
  EXPECT_EQ(parse(without_connection(three, "left.x", "right.x"), "system.toml").connections.size(), 4U);
}

TEST(SystemEdit, subsystem_goes_with_everything_that_names_it) {
  const std::string more = std::string(kText) + "[schedule]\n\"right.k\" = [[1.0, 2.0]]\n\"left.k\" = [[1.0, 2.0]]\n";
  const auto text = without_subsystem(more, "right");
  EXPECT_EQ(text.find("right"), std::string::npos) << text;
  EXPECT_NE(text.find("'left.x' = \"logger.x\""), std::string::npos) << text;
  EXPECT_NE(text.find("# the end"), std::string::npos);
  EXPECT_EQ(parse(text, "system.toml").schedule.size(), 1U);
}

TEST(SystemEdit, renamed_subsystem_keeps_its_connections) {
  const auto text = with_subsystem_renamed(kText, "left", "mass/one");
  EXPECT_EQ(text.find("\"left."), std::string::npos) << text;
  const auto system = parse(text, "system.toml");
  EXPECT_EQ(system.subsystems[0].name, "mass/one");
  EXPECT_EQ(system.subsystems[0].model, "mechanical.left");
  EXPECT_EQ(system.connections[0].output, "mass/one.v");
  EXPECT_EQ(system.connections.back().input, "mass/one.F");
  EXPECT_NE(text.find("# the left one"), std::string::npos);
  EXPECT_EQ(with_subsystem_renamed(text, "mass/one", "left").find("mass/one"), std::string::npos);
}

TEST(SystemEdit, scenario_follows_a_renamed_or_removed_subsystem) {
  const std::string tables = std::string(kText) +
                             "[[scenario]]\nat = 1.0\nbias = \"left.v -> right.v\"\nvalue = 2 # N\n"
                             "[[scenario]]\nwhen = \"right.F > 3\"\ndrop = \"logger.x\"\n";
  const auto renamed = parse(with_subsystem_renamed(tables, "right", "end"), "system.toml");
  ASSERT_EQ(renamed.scenario.size(), 2U);
  EXPECT_EQ(renamed.scenario[0].target.value, "left.v -> end.v");
  EXPECT_EQ(renamed.scenario[1].when->value, "end.F > 3");
  const auto removed = parse(without_subsystem(tables, "left"), "system.toml");
  ASSERT_EQ(removed.scenario.size(), 1U);
  EXPECT_EQ(removed.scenario[0].target.value, "logger.x");

  const std::string list =
      "scenario = [\n  { at = 1.0, drop = \"left.F\" },  # first\n  { at = 2.0, drop = \"logger.x\" },\n]\n" +
      std::string(kText);
  EXPECT_EQ(parse(with_subsystem_renamed(list, "left", "l"), "system.toml").scenario[0].target.value, "l.F");
  const auto one = parse(without_subsystem(list, "left"), "system.toml");
  ASSERT_EQ(one.scenario.size(), 1U);
  EXPECT_EQ(one.scenario[0].target.value, "logger.x");
}

TEST(SystemEdit, strings_of_all_kinds_hide_what_looks_like_toml) {
  const std::string text =
      "[run]\nstop = 1\n[subsystems.a]\nstart = { t = \"\"\"x ] } # [run]\n\"\"\"\", l = ''' '[z]' ''' }\nmodel = "
      "'a.b' # \"\n";
  const auto changed = with_value(text, {"subsystems", "a", "start", "l"}, "3");
  EXPECT_NE(changed.find(", l = 3 }\nmodel"), std::string::npos) << changed;
  EXPECT_EQ(with_value(text, {"subsystems", "a", "model"}, "'c.d'").substr(text.size() - 10), "'c.d' # \"\n");
}

TEST(SystemEdit, key_is_removed_from_table_and_braces) {
  EXPECT_EQ(lines_only_in(kText, without_value(kText, {"run", "step"})),
            Lines{"step = 1e-3      # s, \"quoted\" # and more"});
  EXPECT_EQ(lines_only_in(without_value(kText, {"subsystems", "left", "start", "x"}), kText),
            Lines{"start = { m1 = 5.0 }   # metres"});
  EXPECT_EQ(lines_only_in(without_value(kText, {"subsystems", "left", "start", "m1"}), kText),
            Lines{"start = { x = 1.0 }   # metres"});
  EXPECT_EQ(without_value(kText, {"run", "nothing"}), kText);
}

}  // namespace
}  // namespace entrain
