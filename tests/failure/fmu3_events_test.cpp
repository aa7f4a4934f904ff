#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "entrain/recording.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/problems_of.hpp"
#include "support/program.hpp"
#include "support/scripted_descriptions.hpp"
#include "support/scripted_fmu3.h"
#include "support/systems.hpp"
#include "support/test_models.hpp"

// Event mode, discarded steps and intermediate update of FMI 3, with an FMU that checks its own state machine:
// tests/support/scripted_fmu3.c.

namespace entrain {
namespace fmu3_events_test {

using test::problems_of;

namespace fs = std::filesystem;
using test::expect_text;

class Fmu3Events : public testing::Test {
 protected:
  SystemDescription system(int mode, const std::string& flags, const std::string& input = "intermediateUpdate=\"true\"",
                           const std::string& more = {}) {
    const fs::path file = folder_ / fmt::format("part{}.fmu", ++written_);
    std::vector<test::ArchiveEntry> entries;
    entries.push_back({"modelDescription.xml", test::scripted3_description(flags, input, more)});
    entries.push_back({"binaries/x86_64-linux/scripted.so", test::text_of(test::scripted_fmu3_library())});
    test::write_archive(file, entries);
    return test::system_from(fmt::format(R"(
run = {{ stop = 1.0, step = 0.1, open = ["part.*"] }}
[subsystems.part]
fmu = "{}"
start = {{ mode = {} }}
)",
                                         file.string(), mode));
  }
  RunSummary run(int mode, const std::string& flags = "hasEventMode=\"true\"") {
    Simulation simulation(system(mode, flags));
    simulation.observe(recorder_);
    return simulation.run();
  }
  const std::vector<double>& y() const { return recorder_.column("part.y"); }

  test::TemporaryFolder folder_;
  MemoryRecorder recorder_;
  int written_ = 0;
};

TEST_F(Fmu3Events, event_found_inside_a_step_is_handled_there_and_the_step_goes_on) {
  const auto summary = run(EventInside);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_EQ(y(), (std::vector<double>{1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_TRUE(summary.subsystems[0].capabilities.announces_events);
}

TEST_F(Fmu3Events, announced_events_are_not_stepped_over) {
  const auto summary = run(Announced);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_EQ(y(), (std::vector<double>{1, 1, 1, 1, 11, 11, 11, 21, 21, 21, 21}));
  ASSERT_EQ(summary.warnings.size(), 1U);
  EXPECT_EQ(summary.warnings[0], (Fact{FactCode::EventsSeenLate, {"part"}, {{"count", 2}, {"first", 0.33, "s"}}}));
}

TEST_F(Fmu3Events, announced_event_at_a_communication_time_is_on_time) {
  auto at_event = system(Announced, "hasEventMode=\"true\"");
  at_event.step = {0.11, {}};
  at_event.stop = {0.99, {}};
  Simulation simulation(at_event);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_TRUE(summary.warnings.empty());
  EXPECT_EQ(simulation.value("part.y"), 21.0);
}

TEST_F(Fmu3Events, iteration_that_does_not_settle_is_bounded_and_names_the_culprit) {
  const auto summary = run(NeverSettles3);
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).code, FactCode::FmuDiscreteUnsettled);
  EXPECT_EQ(test::place_of_failure(summary).subsystem, "part");
  EXPECT_EQ(test::place_of_failure(summary).time, 0.25);
}

TEST_F(Fmu3Events, event_where_a_step_starts_is_handled_and_the_step_is_made) {
  const auto summary = run(EventInPlace);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
}

TEST_F(Fmu3Events, endless_events_in_place_are_an_error) {
  const auto summary = run(EndlessInPlace);
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).code, FactCode::FmuEventsInPlace);
  EXPECT_EQ(test::failure_of(summary).number("events"), 100.0);
  EXPECT_EQ(test::place_of_failure(summary).subsystem, "part");
  EXPECT_EQ(test::place_of_failure(summary).time, 0.5);
}

TEST_F(Fmu3Events, request_to_terminate_in_an_event_ends_the_run) {
  const auto summary = run(TerminateInEvent3);
  EXPECT_EQ(summary.termination, Termination::Completed);
  expect_text(summary.message, "'part'");
  EXPECT_EQ(summary.reached, 0.25);
  EXPECT_EQ(recorder_.times.back(), 0.25);
  EXPECT_NEAR(recorder_.column("part.integral").back(), 0.25, 1e-15) << "of 1, up to where it stands";
}

