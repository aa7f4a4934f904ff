#include <gtest/gtest.h>

#include "description/check_values.hpp"
#include "description/system_file.hpp"
#include "support/facts.hpp"

namespace entrain {
namespace system_reader_test {

using Texts = std::vector<std::string>;

SystemDescription parsed(std::string_view text) {
  std::vector<Problem> problems;
  auto description = description::parse_system(text, "system.toml", problems);
  for (const auto& problem : problems) ADD_FAILURE() << to_string(problem);
  return description;
}

Texts problems_of(std::string_view text) {
  std::vector<Problem> problems;
  description::parse_system(text, "system.toml", problems);
  Texts texts;
  for (const auto& problem : problems) texts.push_back(test::outline(problem));
  return texts;
}

/// The problems of a file whose only subsystem 'a' is in order, before the text.
Texts problems_beside_a_subsystem(const std::string& text) {
  return problems_of("subsystems.a.model = \"tough\"\n" + text);
}

constexpr std::string_view kComplete = R"([run]
start = 1
stop = 20.5
step = 0.01
method = "nepce"
[method.nepce]
degree = 2
relative_tolerance = 1e-6
solve = true
loops = "delay"
times = [1, 2.5]
sequence = ["prey", "a/b-c_1"]
gains = { "prey.u" = 0.6, "a/b-c_1.u" = 1 }
[subsystems.prey]
model = "lotka_volterra.prey"
start = { alpha = 0.6667, order = 3, exact = true, "solver.name" = "rk" }
rollback = false
states = true
state_derivatives = false
linearization = false
input_degree = 0
output_derivative_order = 1
step = 0.05
step_offset = 0.01
min_step = 0
max_step = 1
initial_step = 0.5
substeps = 4
events = [7.5, 9]
[connections]
"prey.p" = [
  "a/b-c_1.u",
  "a/b-c_1.w",
]
"a/b-c_1.P" = "prey.u"
[record]
variables = ["prey.*", "a/b-c_1.P"]
interval = 0.1
[subsystems."a/b-c_1"]
model = "lotka_volterra.predator"
[subsystems."a/b-c_1".start]
gamma = 2
)";

TEST(SystemReader, reads_the_run_and_where_each_value_stands) {
  const auto system = parsed(kComplete);
  EXPECT_EQ(system.start.value, 1.0);
  EXPECT_EQ(system.stop->value, 20.5);
  EXPECT_EQ(system.stop->where.file, "system.toml");
  EXPECT_EQ(system.stop->where.line, 3);
  EXPECT_EQ(system.step->value, 0.01);
  EXPECT_EQ(system.method.value, "nepce");
  EXPECT_EQ(system.method.where.line, 5);
}

TEST(SystemReader, keeps_every_shape_of_option) {
  const auto system = parsed(kComplete);
  const auto& options = system.method_options.at("nepce");
  EXPECT_EQ(options.at("degree").value, OptionValue(std::int64_t{2})) << "an integer stays one";
  EXPECT_EQ(options.at("degree").where.line, 7);
  EXPECT_EQ(options.at("relative_tolerance").value, OptionValue(1e-6));
  EXPECT_EQ(options.at("solve").value, OptionValue(true));
  EXPECT_EQ(options.at("loops").value, OptionValue(std::string("delay")));
  EXPECT_EQ(options.at("times").value, OptionValue(std::vector<double>{1.0, 2.5}));
  EXPECT_EQ(options.at("sequence").value, OptionValue(std::vector<std::string>{"prey", "a/b-c_1"}));
  EXPECT_EQ(options.at("gains").value, OptionValue(std::map<std::string, double>{{"prey.u", 0.6}, {"a/b-c_1.u", 1.0}}));
}

TEST(SystemReader, reads_a_subsystem_with_all_its_keys) {
  const auto system = parsed(kComplete);
  const auto& prey = system.subsystems.at(0);
  EXPECT_EQ(prey.where.line, 14);
  EXPECT_EQ(prey.model, "lotka_volterra.prey");
  EXPECT_EQ(prey.model_where.line, 15);
  EXPECT_EQ(prey.start.at("alpha").value, Value(0.6667));
  EXPECT_EQ(prey.start.at("order").value, Value(std::int64_t{3}));
  EXPECT_EQ(prey.start.at("exact").value, Value(true));
  EXPECT_EQ(prey.start.at("solver.name").value, Value(std::string("rk")));
  EXPECT_FALSE(prey.rollback->value);
  EXPECT_TRUE(prey.states->value);
  EXPECT_FALSE(prey.state_derivatives->value);
  EXPECT_FALSE(prey.linearization->value);
  EXPECT_EQ(prey.input_degree->value, 0);
  EXPECT_EQ(prey.output_derivative_order->value, 1);
  EXPECT_EQ(prey.step->value, 0.05);
  EXPECT_EQ(prey.min_step->value, 0.0);
  EXPECT_EQ(prey.max_step->value, 1.0);
  EXPECT_EQ(prey.step_offset->value, 0.01);
  EXPECT_EQ(prey.initial_step->value, 0.5);
  EXPECT_EQ(prey.substeps->value, 4);
  EXPECT_EQ(prey.events->value, (std::vector<double>{7.5, 9.0}));
}

TEST(SystemReader, takes_start_values_from_a_table_of_their_own) {
  const auto system = parsed(kComplete);
  EXPECT_EQ(system.subsystems.at(1).start.at("gamma").value, Value(std::int64_t{2}));
  EXPECT_EQ(system.subsystems.at(1).start.at("gamma").where.line, 42);
}

TEST(SystemReader, connects_one_output_to_several_inputs) {
  const auto& connections = parsed(kComplete).connections;
  ASSERT_EQ(connections.size(), 3U);
  EXPECT_EQ(connections[0].output, "prey.p");
  EXPECT_EQ(connections[0].input, "a/b-c_1.u");
  EXPECT_EQ(connections[1].output, "prey.p");
  EXPECT_EQ(connections[1].input, "a/b-c_1.w");
  EXPECT_EQ(connections[1].where.line, 33) << "of the element in the list";
  EXPECT_EQ(connections[1].output_where.line, 31);
  EXPECT_EQ(connections[2].input, "prey.u");
}

TEST(SystemReader, keeps_the_order_of_the_file) {
  const auto system = parsed(R"(
subsystems.zebra.model = "tough"
subsystems.ape.model = "tough"
subsystems.mole.model = "tough"
connections."zebra.y" = "mole.u"
connections."ape.y" = "zebra.u"
)");
  ASSERT_EQ(system.subsystems.size(), 3U);
  EXPECT_EQ(system.subsystems[0].name, "zebra");
  EXPECT_EQ(system.subsystems[1].name, "ape");
  EXPECT_EQ(system.subsystems[2].name, "mole");
  EXPECT_EQ(system.connections[0].output, "zebra.y");
  EXPECT_EQ(system.connections[1].output, "ape.y");
}

TEST(SystemReader, leaves_empty_what_is_not_written) {
  const auto system = parsed("[subsystems.a]\nmodel = \"tough\"\n");
  EXPECT_EQ(system.start.value, 0.0);
  EXPECT_FALSE(system.stop.has_value());
  EXPECT_FALSE(system.step.has_value());
  EXPECT_EQ(system.method.value, "auto");
  EXPECT_FALSE(system.record.variables.has_value());
  EXPECT_FALSE(system.record.interval.has_value());
  EXPECT_FALSE(system.subsystems[0].rollback.has_value());
}

TEST(SystemReader, names_the_system_after_its_file_or_folder) {
  std::vector<Problem> problems;
  EXPECT_EQ(description::parse_system("", "cases/prey.toml", problems).name, "prey");
  EXPECT_EQ(description::parse_system("", "cases/hunt/system.toml", problems).name, "hunt");
  EXPECT_EQ(description::parse_system("", "cases/hunt/./system.toml", problems).name, "hunt");
  EXPECT_EQ(description::parse_system("", "/system.toml", problems).name, "system");
}

TEST(SystemReader, reports_unknown_keys_with_line_and_suggestion) {
  EXPECT_EQ(problems_beside_a_subsystem("[run]\nstop = 1\nstpe = 0.1"),
            Texts{"system.toml:4: unknown-key stpe (owner = run); did you mean 'step'?"});
  EXPECT_EQ(problems_beside_a_subsystem("[conections]\n\"a.y\" = \"a.u\""),
            Texts{"system.toml:2: unknown-table conections; did you mean 'connections'?"});
  EXPECT_EQ(problems_beside_a_subsystem("stop = 1"),
            Texts{"system.toml:2: unknown-key stop; known: run, method, "
                  "subsystems, connections, bonds, constraints, schedule, scenario, ..."});
  EXPECT_EQ(problems_beside_a_subsystem("[record]\nvariabels = []"),
            Texts{"system.toml:3: unknown-key variabels (owner = record); did you mean 'variables'?"});
  EXPECT_EQ(problems_of("[subsystems.a]\nmodel = \"tough\"\nrolback = false\n[subsystems.a.strat]\nx = 1"),
            (Texts{"system.toml:3: unknown-key rolback (owner = subsystems.a); did you mean 'rollback'?",
                   "system.toml:4: unknown-key strat (owner = subsystems.a); did you mean 'start'?"}));
}

TEST(SystemReader, names_the_type_expected_and_the_type_found) {
  EXPECT_EQ(problems_beside_a_subsystem("[run]\nstart = true\nstop = \"2\"\nstep = [1]\nmethod = 3"),
            (Texts{"system.toml:3: wrong-type run.start (expected = a number, found = the boolean true)",
                   "system.toml:4: wrong-type run.stop (expected = a number, found = the string \"2\")",
                   "system.toml:5: wrong-type run.step (expected = a number, found = a list)",
                   "system.toml:6: wrong-type run.method (expected = a string, found = the integer 3)"}));
  EXPECT_EQ(problems_beside_a_subsystem("run = 5"),
            Texts{"system.toml:2: wrong-type run (expected = a table, found = the integer 5)"});
  EXPECT_EQ(
      problems_of("[subsystems.a]\nmodel = 1\nrollback = 0\ninput_degree = 1.0\nevents = [1, \"x\"]\nstart = 1"),
      (Texts{"system.toml:2: wrong-type subsystems.a.model (expected = a string, found = the integer 1)",
             "system.toml:3: wrong-type subsystems.a.rollback (expected = true or false, found = the integer 0)",
             "system.toml:4: wrong-type subsystems.a.input_degree (expected = an integer, found = the number 1.0)",
             "system.toml:5: wrong-type subsystems.a.events (expected = a list of numbers, found = a list)",
             "system.toml:6: wrong-type subsystems.a.start (expected = a table, found = the integer 1)"}));
  EXPECT_EQ(problems_of("[[subsystems]]\nmodel = \"tough\""),
            (Texts{"system.toml: no-subsystems; add one: [subsystems.NAME] with model = \"...\"",
                   "system.toml:1: wrong-type subsystems (expected = a table, found = a list)"}));
  EXPECT_EQ(problems_of("[subsystems]\na = \"tough\""),
            Texts{"system.toml:2: wrong-type subsystems.a (expected = a table, found = the string \"tough\")"});
  EXPECT_EQ(
      problems_beside_a_subsystem("[record]\nvariables = \"a.*\""),
      Texts{"system.toml:3: wrong-type record.variables (expected = a list of strings, found = the string \"a.*\")"});
  EXPECT_EQ(
      problems_beside_a_subsystem("[connections]\n\"a.y\" = 1\n\"a.z\" = [\"a.u\",\n 2]\n\"a.w\" = []"),
      (Texts{"system.toml:3: wrong-type connections.\"a.y\" (expected = an input or a list of inputs, as strings, "
             "found = the integer 1)",
             "system.toml:5: wrong-type connections.\"a.z\" (expected = a list of strings, found = the integer 2)",
             "system.toml:6: no-input-named connections.\"a.w\""}));
}

TEST(SystemReader, reports_that_names_with_dots_need_quotes) {
  const std::string remedy = "; quote a name that has dots: \"a.b\" = ...";
  EXPECT_EQ(problems_beside_a_subsystem("[connections]\na.y = \"a.u\""),
            Texts{"system.toml:3: wrong-type connections.\"a\" (expected = an input or a list of inputs, as strings, "
                  "found = a table)" +
                  remedy});
  EXPECT_EQ(problems_beside_a_subsystem("[method.nepce]\ngains = { a.u = 0.5 }"),
            Texts{"system.toml:3: not-only-numbers method.nepce.gains" + remedy});
  EXPECT_EQ(problems_of("[subsystems.a]\nmodel = \"tough\"\nstart = { body.x = 1 }"),
            Texts{"system.toml:3: wrong-type subsystems.a.start.body (expected = a number, a boolean or a string, "
                  "found = a table)" +
                  remedy});
}

TEST(SystemReader, refuses_options_of_a_shape_that_no_option_has) {
  EXPECT_EQ(problems_beside_a_subsystem("[method]\njacobi = 1\n[method.nepce]\na = [1, \"x\"]\nb = 2020-01-01"),
            (Texts{"system.toml:3: wrong-type method.jacobi (expected = a table, found = the integer 1)",
                   "system.toml:5: mixed-list method.nepce.a",
                   "system.toml:6: wrong-type method.nepce.b (expected = a boolean, a number, a string, a list or a "
                   "table, found = a date or time)"}));
}

TEST(SystemReader, wants_a_model_and_a_subsystem) {
  EXPECT_EQ(problems_of("[run]\nstop = 1\n[subsystems.a]\n"),
            Texts{"system.toml:3: no-model a; name one, such as model = \"lotka_volterra.prey\", an FMU: fmu = "
                  "\"prey.fmu\", a table: csv = \"load.csv\", or a part outside: udp = { ... }"});
  EXPECT_EQ(problems_of(""), Texts{"system.toml: no-subsystems; add one: [subsystems.NAME] with model = \"...\""});
}

TEST(SystemReader, passes_a_syntax_error_on_and_stops_there) {
  EXPECT_EQ(problems_of("[run]\nstop 1\n[nonsense]"),
            Texts{"system.toml:2: not-toml (why = Error while parsing key-value pair: expected '=', saw '1')"});
  EXPECT_EQ(problems_of("[subsystems.a]\nmodel = \"tough\"\n[subsystems.a]\n"),
            Texts{"system.toml:3: not-toml (why = Error while parsing table header: cannot redefine existing table "
                  "'subsystems.a')"});
  EXPECT_EQ(problems_of(std::string_view("\0\0\0\0", 4)).size(), 1U);
}

TEST(SystemReader, requires_utf8_and_names_the_line_that_is_not) {
  EXPECT_EQ(problems_of("# caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x97\n[subsystems.a]\nmodel = \"tough\"\n"), Texts{});
  const std::string problem = ": not-utf8; save the file as UTF-8";
  EXPECT_EQ(problems_of("#\n#\n# caf\xe9 in Latin-1\n#\n"), Texts{"system.toml:3" + problem});
  EXPECT_EQ(problems_of("#\n# \xa9"), Texts{"system.toml:2" + problem});
  EXPECT_EQ(problems_of("#\n# \xff\n"), Texts{"system.toml:2" + problem});
  EXPECT_EQ(problems_of("#\n# \xe2\x82"), Texts{"system.toml:2" + problem});
}

TEST(SystemReader, survives_nesting_without_end) {
  std::string key = "a";
  for (int i = 0; i < 200'000; ++i) key += ".a";
  EXPECT_EQ(problems_of("\n" + key + " = 1"), Texts{"system.toml:2: key-too-long (parts = 64)"});
  EXPECT_EQ(problems_of("a = " + std::string(100'000, '[')).size(), 1U);
  std::string nested;
  for (int i = 0; i < 200; ++i) nested += "{ a.a.a.a.a.a.a.a.a.a = ";
  const auto problems = problems_beside_a_subsystem("x = " + nested + "1" + std::string(200, '}'));
  EXPECT_EQ(problems.size(), 1U);
}

TEST(SystemReader, does_not_take_numbers_strings_or_comments_for_endless_keys) {
  std::string list = "0.5";
  for (int i = 0; i < 100; ++i) list += ", 0.5";
  const std::string dots(100, '.');
  EXPECT_EQ(problems_of("# " + dots + "\n[subsystems.a]\nmodel = \"tough\" # " + dots + "\nstart = { s = '" + dots +
                        "' }\nevents = [" + list + "]"),
            Texts{});
}

TEST(SystemReader, reports_every_problem_in_the_order_of_the_file) {
  EXPECT_EQ(
      problems_of(R"([run]
stop = -1
step = 0
[subsystems.a]
rollback = "no"
[connections]
"a.y" = "u"
)"),
      (Texts{"system.toml:2: stop-before-start (start = 0 s, stop = -1 s)",
             "system.toml:3: out-of-range run.step (range = greater than 0 s, value = 0)",
             std::string("system.toml:4: no-model a; name one, such as model = ") +
                 "\"lotka_volterra.prey\", an FMU: fmu = \"prey.fmu\", a table: csv = \"load.csv\", or a part outside: "
                 "udp "
                 "= { ... }",
             "system.toml:5: wrong-type subsystems.a.rollback (expected = true or false, found = the string \"no\")",
             "system.toml:7: bad-endpoint u (of = a connection, role = input); write \"subsystem.variable\""}));
}

TEST(SystemValues, of_the_run_must_make_a_run) {
  const auto run = [](const std::string& text) { return problems_beside_a_subsystem("[run]\n" + text); };
  EXPECT_EQ(run("step = 0"), Texts{"system.toml:3: out-of-range run.step (range = greater than 0 s, value = 0)"});
  EXPECT_EQ(run("step = -0.5"), Texts{"system.toml:3: out-of-range run.step (range = greater than 0 s, value = -0.5)"});
  EXPECT_EQ(run("step = nan"), Texts{"system.toml:3: not-finite run.step (value = nan)"});
  EXPECT_EQ(run("step = inf"), Texts{"system.toml:3: not-finite run.step (value = inf)"});
  EXPECT_EQ(run("stop = inf"), Texts{"system.toml:3: not-finite run.stop (value = inf)"});
  EXPECT_EQ(run("start = nan\nstop = 1"), Texts{"system.toml:3: not-finite run.start (value = nan)"});
  EXPECT_EQ(run("start = 2\nstop = 2"), Texts{"system.toml:4: stop-before-start (start = 2 s, stop = 2 s)"});
  EXPECT_EQ(run("stop = 2\nstep = 5"),
            Texts{"system.toml:4: step-longer-than-run (run = 2 s, step = 5 s); choose a smaller step"});
  EXPECT_EQ(run("start = 0.1\nstop = 0.3\nstep = 0.2"), Texts{}) << "0.3 - 0.1 rounds to less than 0.2";
  EXPECT_EQ(run("step = 5"), Texts{}) << "the stop time may come from the command line";
}

TEST(SystemValues, of_a_subsystem_must_make_sense) {
  const auto subsystem = [](const std::string& text) {
    return problems_of("[subsystems.a]\nmodel = \"tough\"\n" + text);
  };
  EXPECT_EQ(subsystem("start = { x = nan, y = 1.0, z = -inf }"),
            (Texts{"system.toml:3: not-finite subsystems.a.start.x (value = nan)",
                   "system.toml:3: not-finite subsystems.a.start.z (value = -inf)"}));
  EXPECT_EQ(subsystem("step = 0.0"),
            Texts{"system.toml:3: out-of-range subsystems.a.step (range = greater than 0 s, value = 0)"});
  EXPECT_EQ(subsystem("step = -1"),
            Texts{"system.toml:3: out-of-range subsystems.a.step (range = greater than 0 s, value = -1)"});
  EXPECT_EQ(subsystem("min_step = -1"),
            Texts{"system.toml:3: out-of-range subsystems.a.min_step (range = at least 0 s, value = -1)"});
  EXPECT_EQ(subsystem("substeps = 0"),
            Texts{"system.toml:3: out-of-range subsystems.a.substeps (range = between 1 and 1000000, value = 0)"});
  EXPECT_EQ(subsystem("substeps = 1.5"),
            Texts{"system.toml:3: wrong-type subsystems.a.substeps (expected = an integer, found = the number 1.5)"});
  EXPECT_EQ(subsystem("max_step = -1"),
            Texts{"system.toml:3: out-of-range subsystems.a.max_step (range = greater than 0 s, value = -1)"});
  EXPECT_EQ(subsystem("max_step = 1\nmin_step = 2"),
            Texts{"system.toml:4: min-above-max-step subsystems.a (max_step = 1 s, min_step = 2 s)"});
  EXPECT_EQ(subsystem("max_step = 1\nmin_step = 1"), Texts{});
  EXPECT_EQ(subsystem("timeout = 0"),
            Texts{"system.toml:3: out-of-range subsystems.a.timeout (range = greater than 0 s, value = 0)"});
  EXPECT_EQ(subsystem("timeout = 1"),
            Texts{"system.toml:3: key-misplaced subsystems.a.timeout (owner = FMUs); leave it out"});
  EXPECT_EQ(problems_of("[subsystems.a]\nfmu = \"a.fmu\"\ntimeout = 1"), Texts{});
  EXPECT_EQ(subsystem("initial_step = 0"),
            Texts{"system.toml:3: out-of-range subsystems.a.initial_step (range = greater than 0 s, value = 0)"});
  EXPECT_EQ(subsystem("step = 1\nstep_offset = -1"),
            Texts{"system.toml:4: out-of-range subsystems.a.step_offset (range = at least 0 s, value = -1)"});
  EXPECT_EQ(subsystem("step = 1\nstep_offset = 1"),
            Texts{"system.toml:4: offset-beyond-step subsystems.a (offset = 1 s, step = 1 s)"});
  EXPECT_EQ(subsystem("step = 1\nstep_offset = 0.5"), Texts{});
  for (const char* degree : {"0", "3"}) EXPECT_EQ(subsystem(std::string("input_degree = ") + degree), Texts{});
  EXPECT_EQ(subsystem("input_degree = 4"),
            Texts{"system.toml:3: out-of-range subsystems.a.input_degree (range = between 0 and 3, value = 4)"});
  EXPECT_EQ(subsystem("input_degree = -1"),
            Texts{"system.toml:3: out-of-range subsystems.a.input_degree (range = between 0 and 3, value = -1)"});
  EXPECT_EQ(subsystem("output_derivative_order = -1"),
            Texts{"system.toml:3: out-of-range subsystems.a.output_derivative_order (range = at least 0, value = -1)"});
  EXPECT_EQ(subsystem("events = [1.0, inf]"), Texts{"system.toml:3: not-finite subsystems.a.events (value = inf)"});
  EXPECT_EQ(subsystem("events = []"), Texts{}) << "no events: those announced are hidden";
}

TEST(SystemValues, of_names_must_have_their_form) {
  EXPECT_EQ(problems_of("[subsystems.\"a.b\"]\nmodel = \"tough\""),
            Texts{"system.toml:1: bad-subsystem-name a.b; use letters, digits, '_', '-' and '/'"});
  EXPECT_EQ(problems_of("[subsystems.\"\"]\nmodel = \"tough\"").size(), 1U);
  EXPECT_EQ(problems_beside_a_subsystem("[connections]\n\"y\" = [\n\"a.u\",\n\"a.\",\n\".u\"]"),
            (Texts{"system.toml:3: bad-endpoint y (of = a connection, role = output); write \"subsystem.variable\"",
                   "system.toml:5: bad-endpoint a. (of = a connection, role = input); write \"subsystem.variable\"",
                   "system.toml:6: bad-endpoint .u (of = a connection, role = input); write \"subsystem.variable\""}));
}

TEST(SystemValues, of_the_run_must_be_countable) {
  EXPECT_EQ(
      problems_beside_a_subsystem("[run]\nstop = 1e308\nstep = 1e-3"),
      Texts{"system.toml:4: too-many-steps (run = 1e+308 s, step = 0.001 s); choose a larger step or an earlier stop"});
  EXPECT_EQ(problems_beside_a_subsystem("[run]\nstart = 1e9\nstop = 1000000000.00001\nstep = 1e-6"),
            Texts{"system.toml:5: step-too-small (step = 1e-06 s, time = 1000000000.00001 s); start "
                  "nearer to 0, or choose a larger step"});
}

TEST(SystemValues, of_the_record_must_make_sense) {
  EXPECT_EQ(problems_beside_a_subsystem("[run]\nstop = 1\n[record]\ninterval = 1e-30"),
            Texts{"system.toml:5: too-many-rows (interval = 1e-30 s); choose a larger interval"});
  EXPECT_EQ(problems_beside_a_subsystem("[record]\ninterval = 0"),
            Texts{"system.toml:3: out-of-range record.interval (range = greater than 0 s, value = 0)"});
}

TEST(SystemValues, are_checked_for_systems_made_by_a_program_too) {
  SystemDescription system;
  system.subsystems.resize(2);
  system.subsystems[0].name = system.subsystems[1].name = "a";
  system.step = Written<double>{-1.0, {}};
  std::vector<Problem> problems;
  description::check_values(system, problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(test::outline(problems[0]), "out-of-range run.step (range = greater than 0 s, value = -1)");
  EXPECT_EQ(test::outline(problems[1]), "subsystem-twice a");
}

TEST(SystemReader, takes_an_fmu_instead_of_a_model) {
  std::vector<Problem> problems;
  const auto system = description::parse_system("[subsystems.a]\nfmu = \"parts/a.fmu\"\n", "system.toml", problems);
  EXPECT_TRUE(problems.empty());
  EXPECT_EQ(system.subsystems.at(0).fmu, "parts/a.fmu");
  EXPECT_EQ(system.subsystems.at(0).fmu_where.line, 2);
}

TEST(SystemReader, wants_a_model_or_an_fmu_not_both) {
  EXPECT_EQ(problems_of("[subsystems.a]\nmodel = \"tough\"\nfmu = \"a.fmu\"\n"),
            Texts{"system.toml:3: model-and-fmu a; name one of them"});
}

}  // namespace system_reader_test
}  // namespace entrain
