#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "entrain/simulation.hpp"
#include "entrain/system.hpp"
#include "read/csv_reader.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_descriptions.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"
#include "support/trap_fmus.hpp"

// Traps of FMUs in the field, imitated by tests/support/trap_fmu.c and printing_fmu.cpp.

namespace entrain::test {
namespace fmu_traps_test {

namespace fs = std::filesystem;

constexpr const char* kGoesBack = "canGetAndSetFMUstate=\"true\"";
constexpr const char* kInterpolates = "canGetAndSetFMUstate=\"true\" canInterpolateInputs=\"true\"";

class FmuTraps : public testing::Test {
 protected:
  fs::path write(const std::string& trap, const std::string& flags = kGoesBack,
                 const std::string& folder = "linux64") const {
    const fs::path file = folder_ / (trap + ".fmu");
    write_trap(file, trap, flags, folder);
    return file;
  }
  /// As a subsystem, its abilities tried.
  std::unique_ptr<Subsystem> made(const std::string& trap, const std::string& flags,
                                  const subsystem::FmuChoice& choice = {}) {
    auto subsystem = subsystem::make_fmu_subsystem(trap, write(trap, flags), choice);
    static_cast<void>(subsystem->capabilities());
    return subsystem;
  }
  ProgramResult run(const std::string& toml, const std::vector<std::string>& more = {}) const {
    write_text(folder_ / "system.toml", toml);
    std::vector<std::string> arguments{"run", "system.toml", "--out", "out", "--overwrite"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(folder_, arguments);
  }
  std::string line(std::size_t number) const {
    std::istringstream rows(text_of(folder_ / "out/results.csv"));
    std::string row;
    for (std::size_t i = 0; i <= number; ++i) std::getline(rows, row);
    return row;
  }

  TemporaryFolder folder_;
};

std::string alone(const std::string& trap, const std::string& keys = {}) {
  return fmt::format("[run]\nstop = 1.0\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.part]\nfmu = \"{}.fmu\"\n{}\n",
                     trap, keys);
}

constexpr const char* kPrintingDescription = R"(<fmiModelDescription fmiVersion="2.0" modelName="p" guid="p">
  <CoSimulation modelIdentifier="printing" canHandleVariableCommunicationStepSize="true"/>
  <ModelVariables>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="1"/></Outputs></ModelStructure>
</fmiModelDescription>)";

/// In a program that has copies of the data of its libraries, as this one may.
double stepped_here(const fs::path& file) {
  auto subsystem = subsystem::make_fmu_subsystem("part", file);
  subsystem->initialize(0.0, 1.0);
  double y = 0.0;
  EXPECT_EQ(subsystem->step({0.0, 0.1, {nullptr, 0, 0}}, {&y, 1}).outcome, StepOutcome::Completed);
  return y;
}

TEST_F(FmuTraps, printing_fmu_with_symbols_of_ours_runs_and_reaches_its_own) {
  const fs::path file = folder_ / "printing.fmu";
  write_archive(file, {{"modelDescription.xml", kPrintingDescription},
                       {"binaries/linux64/printing.so", text_of(printing_fmu_library())}});
  for (const char* place : {"", "isolate = true", "sandbox = true"}) {
    const auto result = run(alone("printing", place));
    EXPECT_EQ(result.exit_code, 0) << place << result.err;
    EXPECT_EQ(line(11), "1,42") << place;
    // Whatever it takes for the environment of its logger.
    const std::string log = text_of(folder_ / "out/fmu.log");
    expect_text(log, "stepping from 0.9");
    EXPECT_EQ(log.find("stepping from 0\n"), log.rfind("stepping from 0\n")) << "of a scratch instance";
    expect_text(log, "0.9 part [logStatusWarning] from 0.9\n");
    expect_text(log, "0.9 part [logStatusWarning] to the component\n");
  }
  EXPECT_EQ(stepped_here(file), 42.0);
}

/// Where the symbols are in a library that it brings, found by the loader or by us.
TEST_F(FmuTraps, printing_fmu_that_brings_a_library_with_symbols_of_ours_reaches_that) {
  const fs::path file = folder_ / "printing.fmu";
  for (const auto& library : {printing_fmu_beside_library(), printing_fmu_declared_library()}) {
    write_archive(file, {{"modelDescription.xml", kPrintingDescription},
                         {"binaries/linux64/printing.so", text_of(library)},
                         {"binaries/linux64/libown_solver.so", text_of(own_solver_library())}});
    for (const char* place : {"", "isolate = true", "sandbox = true"}) {
      const auto result = run(alone("printing", place));
      EXPECT_EQ(result.exit_code, 0) << library << place << result.err;
      EXPECT_EQ(line(11), "1,42") << library << place;
      expect_text(text_of(folder_ / "out/fmu.log"), "stepping from 0.9");
    }
    EXPECT_EQ(stepped_here(file), 42.0) << library;
  }
}

TEST_F(FmuTraps, crash_while_probed_withdraws_the_ability_and_the_run_goes_on) {
  write("state_crash");
  const auto result = run(alone("state_crash", "start = { u = 1.0 }"), {"--method", "f3ornits"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_text(result.out,
              "it claims 'canGetAndSetFMUstate', but it crashed in fmi2SetFMUstate (SIGSEGV: it used memory that is "
              "not there) when that was tried in a process apart: this is not used");
  EXPECT_EQ(line(1), "0,0");
  const auto results = reading::read_csv(folder_ / "out/results.csv");
  EXPECT_EQ(results.times.back(), 1.0);
  EXPECT_NEAR(results.columns.back().back(), 1.0, 1e-12);  // the integral of 1
}

/// A variable of the environment, for the programs that a test starts.
class WithVariable {
 public:
  WithVariable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~WithVariable() { ::unsetenv(name_); }
  WithVariable(const WithVariable&) = delete;
  WithVariable& operator=(const WithVariable&) = delete;

 private:
  const char* name_;
};

/// Also where it ends the process without a word, and where its library has threads.
TEST_F(FmuTraps, ends_of_the_process_while_probed_withdraw_one_claim_each) {
  const WithVariable thread("ENTRAIN_TEST_THREAD", "1");
  for (const std::string trap : {"get_crash", "state_crash", "state_quiet"}) {
    for (const char* isolate : {"", "isolate = true"}) {
      write(trap, kInterpolates);
      const auto result = run(alone(trap, fmt::format("start = {{ u = 1.0 }}\n{}", isolate)),
                              {"--method", "f3ornits", "--overwrite", "--json"});
      EXPECT_EQ(result.exit_code, 0) << trap << isolate << result.err;
      const auto summary = nlohmann::json::parse(text_of(folder_ / "out/run.json"));
      const auto withdrawn = test::json_fact(summary["warnings"], FactCode::FmuClaimWithdrawn);
      ASSERT_FALSE(withdrawn.is_null()) << trap << isolate;
      EXPECT_EQ(withdrawn["values"]["claim"], "canGetAndSetFMUstate");
      expect_text(withdrawn["values"]["why"], trap == "get_crash" ? "fmi2GetFMUstate" : "fmi2SetFMUstate");
    }
  }
}

TEST_F(FmuTraps, trials_are_made_in_a_worker_and_the_run_in_the_process_that_was_asked) {
  const WithVariable programs("ENTRAIN_TEST_PROGRAMS", (folder_ / "programs").string());
  write("once", kInterpolates);
  const auto result = run(alone("once", "start = { u = 1.0 }"), {"--method", "f3ornits", "--no-estimate"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  std::ifstream lines(folder_ / "programs");
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) names.push_back(fs::path(line).filename());
  ASSERT_GT(names.size(), 1U);
  EXPECT_EQ(names.back(), "entrain");
  names.pop_back();
  EXPECT_EQ(names, std::vector<std::string>(names.size(), "entrain-worker"));
}

/// A thread that goes on in code which is gone would crash. In a process apart, because the thread stays.
TEST_F(FmuTraps, library_that_left_a_thread_behind_is_not_unloaded) {
  const auto is_mapped = [] { return text_of("/proc/self/maps").find("trap.so") != std::string::npos; };
  const pid_t child = ::fork();
  if (child == 0) {
    made("once", kGoesBack).reset();
    if (is_mapped()) ::_exit(2);
    const WithVariable thread("ENTRAIN_TEST_THREAD", "1");
    made("once", kGoesBack).reset();
    ::_exit(is_mapped() ? 0 : 3);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

/// A process that cannot be copied.
TEST_F(FmuTraps, crash_while_probed_does_no_harm_to_a_process_with_threads) {
  write("state_crash");
  test::write_text(folder_ / "system.toml", alone("state_crash", "start = { u = 1.0 }"));
  const std::jthread other([](const std::stop_token& end) {
    while (!end.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  });
  Simulation simulation(load(folder_ / "system.toml"));
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_TRUE(test::has_fact(summary.warnings, FactCode::FmuClaimWithdrawn));
}

TEST_F(FmuTraps, abilities_beside_the_one_that_crashes_are_kept) {
  const auto subsystem = made("state_crash", kInterpolates);
  EXPECT_FALSE(subsystem->capabilities().rollback);
  EXPECT_TRUE(subsystem->capabilities().reset);
  EXPECT_EQ(subsystem->capabilities().input_degree,
            1);  // it takes derivatives; more cannot be known without going back
}

TEST_F(FmuTraps, fmu_that_bears_one_instance_in_a_process_runs) {
  write("second_crash", kInterpolates);
  const auto result = run(alone("second_crash", "start = { u = 1.0, v = 0.0 }"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.find("warning"), std::string::npos) << result.out;
  EXPECT_EQ(line(11), "1,0.9999999999999999");
  const auto subsystem = made("second_crash", kInterpolates);
  EXPECT_TRUE(subsystem->capabilities().rollback);
  EXPECT_EQ(subsystem->capabilities().input_degree, 3);
}

TEST_F(FmuTraps, probe_false_tries_nothing) {
  write("state_crash");
  const auto result = run(alone("state_crash", "probe = false"));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out.find("canGetAndSetFMUstate"), std::string::npos) << result.out;
  subsystem::FmuChoice choice;
  choice.probe = false;
  EXPECT_TRUE(made("state_crash", kGoesBack, choice)->capabilities().rollback) << "as it claims";
}

/// Some FMUs compute their outputs on leaving the initialization mode.
TEST_F(FmuTraps, outputs_that_come_at_the_end_of_the_initialization_are_in_the_first_row_and_feed_the_first_step) {
  write("late");
  write("once");
  const auto result = run(R"([run]
stop = 1.0
step = 0.1
method = "jacobi"
[subsystems.a]
fmu = "late.fmu"
[subsystems.b]
fmu = "once.fmu"
[connections]
"a.y" = "b.u"
)");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(line(0), "time,a.y,b.y");
  EXPECT_EQ(line(1), "0,5,0");
  EXPECT_EQ(line(2), "0.1,5,0.5");
}

TEST_F(FmuTraps, outputs_that_come_late_pass_through_others_before_the_first_row) {
  write("late");
  write("gain");
  const std::string system = R"([run]
stop = 1.0
step = 0.1
method = "jacobi"
[subsystems.g]
fmu = "gain.fmu"
[subsystems.a]
fmu = "late.fmu"
[connections]
"a.y" = "g.u"
)";
  const auto result = run(system);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(line(1), "0,10,5") << line(0);
  EXPECT_EQ(result.out.find("initialization"), std::string::npos) << result.out;
  // Where one cannot be reset the others begin with what was there, and that is reported.
  write("gain", "canBeInstantiatedOnlyOncePerProcess=\"true\"");
  const auto without = run(system, {"--verbose"});
  EXPECT_EQ(without.exit_code, 0) << without.err;
  EXPECT_EQ(line(1), "0,0,5");
  expect_text(without.out, "outputs of 'a' changed when its initialization ended");
}

/// Each adds 5 to the one before it when its initialization ends; the last is twice that of the end of the row.
std::string late_row(int length) {
  std::string system = "[run]\nstop = 1.0\nstep = 0.1\nmethod = \"jacobi\"\n";
  std::string connections = "[connections]\n";
  for (int k = 0; k < length; ++k) {
    system += fmt::format("[subsystems.a{}]\nfmu = \"late_sum.fmu\"\n", k);
    connections += fmt::format("\"a{}.y\" = \"{}.u\"\n", k, k + 1 < length ? fmt::format("a{}", k + 1) : "last");
  }
  return system + "[subsystems.last]\nfmu = \"gain.fmu\"\n" + connections;
}

TEST_F(FmuTraps, row_of_late_outputs_is_followed_up_to_four_of_them) {
  write("late_sum");
  write("gain");
  const auto four = run(late_row(4), {"--verbose"});
  EXPECT_EQ(four.exit_code, 0) << four.err;
  EXPECT_EQ(line(1), "0,5,10,15,20,40") << line(0);
  EXPECT_EQ(four.out.find("when its initialization ended"), std::string::npos) << four.out;
  const auto five = run(late_row(5), {"--verbose"});
  EXPECT_EQ(five.exit_code, 0) << five.err;
  EXPECT_EQ(line(1), "0,5,10,15,20,25,40") << line(0);
  expect_text(five.out, "outputs of 'a4' changed when its initialization ended");
}

TEST_F(FmuTraps, number_that_comes_at_the_end_of_the_initialization_feeds_the_first_step) {
  write("late_number");
  write("number");
  const auto result = run(R"([run]
stop = 1.0
step = 0.1
method = "jacobi"
[subsystems.a]
fmu = "late_number.fmu"
[subsystems.b]
fmu = "number.fmu"
[connections]
"a.n" = "b.k"
)");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(line(0), "time,a.y,b.y,a.n");
  EXPECT_EQ(line(1), "0,0,0,7");
  EXPECT_EQ(line(2), "0.1,0,7,7");
}

TEST_F(FmuTraps, derivatives_of_several_orders_are_set_one_by_one_where_the_fmu_requires_it) {
  EXPECT_EQ(made("one_order", kInterpolates)->capabilities().input_degree, 3);
}

TEST_F(FmuTraps, degree_counts_only_when_steps_end_where_the_polynomials_lead) {
  EXPECT_EQ(made("once", kInterpolates)->capabilities().input_degree, 3);
  EXPECT_EQ(made("strange", kInterpolates)->capabilities().input_degree, 1);
  EXPECT_EQ(made("warns", kInterpolates)->capabilities().input_degree, 0);
}

constexpr const char* kInterpolatesOnly = "canInterpolateInputs=\"true\"";

/// On new instances: what it claims counts as little there as where it can go back.
TEST_F(FmuTraps, degree_of_an_fmu_that_cannot_go_back_is_found_on_new_instances) {
  for (const auto& [trap, degree] : {std::pair{"once", 3}, {"strange", 1}, {"one_order", 3}, {"warns", 0}}) {
    const auto subsystem = made(trap, kInterpolatesOnly);
    EXPECT_FALSE(subsystem->capabilities().rollback);
    EXPECT_EQ(subsystem->capabilities().input_degree, degree) << trap;
    const auto warnings = subsystem->warnings();
    EXPECT_EQ(test::word_of(warnings, FactCode::FmuClaimWithdrawn, "claim"), degree == 0 ? "canInterpolateInputs" : "")
        << trap;
  }
  // Where a second instance crashes the process, it is asked whether it takes derivatives.
  EXPECT_EQ(made("second_crash", kInterpolatesOnly)->capabilities().input_degree, 1);
}

TEST_F(FmuTraps, warning_about_derivatives_in_the_run_lowers_the_degree_from_then_on) {
  auto subsystem = made("warns_later", kInterpolates);
  EXPECT_EQ(subsystem->capabilities().input_degree, 3);
  subsystem->initialize(0.0, 1.0);
  double y = 0.0;
  for (int k = 0; k < 10; ++k) {  // u = t
    const double t = 0.1 * k;
    const std::vector<double> line{t, 0.0, 1.0, 0.0};
    EXPECT_EQ(subsystem->step({t, 0.1, {line.data(), 2, 1}}, {&y, 1}).outcome, StepOutcome::Completed);
  }
  // One step was held at its start, 0.1 * 0.1 / 2 too low; those after it at the middle, which is exact here.
  EXPECT_NEAR(y, 0.5 - 0.005, 1e-12);
  const auto warnings = subsystem->warnings();
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].code, FactCode::FmuDerivativesRefused);
  EXPECT_EQ(warnings[0].subjects, std::vector<std::string>{"warns_later"});
  EXPECT_EQ(warnings[0].number("order"), 1.0);
  EXPECT_NEAR(warnings[0].number("time").value_or(0.0), 0.5, 1e-12);
  EXPECT_EQ(warnings[0].text("form"), "held");
}

TEST_F(FmuTraps, log_without_trouble_is_kept_only_when_asked_for) {
  write("chatty");
  const auto quiet = run(alone("chatty"));
  EXPECT_EQ(quiet.exit_code, 0) << quiet.err;
  EXPECT_EQ(text_of(folder_ / "out/fmu.log").find("fmi2DoStep from"), std::string::npos);
  expect_text(text_of(folder_ / "out/fmu.log"), "0.9 part [calls] close to 0.9\n");
  run(alone("chatty"), {"--verbose"});
  expect_text(text_of(folder_ / "out/fmu.log"), "0.9 part [calls] fmi2DoStep from 0.9\n");
}

TEST_F(FmuTraps, check_loads_an_fmu_of_which_there_may_be_one) {
  write_archive(folder_ / "once.fmu",
                {{"modelDescription.xml", trap_description("once", "canBeInstantiatedOnlyOncePerProcess=\"true\"")},
                 {"binaries/linux64/trap.so", "no library"}});
  write_text(folder_ / "system.toml", alone("once"));
  const auto problems = check(folder_ / "system.toml");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].fact.text("of"), "fmu-not-library");
  EXPECT_EQ(problems[0].fact.text("file"), "binaries/linux64/trap.so");
}

TEST_F(FmuTraps, inspect_shows_variables_of_an_fmu_for_another_platform) {
  write("once", kGoesBack, "win64");
  const auto result = run_program(folder_, {"inspect", "once.fmu"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_text(result.out, "it has no binary for this platform (linux64), only for: win64");
  expect_text(result.out, "  u         input             0\n");
  expect_text(result.out, "  y         output            -\n");
  EXPECT_EQ(result.out.find("can be rolled back"), std::string::npos) << "that is not known";
}

/// It proposes no stop time, and `check` makes no run that could need one.
TEST_F(FmuTraps, check_of_an_fmu_without_a_stop_time_has_no_errors) {
  write("once");
  const auto result = run_program(folder_, {"check", "once.fmu"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_text(result.out, "once.fmu: no errors");
}

TEST_F(FmuTraps, run_that_an_fmu_ends_is_completed_and_names_the_fmu) {
  write_archive(folder_ / "stair.fmu", {{"modelDescription.xml", scripted_description("")},
                                        {"binaries/linux64/scripted.so", text_of(scripted_fmu_library())}});
  const auto result =
      run("[run]\nstop = 1.0\nstep = 0.1\nmethod = \"jacobi\"\n[subsystems.stair]\nfmu = "
          "\"stair.fmu\"\nstart = { mode = 3 }\n");  // Terminate
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_text(result.out, "completed with jacobi");
  expect_text(result.out, "'stair' at t = 0.55 s");
}

}  // namespace fmu_traps_test
}  // namespace entrain::test
