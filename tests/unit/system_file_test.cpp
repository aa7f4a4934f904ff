#include "description/system_file.hpp"
#include "description/subsystem_keys.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace entrain {
namespace system_file_test {

namespace fs = std::filesystem;

/// A folder of its own for each test, removed afterwards.
class SystemFile : public testing::Test {
 protected:
  void SetUp() override {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / ("entrain_" + std::to_string(getpid()) + "_" + test->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  fs::path folder_;
};

/// The outline of the Error{code} that the call must throw.
template <class Call>
std::string error_of(ErrorCode code, Call&& call) {
  const auto error = test::error_of(call);
  if (!error) return "accepted";
  EXPECT_EQ(error->code(), code) << error->what();
  return error->problems().empty() ? test::outline(*error) : test::outline(error->problems().front());
}

std::string search_error(const fs::path& path) {
  return error_of(ErrorCode::FileFailed, [&] { description::find_system_file(path); });
}

std::string read_error(const fs::path& path) {
  std::vector<Problem> problems;
  return error_of(ErrorCode::FileFailed, [&] { description::read_system(path, problems); });
}

TEST_F(SystemFile, is_the_file_itself) {
  const auto file = write("case.toml", "");
  EXPECT_EQ(description::find_system_file(file), file);
}

TEST_F(SystemFile, is_system_toml_in_a_folder_or_else_the_only_toml) {
  const auto only = write("case.toml", "");
  write("notes.txt", "");
  EXPECT_EQ(description::find_system_file(folder_), only);
  const auto named = write("system.toml", "");
  EXPECT_EQ(description::find_system_file(folder_), named);
}

TEST_F(SystemFile, search_reports_what_it_looked_for) {
  const std::string folder = folder_.string();
  EXPECT_EQ(search_error(folder_ / "none.toml"), "no-such-file " + folder + "/none.toml (folder = 1)");
  EXPECT_EQ(search_error(folder_), "no-system-file " + folder);
  EXPECT_EQ(search_error(write("model.fmu", "")), "not-system-file " + folder + "/model.fmu");
  write("b.toml", "");
  write("a.toml", "");
  EXPECT_EQ(search_error(folder_), "several-system-files " + folder + ", a.toml, b.toml");
}

TEST_F(SystemFile, search_survives_paths_that_cannot_exist) {
  const auto file = write("case.toml", "");
  EXPECT_NE(search_error(file / "below.toml").find("below.toml"), std::string::npos);
  EXPECT_NE(search_error(std::string(5000, 'x')).find("File name too long"), std::string::npos);
  EXPECT_NE(search_error("").find("no-such-file"), std::string::npos);
}

TEST_F(SystemFile, is_read_with_its_path_in_every_position) {
  const auto file = write("case.toml", "[subsystems.a]\nmodle = \"tough\"\n");
  std::vector<Problem> problems;
  const auto system = description::read_system(file, problems);
  EXPECT_EQ(system.name, "case");
  EXPECT_EQ(system.file, file);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[1].where.file, file.string());
  EXPECT_EQ(problems[1].remedy, "did you mean 'model'?");
}

TEST_F(SystemFile, that_is_missing_a_folder_or_a_device_is_an_error) {
  EXPECT_EQ(read_error(folder_ / "none.toml"), "no-such-file " + (folder_ / "none.toml").string());
  EXPECT_EQ(read_error(folder_), "not-regular-file " + folder_.string());
  EXPECT_EQ(read_error("/dev/zero"), "not-regular-file /dev/zero");
}

TEST_F(SystemFile, that_is_huge_is_refused_before_it_is_read) {
  const auto file = write("huge.toml", "");
  fs::resize_file(file, std::uintmax_t{1} << 40U);  // sparse: takes no room on the disk
  EXPECT_EQ(read_error(file),
            "file-too-large " + file.string() + " (kind = a system file, limit = 64, size = 1048576)");
}

TEST_F(SystemFile, that_is_empty_or_binary_is_a_problem_with_its_place) {
  std::vector<Problem> problems;
  description::read_system(write("empty.toml", ""), problems);
  description::read_system(write("binary.toml", "\n\xff\xfe\x01"), problems);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].fact.code, FactCode::NoSubsystems);
  EXPECT_EQ(problems[1].where.line, 2);
}

