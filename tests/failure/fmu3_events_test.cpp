#include <fmt/format.h>
#include <gtest/gtest.h>

#include "results/memory_recorder.hpp"
#include "support/archives.hpp"
#include "support/places.hpp"
#include "support/problems_of.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

// Event mode, discarded steps and intermediate update of FMI 3, with an FMU that checks its own state machine:
// tests/support/scripted_fmu3.c.

namespace entrain {
namespace {

using test::problems_of;

namespace fs = std::filesystem;

enum Mode {
  Normal,
  EventInside,
  Announced,
  NeverSettles,
  EventInPlace,
  EndlessInPlace,
  DiscardLong,
  DiscardAll,
  TerminateInEvent,
  NoEventMode,
  WarnOnSet,
  AskNothing
};

std::string description(const std::string& flags, const std::string& input, const std::string& more) {
  return fmt::format(R"(<fmiModelDescription fmiVersion="3.0" modelName="scripted" instantiationToken="scripted">
  <CoSimulation modelIdentifier="scripted" canHandleVariableCommunicationStepSize="true" {}/>
  <LogCategories><Category name="logStatusError"/></LogCategories>
  <ModelVariables>
    <Float64 name="u" valueReference="0" causality="input" start="1" {}/>
    <Float64 name="y" valueReference="1" causality="output"/>
    <Int32 name="mode" valueReference="2" causality="parameter" variability="fixed" start="0"/>
    <Float64 name="integral" valueReference="4" causality="output"/>
    <Boolean name="on" valueReference="5" causality="output"/>
    {}
    <UInt8 name="small" valueReference="6" causality="parameter" variability="fixed" start="1"/>
  </ModelVariables>
  <ModelStructure><Output valueReference="1" dependencies="0"/><Output valueReference="4" dependencies=""/></ModelStructure>
</fmiModelDescription>)",
                     flags, input, more);
}

class Fmu3Events : public testing::Test {
 protected:
  SystemDescription system(int mode, const std::string& flags, const std::string& input = "intermediateUpdate=\"true\"",
                           const std::string& more = {}) {
    const fs::path file = folder_ / fmt::format("part{}.fmu", ++written_);
    std::vector<test::ArchiveEntry> entries;
    entries.push_back({"modelDescription.xml", description(flags, input, more)});
    entries.push_back({"binaries/x86_64-linux/scripted.so", test::text_of(test::scripted_fmu3_library())});
    test::write_archive(file, entries);
    return test::system_from(fmt::format(R"(
run = {{ stop = 1.0, step = 0.1 }}
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

void expect_text(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

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
  expect_text(summary.warnings[0], "2 announced events lie between two communication times");
  expect_text(summary.warnings[0], "'part' at t = 0.33 s");
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
  const auto summary = run(NeverSettles);
  EXPECT_EQ(summary.termination, Termination::Failed);
  expect_text(summary.message, "subsystem 'part', at t = 0.25 s: its discrete states do not settle");
}

TEST_F(Fmu3Events, event_where_a_step_starts_is_handled_and_the_step_is_made) {
  const auto summary = run(EventInPlace);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
}

TEST_F(Fmu3Events, endless_events_in_place_are_an_error) {
  const auto summary = run(EndlessInPlace);
  EXPECT_EQ(summary.termination, Termination::Failed);
  expect_text(summary.message, "subsystem 'part', at t = 0.5 s: 100 events at the same time");
}

TEST_F(Fmu3Events, request_to_terminate_in_an_event_ends_the_run) {
  const auto summary = run(TerminateInEvent);
  EXPECT_EQ(summary.termination, Termination::Interrupted);
  expect_text(summary.message, "subsystem 'part' asked to end the run");
}

TEST_F(Fmu3Events, event_mode_that_does_not_work_is_withdrawn) {
  const auto summary = run(NoEventMode);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_FALSE(summary.subsystems[0].capabilities.announces_events);
  ASSERT_FALSE(summary.warnings.empty());
  expect_text(summary.warnings[0], "it claims 'hasEventMode', but fmi3UpdateDiscreteStates returned fmi3Error");
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
  const auto summary = run(DiscardAll, "");
  EXPECT_EQ(summary.termination, Termination::Failed);
  expect_text(summary.message, "subsystem 'part', at t = 0.5 s: rejected a step of 0.1 s (FMU '");
  expect_text(summary.message, "fmi3DoStep returned fmi3Discard). Choose a smaller step");
}

TEST_F(Fmu3Events, warning_of_a_set_call_reaches_the_summary) {
  const auto summary = run(WarnOnSet, "");
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  ASSERT_EQ(summary.warnings.size(), 1U);
  expect_text(summary.warnings[0], "'part' returned a warning 5 times, first from fmi3SetFloat64 at t = 0.5 s");
  expect_text(summary.warnings[0], "u is large");
}

TEST_F(Fmu3Events, intermediate_update_is_believed_when_the_fmu_asks) {
  const auto summary = run(Normal, "providesIntermediateUpdate=\"true\"");
  EXPECT_EQ(summary.subsystems[0].capabilities.input_degree, 3);
  EXPECT_TRUE(summary.warnings.empty());
}

TEST_F(Fmu3Events, intermediate_update_that_never_asks_is_withdrawn) {
  const auto summary = run(AskNothing, "providesIntermediateUpdate=\"true\"");
  EXPECT_EQ(summary.subsystems[0].capabilities.input_degree, 0);
  ASSERT_EQ(summary.warnings.size(), 1U);
  expect_text(summary.warnings[0], "it claims 'providesIntermediateUpdate', but it does not ask for inputs");
}

TEST_F(Fmu3Events, intermediate_update_needs_all_inputs) {
  Simulation simulation(system(Normal, "providesIntermediateUpdate=\"true\"", ""));
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.subsystems[0].capabilities.input_degree, 0);
  ASSERT_EQ(summary.warnings.size(), 1U);
  expect_text(summary.warnings[0], "not every input has intermediateUpdate=\"true\"");
}

TEST_F(Fmu3Events, state_functions_that_do_nothing_are_no_rollback) {
  const auto summary = run(Normal, "canGetAndSetFMUState=\"true\"");
  EXPECT_FALSE(summary.subsystems[0].capabilities.rollback);
  ASSERT_EQ(summary.warnings.size(), 1U);
  expect_text(summary.warnings[0],
              "it claims 'canGetAndSetFMUstate', but the same step from the restored state ends elsewhere");
}

TEST_F(Fmu3Events, connection_of_another_type_is_refused_with_its_type) {
  auto description =
      system(Normal, "", "",
             "<Clock name=\"tick\" valueReference=\"7\" causality=\"output\" intervalVariability=\"triggered\"/>");
  description.connections.push_back({"part.tick", "part.u", {}});
  expect_text(problems_of(description), "'part.tick' is of type Clock, which cannot be connected");
}

TEST_F(Fmu3Events, integer_beyond_its_type_is_refused) {
  auto description = system(Normal, "");
  description.subsystems[0].start["small"] = {std::int64_t{256}, {}};
  expect_text(problems_of(description), "the value 256 does not fit its type, UInt8");
}

TEST_F(Fmu3Events, abilities_are_those_of_the_mode_that_was_chosen) {
  // Two instances of one file: only one of them asks for inputs inside a step.
  auto description = system(Normal, "providesIntermediateUpdate=\"true\"");
  description.subsystems.push_back(description.subsystems[0]);
  description.subsystems[1].name = "other";
  description.subsystems[1].start["mode"] = {std::int64_t{AskNothing}, {}};
  Simulation simulation(description);
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.subsystems[0].capabilities.input_degree, 3);
  EXPECT_EQ(summary.subsystems[1].capabilities.input_degree, 0);
}

// Macro steps of 1 s in four internal steps under u(t) = t; the first step has one sample, so u = 1 in it. With the
// size of the internal steps known they get means, and the integral 1 + 3/2 + 5/2 is exact. Else each holds the value
// at its start: 1/8 less in the steps where u moves.
TEST_F(Fmu3Events, inputs_inside_a_step_are_means_when_the_internal_step_is_known) {
  const auto integral = [&](const std::string& flags) {
    auto description = system(Normal, "providesIntermediateUpdate=\"true\" " + flags);
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

}  // namespace
}  // namespace entrain
