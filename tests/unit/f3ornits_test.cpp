// f3ornits as a method: what it does at events and jumps, for bare subsystems, and what it reports.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "entrain/report.hpp"
#include "support/f3ornits_runs.hpp"
#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace f3ornits_test {

using test::changed;
using test::finished;
using test::has_fact;
using test::number_of;
using test::problems_of;
using test::two_masses;

/// Keeps the polynomial of its input on every step.
class Probe final : public test::StaticModel {
 public:
  struct Seen {
    Time from;
    Duration size;
    double left, left_slope, middle, right, right_slope;
  };
  Probe(Function function, std::vector<Seen>& seen) : StaticModel(std::move(function)), seen_(seen) {}
  void integrate(Time from, Duration size, const InputBlock& u, std::span<double>) override {
    seen_.push_back(
        {from, size, u.value(0, 0.0), u.slope(0, 0.0), u.value(0, size / 2), u.value(0, size), u.slope(0, size)});
  }

 private:
  std::vector<Seen>& seen_;
};

/// Reads and has no outputs.
class Sink final : public test::StaticModel {
 public:
  explicit Sink(std::vector<Time>& begun) : StaticModel({}, [&begun](Time from) { begun.push_back(from); }) {
    table_.inputs.push_back({"u", "", "", ValueType::Real, {}});
  }
  const VariableTable& variables() const noexcept override { return table_; }
  Feedthrough feedthrough() const override { return {0, 1}; }
  void outputs(const Point&, std::span<double>) const override {}

 private:
  VariableTable table_;
};

/// source.y = function(t); probe reads it. With `closed` the source reads the probe in turn, which then cannot wait
/// for its inputs.
std::vector<Probe::Seen> seen_by_probe(const test::StaticModel::Function& function, bool closed,
                                       std::vector<std::string> options, double stop = 2.0) {
  std::vector<Probe::Seen> seen;
  const ModelFactory models = [&](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "source") return std::make_unique<test::StaticModel>(function);
    return std::make_unique<Probe>([](Time, double) { return 0.0; }, seen);
  };
  auto description = test::system_from(R"(
    [run]
    stop = 2.0
    [subsystems.source]
    model = "source"
    [subsystems.probe]
    model = "probe"
    [connections]
    "source.y" = "probe.u"
  )");
  if (closed) description.connections.push_back({"probe.y", "source.u", {}});
  description =
      changed(std::move(description), {.method = "f3ornits", .step = 0.1, .stop = stop, .options = std::move(options)});
  Simulation simulation(description, {}, models);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return seen;
}

TEST(F3ornitsInputs, are_exact_for_a_parabola_once_its_order_is_found) {
  const auto seen = seen_by_probe([](Time t, double) { return 1 - t + 3 * t * t; }, true, {});
  ASSERT_GT(seen.size(), 5U);
  for (std::size_t k = 4; k < seen.size(); ++k) {
    const double t = seen[k].from + seen[k].size;
    EXPECT_NEAR(seen[k].right, 1 - t + 3 * t * t, 1e-11) << k;
  }
}

TEST(F3ornitsInputs, of_a_subsystem_that_only_reads_are_interpolated) {
  const auto cubic = [](Time t, double) { return t * t * t - t; };
  const auto error_at_the_middle = [&](bool closed) {
    double worst = 0.0;
    const auto seen = seen_by_probe(cubic, closed, {"min_step=0.1", "max_step=0.1"});
    for (std::size_t k = 3; k < seen.size(); ++k) {
      worst = std::max(worst, std::abs(seen[k].middle - cubic(seen[k].from + seen[k].size / 2, 0.0)));
    }
    return worst;
  };
  EXPECT_LT(error_at_the_middle(false), 1e-13);  // a cubic through four samples
  EXPECT_GT(error_at_the_middle(true), 1e-4);    // extrapolated
}

