#include <fmt/format.h>
#include <gtest/gtest.h>

#include "entrain/recording.hpp"
#include "support/archives.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_descriptions.hpp"
#include "support/scripted_exchange.h"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

// What a model-exchange FMU wants of an integrator outside must be done by `monolithic` as well. The FMU is
// tests/support/scripted_exchange.c: x' = 1 from x = 0, and something happens from x = 0.5 on.

namespace entrain {
namespace monolithic_exchange_test {

class MonolithicExchange : public testing::Test {
 protected:
  RunSummary run(int mode, int indicators) {
    const auto file = folder_ / "part.fmu";
    test::write_archive(file, {{"modelDescription.xml", test::exchange_description(indicators)},
                               {"binaries/linux64/scripted.so", test::text_of(test::scripted_exchange_library())}});
    Simulation simulation(test::system_from(fmt::format(R"(
run = {{ stop = 1.0, step = 0.2, method = "monolithic" }}
[subsystems.part]
fmu = "{}"
start = {{ mode = {} }}
)",
                                                        file.string(), mode)));
    simulation.observe(recorder_);
    return simulation.run();
  }
  double last() const { return recorder_.column("part.x").back(); }

  test::TemporaryFolder folder_;
  MemoryRecorder recorder_;
};

void expect_stop(const RunSummary& summary) {
  EXPECT_EQ(summary.termination, Termination::Completed);
  EXPECT_NE(summary.message.find("'part'"), std::string::npos) << summary.message;
}

TEST_F(MonolithicExchange, fmu_that_asks_to_stop_after_an_internal_step_ends_the_run_there) {
  expect_stop(run(TerminateInStep, 0));
  EXPECT_GE(last(), 0.5);
  EXPECT_LE(last(), 0.6);  // inside the macro step that passes 0.5
}

TEST_F(MonolithicExchange, fmu_that_asks_to_stop_in_an_event_ends_the_run_there) {
  const auto summary = run(TerminateInEventExchange, 1);
  expect_stop(summary);
  EXPECT_NEAR(last(), 0.5, 1e-9);
  EXPECT_NEAR(summary.reached, 0.5, 1e-9);
}

TEST_F(MonolithicExchange, event_wanted_after_an_internal_step_is_handled) {
  const auto summary = run(StepEvent, 0);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_GT(last(), 10.2);  // it jumps to 10 at the end of the internal step that passes 0.5, and goes on
  EXPECT_LE(last(), 10.5);
}

TEST_F(MonolithicExchange, summary_notes_that_the_method_integrates) {
  const auto summary = run(NormalExchange, 0);
  EXPECT_EQ(summary.subsystems[0].source, "part.fmu (FMI 2.0 model exchange)");
}

}  // namespace monolithic_exchange_test
}  // namespace entrain
