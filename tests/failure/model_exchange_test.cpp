#include <fmt/format.h>
#include <gtest/gtest.h>

#include "entrain/recording.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/scripted_descriptions.hpp"
#include "support/scripted_exchange.h"
#include "support/systems.hpp"

// Model-exchange FMUs that misbehave: tests/support/scripted_exchange.c, x' = 1 from x = 0.

namespace entrain {
namespace model_exchange_test {

namespace fs = std::filesystem;
using test::expect_text;

class ScriptedExchange : public testing::Test {
 protected:
  fs::path write(int indicators, const std::string& flags = "", const std::string& variability = "continuous") const {
    fs::path file = folder_ / fmt::format("part{}.fmu", ++written_);
    test::write_archive(file, {{"modelDescription.xml", test::exchange_description(indicators, flags, variability)},
                               {"binaries/linux64/scripted.so", test::text_of(test::scripted_exchange_library())}});
    return file;
  }
  RunSummary run(int mode, int indicators = 0, const std::string& more = "") {
    Simulation simulation(test::system_from(fmt::format(R"(
run = {{ stop = 1.0, step = 0.25 }}
[subsystems.part]
fmu = "{}"
start = {{ mode = {} }}
{})",
                                                        write(indicators).string(), mode, more)));
    simulation.observe(recorder_);
    return simulation.run();
  }

  const std::vector<double>& x() const { return recorder_.column("part.x"); }

  test::TemporaryFolder folder_;
  mutable int written_ = 0;
  MemoryRecorder recorder_;
};

TEST_F(ScriptedExchange, fmu_that_offers_model_exchange_only_runs) {
  const auto summary = run(NormalExchange);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_NEAR(x().back(), 1.0, 1e-9);
  EXPECT_EQ(summary.subsystems[0].source,
            "part1.fmu (FMI 2.0 model exchange by Runge-Kutta, BDF where stiff, tolerance 1e-10)");
}

TEST_F(ScriptedExchange, discrete_inputs_are_set_in_event_mode_and_held) {
  const auto part = subsystem::make_fmu_subsystem("part", write(0, "", "discrete"));
  part->set_start(*part->variables().find("mode"), std::int64_t{DiscreteInput});
  EXPECT_FALSE(part->capabilities().rollback);  // it remembers its input
  part->initialize(0.0, 1.0);
  std::vector<double> y(2);
  const double rising[] = {3.0, 1.0};
  EXPECT_EQ(part->step({0.0, 0.5, {rising, 1, 1}}, y).outcome, StepOutcome::Completed);
  EXPECT_EQ(y[1], 3.0);
  const double other = 4.0;
  part->evaluate({&other, 1}, y);
  EXPECT_EQ(y[1], 4.0);
}

TEST_F(ScriptedExchange, events_without_end_name_the_culprit) {
  const auto summary = run(NeverSettlesExchange, 1);
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).code, FactCode::FmuDiscreteUnsettled);
  EXPECT_EQ(test::failure_of(summary).number("updates"), 100.0);
  EXPECT_EQ(test::place_of_failure(summary).subsystem, "part");
  EXPECT_NEAR(test::place_of_failure(summary).time.value_or(0.0), 0.5, 1e-3);
}

TEST_F(ScriptedExchange, fmu_that_asks_to_stop_after_a_step_stops_the_run) {
  const auto summary = run(TerminateInStep);
  EXPECT_EQ(summary.termination, Termination::Completed);
  expect_text(summary.message, "'part'");
  EXPECT_GE(x().back(), 0.5);
  EXPECT_LE(x().back(), 0.75);  // it asks after an internal step, and a step may be one
}

TEST_F(ScriptedExchange, fmu_that_asks_to_stop_in_an_event_stops_the_run) {
  const auto summary = run(TerminateInEventExchange, 1);
  EXPECT_EQ(summary.termination, Termination::Completed);
  EXPECT_NEAR(x().back(), 0.5, 1e-9);
  EXPECT_NEAR(recorder_.times.back(), 0.5, 1e-9);
  EXPECT_EQ(summary.reached, recorder_.times.back());
}

TEST_F(ScriptedExchange, event_wanted_after_an_internal_step_is_handled) {
  const auto summary = run(StepEvent);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  // It jumps to 10 in the internal step that passes 0.5, and goes on with slope 1.
  EXPECT_GT(x().back(), 10.2);
  EXPECT_LE(x().back(), 10.5);
}