SystemDescription prey_and_predator() {
  SystemDescription system;
  system.subsystems.resize(2);
  system.subsystems[0].name = "prey";
  system.subsystems[1].name = "predator";
  return system;
}

Value set(const std::string& assignment, const std::string& variable) {
  auto system = prey_and_predator();
  apply_set(system, assignment);
  const auto& written = system.subsystems[0].start.at(variable);
  EXPECT_EQ(written.where.file, "--set " + assignment);
  return written.value;
}

std::string set_error(const std::string& assignment) {
  return error_of(ErrorCode::InvalidSystem, [&] {
    auto system = prey_and_predator();
    apply_set(system, assignment);
  });
}

TEST(SetOption, gives_a_start_value_of_the_type_that_it_reads_as) {
  EXPECT_EQ(set("prey.alpha=0.7", "alpha"), Value(0.7));
  EXPECT_EQ(set("prey.alpha = 1e-3", "alpha"), Value(1e-3));
  EXPECT_EQ(set("prey.order=-3", "order"), Value(std::int64_t{-3}));
  EXPECT_EQ(set("prey.exact=true", "exact"), Value(true));
  EXPECT_EQ(set("prey.integrator=\"exact\"", "integrator"), Value(std::string("exact")));
  EXPECT_EQ(set("prey.integrator=semi-implicit", "integrator"), Value(std::string("semi-implicit")));
  EXPECT_EQ(set("prey.formula=a=b", "formula"), Value(std::string("a=b")));
  EXPECT_EQ(set("prey.text=1\nother = 2", "text"), Value(std::string("1\nother = 2")));
  EXPECT_EQ(set("prey.body.x=1.0", "body.x"), Value(1.0)) << "the first dot ends the subsystem's name";
}

TEST(SetOption, replaces_what_the_file_contains) {
  auto system = prey_and_predator();
  system.subsystems[1].start["gamma"] = {1.0, {"system.toml", 3, 1}};
  apply_set(system, "predator.gamma=2.0");
  EXPECT_EQ(system.subsystems[1].start.at("gamma").value, Value(2.0));
}

TEST(SetOption, refuses_nonsense_and_names_what_was_meant) {
  EXPECT_EQ(set_error("pray.alpha=1"), "--set pray.alpha=1: subsystem-unknown pray; did you mean 'prey'?");
  EXPECT_EQ(set_error("prey.alpha"), "--set prey.alpha: not-assignment; write --set sub.var=value");
  EXPECT_EQ(set_error("prey.alpha="), "--set prey.alpha=: not-assignment; write --set sub.var=value");
  EXPECT_EQ(set_error("=1"), "--set =1: not-assignment; write --set sub.var=value");
  EXPECT_EQ(set_error("alpha=1"), "--set alpha=1: not-variable-name alpha; write --set sub.var=value");
  EXPECT_EQ(set_error("prey.=1"), "--set prey.=1: not-variable-name prey.; write --set sub.var=value");
  EXPECT_EQ(set_error("prey.alpha=nan"), "--set prey.alpha=nan: not-finite prey.alpha (value = nan)");
  EXPECT_EQ(
      set_error("prey.alpha=[1, 2]"),
      "--set prey.alpha=[1, 2]: wrong-type prey.alpha (expected = a number, a boolean or a string, found = a list)");
}

TEST(MethodOption, goes_to_the_method_in_force) {
  auto system = prey_and_predator();
  system.method.value = "nepce";
  apply_option(system, "degree=2");
  apply_option(system, "loops=solve");
  apply_option(system, "sequence=[\"prey\", \"predator\"]");
  apply_option(system, "gains={ \"prey.u\" = 0.6 }");
  const auto& options = system.method_options.at("nepce");
  EXPECT_EQ(options.at("degree").value, OptionValue(std::int64_t{2}));
  EXPECT_EQ(options.at("degree").where.file, "--option degree=2");
  EXPECT_EQ(options.at("loops").value, OptionValue(std::string("solve")));
  EXPECT_EQ(options.at("sequence").value, OptionValue(std::vector<std::string>{"prey", "predator"}));
  EXPECT_EQ(options.at("gains").value, OptionValue(std::map<std::string, double>{{"prey.u", 0.6}}));
}

