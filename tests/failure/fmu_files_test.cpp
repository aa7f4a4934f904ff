#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "base/sanitized.hpp"
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
run = {{ stop = 1.0, step = 0.1, open = ["part.*"] }}
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
  /// The fact of its refusal; one that quotes another has the code of that one as its value `of`.
  Fact refusal(const fs::path& fmu, int mode = Normal) const {
    const auto error = test::error_of([&] { const Simulation simulation(system(fmu, mode)); });
    return error ? error->fact() : Fact{};
  }
};

using test::expect_text;

std::string patched(std::string binary, const std::string& from, const std::string& to) {
  for (auto at = binary.find(from); at != std::string::npos; at = binary.find(from, at)) {
    binary.replace(at, from.size(), to);
  }
  return binary;
}

void expect_failure(const RunSummary& summary, const char* function, const char* status, const char* said) {
  const Fact failure = test::failure_of(summary);
  EXPECT_EQ(failure.code, FactCode::FmuCallFailed);
  EXPECT_EQ(failure.text("function"), function);
  EXPECT_EQ(failure.text("status"), status);
  expect_text(std::string(failure.text("said")), said);
  EXPECT_FALSE(failure.remedy.empty());
  EXPECT_EQ(test::place_of_failure(summary).subsystem, "part");
  EXPECT_DOUBLE_EQ(test::place_of_failure(summary).time.value_or(0.0), 0.5);
}

void expect_rejected(const RunSummary& summary) {
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).code, FactCode::StepRejected);
  EXPECT_NEAR(test::failure_of(summary).number("step").value_or(0.0), 0.1, 1e-12);
  EXPECT_EQ(test::place_of_failure(summary).subsystem, "part");
  EXPECT_DOUBLE_EQ(test::place_of_failure(summary).time.value_or(0.0), 0.5);
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
  expect_failure(failed, "fmi2DoStep", "fmi2Error", "the boiler burst");
  EXPECT_EQ(test::failure_of(failed).subjects.front(), fmt::format("FMU '{}'", (folder_ / "part 1.fmu").string()));
  EXPECT_EQ(failed.macro_steps, 5U);
  const auto fatal = run(ReturnFatal);
  EXPECT_EQ(fatal.termination, Termination::Failed);
  expect_failure(fatal, "fmi2DoStep", "fmi2Fatal", "out of memory");
}

TEST_F(FmuFiles, discarded_step_is_rejected_even_with_progress) {
  // After fmi2Discard the standard allows no further fmi2DoStep, only going back.
  const auto summary = run(DiscardHalf);
  expect_rejected(summary);
}

TEST_F(FmuFiles, discarded_step_without_progress_fails) {
  const auto summary = run(DiscardAll);
  expect_rejected(summary);
}

TEST_F(FmuFiles, request_to_terminate_ends_the_run) {
  const auto summary = run(Terminate);
  EXPECT_EQ(summary.termination, Termination::Completed);
  expect_text(summary.message, "'part'");
  EXPECT_NEAR(summary.reached, 0.55, 1e-15);
}

TEST_F(FmuFiles, output_that_is_no_number_fails) {
  const auto summary = run(ReturnNan);
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).code, FactCode::OutputNotFinite);
  EXPECT_EQ(test::place_of_failure(summary).variable, "part.y");
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
  const Fact refused = refusal(write(test::scripted_description("")), FailInitialization);
  EXPECT_EQ(refused.text("of"), "fmu-call-failed") << refused;
  EXPECT_EQ(refused.text("function"), "fmi2EnterInitializationMode");
  expect_text(std::string(refused.text("said")), "no solution: 100% wrong");
}

TEST_F(FmuFiles, claims_that_are_not_true_are_withdrawn_with_a_warning) {
  const auto summary = run(Normal, R"(canGetAndSetFMUstate="true" canInterpolateInputs="true"
      providesDirectionalDerivative="true" maxOutputDerivativeOrder="1")");
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  const auto& can = summary.subsystems[0].capabilities;
  EXPECT_FALSE(can.rollback || can.linearization);
  EXPECT_EQ(can.output_derivative_order, 0);
  EXPECT_EQ(can.input_degree, 0);  // it takes derivatives and ignores them
  EXPECT_FALSE(can.reset);
  std::string all;
  for (const auto& warning : summary.warnings) all += std::string(warning.text("why")) + "\n";
  for (const char* symbol : {"fmi2GetFMUstate", "fmi2GetRealOutputDerivatives"}) {
    expect_text(all, fmt::format("'{}'", symbol));
  }
}

