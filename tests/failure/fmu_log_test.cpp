#include <gtest/gtest.h>

#include <fstream>

#include "record/log_file.hpp"
#include "support/facts.hpp"
#include "support/program.hpp"
#include "support/trap_fmus.hpp"
#include "support/typed_fmus.hpp"

namespace entrain::test {
namespace fmu_log_test {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void write_system(const TemporaryFolder& folder, const std::string& run) {
  write_text(folder / "system.toml", run + R"(
[subsystems.motor]
fmu = "typed2.fmu"
[subsystems.gear]
fmu = "typed2.fmu"
start = { gain = 0.5 }
)");
}

TEST(FmuLog, has_a_line_for_each_message_with_time_subsystem_and_category) {
  const TemporaryFolder folder;
  write_typed2(folder);
  write_system(folder, "[run]\nstart = 0.0\nstop = 0.3\nstep = 0.1");
  const auto result = run_program(folder, {"run", "system.toml", "--quiet", "--out", "out"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  // "%n" would write to memory: what is no harmless format is taken as text.
  EXPECT_EQ(text_of(folder / "out/fmu.log"),
            "0 motor [logStatusWarning] gain of gain at 100%\n"
            "0 motor [logStatusWarning] wrote %n bytes\n"
            "0 gear [logStatusWarning] gain of gain at 50%\n"
            "0 gear [logStatusWarning] wrote %n bytes\n");
}

TEST(FmuLog, is_shown_at_once_when_asked_for) {
  const TemporaryFolder folder;
  write_typed2(folder);
  write_system(folder, "[run]\nstart = 0.0\nstop = 0.3\nstep = 0.1");
  const auto result = run_program(folder, {"run", "system.toml", "--quiet", "--verbose", "--out", "out"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.err, "entrain: 0 motor [logStatusWarning] gain of gain at 100%\n")) << result.err;
}

TEST(FmuLog, holds_all_categories_of_an_fmu_when_it_is_to_be_verbose) {
  const TemporaryFolder folder;
  write_typed3(folder);
  write_text(folder / "system.toml", "[run]\nstop = 0.3\nstep = 0.1\n[subsystems.a]\nfmu = \"typed3.fmu\"\n");
  for (const bool verbose : {false, true}) {
    const auto result =
        run_program(folder, {"run", "system.toml", verbose ? "--verbose" : "--quiet", "--out", "out", "--overwrite"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(text_of(folder / "out/fmu.log"), verbose ? "0 a [logAll] initializing at 100%n\n" : "");
  }
}

class LongMessage : public TrappedRun {};

TEST_F(LongMessage, of_an_fmu_is_cut_at_the_documented_length) {
  write_system("wordy");
  EXPECT_EQ(run({"--require", "any"}).exit_code, 0);
  EXPECT_EQ(text_of(folder_ / "out/fmu.log"), "0.4 part [logStatusWarning] " + std::string(1000, 'x') + "...\n");
}

TEST(LogFile, ends_at_64_mib_with_a_line_that_reports_it) {
  const TemporaryFolder folder;
  constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
  {
    recording::LogFile log(folder / "fmu.log");
    const std::string text(kMebibyte, 'x');
    for (int i = 0; i < 70; ++i) log.add({"part", static_cast<double>(i), "", text});
  }
  const auto size = std::filesystem::file_size(folder / "fmu.log");
  EXPECT_GT(size, 63 * kMebibyte);
  EXPECT_LE(size, 64 * kMebibyte);
  std::ifstream file(folder / "fmu.log");
  file.seekg(-60, std::ios::end);
  std::string last;
  while (std::getline(file, last) && file.peek() != EOF) {
  }
  EXPECT_EQ(last, "63 more than 64 MiB: nothing more is kept");
}

TEST(DefaultExperiments, give_what_the_file_leaves_open_and_are_shown_in_the_resolved_file) {
  const TemporaryFolder folder;
  write_typed2(folder);
  write_system(folder, "");
  const auto result = run_program(
      folder, {"run", "system.toml", "--quiet", "--out", "out", "--set", "motor.i=7", "--method", "jacobi"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto resolved = text_of(folder / "out/system.resolved.toml");
  EXPECT_TRUE(contains(resolved,
                       "start = 0.5  # default experiment of typed2.fmu\nstop = 3.0  # default experiment of "
                       "typed2.fmu\nstep = 0.25  # default experiment of typed2.fmu\n"))
      << resolved;
  EXPECT_TRUE(contains(resolved, "i = 7  # --set motor.i=7\n")) << resolved;
  EXPECT_TRUE(contains(resolved, "gain = 0.5\n")) << resolved;  // of the file itself
}

TEST(InitialValues, of_all_inputs_are_shown_with_their_origin) {
  const TemporaryFolder folder;
  write_typed2(folder);
  write_text(folder / "system.toml", R"([subsystems.a]
fmu = "typed2.fmu"
start = { x = 20.0, s = "hello, world" }
[subsystems.b]
fmu = "typed2.fmu"
start = { gain = 2.0 }
[connections]
"a.y" = "b.x"
"a.t" = "b.s"
)");
  const auto result = run_program(folder, {"inspect", "system.toml", "--initial"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "a.x    20")) << result.out;
  EXPECT_TRUE(contains(result.out, "system.toml:3")) << result.out;
  EXPECT_TRUE(contains(result.out, "b.x    20")) << result.out;
  EXPECT_TRUE(contains(result.out, "'a.y'")) << result.out;
  EXPECT_TRUE(contains(result.out, "b.s    hello, world")) << result.out;
  EXPECT_TRUE(contains(result.out, "its own start value")) << result.out;
}

TEST(StartValues, that_would_never_reach_an_fmu_are_refused) {
  const TemporaryFolder folder;
  write_typed2(folder);
  write_system(folder, "");
  for (const char* variable : {"y", "nothing"}) {
    const auto result = run_program(folder, {"run", "system.toml", "--set", std::string("motor.") + variable + "=1.0"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_TRUE(contains(result.err, fmt::format("'{}'", variable))) << result.err;
  }
}

TEST(StartValues, that_the_fmu_calculates_are_refused_where_they_stand) {
  const TemporaryFolder folder;
  std::string xml = kTyped2;
  const std::string parameter = "<ScalarVariable name=\"fixed\" valueReference=\"9\" causality=\"parameter\" ";
  xml.insert(xml.find(parameter) + parameter.size(), "initial=\"calculated\" ");
  write_typed2(folder, "typed2.fmu", xml);
  write_text(folder / "system.toml", "[subsystems.a]\nfmu = \"typed2.fmu\"\nstart = { fixed = 2.0 }\n");
  const auto problems = check(folder / "system.toml");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(outline(problems[0].fact), "start-refused a.fixed (of = fmu-start-calculated)");
  EXPECT_EQ(problems[0].where.line, 3);
}

}  // namespace fmu_log_test
}  // namespace entrain::test