TEST(MethodOption, refuses_nonsense) {
  const auto error = [](const char* assignment) {
    return error_of(ErrorCode::InvalidSystem, [&] {
      auto system = prey_and_predator();
      apply_option(system, assignment);
    });
  };
  EXPECT_EQ(error("degree"), "--option degree: not-assignment; write --option name=value");
  EXPECT_EQ(error("x=[1, \"a\"]"),
            "--option x=[1, \"a\"]: option-value-type x; give a boolean, a number, a string, a list of numbers or "
            "of strings, or a table of numbers");
}

template <class T>
std::optional<T> value_of(const std::optional<Written<T>>& written) {
  return written ? std::optional<T>(written->value) : std::nullopt;
}

void expect_equal(const SubsystemDescription& a, const SubsystemDescription& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.fmu, b.fmu);
  ASSERT_EQ(a.start.size(), b.start.size());
  for (const auto& [name, written] : a.start) EXPECT_EQ(written.value, b.start.at(name).value) << name;
  description::for_each_subsystem_key(
      [&](const auto& key) { EXPECT_EQ(value_of(a.*key.field), value_of(b.*key.field)) << key.name; });
}

/// Equal but for the positions, which the written text need not keep.
void expect_equal(const SystemDescription& a, const SystemDescription& b) {
  EXPECT_EQ(a.start.value, b.start.value);
  EXPECT_EQ(value_of(a.stop), value_of(b.stop));
  EXPECT_EQ(value_of(a.step), value_of(b.step));
  EXPECT_EQ(a.method.value, b.method.value);
  ASSERT_EQ(a.method_options.size(), b.method_options.size());
  for (const auto& [method, options] : a.method_options) {
    ASSERT_EQ(options.size(), b.method_options.at(method).size());
    for (const auto& [name, written] : options)
      EXPECT_EQ(written.value, b.method_options.at(method).at(name).value) << name;
  }
  ASSERT_EQ(a.subsystems.size(), b.subsystems.size());
  for (std::size_t i = 0; i < a.subsystems.size(); ++i) expect_equal(a.subsystems[i], b.subsystems[i]);
  ASSERT_EQ(a.connections.size(), b.connections.size());
  for (std::size_t i = 0; i < a.connections.size(); ++i) {
    EXPECT_EQ(a.connections[i].output, b.connections[i].output);
    EXPECT_EQ(a.connections[i].input, b.connections[i].input);
  }
  ASSERT_EQ(a.record.variables.has_value(), b.record.variables.has_value());
  if (a.record.variables) {
    ASSERT_EQ(a.record.variables->size(), b.record.variables->size());
    for (std::size_t i = 0; i < a.record.variables->size(); ++i)
      EXPECT_EQ((*a.record.variables)[i].value, (*b.record.variables)[i].value);
  }
  EXPECT_EQ(value_of(a.record.interval), value_of(b.record.interval));
}

void expect_round_trip(const SystemDescription& system) {
  const std::string text = system_text(system);
  std::vector<Problem> problems;
  const auto read_back = description::parse_system(text, "written.toml", problems);
  for (const auto& problem : problems) ADD_FAILURE() << to_string(problem) << '\n' << text;
  expect_equal(system, read_back);
}