TEST_F(FmuFiles, wrong_guid_is_reported_with_the_words_of_the_fmu) {
  const Fact refused = refusal(write(test::scripted_description("", "another")));
  EXPECT_EQ(refused.text("of"), "fmu-no-instance") << refused;
  EXPECT_EQ(refused.text("function"), "fmi2Instantiate");
  expect_text(std::string(refused.text("said")), "unknown guid another");
}

TEST_F(FmuFiles, wrong_instantiation_token_of_fmi_3_is_reported) {
  const std::string original = test::fmu_file("test/strict/3", "chain_mass");
  const std::string xml = test::text_in_archive(original, "modelDescription.xml");
  const std::string binary = "binaries/x86_64-linux/" + test::matched(xml, "modelIdentifier=\"([^\"]+)\"") + ".so";
  const std::string token = test::matched(xml, "instantiationToken=\"([^\"]+)\"");
  const fs::path file = folder_ / "other.fmu";
  test::write_archive(file, {{"modelDescription.xml", patched(xml, token, "another")},
                             {binary, test::text_in_archive(original, binary)}});
  const auto error = test::error_of([&] { subsystem::make_fmu_subsystem("part", file)->capabilities(); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fact().code, FactCode::FmuNoInstance);
  EXPECT_EQ(error->fact().subjects, std::vector<std::string>{file.string()});
  EXPECT_EQ(error->fact().text("function"), "fmi3InstantiateCoSimulation");
  EXPECT_EQ(error->context().subsystem, "part");
  expect_text(error->context().remedy, "instantiation token");
}

TEST_F(FmuFiles, capital_letters_in_the_extension_are_no_matter) {
  const fs::path file = folder_ / "PART.FMU";
  fs::copy_file(write(test::scripted_description("")), file);
  EXPECT_EQ(load(file).subsystems.at(0).fmu, file.string());
}

TEST_F(FmuFiles, missing_binaries_are_reported_with_those_that_are_there) {
  const auto why = [&](const char* binary) {
    const Fact refused = refusal(write(test::scripted_description(""), binary));
    EXPECT_EQ(refused.text("of"), "fmu-binary-missing") << refused;
    return std::string(refused.text("why"));
  };
  expect_text(why("binaries/win64/scripted.dll"), "win64");
  expect_text(why("binaries/linux64/other.so"), "'binaries/linux64/scripted.so'");
  EXPECT_EQ(why("").find("linux64"), std::string::npos);
}

TEST_F(FmuFiles, empty_folder_of_this_platform_is_no_binary_that_was_lost) {
  const fs::path file = folder_ / "windows.fmu";
  test::write_archive(file, {{"modelDescription.xml", test::scripted_description("")},
                             {"binaries/linux64/", ""},
                             {"binaries/linux32/", ""},
                             {"binaries/win64/scripted.dll", "MZ"}});
  const Fact refused = refusal(file);
  EXPECT_EQ(refused.text("of"), "fmu-binary-missing") << refused;
  expect_text(std::string(refused.text("why")), "it has no binary for this platform (linux64), only for: win64");
}

TEST_F(FmuFiles, file_that_is_no_library_is_reported) {
  const fs::path file = folder_ / "fake.fmu";
  test::write_archive(file,
                      {{"modelDescription.xml", test::scripted_description("")},
                       {"binaries/linux64/scripted.so", "this is text, and long enough to have a header ........"}});
  EXPECT_EQ(refusal(file).text("of"), "fmu-not-library");
  EXPECT_EQ(refusal(file).text("file"), "binaries/linux64/scripted.so");
}

TEST_F(FmuFiles, library_for_another_machine_is_reported_with_both_machines) {
  constexpr std::size_t kClass = 4;
  constexpr std::size_t kMachine = 18;
  std::string other = library_;
  other[kMachine] = static_cast<char>(0xb7);
  Fact refused = refusal(write_library(other));
  EXPECT_EQ(refused.text("of"), "fmu-wrong-machine") << refused;
  EXPECT_EQ(refused.text("machine"), "AArch64 (64 bits)");
  EXPECT_EQ(refused.text("present"), "x86_64 (64 bits)");
  EXPECT_EQ(refused.text("file"), "binaries/linux64/scripted.so");
  other[kMachine] = 3;
  other[kClass] = 1;
  EXPECT_EQ(refusal(write_library(other)).text("machine"), "x86 (32 bits)");
}

TEST_F(FmuFiles, library_that_is_cut_off_is_not_given_to_the_loader) {
  const Fact refused = refusal(write_library(library_.substr(0, library_.size() / 3)));
  EXPECT_EQ(refused.text("of"), "fmu-not-library") << refused;
  expect_text(std::string(refused.text("why")), "cut off");
}

/// patchelf leaves them there.
TEST_F(FmuFiles, program_headers_at_the_end_of_a_large_library_are_found) {
  std::string moved = library_;
  moved.resize(std::max<std::size_t>(moved.size(), 100'000) / 8 * 8 + 8);
  Elf64_Ehdr header;
  std::memcpy(&header, moved.data(), sizeof header);
  const auto table = moved.substr(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr));
  header.e_phoff = moved.size();
  std::memcpy(moved.data(), &header, sizeof header);
  const auto error = test::error_of([&] { const Simulation simulation(system(write_library(moved + table), Normal)); });
  EXPECT_FALSE(error) << error->what();
}

TEST_F(FmuFiles, kind_of_file_that_is_no_library_is_not_given_to_the_loader) {
  constexpr std::size_t kType = 16;
  std::string other = library_;
  other[kType] = 1;  // an object file
  EXPECT_EQ(refusal(write_library(other)).text("of"), "fmu-not-library");
}

TEST_F(FmuFiles, libraries_that_are_missing_are_all_named) {
  const Fact refused = refusal(write_library(
      patched(test::text_of(test::needy_fmu_library()), std::string("libc.so.6"), std::string("libd.so.6"))));
  EXPECT_EQ(refused.text("of"), "fmu-library-missing") << refused;
  for (const char* name : {"libabsent.so", "libd.so.6"}) {
    EXPECT_EQ(std::count(refused.subjects.begin(), refused.subjects.end(), name), 1) << name << refused;
  }
}

/// Its name is the end of a path in the cache of the loader.
TEST_F(FmuFiles, library_of_the_system_that_is_not_loaded_yet_is_not_called_missing) {
  const std::string other = patched(test::text_of(test::needy_fmu_library()), "libabsent.so", "libutil.so.1");
  const Fact refused = refusal(write_library(patched(other, std::string("libc.so.6"), std::string("libd.so.6"))));
  EXPECT_EQ(refused.text("of"), "fmu-library-missing") << refused;
  EXPECT_EQ(std::count(refused.subjects.begin(), refused.subjects.end(), "libd.so.6"), 1) << refused;
  EXPECT_EQ(std::count(refused.subjects.begin(), refused.subjects.end(), "libutil.so.1"), 0) << refused;
}

TEST_F(FmuFiles, library_that_is_missing_is_named) {
  const Fact refused = refusal(write_library(test::text_of(test::needy_fmu_library())));
  EXPECT_EQ(refused.text("of"), "fmu-library-missing") << refused;
  EXPECT_EQ(refused.text("file"), "binaries/linux64/scripted.so");
  EXPECT_EQ(refused.subjects.back(), "libabsent.so");
  expect_text(std::string(refused.text("why")), "LD_LIBRARY_PATH");
}

TEST_F(FmuFiles, library_beside_the_binary_is_found_without_being_looked_for_there) {
  const fs::path fmu = write_library(test::text_of(test::needy_fmu_library()),
                                     {{"binaries/linux64/libabsent.so", test::text_of(test::absent_library())}});
  Simulation simulation(system(fmu, Normal));
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
}

TEST_F(FmuFiles, newer_c_library_than_this_system_has_is_reported_with_both_versions) {
  const Fact refused = refusal(write_library(patched(library_, "GLIBC_2.2.5", "GLIBC_9.9.5")));
  EXPECT_EQ(refused.text("of"), "fmu-needs-glibc") << refused;
  EXPECT_EQ(refused.text("wanted"), "9.9.5");
  EXPECT_TRUE(refused.text("present").starts_with("2."));
}

TEST_F(FmuFiles, symbol_that_nothing_defines_is_named) {
  const Fact refused =
      refusal(write_library(patched(library_, std::string("\0sleep\0", 7), std::string("\0slee?\0", 7))));
  EXPECT_EQ(refused.text("of"), "fmu-symbol-missing") << refused;
  EXPECT_EQ(refused.subjects.back(), "slee?");
}

TEST_F(FmuFiles, python_that_is_expected_in_the_process_is_reported_with_how_to_get_it_there) {
  const Fact refused =
      refusal(write_library(patched(library_, std::string("\0sleep\0", 7), std::string("\0Py_No\0", 7))));
  EXPECT_EQ(refused.text("of"), "fmu-symbol-missing") << refused;
  EXPECT_EQ(refused.subjects.back(), "Py_No");
  expect_text(refused.remedy, "libpython");
}

// What PythonFMU leaves to the process: the worker brings the library.
TEST_F(FmuFiles, python_that_is_expected_in_the_process_is_there_in_a_worker) {
  Simulation simulation(
      system(write_library(patched(library_, std::string("\0sleep\0", 7), std::string("\0Py_Is\0", 7))), Normal));
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_TRUE(test::has_fact(simulation.summary().notes, FactCode::IsolatedUnasked));
}

TEST_F(FmuFiles, function_that_the_run_cannot_do_without_is_named) {
  const Fact refused =
      refusal(write_library(patched(library_, "fmi2EnterInitializationMode", "fmi2EnterInitializationMude")));
  EXPECT_EQ(refused.text("of"), "fmu-function-missing") << refused;
  EXPECT_EQ(refused.subjects.back(), "fmi2EnterInitializationMode");
}

TEST_F(FmuFiles, need_of_the_tool_that_made_it_is_reported_when_it_does_not_start) {
  const auto xml = test::scripted_description(R"(needsExecutionTool="true")", "another");
  expect_text(render(refusal(write(xml))), "needsExecutionTool");
}

// The engine cannot load with RTLD_DEEPBIND under a sanitizer, which replaces symbols itself: nothing to test there.
#ifndef ENTRAIN_SANITIZED
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
  expect_failure(summary, "fmi2DoStep", "fmi2Error", "'\\x1b[2J%n100%'");
}

TEST_F(FmuFiles, exception_that_leaves_it_is_an_error_that_names_the_call) {
  const auto summary = run(Throw);
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).code, FactCode::CodeThrew);
  EXPECT_EQ(test::failure_of(summary).text("function"), "fmi2DoStep");
  EXPECT_EQ(test::failure_of(summary).text("what"), "'a C++ exception'");
  EXPECT_EQ(test::place_of_failure(summary).subsystem, "part");
  EXPECT_DOUBLE_EQ(test::place_of_failure(summary).time.value_or(0.0), 0.5);
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
  EXPECT_EQ(problems[0].fact.text("of"), "no-such-file");
  EXPECT_EQ(problems[0].fact.subjects.back(), (folder_ / "none.fmu").string());  // beside the system file
}

