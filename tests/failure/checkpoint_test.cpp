// Checkpoint files through the program: gone on from by another process, and refused where they must be.
#include <gtest/gtest.h>
#include <signal.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "support/checkpointed_systems.hpp"
#include "support/clocked_fmus.hpp"
#include "support/facts.hpp"
#include "support/program.hpp"
#include "support/scripted_descriptions.hpp"

namespace entrain {
namespace checkpoint_program_test {

using test::run_program;
using test::TemporaryFolder;
using test::text_of;
using test::write_text;

using Arguments = std::vector<std::string>;

Arguments operator+(Arguments first, const Arguments& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

/// The header, and the rows later than `t`.
std::string rows_after(const std::string& csv, double t) {
  std::istringstream lines(csv);
  std::string kept;
  std::string line;
  std::getline(lines, line);
  kept = line + '\n';
  while (std::getline(lines, line)) {
    if (std::stod(line) > t) kept += line + '\n';
  }
  return kept;
}

nlohmann::json run_json(const TemporaryFolder& folder, const std::string& run) {
  return nlohmann::json::parse(text_of(folder / run / "run.json"));
}

struct Case {
  std::string kind;
  test::MethodVariant variant;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& kind : {"native", "2", "3"}) {
    for (const auto& variant : test::method_variants()) {
      if (test::suits(variant.method, kind)) all.push_back({kind, variant});
    }
  }
  return all;
}

class ResumedRun : public testing::TestWithParam<Case> {
 protected:
  /// The example as a file of its own, with the method and its options.
  void write_example(const std::string& name, double step) {
    auto description =
        test::changed(test::example_of_kind(name, GetParam().kind), {.method = GetParam().variant.method,
                                                                     .step = step,
                                                                     .stop = 60.0 * step,
                                                                     .options = GetParam().variant.options});
    write_text(folder_ / "system.toml", system_text(description));
  }
  TemporaryFolder folder_;
};

TEST_P(ResumedRun, writes_the_same_bytes_as_one_that_was_not_interrupted) {
  struct {
    std::string name;
    double step;
  } const systems[] = {{"lotka_volterra", 0.01}, {"mechanical", 1e-3}, {"oscillator", 0.02}};
  for (const auto& [name, step] : systems) {
    SCOPED_TRACE(name);
    write_example(name, step);
    const auto whole = test::results_of(folder_, "system.toml", name + "_whole");
    const auto written = test::results_of(folder_, "system.toml", name + "_first",
                                          {"--checkpoint", name, "--every", std::to_string(31.0 * step)});
    EXPECT_EQ(written, whole);
    const auto rest = test::results_of(folder_, "system.toml", name + "_rest", {"--resume", name});
    const auto json = run_json(folder_, name + "_rest");
    ASSERT_TRUE(json.contains("resumed_from"));
    EXPECT_EQ(json["resumed_from"]["directory"], (folder_ / (name + "_first")).string());
    const double at = json["resumed_from"]["time"];
    EXPECT_GE(at, 31.0 * step * (1 - 1e-12));
    EXPECT_LT(at, 60.0 * step);
    EXPECT_EQ(rest, rows_after(whole, at));
  }
}

INSTANTIATE_TEST_SUITE_P(Every, ResumedRun, testing::ValuesIn(cases()), [](const auto& tested) {
  std::string name = tested.param.kind + "_" + tested.param.variant.method;
  for (const auto& option : tested.param.variant.options) name += "_" + option;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
});

/// Lotka-Volterra by FMUs, each a copy of its own; one checkpoint at 0.6 s of 1 s.
class CheckpointOfFmus : public testing::Test {
 protected:
  CheckpointOfFmus() {
    for (const auto* part : {"prey", "predator"}) {
      std::filesystem::copy_file(test::fmu_folder() + "/2/lotka_volterra_" + part + ".fmu",
                                 folder_ / (std::string(part) + ".fmu"));
    }
    write_text(folder_ / "system.toml", kSystem);
    const auto run = run_program(
        folder_, {"run", "system.toml", "--out", "first", "--quiet", "--checkpoint", "saved", "--every", "0.6"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
  test::ProgramResult resume(const Arguments& more = {}) {
    return run_program(
        folder_,
        Arguments{"run", "system.toml", "--out", "rest", "--overwrite", "--quiet", "--resume", "saved"} + more);
  }
  /// Returns the values.
  nlohmann::json expect_refused(const Arguments& more, const std::string& code) {
    const auto run = resume(more + Arguments{"--json"});
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "rest"));  // nothing has happened
    const auto failure = test::failure_in(run.out);
    EXPECT_EQ(failure.value("code", run.err), code);
    return failure["values"];
  }

  static constexpr const char* kSystem = R"([run]
stop = 1.0
step = 0.01
method = "gauss-seidel"
[method.gauss-seidel]
degree = 1
[subsystems.prey]
fmu = "prey.fmu"
[subsystems.predator]
fmu = "predator.fmu"
[connections]
"prey.p" = "predator.u"
"predator.P" = "prey.u"
)";
  TemporaryFolder folder_;
};

TEST_F(CheckpointOfFmus, is_gone_on_from_where_the_files_have_moved) {
  const auto whole = text_of(folder_ / "first/results.csv");
  std::filesystem::create_directory(folder_ / "elsewhere");
  for (const auto* name : {"prey.fmu", "predator.fmu", "system.toml"}) {
    std::filesystem::rename(folder_ / name, folder_ / "elsewhere" / name);
  }
  const auto run =
      run_program(folder_, {"run", "elsewhere", "--out", "rest", "--overwrite", "--quiet", "--resume", "saved"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(text_of(folder_ / "rest/results.csv"),
            rows_after(whole, run_json(folder_, "rest")["resumed_from"]["time"]));
}

TEST_F(CheckpointOfFmus, knows_its_system) {
  const auto whole = text_of(folder_ / "first/results.csv");
  std::filesystem::remove(folder_ / "system.toml");
  const auto run = run_program(folder_, {"run", "--resume", "saved", "--out", "rest", "--overwrite", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(text_of(folder_ / "rest/results.csv"),
            rows_after(whole, run_json(folder_, "rest")["resumed_from"]["time"]));
}

TEST_F(CheckpointOfFmus, goes_on_in_the_results_of_the_first_run) {
  const auto whole = text_of(folder_ / "first/results.csv");
  const auto steps = text_of(folder_ / "first/steps.json");
  const auto run = run_program(folder_, {"run", "system.toml", "--resume", "saved", "--append", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(text_of(folder_ / "first/results.csv"), whole);  // rows after the checkpoint were there, and come again
  EXPECT_EQ(run_json(folder_, "first")["termination"], "completed");
  EXPECT_EQ(text_of(folder_ / "first/steps.json"), steps);  // of all steps, not of the last ones alone
  const auto summary = text_of(folder_ / "first/run.json");
  write_text(folder_ / "first/results.csv", whole.substr(0, whole.size() / 2));  // killed in the middle of a row ...
  const auto lost = run_program(folder_, {"run", "system.toml", "--resume", "saved", "--append", "--json"});
  EXPECT_EQ(lost.exit_code, 1);  // ... before the checkpoint: rows would be missing
  EXPECT_EQ(test::failure_in(lost.out)["code"], "results-row-missing") << lost.err;
  EXPECT_DOUBLE_EQ(test::failure_in(lost.out)["values"]["time"], 0.6);
  EXPECT_EQ(text_of(folder_ / "first/run.json"), summary);  // what is refused leaves the first run alone
  EXPECT_EQ(text_of(folder_ / "first/steps.json"), steps);
  std::filesystem::remove_all(folder_ / "first");
  const auto gone = run_program(folder_, {"run", "system.toml", "--resume", "saved", "--append", "--json"});
  EXPECT_EQ(gone.exit_code, 1);
  EXPECT_EQ(test::failure_in(gone.out)["code"], "results-gone") << gone.err;
}

/// A clock that ticks every 0.3 s: rows of 0.3, 0.6 and 0.9 s stand twice, also where a checkpoint is written.
TEST(CheckpointAtAnInstant, keeps_both_rows_of_its_time) {
  const TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", R"(intervalVariability="constant" intervalDecimal="0.3")",
                      R"(canGetAndSetFMUState="true" canSerializeFMUState="true")");
  write_text(folder / "system.toml", R"([run]
stop = 1.0
step = 0.25
method = "jacobi"
open = ["*.*"]
[subsystems.a]
fmu = "clocked.fmu"
[subsystems.b]
fmu = "clocked.fmu"
[connections]
"a.z" = "b.x"
)");
  const auto whole = test::results_of(folder, "system.toml", "whole");
  for (const std::string time : {"0.3,", "0.6,", "0.9,"}) {
    const auto first = whole.find('\n' + time);
    ASSERT_NE(first, std::string::npos) << whole;
    EXPECT_NE(whole.find('\n' + time, first + 1), std::string::npos) << time;
  }
  EXPECT_EQ(test::results_of(folder, "system.toml", "first", {"--checkpoint", "saved", "--every", "0.6"}), whole);
  // It is of the limit from the left: that from the right comes first, and is not there twice when rows are appended.
  auto rest = rows_after(whole, 0.6);
  const auto right = whole.rfind("\n0.6,") + 1;
  rest.insert(rest.find('\n') + 1, whole.substr(right, whole.find('\n', right) + 1 - right));
  EXPECT_EQ(test::results_of(folder, "system.toml", "rest", {"--resume", "saved"}), rest);
  EXPECT_EQ(run_json(folder, "rest")["resumed_from"]["time"], 0.6);
  const auto run = run_program(folder, {"run", "system.toml", "--resume", "saved", "--append", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(text_of(folder / "first/results.csv"), whole);
}

TEST_F(CheckpointOfFmus, is_refused_when_it_is_cut_short) {
  const auto whole = text_of(folder_ / "saved");
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    write_text(folder_ / "saved", whole.substr(0, size));
    expect_refused({}, "checkpoint-cut");
  }
}

TEST_F(CheckpointOfFmus, is_refused_when_a_byte_is_another) {
  const auto whole = text_of(folder_ / "saved");
  for (const std::size_t at : {std::size_t{20}, whole.size() / 3, whole.size() / 2, whole.size() - 1}) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    write_text(folder_ / "saved", damaged);
    expect_refused({}, "checkpoint-damaged");
  }
  auto other = whole;
  other[0] = 'X';
  write_text(folder_ / "saved", other);
  expect_refused({}, "no-checkpoint");
  other = whole;
  other[8] = 99;
  write_text(folder_ / "saved", other);
  EXPECT_EQ(expect_refused({}, "checkpoint-format")["format"], 99.0);
}

TEST_F(CheckpointOfFmus, is_refused_by_another_system) {
  const auto difference = [&](const Arguments& more) {
    return expect_refused(more, "checkpoint-other-system")["difference"].get<std::string>();
  };
  test::expect_text(difference({"--set", "prey.alpha=0.5"}), "'[subsystems.prey.start] alpha = 0.5' now");
  test::expect_text(difference({"--step", "0.02"}), "'[run] step = 0.01' then, '[run] step = 0.02' now");
  test::expect_text(difference({"--method", "jacobi"}),
                    "'[run] method = \"gauss-seidel\"' then, '[run] method = \"jacobi\"' now");
  test::expect_text(difference({"--option", "degree=2"}),
                    "'[method.gauss-seidel] degree = 1' then, '[method.gauss-seidel] degree = 2' now");
}

TEST_F(CheckpointOfFmus, is_refused_by_another_fmu) {
  std::filesystem::copy_file(test::fmu_folder() + "/2/lotka_volterra_prey.fmu", folder_ / "prey.fmu",
                             std::filesystem::copy_options::overwrite_existing);
  write_text(folder_ / "prey.fmu", text_of(folder_ / "prey.fmu") + '\n');  // the archive is the same, the file is not
  test::expect_text(expect_refused({}, "checkpoint-other-system")["difference"], "prey.fmu of 'prey'");
}

TEST_F(CheckpointOfFmus, is_refused_where_it_is_not) {
  std::filesystem::remove(folder_ / "saved");
  expect_refused({}, "file-failed");
}

TEST_F(CheckpointOfFmus, needs_a_folder_and_a_sensible_interval) {
  const auto run = [&](const Arguments& more) {
    return run_program(folder_, Arguments{"run", "system.toml", "--out", "rest", "--overwrite", "--quiet"} + more);
  };
  const auto nowhere = run({"--checkpoint", "no/folder/saved"});
  EXPECT_EQ(nowhere.exit_code, 1);
  EXPECT_TRUE(nowhere.err.find("'no/folder/saved'") != std::string::npos) << nowhere.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "rest"));
  EXPECT_EQ(run({"--every", "0.1"}).exit_code, 2);
  EXPECT_EQ(run({"--append"}).exit_code, 2);
  EXPECT_EQ(run({"--checkpoint", "saved", "--every", "0"}).exit_code, 2);
  EXPECT_EQ(run_program(folder_, {"run"}).exit_code, 2);
}

TEST_F(CheckpointOfFmus, that_cannot_be_written_ends_the_run) {
  const std::string name(300, 'n');  // longer than names may be
  const auto run = run_program(folder_, {"run", "system.toml", "--out", "rest", "--overwrite", "--quiet",
                                         "--checkpoint", name, "--every", "0.6"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(run.err.find("'" + name) != std::string::npos) << run.err;
  EXPECT_EQ(run_json(folder_, "rest")["termination"], "failed");
  EXPECT_EQ(run_json(folder_, "rest")["failure"]["code"], "file-failed");
  const auto at_end = run_program(folder_, {"run", "system.toml", "--out", "end", "--quiet", "--checkpoint", name});
  EXPECT_EQ(at_end.exit_code, 1);
  EXPECT_EQ(run_json(folder_, "end")["termination"], "failed");
  EXPECT_EQ(run_json(folder_, "end")["reached"], 1.0);
}

TEST_F(CheckpointOfFmus, in_the_place_of_a_folder_or_of_a_file_of_the_run_is_refused_before_it) {
  std::filesystem::create_directory(folder_ / "taken");
  const auto folder =
      run_program(folder_, {"run", "system.toml", "--out", "rest", "--overwrite", "--quiet", "--checkpoint", "taken"});
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_TRUE(folder.err.find("'taken'") != std::string::npos) << folder.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "rest"));
  const auto results = run_program(folder_, {"run", "system.toml", "--out", "rest", "--overwrite", "--quiet",
                                             "--checkpoint", "rest/../rest/results.csv"});
  EXPECT_EQ(results.exit_code, 1);
  std::filesystem::create_directories(folder_ / "rest");
  const auto again = run_program(folder_, {"run", "system.toml", "--out", "rest", "--overwrite", "--quiet",
                                           "--checkpoint", "rest/results.csv", "--json"});
  EXPECT_EQ(again.exit_code, 1);
  EXPECT_EQ(test::failure_in(again.out)["code"], "checkpoint-is-run-file") << again.err;
  EXPECT_EQ(run_program(folder_, {"run", "system.toml", "--resume", "saved", "--append", "--out", "x"}).exit_code, 2);
}

TEST_F(CheckpointOfFmus, needs_the_state_of_every_subsystem) {
  write_text(folder_ / "system.toml",
             std::string(kSystem) + "[subsystems.idle]\nfmu = \"prey.fmu\"\nrollback = false\n");
  const auto run =
      run_program(folder_, {"run", "system.toml", "--out", "rest", "--overwrite", "--checkpoint", "other"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(run.err.find("'idle'") != std::string::npos) << run.err;
  EXPECT_TRUE(run.err.find("'prey'") == std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "rest"));
}

TEST_F(CheckpointOfFmus, cannot_be_continued_in_files_of_other_formats) {
  write_text(folder_ / "system.toml", std::string(kSystem) + "[record]\nformat = \"hdf5\"\n");
  ASSERT_EQ(run_program(folder_,
                        {"run", "system.toml", "--out", "h5", "--quiet", "--checkpoint", "h5.saved", "--every", "0.6"})
                .exit_code,
            0);
  const auto run = run_program(folder_, {"run", "system.toml", "--resume", "h5.saved", "--append", "--json"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(test::outline_of_failure(run.out), "format-not-continued hdf5");
  EXPECT_EQ(
      run_program(folder_, {"run", "system.toml", "--resume", "h5.saved", "--out", "rest", "--overwrite", "--quiet"})
          .exit_code,
      0);
}

/// Rows on a grid of their own, between communication times.
TEST_F(CheckpointOfFmus, keeps_the_grid_of_the_results) {
  for (const auto* method : {"gauss-seidel", "f3ornits"}) {
    SCOPED_TRACE(method);
    write_text(folder_ / "system.toml", std::string(kSystem) + "[record]\ninterval = 0.0137\n");
    const auto whole = test::results_of(folder_, "system.toml", "whole", {"--method", method});
    test::results_of(folder_, "system.toml", "first", {"--method", method, "--checkpoint", "grid", "--every", "0.6"});
    const auto rest = test::results_of(folder_, "system.toml", "rest", {"--method", method, "--resume", "grid"});
    const auto first_row = rest.find('\n') + 1;
    ASSERT_LT(first_row, rest.size());
    EXPECT_TRUE(whole.ends_with(rest.substr(first_row)));
    const double begins = std::stod(rest.substr(first_row));
    EXPECT_NEAR(begins, run_json(folder_, "rest")["resumed_from"]["time"].get<double>(), 0.0274);
    const auto appended =
        run_program(folder_, {"run", "system.toml", "--method", method, "--resume", "grid", "--append", "--quiet"});
    ASSERT_EQ(appended.exit_code, 0) << appended.err;
    EXPECT_EQ(text_of(folder_ / "first/results.csv"), whole);
  }
}

TEST_F(CheckpointOfFmus, is_written_where_the_user_interrupts) {
  test::Program program(
      folder_, {"run", "system.toml", "--out", "long", "--quiet", "--stop", "1e5", "--checkpoint", "interrupted"});
  ASSERT_TRUE(test::eventually([&] { return std::filesystem::exists(folder_ / "long/run.json"); }));
  program.send(SIGINT);
  EXPECT_EQ(program.wait().exit_code, 1);
  ASSERT_TRUE(std::filesystem::exists(folder_ / "interrupted"));
  const double reached = run_json(folder_, "long")["reached"];
  test::Program second(folder_, {"run", "--resume", "interrupted", "--out", "more", "--quiet"});
  ASSERT_TRUE(test::eventually([&] { return std::filesystem::exists(folder_ / "more/run.json"); }));
  second.send(SIGINT);
  EXPECT_EQ(second.wait().exit_code, 1);
  EXPECT_EQ(run_json(folder_, "more")["resumed_from"]["time"].get<double>(), reached);
}

}  // namespace checkpoint_program_test
}  // namespace entrain