TEST(WrittenSystem, reads_back_to_the_same_description) {
  SystemDescription system;
  system.start = {-1.0, {}};
  system.stop = Written<double>{20.0, {}};
  system.step = Written<double>{0.1 + 0.2, {}};  // 17 digits
  system.method = {"gauss-seidel", {}};
  system.method_options["jacobi"] = {};
  system.method_options["gauss-seidel"] = {
      {"degree", {std::int64_t{2}, {}}},
      {"relative_tolerance", {1.0, {}}},
      {"tiny", {5e-324, {}}},
      {"huge", {1e300, {}}},
      {"smooth", {false, {}}},
      {"times", {std::vector<double>{1.0, 2.5}, {}}},
      {"sequence", {std::vector<std::string>{"b/c", "a"}, {}}},
      {"none", {std::vector<std::string>{}, {}}},
      {"gains", {std::map<std::string, double>{{"a.u", 1.0}, {"b/c.u", 0.1}}, {}}}};
  SubsystemDescription full;
  full.name = "b/c";
  full.model = "pair.part";
  full.start = {{"x", {2.0, {}}},
                {"n", {std::int64_t{2}, {}}},
                {"on", {true, {}}},
                {"a name. with [everything]", {std::string("\"quotes\" \\ tab\t newline\n bell\a \x7f \xc3\xa9"), {}}}};
  full.rollback = Written<bool>{false, {}};
  full.states = Written<bool>{true, {}};
  full.state_derivatives = Written<bool>{false, {}};
  full.linearization = Written<bool>{false, {}};
  full.input_degree = Written<std::int64_t>{1, {}};
  full.output_derivative_order = Written<std::int64_t>{0, {}};
  full.step = Written<double>{1.0, {}};
  full.min_step = Written<double>{1e-9, {}};
  full.max_step = Written<double>{2.0, {}};
  full.step_offset = Written<double>{0.25, {}};
  full.initial_step = Written<double>{0.125, {}};
  full.substeps = Written<std::int64_t>{8, {}};
  full.events = Written<std::vector<double>>{{1.0, 7.5}, {}};
  SubsystemDescription bare;
  bare.name = "a";
  bare.model = "tough";
  SubsystemDescription fmu;
  fmu.name = "f";
  fmu.fmu = "/parts/f.fmu";
  fmu.timeout = Written<double>{5.0, {}};
  system.subsystems = {full, bare, fmu};
  system.connections = {{"b/c.y", "a.u", {}}, {"b/c.y", "a.w", {}}, {"a.y", "b/c.u", {}}};
  system.record.variables = std::vector<Written<std::string>>{{"a.*", {}}, {"b/c.y", {}}};
  system.record.interval = Written<double>{1.0, {}};
  expect_round_trip(system);
}

TEST(WrittenSystem, with_nothing_but_a_model_stays_small) {
  SystemDescription system;
  system.subsystems.resize(1);
  system.subsystems[0].name = "a";
  system.subsystems[0].model = "tough";
  EXPECT_EQ(system_text(system), "[run]\nstart = 0.0\nmethod = \"auto\"\n\n[subsystems.a]\nmodel = \"tough\"\n");
  expect_round_trip(system);
}

TEST(WrittenSystem, with_an_fmu_names_it_instead_of_a_model) {
  SystemDescription system;
  system.subsystems.resize(1);
  system.subsystems[0].name = "a";
  system.subsystems[0].fmu = "../a b/\xc3\xa4.fmu";
  EXPECT_NE(system_text(system).find("\n[subsystems.a]\nfmu = \"../a b/\xc3\xa4.fmu\"\n"), std::string::npos);
  expect_round_trip(system);
}

class Example : public testing::TestWithParam<const char*> {};

TEST_P(Example, reads_without_problems_and_survives_being_written) {
  std::vector<Problem> problems;
  const auto file = description::find_system_file(fs::path(test::examples_folder()) / GetParam());
  const auto system = description::read_system(file, problems);
  for (const auto& problem : problems) ADD_FAILURE() << to_string(problem);
  EXPECT_EQ(system.name, GetParam());
  EXPECT_TRUE(system.stop && system.step);
  EXPECT_GE(system.subsystems.size(), 2U);
  expect_round_trip(system);
}

INSTANTIATE_TEST_SUITE_P(All, Example,
                         testing::Values("mechanical", "lotka_volterra", "two_mass", "oscillator", "car", "chain"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace system_file_test
}  // namespace entrain
