// f3ornits: limits of steps, jumps where not all can be rolled back, and what is reported when nothing can be
// measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/text_report.hpp"
#include "entrain/recording.hpp"
#include "entrain/report.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace f3ornits_limits_test {

using test::changed;
using test::find_fact;
using test::has_fact;
using test::number_of;

RunSummary summary_of(const SystemDescription& description, const ModelFactory& models = {}) {
  Simulation simulation(description, {}, models);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return simulation.summary();
}

SystemDescription prey_and_predator(double stop) {
  return changed(test::example("lotka_volterra"), {.method = "f3ornits", .step = 0.1, .stop = stop});
}

TEST(F3ornitsLimits, a_minimal_step_of_a_subsystem_is_kept_up_to_the_stop) {
  auto description = prey_and_predator(2.0);
  description.subsystems[0].min_step = Written<double>{0.08, {}};
  const auto summary = summary_of(description);
  EXPECT_GE(summary.subsystems[0].own_steps->smallest, 0.08 * (1 - 1e-9));
  EXPECT_LT(summary.subsystems[1].own_steps->smallest, 0.08);
}

TEST(F3ornitsLimits, a_subsystem_without_room_for_a_step_ends_before_the_others_and_is_named) {
  auto description = prey_and_predator(1.0);
  description.subsystems[0].min_step = Written<double>{0.4, {}};
  description.subsystems[0].max_step = Written<double>{0.45, {}};
  const auto summary = summary_of(description);
  EXPECT_EQ(summary.reached, 1.0);
  EXPECT_EQ(summary.subsystems[0].steps, 2U);
  EXPECT_TRUE(has_fact(summary.notes, FactCode::EndsEarly));
}

TEST(F3ornitsSummary, equal_macro_steps_are_reported_as_they_were_made) {
  auto description = prey_and_predator(2.0);
  for (auto& subsystem : description.subsystems) subsystem.step = Written<double>{0.25, {}};
  EXPECT_NE(cli::full_summary(summary_of(description)).find("8 macro steps of 0.25 s"), std::string::npos);
}

// The errors of the first, held steps are no jumps.
TEST(F3ornitsEvents, none_are_seen_while_two_masses_move_smoothly) {
  const auto masses = changed(test::example("two_mass"), {.method = "f3ornits", .step = 0.1, .stop = 50.0});
  EXPECT_FALSE(has_fact(summary_of(masses).notes, FactCode::OutputJumps));
}

TEST(F3ornitsSummary, the_floor_shows_what_a_tolerance_can_do) {
  auto description = changed(prey_and_predator(3.0),
                             {.method = "f3ornits", .options = {"relative_tolerance=1e-9", "absolute_tolerance=1e-9"}});
  description.subsystems[0].step = Written<double>{0.1, {}};
  const auto some_free = summary_of(description).notes;
  EXPECT_EQ(number_of(some_free, FactCode::ImposedStepLimitsError, "beyond", "prey"), 30.0);
  EXPECT_EQ(number_of(some_free, FactCode::ImposedStepLimitsError, "steps", "prey"), 30.0);
  EXPECT_EQ(number_of(some_free, FactCode::ImposedStepLimitsError, "free", "prey"), 1.0);
  description.subsystems[1].step = Written<double>{0.1, {}};
  const auto none_free = summary_of(description).notes;
  ASSERT_TRUE(has_fact(none_free, FactCode::ImposedStepLimitsError, "predator"));
  for (const char* name : {"prey", "predator"}) {
    const Fact* limit = find_fact(none_free, FactCode::ImposedStepLimitsError, name);
    EXPECT_FALSE(limit != nullptr && limit->number("free")) << name;
  }
}

TEST(F3ornitsSummary, a_residual_is_not_measured_where_connected_subsystems_never_meet) {
  auto description = prey_and_predator(1.0);
  description.subsystems[0].step = Written<double>{0.3, {}};
  description.subsystems[1].step = Written<double>{0.35, {}};  // 2.1 s would be the first synchronization point
  const auto summary = summary_of(description);
  EXPECT_TRUE(std::isnan(summary.max_coupling_residual));
  EXPECT_TRUE(nlohmann::json::parse(summary_json(summary))["max_coupling_residual"].is_null());
  EXPECT_NE(cli::full_summary(summary).find("coupling residual  not measured"), std::string::npos)
      << cli::full_summary(summary);
  description.stop = Written<double>{2.1, {}};
  EXPECT_GT(summary_of(description).max_coupling_residual, 0.0);
}

TEST(F3ornitsSummary, names_how_many_connections_are_not_measured) {
  RunSummary summary;
  summary.max_coupling_residual = 0.25;
  summary.worst_connection = "a.y -> b.u";
  summary.connections = {{"a.y -> b.u", "a.y", "b.u", 0.25}, {"b.y -> c.u", "b.y", "c.u", std::nan("")}};
  EXPECT_NE(
      cli::full_summary(summary).find("0.25 of the output's range, at a.y -> b.u; 1 of 2 connections not measured"),
      std::string::npos);
}

