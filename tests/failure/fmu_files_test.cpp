#include <fmt/format.h>
#include <gtest/gtest.h>

#include "subsystem/fmi/fmu.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "support/archives.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"

// FMUs that are broken, or break during the run. The scripted one is tests/support/scripted_fmu.c.

namespace entrain {
namespace {

namespace fs = std::filesystem;

enum Mode { Normal, ReturnError, ReturnFatal, DiscardHalf, DiscardAll, Terminate, ReturnNan, Warn, FailInitialization };

std::string description(const std::string& flags, const std::string& guid = "scripted") {
  return fmt::format(R"(<fmiModelDescription fmiVersion="2.0" modelName="scripted" guid="{}">
  <CoSimulation modelIdentifier="scripted" canHandleVariableCommunicationStepSize="true" {}/>
  <LogCategories><Category name="logStatusError"/></LogCategories>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="1"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="2" causality="parameter" variability="fixed"><Integer start="0"/></ScalarVariable>
    <ScalarVariable name="offset" valueReference="3" causality="parameter" variability="fixed"><Real start="0"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies="1"/></Outputs></ModelStructure>
</fmiModelDescription>)",
                     guid, flags);
}

class FmuFiles : public testing::Test {
 protected:
  FmuFiles() : library_(test::text_of(ENTRAIN_SCRIPTED_FMU)) {}

  fs::path write(const std::string& xml, const std::string& binary = "binaries/linux64/scripted.so") const {
    fs::path file = folder_ / fmt::format("part {}.fmu", ++written_);  // with a space
    std::vector<test::ArchiveEntry> entries{{"modelDescription.xml", xml}};
    if (!binary.empty()) entries.push_back({binary, library_});
    test::write_archive(file, entries);
    return file;
  }

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
    Simulation simulation(system(write(description(flags)), mode));
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

  test::TemporaryFolder folder_;
  std::string library_;
  mutable int written_ = 0;
};

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST_F(FmuFiles, runs_when_nothing_is_wrong) {
  Simulation simulation(system(write(description("")), Normal, 0.25));
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_TRUE(summary.warnings.empty());
  EXPECT_EQ(summary.subsystems[0].steps, 10U);
  EXPECT_EQ(summary.subsystems[0].source, "fmu part 1.fmu (FMI 2.0 co-simulation)");
  // Although the FMU forgets its parameters on entering the initialization mode.
  EXPECT_EQ(simulation.value("part.y"), 1.25);
}

TEST_F(FmuFiles, error_and_fatal_name_call_time_and_last_words) {
  const auto failed = run(ReturnError);
  EXPECT_EQ(failed.termination, Termination::Failed);
  EXPECT_EQ(
      failed.message,
      "subsystem 'part', at t = 0.5 s: fmi2DoStep returned fmi2Error; it said: '[logStatusError] the boiler burst'");
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
  EXPECT_EQ(summary.termination, Termination::Interrupted);
  expect_text(summary.message, "subsystem 'part' asked to end the run");
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
  expect_text(summary.warnings[0], "'part' returned a warning 5 times, first from fmi2DoStep at t = 0.5 s");
  expect_text(summary.warnings[0], "close to a limit");
}

TEST_F(FmuFiles, failure_to_initialise_is_found_before_the_run) {
  expect_text(refusal(write(description("")), FailInitialization),
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
  for (const auto& warning : summary.warnings) all += warning + "\n";
  for (const char* symbol : {"fmi2GetFMUstate", "fmi2GetRealOutputDerivatives"}) {
    expect_text(all, fmt::format("'binaries/linux64/scripted.so' has no function '{}'", symbol));
  }
}

TEST_F(FmuFiles, wrong_guid_is_told_with_the_words_of_the_fmu) {
  const std::string text = refusal(write(description("", "another")));
  expect_text(text, "fmi2Instantiate returned no instance; it said: '[logStatusError] unknown guid another'");
  expect_text(text, "guid in modelDescription.xml");
}

TEST_F(FmuFiles, missing_binaries_are_told_with_those_that_are_there) {
  expect_text(refusal(write(description(""), "binaries/win64/scripted.dll")),
              "no binary for this platform (linux64), only for: win64");
  expect_text(refusal(write(description(""), "binaries/linux64/other.so")),
              "'binaries/linux64/scripted.so' is missing from it");
  expect_text(refusal(write(description(""), "")), "it has no binaries at all");
}

TEST_F(FmuFiles, file_that_is_no_library_is_told) {
  const fs::path file = folder_ / "fake.fmu";
  test::write_archive(file,
                      {{"modelDescription.xml", description("")},
                       {"binaries/linux64/scripted.so", "this is text, and long enough to have a header ........"}});
  expect_text(refusal(file), "'binaries/linux64/scripted.so' is no shared library for this platform");
}

TEST_F(FmuFiles, problems_stand_at_the_line_of_the_system_file) {
  test::write_text(folder_ / "system.toml", "[run]\nstop = 1\n[subsystems.a]\nfmu = \"none.fmu\"\n");
  const auto problems = check(folder_.path());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].where.line, 4);
  expect_text(problems[0].message,
              "no such file: '" + (folder_ / "none.fmu").string() + "'");  // beside the system file
}

TEST_F(FmuFiles, model_exchange_alone_is_told) {
  std::string xml = description("");
  xml.replace(xml.find("<CoSimulation"), 13, "<ModelExchange");
  expect_text(refusal(write(xml)), "it offers model exchange, not co-simulation");
}

TEST_F(FmuFiles, second_instance_of_a_once_per_process_fmu_names_both) {
  const fs::path fmu = write(description(R"(canBeInstantiatedOnlyOncePerProcess="true")"));
  const auto first = make_fmu_subsystem("first", fmu);
  try {
    make_fmu_subsystem("second", fmu);
    FAIL() << "accepted";
  } catch (const Error& error) {
    expect_text(error.what(), "both 'first' and 'second' use it");
  }
}

TEST_F(FmuFiles, file_is_unpacked_once_for_all_instances) {
  const fs::path fmu = write(description(""));
  const auto first = Fmu::open(fmu);
  EXPECT_EQ(first, Fmu::open(folder_.path() / "." / fmu.filename()));
}

TEST_F(FmuFiles, program_exits_with_1_and_leaves_nothing_behind) {
  const fs::path fmu = write(description(""));
  test::write_text(folder_ / "s.toml", fmt::format("[run]\nstop = 1\nstep = 0.1\n[subsystems.part]\nfmu = \"{}\"\n"
                                                   "start = {{ mode = 1 }}\n",
                                                   fmu.filename().string()));
  const fs::path temporary = folder_ / "tmp";
  fs::create_directory(temporary);
  ::setenv("TMPDIR", temporary.c_str(), 1);
  const auto result = test::run_program(folder_, {"run", "s.toml", "--out", "out"});
  ::unsetenv("TMPDIR");
  EXPECT_EQ(result.exit_code, 1);
  expect_text(result.err, "fmi2DoStep returned fmi2Error");
  EXPECT_TRUE(fs::is_empty(temporary));
  expect_text(test::text_of(folder_ / "out" / "results.csv"), "0.4");  // results so far are kept
  expect_text(test::text_of(folder_ / "out" / "system.resolved.toml"), fmu.string());
}

}  // namespace
}  // namespace entrain