TEST_F(ScriptedExchange, point_that_is_discarded_again_and_again_names_the_call) {
  const auto summary = run(DiscardExchange);
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).code, FactCode::FmuCallFailed);
  EXPECT_EQ(test::failure_of(summary).text("function"), "fmi2GetDerivatives");
  EXPECT_EQ(test::failure_of(summary).text("status"), "fmi2Discard");
  EXPECT_EQ(test::place_of_failure(summary).subsystem, "part");
  EXPECT_NEAR(test::place_of_failure(summary).time.value_or(0.0), 0.5, 1e-3);
}

TEST_F(ScriptedExchange, derivatives_that_fail_end_the_run) {
  const auto summary = run(ReturnError);
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).text("function"), "fmi2GetDerivatives");
  EXPECT_EQ(test::failure_of(summary).text("status"), "fmi2Error");
}

TEST_F(ScriptedExchange, states_alone_are_rolled_back_only_when_the_step_proves_to_be_the_same) {
  const auto part = subsystem::make_fmu_subsystem("part", write(0));
  EXPECT_TRUE(part->capabilities().rollback);
  const auto with_events = subsystem::make_fmu_subsystem("part", write(1));
  EXPECT_FALSE(with_events->capabilities().rollback);
  const auto remembering = subsystem::make_fmu_subsystem("part", write(0));
  remembering->set_start(*remembering->variables().find("mode"), std::int64_t{Remembers});
  EXPECT_FALSE(remembering->capabilities().rollback);
}

TEST_F(ScriptedExchange, event_of_an_fmu_that_goes_back_by_its_states_is_an_error) {
  const auto part = subsystem::make_fmu_subsystem("part", write(0));
  part->set_start(*part->variables().find("mode"), std::int64_t{StepEvent});
  ASSERT_TRUE(part->capabilities().rollback);  // nothing reported of it before
  part->initialize(0.0, 1.0);
  static_cast<void>(part->facets().rollback->save());
  const double u = 0.0;
  std::vector<double> y(2);
  const auto error = test::error_of([&] { static_cast<void>(part->step({0.0, 1.0, {&u, 1, 0}}, y)); });
  ASSERT_TRUE(error);
  EXPECT_EQ(error->fact().code, FactCode::FmuEventAfterSave);
  EXPECT_EQ(error->context().subsystem, "part");
  expect_text(error->context().remedy, "rollback = false");
}

TEST_F(ScriptedExchange, claims_without_functions_are_withdrawn) {
  const auto part = subsystem::make_fmu_subsystem(
      "part", write(1, R"(canGetAndSetFMUstate="true" providesDirectionalDerivative="true")"));
  EXPECT_FALSE(part->capabilities().rollback);
  EXPECT_TRUE(part->capabilities().linearization);  // by differences
  ASSERT_EQ(part->warnings().size(), 2U);
  EXPECT_EQ(part->warnings()[0].text("claim"), "providesDirectionalDerivative");
  EXPECT_EQ(part->warnings()[1].text("claim"), "canGetAndSetFMUstate");
}

TEST_F(ScriptedExchange, interface_that_is_not_offered_is_refused) {
  const auto facts = test::refusal_of([&] { run(NormalExchange, 0, "interface = \"co-simulation\""); });
  EXPECT_EQ(test::word_of(facts, FactCode::FmuUnusable, "of"), "fmu-other-interface");
  EXPECT_EQ(test::word_of(facts, FactCode::FmuUnusable, "offered"), "model exchange");
}

TEST_F(ScriptedExchange, interface_and_tolerance_are_checked) {
  for (const auto& [text, code, subject] :
       {std::tuple{"interface = \"model exchange\"", FactCode::WordNotAllowed, "subsystems.part.interface"},
        std::tuple{"relative_tolerance = 0.5", FactCode::OutOfRange, "subsystems.part.relative_tolerance"},
        std::tuple{"tolerance = 1e-8", FactCode::KeyRenamed, "subsystems.part.tolerance"}}) {
    const auto facts = test::refusal_of([&, written = text] { run(NormalExchange, 0, written); });
    EXPECT_TRUE(test::has_fact(facts, code, subject)) << text;
  }
}

}  // namespace model_exchange_test
}  // namespace entrain