TEST_F(FmuFiles, neither_co_simulation_nor_model_exchange_is_reported) {
  std::string xml = test::scripted_description("");
  xml.replace(xml.find("<CoSimulation"), 13, "<Unheard");
  const Fact refused = refusal(write(xml));
  EXPECT_EQ(refused.text("of"), "fmu-no-interface") << refused;
}

TEST_F(FmuFiles, second_instance_of_a_once_per_process_fmu_names_both) {
  const fs::path fmu = write(test::scripted_description(R"(canBeInstantiatedOnlyOncePerProcess="true")"));
  const auto first = subsystem::make_fmu_subsystem("first", fmu);
  EXPECT_EQ(test::refusal_outline([&] { subsystem::make_fmu_subsystem("second", fmu); }),
            "fmu-one-instance " + fmu.string() + ", first, second");
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
  expect_text(result.err, "fmi2DoStep");
  EXPECT_EQ(test::failure_in(test::text_of(folder_ / "out" / "run.json"))["values"]["status"], "fmi2Error");
  EXPECT_TRUE(fs::is_empty(temporary_));
  expect_text(test::text_of(folder_ / "out" / "results.csv"), "0.4");  // results so far are kept
  expect_text(test::text_of(folder_ / "out" / "system.resolved.toml"), fmu.string());
}

}  // namespace fmu_files_test
}  // namespace entrain