/// source.y jumps at 1.03 s and is read by a probe that can be rolled back; a third subsystem cannot.
TEST(F3ornitsEvents, a_jump_is_located_where_all_that_step_together_can_be_rolled_back) {
  const ModelFactory models = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "source") {
      return std::make_unique<test::StaticModel>([](Time t, double) { return std::sin(t) + (t < 1.03 ? 0.0 : 40.0); });
    }
    return std::make_unique<test::StaticModel>([](Time, double u) { return 0.5 * u; });
  };
  const auto description = changed(test::system_from(R"(
    [run]
    stop = 2.0
    [subsystems.source]
    model = "source"
    [subsystems.reader]
    model = "reader"
    [subsystems.bare]
    model = "bare"
    rollback = false
    step = 0.3
    start = { u = 0.0 }
    [connections]
    "source.y" = "reader.u"
    "reader.y" = "source.u"
  )"),
                                   {.method = "f3ornits", .step = 0.1, .options = {"min_step=0.001"}});
  Simulation simulation(description, {}, models);
  MemoryRecorder recorder({"source.y", "bare.y"});
  simulation.observe(recorder);
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_GT(summary.rejected_steps, 0U);
  EXPECT_EQ(summary.subsystems[2].rollbacks, 0U);
  EXPECT_EQ(summary.subsystems[2].steps, 6U);  // the times of the others do not matter to it
  const auto& times = recorder.times;
  const auto& y = recorder.column("source.y");
  const auto behind = std::find_if(y.begin(), y.end(), [](double value) { return value > 20.0; });
  EXPECT_LE(times[static_cast<std::size_t>(behind - y.begin())] - 1.03, 0.001 * (1 + 1e-9));
}

/// The right mass may not step shorter than the left one must: k * 0.1 - (k - 1) * 0.1 is below 0.1 for many k.
TEST(F3ornitsLimits, synchronization_points_are_not_missed_by_rounding) {
  auto description = changed(test::example("two_mass"), {.method = "f3ornits", .step = 0.1, .stop = 20.0});
  description.subsystems[0].step = Written<double>{0.1, {}};
  description.subsystems[1].min_step = Written<double>{0.1, {}};
  const auto summary = summary_of(description);
  EXPECT_EQ(summary.macro_steps, 200U);
  EXPECT_EQ(summary.subsystems[1].steps, 200U);
}

TEST(F3ornitsLimits, an_imposed_step_is_not_divided_whatever_sub_steps_are_written) {
  const auto final_x = [](int substeps, std::vector<Fact>& notes) {
    auto description = changed(test::example("two_mass"), {.method = "f3ornits", .step = 0.1, .stop = 10.0});
    auto& left = description.subsystems[0];
    left.step = Written<double>{0.1, {}};
    left.input_degree = Written<std::int64_t>{0, {}};
    left.substeps = Written<std::int64_t>{substeps, {}};
    Simulation simulation(description);
    EXPECT_EQ(simulation.run().termination, Termination::Completed);
    notes = simulation.summary().notes;
    return simulation.value("left.x");
  };
  std::vector<Fact> notes;
  EXPECT_EQ(final_x(4, notes), final_x(1, notes));
  final_x(4, notes);
  EXPECT_EQ(number_of(notes, FactCode::SubstepsUnused, "substeps", "left"), 4.0);
}

/// Two masses with an event that is not announced, and a display that can do nothing but show the force.
TEST(F3ornitsEvents, a_jump_is_located_although_a_reader_cannot_be_rolled_back) {
  auto description = changed(test::example("two_mass"),
                             {.method = "f3ornits", .step = 0.1, .stop = 110.0, .options = {"min_step=0.01"}});
  description.subsystems[1].events = {std::vector<double>{}, {}};
  auto display = description.subsystems[0];
  display.name = "display";
  display.rollback = Written<bool>{false, {}};
  description.subsystems.push_back(display);
  description.connections.push_back({"right.F", "display.F", {}});
  const auto summary = summary_of(description);
  EXPECT_GT(summary.rejected_steps, 0U);
  EXPECT_EQ(summary.subsystems[2].rollbacks, 0U);
  EXPECT_FALSE(number_of(summary.notes, FactCode::OutputJumps, "late") > 0.0);
}

struct NoShorterStep {
  const char* why;
  double imposed;  // step of the left mass; 0 = its own
  double stop;
  std::vector<std::string> options;
};
void PrintTo(const NoShorterStep& of, std::ostream* out) {
  *out << of.why;
}

class F3ornitsJump : public testing::TestWithParam<NoShorterStep> {};

/// The event at 100 s is not announced; steps that end behind it are made again as long as that shortens them.
TEST_P(F3ornitsJump, is_passed_where_no_shorter_step_is_to_be_had) {
  auto description =
      changed(test::example("two_mass"),
              {.method = "f3ornits", .step = 0.12, .stop = GetParam().stop, .options = GetParam().options});
  description.subsystems[1].events = {std::vector<double>{}, {}};
  if (GetParam().imposed > 0.0) description.subsystems[0].step = Written<double>{GetParam().imposed, {}};
  const auto summary = summary_of(description);
  EXPECT_EQ(summary.reached, GetParam().stop);
  EXPECT_TRUE(has_fact(summary.notes, FactCode::OutputJumps));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, F3ornitsJump,
    testing::Values(NoShorterStep{"it meets an imposed step", 0.15, 110.0, {"min_step=0.1"}},
                    NoShorterStep{
                        "the stop time is near", 0.0, 100.07, {"min_step=0.1", "initial_step=0.15", "max_step=0.15"}},
                    NoShorterStep{"steps may not shrink", 0.0, 110.0, {"growth=[1.0, 1.05]", "max_step=0.3"}}));

}  // namespace f3ornits_limits_test
}  // namespace entrain
