#include <fmt/format.h>
#include <gtest/gtest.h>

#include "subsystem/fmi/fmu.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/loaded_fmu.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_fmus.hpp"
#include "support/systems.hpp"

// FMUs that are broken, or break during the run. The scripted one is tests/support/scripted_fmu.c.

namespace entrain {
namespace fmu_files_test {

namespace fs = std::filesystem;

class FmuFiles : public test::ScriptedFmus {
 protected:
  SystemDescription system(const fs::path& fmu, int mode, double offset = 0.0) const {
    return test::system_from(fmt::format(R"(
run = {{ stop = 1.0, step = 0.1 }}
[subsystems.part]
fmu = "{}"
start = {{ mode = {}, offset = {} }}
)",
                                         fmu.string(), mode, offset));
  }
  RunSummary run(int mode, const std::string& flags = "") const {
    Simulation simulation(system(write(test::scripted_description(flags)), mode));
    return simulation.run();
  }
  std::string refusal(const fs::path& fmu, int mode = Normal) const {
    try {
      Simulation simulation(system(fmu, mode));
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }
};

using test::expect_text;

std::string patched(std::string binary, const std::string& from, const std::string& to) {
  for (auto at = binary.find(from); at != std::string::npos; at = binary.find(from, at)) {
    binary.replace(at, from.size(), to);
  }
  return binary;
}

TEST_F(FmuFiles, runs_when_nothing_is_wrong) {
  Simulation simulation(system(write(test::scripted_description("")), Normal, 0.25));
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_TRUE(summary.warnings.empty());
  EXPECT_EQ(summary.subsystems[0].steps, 10U);
  EXPECT_EQ(summary.subsystems[0].source, "part 1.fmu (FMI 2.0 co-simulation)");
  // Although the FMU forgets its parameters on entering the initialization mode.
  EXPECT_EQ(simulation.value("part.y"), 1.25);
}

TEST_F(FmuFiles, error_and_fatal_name_call_time_and_last_words) {
  const auto failed = run(ReturnError);
  EXPECT_EQ(failed.termination, Termination::Failed);
  EXPECT_EQ(failed.message,
            fmt::format("subsystem 'part', at t = 0.5 s: FMU '{}': fmi2DoStep returned fmi2Error; it said: "
                        "'[logStatusError] the boiler burst'. Look at its start values and inputs at that time, else "
                        "tell who made it",
                        (folder_ / "part 1.fmu").string()));
  EXPECT_EQ(failed.macro_steps, 5U);
  const auto fatal = run(ReturnFatal);
  EXPECT_EQ(fatal.termination, Termination::Failed);
  expect_text(fatal.message, "fmi2DoStep returned fmi2Fatal; it said: '[logStatusError] out of memory'");
}

TEST_F(FmuFiles, discarded_step_is_rejected_even_with_progress) {
  // After fmi2Discard the standard allows no further fmi2DoStep, only going back.
  const auto summary = run(DiscardHalf);
  EXPECT_EQ(summary.termination, Termination::Failed);
  expect_text(summary.message, "subsystem 'part', at t = 0.5 s: rejected a step of 0.1 s");
}

TEST_F(FmuFiles, discarded_step_without_progress_fails) {
  const auto summary = run(DiscardAll);
  EXPECT_EQ(summary.termination, Termination::Failed);
  expect_text(summary.message, "subsystem 'part', at t = 0.5 s: rejected a step of 0.1 s");
}

TEST_F(FmuFiles, request_to_terminate_ends_the_run) {
  const auto summary = run(Terminate);
  EXPECT_EQ(summary.termination, Termination::Completed);
  EXPECT_EQ(summary.message, "ended by 'part' at t = 0.55 s");
  EXPECT_NEAR(summary.reached, 0.55, 1e-15);
}

TEST_F(FmuFiles, output_that_is_no_number_fails) {
  const auto summary = run(ReturnNan);
  EXPECT_EQ(summary.termination, Termination::Failed);
  expect_text(summary.message, "'part.y'");
}

TEST_F(FmuFiles, warnings_of_the_run_reach_the_summary) {
  const auto summary = run(Warn);
  EXPECT_EQ(summary.termination, Termination::Completed);
  ASSERT_EQ(summary.warnings.size(), 1U);
  EXPECT_EQ(test::number_of(summary.warnings, FactCode::FmuReturnedWarning, "times", "part"), 5.0);
  EXPECT_EQ(test::number_of(summary.warnings, FactCode::FmuReturnedWarning, "first", "part"), 0.5);
  EXPECT_EQ(test::word_of(summary.warnings, FactCode::FmuReturnedWarning, "function"), "fmi2DoStep");
  expect_text(test::word_of(summary.warnings, FactCode::FmuReturnedWarning, "message"), "close to a limit");
}

TEST_F(FmuFiles, failure_to_initialise_is_found_before_the_run) {
  expect_text(refusal(write(test::scripted_description("")), FailInitialization),
              "fmi2EnterInitializationMode returned fmi2Error; it said: '[logStatusError] no solution: 100% wrong'");
}

TEST_F(FmuFiles, claims_that_are_not_true_are_withdrawn_with_a_warning) {
  const auto summary = run(Normal, R"(canGetAndSetFMUstate="true" canInterpolateInputs="true"
      providesDirectionalDerivative="true" maxOutputDerivativeOrder="1")");
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  const auto& can = summary.subsystems[0].capabilities;
  EXPECT_FALSE(can.rollback || can.linearization);
  EXPECT_EQ(can.output_derivative_order, 0);
  EXPECT_EQ(can.input_degree, 1);  // without rollback the flag cannot be tried
  EXPECT_FALSE(can.reset);
  std::string all;
  for (const auto& warning : summary.warnings) all += std::string(warning.text("why")) + "\n";
  for (const char* symbol : {"fmi2GetFMUstate", "fmi2GetRealOutputDerivatives"}) {
    expect_text(all, fmt::format("'binaries/linux64/scripted.so' has no function '{}'", symbol));
  }
}

TEST_F(FmuFiles, wrong_guid_is_told_with_the_words_of_the_fmu) {
  const std::string text = refusal(write(test::scripted_description("", "another")));
  expect_text(text, "fmi2Instantiate returned no instance; it said: '[logStatusError] unknown guid another'");
  expect_text(text, "guid in modelDescription.xml");
}

TEST_F(FmuFiles, wrong_instantiation_token_of_fmi_3_is_told) {
  const std::string original = test::fmu_file("test/strict/3", "chain_mass");
  const std::string xml = test::text_in_archive(original, "modelDescription.xml");
  const std::string binary = "binaries/x86_64-linux/" + test::matched(xml, "modelIdentifier=\"([^\"]+)\"") + ".so";
  const std::string token = test::matched(xml, "instantiationToken=\"([^\"]+)\"");
  const fs::path file = folder_ / "other.fmu";
  test::write_archive(file, {{"modelDescription.xml", patched(xml, token, "another")},
                             {binary, test::text_in_archive(original, binary)}});
  try {
    subsystem::make_fmu_subsystem("part", file)->capabilities();
    FAIL() << "accepted";
  } catch (const Error& error) {
    expect_text(error.what(), "subsystem 'part': FMU '" + file.string() + "': fmi3InstantiateCoSimulation returned no");
    expect_text(error.what(), "Often the instantiation token in modelDescription.xml is not the one of the binary");
  }
}

TEST_F(FmuFiles, capital_letters_in_the_extension_are_no_matter) {
  const fs::path file = folder_ / "PART.FMU";
  fs::copy_file(write(test::scripted_description("")), file);
  EXPECT_EQ(load(file).subsystems.at(0).fmu, file.string());
}

TEST_F(FmuFiles, missing_binaries_are_told_with_those_that_are_there) {
  expect_text(refusal(write(test::scripted_description(""), "binaries/win64/scripted.dll")),
              "no binary for this platform (linux64), only for: win64");
  expect_text(refusal(write(test::scripted_description(""), "binaries/linux64/other.so")),
              "'binaries/linux64/scripted.so' is missing from it");
  expect_text(refusal(write(test::scripted_description(""), "")), "it has no binaries at all");
}

TEST_F(FmuFiles, file_that_is_no_library_is_told) {
  const fs::path file = folder_ / "fake.fmu";
  test::write_archive(file,
                      {{"modelDescription.xml", test::scripted_description("")},
                       {"binaries/linux64/scripted.so", "this is text, and long enough to have a header ........"}});
  expect_text(refusal(file), "'binaries/linux64/scripted.so' is no shared library for this platform");
}

TEST_F(FmuFiles, library_that_is_missing_is_named) {
  expect_text(refusal(write_library(test::text_of(test::needy_fmu_library()))),
              "'binaries/linux64/scripted.so' needs the shared library 'libabsent.so', which is not there. Install the "
              "library, or add its folder to LD_LIBRARY_PATH");
}

TEST_F(FmuFiles, library_beside_the_binary_is_found_without_being_looked_for_there) {
  const fs::path fmu = write_library(test::text_of(test::needy_fmu_library()),
                                     {{"binaries/linux64/libabsent.so", test::text_of(test::absent_library())}});
  Simulation simulation(system(fmu, Normal));
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
}

TEST_F(FmuFiles, newer_c_library_than_this_system_has_is_told_with_both_versions) {
  const std::string text = refusal(write_library(patched(library_, "GLIBC_2.2.5", "GLIBC_9.9.5")));
  expect_text(text, "'binaries/linux64/scripted.so' needs GLIBC 9.9.5; this system has 2.");
  expect_text(text, "Use a newer system, or have the FMU built on an older one");
}

TEST_F(FmuFiles, symbol_that_nothing_defines_is_named) {
  const std::string text =
      refusal(write_library(patched(library_, std::string("\0sleep\0", 7), std::string("\0slee?\0", 7))));
  expect_text(text, "'binaries/linux64/scripted.so' uses the symbol 'slee?', which nothing defines");
  expect_text(text, "linked without a library that it uses");
}

TEST_F(FmuFiles, python_that_is_expected_in_the_process_is_told_with_the_way_to_get_it_there) {
  const std::string text =
      refusal(write_library(patched(library_, std::string("\0sleep\0", 7), std::string("\0Py_Is\0", 7))));
  expect_text(
      text, "uses the symbol 'Py_Is', which nothing defines. It expects Python in the process: start with LD_PRELOAD");
}

TEST_F(FmuFiles, function_that_the_run_cannot_do_without_is_named) {
  expect_text(refusal(write_library(patched(library_, "fmi2EnterInitializationMode", "fmi2EnterInitializationMude"))),
              "'binaries/linux64/scripted.so' has no function 'fmi2EnterInitializationMode', which the standard wants");
}

TEST_F(FmuFiles, need_of_the_tool_that_made_it_is_told_when_it_does_not_start) {
  const auto xml = test::scripted_description(R"(needsExecutionTool="true")", "another");
  expect_text(refusal(write(xml)), "It is a wrapper around the tool that made it (needsExecutionTool)");
}

// The engine cannot load with RTLD_DEEPBIND under a sanitizer, which replaces symbols itself: nothing to test there.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_F(FmuFiles, symbols_that_the_engine_has_as_well_are_its_own) {
  Simulation simulation(system(write(test::scripted_description("")), OwnSymbols));
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  EXPECT_EQ(simulation.value("part.y"), 42.0);
}
#endif

TEST_F(FmuFiles, arithmetic_of_the_engine_survives_a_library_that_changes_it) {
  Simulation simulation(system(write(test::scripted_description("")), Normal));  // sets denormals to zero when loaded
  volatile double tiny = 1e-310;
  EXPECT_GT(tiny * 0.5, 0.0);
}

TEST_F(FmuFiles, log_calls_without_text_category_or_environment_are_survived) {
  const auto summary = run(LogNothing);
  EXPECT_EQ(summary.termination, Termination::Failed);
  // Nothing for the terminal to obey, no format that writes to memory.
  expect_text(summary.message, "fmi2DoStep returned fmi2Error; it said: '\\x1b[2J%n100%'");
}

TEST_F(FmuFiles, exception_that_leaves_it_is_an_error_that_names_the_call) {
  const auto summary = run(Throw);
  EXPECT_EQ(summary.termination, Termination::Failed);
  expect_text(summary.message, "subsystem 'part', at t = 0.5 s: FMU '");
  expect_text(summary.message, "threw a C++ exception in fmi2DoStep: 'a C++ exception'. No exception may leave");
}

TEST_F(FmuFiles, timeout_without_a_watchdog_is_warned_of) {
  auto description = system(write(test::scripted_description("")), Normal);
  description.subsystems[0].timeout = {5.0, {}};
  Simulation simulation(description);
  ASSERT_EQ(simulation.summary().warnings.size(), 1U);
  EXPECT_TRUE(test::has_fact(simulation.summary().warnings, FactCode::TimeoutIgnored, "part"));
}

TEST_F(FmuFiles, problems_stand_at_the_line_of_the_system_file) {
  test::write_text(folder_ / "system.toml", "[run]\nstop = 1\n[subsystems.a]\nfmu = \"none.fmu\"\n");
  const auto problems = check(folder_.path());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].where.line, 4);
  expect_text(problems[0].message,
              "no such file: '" + (folder_ / "none.fmu").string() + "'");  // beside the system file
}