TEST_F(Fmu3Events, subsystem_without_a_communication_at_the_stop_has_no_value_there) {
  auto both = system(TerminateInEvent3, "hasEventMode=\"true\"");
  both.subsystems.push_back(both.subsystems[0]);
  both.subsystems[1].name = "other";
  both.subsystems[1].start["mode"] = {std::int64_t{Normal3}, {}};
  Simulation simulation(both);
  simulation.observe(recorder_);
  EXPECT_EQ(simulation.run().reached, 0.25);
  EXPECT_EQ(recorder_.times.back(), 0.25);
  EXPECT_TRUE(std::isnan(recorder_.column("other.integral").back()));
}

TEST_F(Fmu3Events, request_to_terminate_in_a_step_that_is_taken_back_is_taken_back_too) {
  const auto description = system(TerminateInEvent3, "hasEventMode=\"true\" canGetAndSetFMUState=\"true\"");
  const auto part = subsystem::make_fmu_subsystem("part", description.subsystems[0].fmu);
  part->set_start(*part->variables().find("mode"), std::int64_t{TerminateInEvent3});
  ASSERT_TRUE(part->capabilities().rollback);
  part->initialize(0.0, 1.0);
  std::vector<double> y(part->variables().outputs.size());
  const double u = 1.0;
  Rollback& rollback = *part->facets().rollback;
  const StateId start = rollback.save();
  EXPECT_TRUE(part->step({0.0, 0.3, {&u, 1, 0}}, y).stop_requested);
  rollback.restore(start);
  EXPECT_FALSE(part->step({0.0, 0.1, {&u, 1, 0}}, y).stop_requested);
}

TEST_F(Fmu3Events, event_mode_that_does_not_work_is_withdrawn) {
  const auto summary = run(NoEventMode);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_FALSE(summary.subsystems[0].capabilities.announces_events);
  ASSERT_FALSE(summary.warnings.empty());
  EXPECT_EQ(test::word_of(summary.warnings, FactCode::FmuClaimWithdrawn, "claim"), "hasEventMode");
  expect_text(test::word_of(summary.warnings, FactCode::FmuClaimWithdrawn, "why"), "fmi3UpdateDiscreteStates");
}

TEST_F(Fmu3Events, without_the_flag_the_fmu_handles_its_events_itself) {
  const auto summary = run(EventInside, "");
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_FALSE(summary.subsystems[0].capabilities.announces_events);
}

TEST_F(Fmu3Events, discarded_step_is_made_in_shorter_ones) {
  const auto summary = run(DiscardLong, "");
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
}

TEST_F(Fmu3Events, step_that_is_always_discarded_is_rejected_with_a_remedy) {
  const auto summary = run(DiscardAll3, "");
  EXPECT_EQ(summary.termination, Termination::Failed);
  const Fact failure = test::failure_of(summary);
  EXPECT_EQ(failure.code, FactCode::StepRejected);
  EXPECT_NEAR(failure.number("step").value_or(0.0), 0.1, 1e-12);
  expect_text(std::string(failure.text("why")), "fmi3DoStep");
  expect_text(std::string(failure.text("why")), "fmi3Discard");
  EXPECT_EQ(test::place_of_failure(summary).subsystem, "part");
  EXPECT_EQ(test::place_of_failure(summary).time, 0.5);
}

TEST_F(Fmu3Events, warning_of_a_set_call_reaches_the_summary) {
  const auto summary = run(WarnOnSet, "");
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  ASSERT_EQ(summary.warnings.size(), 1U);
  EXPECT_EQ(test::number_of(summary.warnings, FactCode::FmuReturnedWarning, "times", "part"), 5.0);
  EXPECT_EQ(test::number_of(summary.warnings, FactCode::FmuReturnedWarning, "first", "part"), 0.5);
  EXPECT_EQ(test::word_of(summary.warnings, FactCode::FmuReturnedWarning, "function"), "fmi3SetFloat64");
  expect_text(test::word_of(summary.warnings, FactCode::FmuReturnedWarning, "message"), "u is large");
}

/// It holds its inputs over a quarter of the step: with parabolas it does not end where they lead.
TEST_F(Fmu3Events, intermediate_update_is_accepted_as_far_as_steps_end_where_the_inputs_lead) {
  const auto summary = run(Normal3, "providesIntermediateUpdate=\"true\"");
  EXPECT_EQ(summary.subsystems[0].capabilities.input_degree, 1);
  EXPECT_TRUE(summary.warnings.empty());
}