TEST(F3ornitsSteps, subsystem_without_outputs_steps_with_its_source_and_never_slows_it) {
  std::vector<Time> begun;
  const ModelFactory models = [&](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "sink") return std::make_unique<Sink>(begun);
    return std::make_unique<test::StaticModel>([](Time t, double) { return std::sin(t); });
  };
  auto description = changed(test::system_from(R"(
    [run]
    stop = 5.0
    [subsystems.source]
    model = "source"
    start = { u = 0.0 }
    [subsystems.sink]
    model = "sink"
    [connections]
    "source.y" = "sink.u"
  )"),
                             {.method = "f3ornits", .step = 0.1});
  const auto steps_of_source = [&] {
    Simulation simulation(description, {}, models);
    EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    return simulation.summary().subsystems[0].steps;
  };
  const auto together = steps_of_source();
  EXPECT_EQ(begun.size(), together);
  begun.clear();
  description.subsystems[1].step = Written<double>{0.001, {}};
  EXPECT_EQ(steps_of_source(), together);
  EXPECT_EQ(begun.size(), 5000U);
}

TEST(F3ornitsSteps, obey_the_limits_of_the_subsystem) {
  auto description = changed(test::example("lotka_volterra"), {.method = "f3ornits", .step = 0.01, .stop = 5.0});
  auto& prey = description.subsystems[0];
  for (auto& subsystem : description.subsystems) subsystem.initial_step = Written<double>{0.002, {}};
  prey.min_step = Written<double>{0.001, {}};
  prey.max_step = Written<double>{0.02, {}};
  Simulation simulation(description);
  MemoryRecorder recorder({"prey.time:step"});
  simulation.observe(recorder);
  simulation.run();
  EXPECT_NEAR(recorder.columns[0][1], 0.002, 1e-15);
  EXPECT_LE(simulation.summary().subsystems[0].own_steps->largest, 0.02 + 1e-12);
  EXPECT_GE(simulation.summary().subsystems[0].own_steps->smallest, 0.001 - 1e-12);
}

TEST(F3ornitsInputs, join_without_a_jump_of_value_or_slope_when_smooth) {
  const auto wave = [](Time t, double) { return std::sin(3 * t); };
  const auto largest_gaps = [&](const std::string& smooth) {
    const auto seen = seen_by_probe(wave, true, {"smooth=" + smooth});
    double value = 0.0;
    double slope = 0.0;
    for (std::size_t k = 2; k < seen.size(); ++k) {
      value = std::max(value, std::abs(seen[k].left - seen[k - 1].right));
      slope = std::max(slope, std::abs(seen[k].left_slope - seen[k - 1].right_slope));
    }
    return std::pair{value, slope};
  };
  EXPECT_GT(largest_gaps("false").first, 1e-6);
  EXPECT_LT(largest_gaps("true").first, 1e-14);
  EXPECT_LT(largest_gaps("true").second, 1e-12);
}

TEST(F3ornitsInputs, never_span_a_jump) {
  const auto wave = [](Time t, double) { return std::sin(3 * t) + (t < 1.03 ? 0.0 : 40.0); };
  for (const std::string calibration : {"cls", "extrapolation"}) {
    bool behind = false;
    for (const auto& seen : seen_by_probe(
             wave, true, {"calibration=\"" + calibration + "\"", "min_step=0.01", "max_order=3", "smooth=true"})) {
      // The slopes of the wave are at most 3 and the steps behind the jump 0.01 s: held inputs are 0.03 off.
      if (behind) {
        EXPECT_NEAR(seen.right, wave(seen.from + seen.size, 0.0), 0.035) << calibration << seen.from;
      }
      behind = behind || seen.from > 1.03;
    }
    EXPECT_TRUE(behind);
  }
}

TEST(F3ornitsEvents, an_announced_one_is_a_communication_time_and_no_jump) {
  const auto run = finished(two_masses(true), {"left.x"});
  const auto& t = run.record.times;
  const auto event = std::find(t.begin(), t.end(), 100.0);
  ASSERT_NE(event, t.end());
  EXPECT_NEAR(event[1] - event[0], 0.01, 1e-12);  // the minimal step, since nothing is known of what follows
  EXPECT_EQ(run.summary.subsystems[1].own_steps->jumps, 0U);
}

