// What goes wrong inside a step of an FMU for FMI 3, and inside the integration of one for model exchange, through the
// real program. (Co-simulation of FMI 2: fmu_bad_input_test.cpp.)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>

#include "support/facts.hpp"
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

struct Ending {
  Fault fault;
  std::string name;
  std::string code;
  std::string value;  ///< of the fact that says which one it is ...
  std::string text;   ///< ... and what it is; {0}: the prefix
};
const std::vector<Ending> kEndings{
    {ReturnError, "error", "fmu-call-failed", "status", "{0}Error"},
    {ReturnFatal, "fatal", "fmu-call-failed", "status", "{0}Fatal"},
    {LogNothing, "null_in_the_log", "fmu-call-failed", "said", "; its log: '\\x1b[2J%n100%'"},
    {Segfault, "segmentation_fault", "code-fault", "fault", "memory"},
    {Abort, "abort", "code-fault", "fault", "abort"},
    {Hang, "hang", "code-fault", "fault", "timeout"},
};

class FmuFaults : public test::ScriptedFmus {
 protected:
  /// What run.json says of it, once everything else about its end was found in order.
  nlohmann::json failure_of(const Kind& kind, Fault fault, const std::string& run = "") const {
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
    const auto result = run_here({"run", "s.toml", "--out", "out", "--overwrite"});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_TRUE(fs::is_empty(temporary_));
    const std::string table = test::text_of(folder_ / "out" / "results.csv");
    EXPECT_NE(table.find(fault == ReturnNan && kind.name == kThree.name ? "\n0.4," : "\n0.5,"), std::string::npos);
    EXPECT_EQ(table.find("\n0.6,"), std::string::npos) << table;
    auto failure = test::failure_in(test::text_of(folder_ / "out" / "run.json"));
    EXPECT_EQ(failure.value("subsystem", ""), "part");
    // Where it was called: an integrator outside makes steps of its own, past the end of the macro step.
    const bool exchange = kind.name.find("exchange") != std::string::npos;
    const double step = 0.1;
    EXPECT_GE(failure.value("time", 0.0), 0.5 - 1e-3);
    EXPECT_LE(failure.value("time", 0.0), exchange ? 0.5 + step : 0.5 + 1e-3);
    return failure;
  }
};

class FmuFault : public FmuFaults, public testing::WithParamInterface<std::tuple<Kind, Ending>> {
 protected:
  std::string file() const { return "FMU '" + (folder_ / "part.fmu").string() + "'"; }
};

TEST_P(FmuFault, ends_the_run_with_file_call_time_and_remedy) {
  const auto& [kind, ending] = GetParam();
  const auto failure = failure_of(kind, ending.fault);
  EXPECT_EQ(failure["code"], ending.code);
  EXPECT_EQ(failure["subjects"], nlohmann::json({file()}));
  EXPECT_EQ(failure["values"]["function"], kind.call);
  EXPECT_EQ(failure["values"][ending.value], fmt::format(fmt::runtime(ending.text), kind.prefix));
  EXPECT_FALSE(failure["remedy"].get<std::string>().empty());
}

INSTANTIATE_TEST_SUITE_P(Every, FmuFault,
                         testing::Combine(testing::Values(kThree, kExchange), testing::ValuesIn(kEndings)),
                         [](const auto& each) {
                           return std::get<0>(each.param).name + "_" + std::get<1>(each.param).name;
                         });

TEST_F(FmuFaults, output_of_fmi_3_that_is_no_number_is_named_with_the_call_that_read_it) {
  const auto failure = failure_of(kThree, ReturnNan);
  EXPECT_EQ(failure["code"], "output-not-finite");
  EXPECT_EQ(failure["variable"], "part.y");
  expect_text(failure["values"]["by"], "fmi3GetFloat64");
}

TEST_F(FmuFaults, derivative_that_is_no_number_is_named) {
  const auto failure = failure_of(kExchange, ReturnNan);
  EXPECT_EQ(failure["code"], "derivative-not-finite");
  expect_text(failure["values"]["by"], (folder_ / "part.fmu").string());
  expect_text(failure["values"]["by"], "fmi2GetDerivatives");
}

TEST_F(FmuFaults, crash_while_inputs_are_set_inside_its_step_is_laid_at_that_call) {
  const auto failure = failure_of(kThree, CrashWhenTold, "method = \"jacobi\"\n[method.jacobi]\ndegree = 1");
  EXPECT_EQ(failure["values"]["fault"], "memory");
  EXPECT_EQ(failure["values"]["function"], "fmi3SetFloat64");
}

}  // namespace fmu_faults_test
}  // namespace entrain
