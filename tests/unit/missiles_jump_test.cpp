// Jumps that were not announced, where missiles has no past to detect them by: at the start and behind a restart.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace missiles_jump_test {

using test::changed;
using test::has_fact;
using test::number_of;

TEST(MissilesJump, is_found_in_the_first_steps_of_a_run) {
  for (const double change_time : {0.25, 0.35, 0.45}) {
    auto description = changed(test::example("two_mass"), {.method = "missiles", .step = 0.1, .stop = 5.0});
    description.subsystems[1].start["change_time"] = {change_time, {}};
    description.subsystems[1].events = {std::vector<double>{}, {}};
    Simulation simulation(description);
    EXPECT_EQ(number_of(simulation.run().warnings, FactCode::SignalJumps, "count"), 1.0) << change_time;
  }
}

TEST(MissilesJump, is_not_seen_in_a_motion_that_begins_from_rest) {
  Simulation simulation(changed(test::example("two_mass"), {.method = "missiles", .step = 0.1, .stop = 5.0}));
  EXPECT_TRUE(simulation.run().warnings.empty());
}

/// A valve closes a little after an event that something else announces; a tank without a linearization is filled by
/// it.
std::vector<double> inflow(double closes_at) {
  const auto description = changed(test::system_from(R"(
    [run]
    stop = 12.0
    [subsystems.valve]
    model = "valve"
    linearization = false
    start = { u = 0.0 }
    [subsystems.tank]
    model = "tank"
    events = [10.0]
    [connections]
    "valve.y" = "tank.u"
  )"),
                                   {.method = "missiles", .step = 0.1});
  const ModelFactory models = [&](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "valve") {
      return std::make_unique<test::StaticModel>(
          [closes_at](Time t, double) { return t < closes_at ? 340.0 + 6.0 * std::sin(t) : 5.0; });
    }
    return std::make_unique<test::OdeModel>(test::OdeModel::Equation{[](double x, double u) { return u - x; },
                                                                     [](double x, double) { return x; }, 340.0, false});
  };
  Simulation simulation(description, {}, models);
  MemoryRecorder recorder({"tank.u"});
  simulation.observe(recorder);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_TRUE(has_fact(simulation.summary().warnings, FactCode::SignalJumps));
  return recorder.column("tank.u");
}

TEST(MissilesSource, that_depends_on_time_alone_is_named) {
  const auto description = changed(test::system_from(R"(
    [run]
    stop = 1.0
    [subsystems.source]
    model = "source"
    start = { u = 0.0 }
    [subsystems.probe]
    model = "probe"
    [connections]
    "source.y" = "probe.u"
  )"),
                                   {.method = "missiles", .step = 0.1});
  Simulation simulation(description, {}, [](std::string_view) {
    return std::make_unique<test::StaticModel>([](Time t, double u) { return t + u; });
  });
  const auto& notes = simulation.run().notes;
  EXPECT_TRUE(has_fact(notes, FactCode::OutputsDependOnTimeAlone, "source"));
  EXPECT_FALSE(has_fact(notes, FactCode::OutputsDependOnTimeAlone, "probe"));
}

TEST(MissilesJump, behind_a_restart_is_not_continued_beyond_what_the_signal_ever_was) {
  for (const double closes_at : {10.003, 10.02, 10.07, 10.15, 10.25}) {
    const auto course = inflow(closes_at);
    const auto [low, high] = std::minmax_element(course.begin(), course.end());
    EXPECT_GT(*low, 4.0) << closes_at;
    EXPECT_LT(*high, 348.0) << closes_at;
  }
}

}  // namespace missiles_jump_test
}  // namespace entrain