TEST(F3ornitsEvents, an_unannounced_one_is_seen_late_and_named) {
  const auto run = finished(two_masses(false, {"locate_jumps=false"}), {"left.x"});
  const auto& t = run.record.times;
  EXPECT_EQ(std::find(t.begin(), t.end(), 100.0), t.end());
  const auto seen = std::upper_bound(t.begin(), t.end(), 100.0);
  EXPECT_NEAR(seen[1] - seen[0], 0.01, 1e-12);
  EXPECT_EQ(run.summary.subsystems[1].own_steps->jumps, 1U);
  EXPECT_EQ(number_of(run.summary.notes, FactCode::OutputJumps, "jumps", "right"), 1.0);
  EXPECT_EQ(number_of(run.summary.notes, FactCode::OutputJumps, "late", "right"), 1.0);
}

TEST(F3ornitsEvents, an_unannounced_one_is_located_to_the_minimal_step_where_steps_can_be_taken_back) {
  const auto run = finished(two_masses(false), {"left.x"});
  const auto seen = std::upper_bound(run.record.times.begin(), run.record.times.end(), 100.0);
  EXPECT_LE(*seen - 100.0, 0.01 + 1e-12);
  EXPECT_GT(run.summary.rejected_steps, 0U);
  EXPECT_EQ(run.summary.subsystems[1].own_steps->jumps, 1U);
  EXPECT_FALSE(number_of(run.summary.notes, FactCode::OutputJumps, "late") > 0.0);
  auto rigid = two_masses(false);
  rigid.subsystems[0].rollback = Written<bool>{false, {}};
  const auto late = finished(rigid, {"left.x"});
  EXPECT_EQ(number_of(late.summary.notes, FactCode::OutputJumps, "late"), 1.0);
  EXPECT_EQ(late.summary.rejected_steps, 0U);
}

TEST(F3ornitsSummary, contains_steps_orders_and_where_an_imposed_step_is_the_floor) {
  auto description = two_masses(true, {"relative_tolerance=1e-7", "absolute_tolerance=1e-7"});
  description.stop = {10.0, {}};
  description.subsystems[1].step = Written<double>{0.3, {}};
  const auto run = finished(description, {"left.x"});
  const auto& left = run.summary.subsystems[0];
  const auto& right = run.summary.subsystems[1];
  EXPECT_EQ(right.steps, 33U);
  EXPECT_DOUBLE_EQ(right.own_steps->smallest, 0.3);
  EXPECT_DOUBLE_EQ(right.own_steps->largest, 0.3);
  EXPECT_LT(left.own_steps->smallest, left.own_steps->largest);
  std::uint64_t choices = 0;
  for (const auto count : left.own_steps->orders) choices += count;
  EXPECT_EQ(choices, 2 * left.steps);  // two outputs
  EXPECT_TRUE(has_fact(run.summary.notes, FactCode::ImposedStepLimitsError, "right"));
  EXPECT_NEAR(number_of(run.summary.notes, FactCode::EndsEarly, "time", "right"), 9.9, 1e-11);
  EXPECT_EQ(test::word_of(run.summary.notes, FactCode::EndsEarly, "which", "right"), "imposed");

  const auto json = nlohmann::json::parse(summary_json(run.summary));
  EXPECT_EQ(json["subsystems"]["left"]["own_steps"]["orders"].size(), 3U);
  EXPECT_EQ(json["subsystems"]["right"]["own_steps"]["largest"], right.own_steps->largest);
}

TEST(F3ornitsSummary, counts_reads_past_validity) {
  auto description = changed(test::example("lotka_volterra"), {.method = "f3ornits", .step = 0.01, .stop = 3.0});
  description.subsystems[0].step = Written<double>{0.07, {}};
  description.subsystems[1].step = Written<double>{0.05, {}};
  const auto run = finished(description, {"prey.p"});
  EXPECT_GT(run.summary.subsystems[0].own_steps->reads_past_validity, 30U);
  EXPECT_TRUE(has_fact(run.summary.notes, FactCode::EstimatesPastValidity));
}

