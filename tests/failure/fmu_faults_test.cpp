// What goes wrong inside a step of an FMU for FMI 3, and inside the integration of one for model exchange, through the
// real program. (Co-simulation of FMI 2: fmu_bad_input_test.cpp.)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "support/scripted_fmus.hpp"

namespace entrain {
namespace fmu_faults_test {

namespace fs = std::filesystem;
using test::expect_text;

struct Kind {
  std::string name;
  std::string prefix;  ///< of its functions
  std::string call;    ///< in which it goes wrong
  std::string binary;
  std::string (*library)();
  std::string (*description)();
};

const Kind kThree{
    "fmi3_co_simulation", "fmi3", "fmi3DoStep", "binaries/x86_64-linux/scripted.so", test::scripted_fmu3_library, [] {
      return test::scripted3_description("providesIntermediateUpdate=\"true\"");
    }};
const Kind kExchange{"fmi2_model_exchange",
                     "fmi2",
                     "fmi2GetDerivatives",
                     "binaries/linux64/scripted.so",
                     test::scripted_exchange_library,
                     [] { return test::exchange_description(0); }};

struct Sentence {
  Fault fault;
  std::string name;
  std::string text;  ///< {0}: the prefix, {1}: the call
};
const std::vector<Sentence> kSentences{
    {ReturnError, "error",
     "{1} returned {0}Error; its log: '[logStatusError] the boiler burst'. Look at its start values and inputs"},
    {ReturnFatal, "fatal",
     "{1} returned {0}Fatal; its log: '[logStatusError] out of memory'. After that no call of it is allowed"},
    {LogNothing, "null_in_the_log", "{1} returned {0}Error; its log: '\\x1b[2J%n100%'"},
    {Segfault, "segmentation_fault", "crashed in {1} (SIGSEGV: it used memory that is not there)"},
    {Abort, "abort", "gave up in {1} (SIGABRT: it called abort(), as a failed assertion does)"},
    {Hang, "hang", "did not return from {1} within 0.3 s. Raise 'timeout' of the subsystem"},
};

class FmuFaults : public test::ScriptedFmus {
 protected:
  /// The message of the program, once everything else about its end was found in order.
  std::string message_of(const Kind& kind, Fault fault, const std::string& run = "") const {
    test::write_archive(folder_ / "part.fmu",
                        {{"modelDescription.xml", kind.description()}, {kind.binary, test::text_of(kind.library())}});
    test::write_text(folder_ / "s.toml", fmt::format(R"([run]
stop = 1
step = 0.1
{}
[subsystems.part]
fmu = "part.fmu"
start = {{ mode = {} }}
timeout = 0.3
)",
                                                     run, static_cast<int>(fault)));
    const auto result = run_here({"run", "s.toml", "--out", "out"});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_TRUE(fs::is_empty(temporary_));
    const std::string table = test::text_of(folder_ / "out" / "results.csv");
    EXPECT_NE(table.find(fault == ReturnNan && kind.name == kThree.name ? "\n0.4," : "\n0.5,"), std::string::npos);
    EXPECT_EQ(table.find("\n0.6,"), std::string::npos) << table;
    return result.err;
  }
};

class FmuFault : public FmuFaults, public testing::WithParamInterface<std::tuple<Kind, Sentence>> {};

TEST_P(FmuFault, ends_the_run_with_file_call_time_and_remedy) {
  const auto& [kind, sentence] = GetParam();
  const std::string message = message_of(kind, sentence.fault);
  expect_text(message, "subsystem 'part', at t = 0.5");
  expect_text(message, "FMU '" + (folder_ / "part.fmu").string() + "'");
  expect_text(message, fmt::format(fmt::runtime(sentence.text), kind.prefix, kind.call));
}

INSTANTIATE_TEST_SUITE_P(Every, FmuFault,
                         testing::Combine(testing::Values(kThree, kExchange), testing::ValuesIn(kSentences)),
                         [](const auto& each) {
                           return std::get<0>(each.param).name + "_" + std::get<1>(each.param).name;
                         });

TEST_F(FmuFaults, output_of_fmi_3_that_is_no_number_is_named_with_the_call_that_read_it) {
  const std::string message = message_of(kThree, ReturnNan);
  expect_text(message, "subsystem 'part', 'part.y', at t = 0.5 s: the output became nan (FMU '");
  expect_text(message, ", by fmi3GetFloat64)");
}

TEST_F(FmuFaults, derivative_that_is_no_number_is_named) {
  const std::string message = message_of(kExchange, ReturnNan);
  expect_text(message, "subsystem 'part', at t = 0.5 s: ");
  expect_text(message, "FMU '" + (folder_ / "part.fmu").string() + "'");
  expect_text(message, "fmi2GetDerivatives");
}

TEST_F(FmuFaults, crash_while_inputs_are_sent_inside_its_step_names_that_call) {
  const std::string message = message_of(kThree, CrashWhenTold, "method = \"jacobi\"\n[method.jacobi]\ndegree = 1");
  expect_text(message, "subsystem 'part', at t = 0.5 s: ");
  expect_text(message, "crashed in fmi3SetFloat64 (SIGSEGV");
}

}  // namespace fmu_faults_test
}  // namespace entrain