TEST_F(FmuFiles, neither_co_simulation_nor_model_exchange_is_told) {
  std::string xml = test::scripted_description("");
  xml.replace(xml.find("<CoSimulation"), 13, "<Unheard");
  expect_text(refusal(write(xml)), "it offers neither co-simulation nor model exchange");
}

TEST_F(FmuFiles, scheduled_execution_alone_is_told) {
  std::string xml = test::scripted_description("");
  xml.replace(xml.find("<CoSimulation"), 13, "<ScheduledExecution");
  expect_text(refusal(write(xml)), "it offers scheduled execution only, which Entrain does not run");
}

TEST_F(FmuFiles, second_instance_of_a_once_per_process_fmu_names_both) {
  const fs::path fmu = write(test::scripted_description(R"(canBeInstantiatedOnlyOncePerProcess="true")"));
  const auto first = subsystem::make_fmu_subsystem("first", fmu);
  try {
    subsystem::make_fmu_subsystem("second", fmu);
    FAIL() << "accepted";
  } catch (const Error& error) {
    expect_text(error.what(), "both 'first' and 'second' use it");
  }
}

TEST_F(FmuFiles, file_is_unpacked_once_for_all_instances) {
  const fs::path fmu = write(test::scripted_description(""));
  const auto first = subsystem::Fmu::open(fmu);
  EXPECT_EQ(first, subsystem::Fmu::open(folder_.path() / "." / fmu.filename()));
}

TEST_F(FmuFiles, program_exits_with_1_and_leaves_nothing_behind) {
  const fs::path fmu = write(test::scripted_description(""));
  test::write_text(folder_ / "s.toml", fmt::format("[run]\nstop = 1\nstep = 0.1\n[subsystems.part]\nfmu = \"{}\"\n"
                                                   "start = {{ mode = {} }}\n",
                                                   fmu.filename().string(), static_cast<int>(ReturnError)));
  const auto result = run_here({"run", "s.toml", "--out", "out"});
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "fmi2DoStep returned fmi2Error");
  EXPECT_TRUE(fs::is_empty(temporary_));
  expect_text(test::text_of(folder_ / "out" / "results.csv"), "0.4");  // results so far are kept
  expect_text(test::text_of(folder_ / "out" / "system.resolved.toml"), fmu.string());
}

}  // namespace fmu_files_test
}  // namespace entrain