TEST(F3ornitsSignals, record_order_step_error_and_bounds) {
  auto description = two_masses(true);
  description.stop = {10.0, {}};
  const auto run = finished(description, {"left.x", "left.x:*", "left.time:step"});
  const auto& t = run.record.times;
  const auto& x = run.record.column("left.x");
  for (std::size_t k = 1; k < t.size(); ++k) {
    EXPECT_NEAR(run.record.column("left.time:step")[k], t[k] - t[k - 1], 1e-14);
    EXPECT_LE(run.record.column("left.x:low")[k], x[k]);
    EXPECT_GE(run.record.column("left.x:high")[k], x[k]);
    EXPECT_GE(run.record.column("left.x:error")[k], 0.0);
  }
  const auto& orders = run.record.column("left.x:order");
  EXPECT_EQ(orders[1], 0.0);
  EXPECT_EQ(*std::max_element(orders.begin(), orders.end()), 2.0);
  Simulation simulation(description);
  MemoryRecorder outputs;  // not requested: only outputs are recorded
  simulation.observe(outputs);
  simulation.run();
  EXPECT_EQ(outputs.names, (std::vector<std::string>{"left.v", "left.x", "right.F"}));
}

TEST(F3ornitsOptions, that_make_no_sense_are_named) {
  const auto problem = [](const std::string& option, const std::string& other = "damping=0.05") {
    return problems_of(changed(test::example("two_mass"), {.method = "f3ornits", .options = {option, other}}));
  };
  EXPECT_NE(problem("growth=[0.1]").find("growth-no-pair"), std::string::npos);
  EXPECT_NE(problem("growth=[1.1, 2.0]").find("growth-no-pair"), std::string::npos);
  EXPECT_NE(problem("growth=[-0.1, 2.0]").find("out-of-range method.f3ornits.growth (range = at least 0"),
            std::string::npos);
  EXPECT_NE(problem("growth=3").find("wrong-type method.f3ornits.growth"), std::string::npos);
  EXPECT_NE(problem("relative_tolerance=0", "absolute_tolerance=0").find("tolerances-zero"), std::string::npos);
  EXPECT_NE(problem("max_step=0.1", "min_step=0.2").find("steps-out-of-order method.f3ornits.max_step"),
            std::string::npos);
  EXPECT_NE(problem("initial_step=0.1", "min_step=0.2").find("steps-out-of-order method.f3ornits.initial_step"),
            std::string::npos);
  EXPECT_NE(
      problem("min_step=0.2").find("min-step-above-first method.f3ornits.min_step (min_step = 0.2 s, step = 0.1 s)"),
      std::string::npos);
  EXPECT_EQ(problem("min_step=0.2", "initial_step=0.3"), "accepted");
  EXPECT_NE(problem("max_order=4").find("out-of-range method.f3ornits.max_order (range = between 0 and 3"),
            std::string::npos);
  EXPECT_NE(problem("normalisation=\"amplitud\"").find("word-unknown method.f3ornits.normalisation"),
            std::string::npos);
  EXPECT_EQ(problem("growth=[0.5, 2]"), "accepted");
}

TEST(F3ornitsOptions, an_offset_is_refused_by_methods_with_one_grid_for_all) {
  auto description = changed(test::example("lotka_volterra"), {.step = 0.1, .stop = 2.0});
  description.subsystems[0].step = Written<double>{0.1, {}};
  description.subsystems[0].step_offset = Written<double>{0.03, {}};
  EXPECT_NE(problems_of(description).find("offset-not-supported prey (method = jacobi, offset = 0.03 s)"),
            std::string::npos);
  description.method.value = "f3ornits";
  EXPECT_EQ(problems_of(description), "accepted");
  description.subsystems[0].step.reset();
  EXPECT_NE(problems_of(description).find("offset-without-step prey"), std::string::npos);
}

}  // namespace f3ornits_test
}  // namespace entrain