TEST_F(Fmu3Events, intermediate_update_that_never_asks_is_withdrawn) {
  const auto summary = run(AskNothing, "providesIntermediateUpdate=\"true\"");
  EXPECT_EQ(summary.subsystems[0].capabilities.input_degree, 0);
  ASSERT_EQ(summary.warnings.size(), 1U);
  EXPECT_EQ(test::word_of(summary.warnings, FactCode::FmuClaimWithdrawn, "claim"), "providesIntermediateUpdate");
}

TEST_F(Fmu3Events, intermediate_update_needs_all_inputs) {
  Simulation simulation(system(Normal3, "providesIntermediateUpdate=\"true\"", ""));
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.subsystems[0].capabilities.input_degree, 0);
  ASSERT_EQ(summary.warnings.size(), 1U);
  EXPECT_EQ(test::word_of(summary.warnings, FactCode::FmuClaimWithdrawn, "claim"), "providesIntermediateUpdate");
}

TEST_F(Fmu3Events, state_functions_that_do_nothing_are_no_rollback) {
  const auto summary = run(Normal3, "canGetAndSetFMUState=\"true\"");
  EXPECT_FALSE(summary.subsystems[0].capabilities.rollback);
  ASSERT_EQ(summary.warnings.size(), 1U);
  EXPECT_EQ(test::word_of(summary.warnings, FactCode::FmuClaimWithdrawn, "claim"), "canGetAndSetFMUState");
}

TEST_F(Fmu3Events, connection_of_another_type_is_refused_with_its_type) {
  auto description =
      system(Normal3, "", "",
             "<Clock name=\"tick\" valueReference=\"7\" causality=\"output\" intervalVariability=\"triggered\"/>");
  description.connections.push_back({"part.tick", "part.u", {}});
  expect_text(problems_of(description), "type-not-connectable part.tick (type = Clock)");
}

TEST_F(Fmu3Events, integer_beyond_its_type_is_refused) {
  auto description = system(Normal3, "");
  description.subsystems[0].start["small"] = {std::int64_t{256}, {}};
  expect_text(problems_of(description), "of = value-does-not-fit, type = UInt8, value = 256");
}

TEST_F(Fmu3Events, abilities_are_those_of_the_mode_that_was_chosen) {
  // Two instances of one file: only one of them asks for inputs inside a step.
  auto description = system(Normal3, "providesIntermediateUpdate=\"true\"");
  description.subsystems.push_back(description.subsystems[0]);
  description.subsystems[1].name = "other";
  description.subsystems[1].start["mode"] = {std::int64_t{AskNothing}, {}};
  Simulation simulation(description);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.subsystems[0].capabilities.input_degree, 1);
  EXPECT_EQ(summary.subsystems[1].capabilities.input_degree, 0);
}

// Macro steps of 1 s in four internal steps under u(t) = t; the first step has one sample, so u = 1 in it. With the
// size of the internal steps known they get means, and the integral 1 + 3/2 + 5/2 is exact. Else each holds the value
// at its start: 1/8 less in the steps where u moves.
TEST_F(Fmu3Events, inputs_inside_a_step_are_means_when_the_internal_step_is_known) {
  const auto integral = [&](const std::string& flags) {
    auto description = system(Normal3, "providesIntermediateUpdate=\"true\" " + flags);
    auto ramp = test::system_from(
        "run = { stop = 3.0, step = 1.0, method = \"gauss-seidel\" }\n"
        "[subsystems.ramp]\nmodel = \"ramp\"\n[connections]\n\"ramp.y\" = \"part.u\"\n");
    ramp.subsystems.push_back(description.subsystems[0]);
    apply_option(ramp, "degree=1");
    Simulation simulation(ramp, {.threads = 1, .interrupt = nullptr}, [](std::string_view) -> std::unique_ptr<Model> {
      return std::make_unique<test::StaticModel>([](Time t, double) { return t; });
    });
    EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    return simulation.value("part.integral");
  };
  EXPECT_NEAR(integral("fixedInternalStepSize=\"0.25\""), 5.0, 1e-14);
  EXPECT_NEAR(integral(""), 5.0 - 2 * 0.125, 1e-14);
}

}  // namespace fmu3_events_test
}  // namespace entrain
