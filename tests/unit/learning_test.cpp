#include "entrain/learning.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "learn/learned_connections.hpp"
#include "learn/update.hpp"
#include "report/learned_json.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace learning_test {

using test::example;

Learned short_correction() {
  Learned learned;
  learned.system = "learning";
  learned.step = 1e-3;
  learned.steps = 3;
  learned.options = {{"degree", std::int64_t{0}},
                     {"feedthrough", std::string("delay")},
                     {"energy_gain", 0.0},
                     {"delayed", std::vector<std::string>{"force_side.F"}}};
  learned.inputs = {"motion_side.F"};
  learned.corrections = {0.1, 1.0 / 3.0, -5e-324};
  learned.error = 1e-9;
  return learned;
}

TEST(LearnedFile, reads_back_to_the_same_bits) {
  const test::TemporaryFolder folder;
  const Learned written = short_correction();
  std::ofstream(folder / "learned.json") << reporting::learned_json(written);
  const Learned read = read_learned(folder / "learned.json");
  EXPECT_EQ(read.system, written.system);
  EXPECT_EQ(read.step, written.step);
  EXPECT_EQ(read.steps, written.steps);
  EXPECT_EQ(read.options, written.options);
  EXPECT_EQ(read.inputs, written.inputs);
  EXPECT_EQ(read.corrections, written.corrections);
  EXPECT_EQ(read.error, written.error);
}

TEST(LearnedFile, that_is_something_else_is_refused_with_its_name) {
  const test::TemporaryFolder folder;
  const auto read = [&](const std::string& text) {
    std::ofstream(folder / "learned.json") << text;
    const auto error = test::error_of([&] { read_learned(folder / "learned.json"); });
    EXPECT_EQ(error->fact().code, FactCode::LearnedUnusable);
    EXPECT_EQ(error->fact().subjects.front(), (folder / "learned.json").string());
    return error->fact();
  };
  EXPECT_EQ(read("no JSON").text("of"), "custom-error");
  EXPECT_EQ(read("[1, 2]").text("of"), "learned-format");
  EXPECT_EQ(read(R"({"format": "something"})").text("of"), "learned-format");
  EXPECT_EQ(read(R"({"format": "entrain learned correction 3"})").text("of"), "custom-error");
  auto cut = reporting::learned_json(short_correction());
  cut.replace(cut.find("\"steps\":3"), 9, "\"steps\":4");
  const Fact short_by_one = read(cut);
  EXPECT_EQ(short_by_one.text("of"), "learned-count");
  EXPECT_EQ(short_by_one.subjects.back(), "motion_side.F");
  EXPECT_EQ(short_by_one.number("count"), 3.0);
  EXPECT_EQ(short_by_one.number("steps"), 4.0);
  EXPECT_EQ(test::refusal_outline([&] { read_learned(folder / "absent.json"); }),
            "no-such-file " + (folder / "absent.json").string());
}

TEST(LearnedRun, of_another_grid_or_system_is_refused) {
  auto description = example("learning");
  description.stop = {3e-3, {}};
  const auto refusal = [&](const Learned& learned) {
    return test::refusal_outline([&] { Simulation(with_learned(description, learned), {.learned = &learned}); });
  };
  Learned learned = short_correction();
  EXPECT_EQ(refusal(learned), "accepted");
  description.stop = {1.0, {}};
  EXPECT_EQ(refusal(learned), "learned-too-short (run_steps = 1000, steps = 3)");
  description.stop = {3e-3, {}};
  learned.inputs = {"motion_side.G"};
  EXPECT_EQ(refusal(learned), "learned-input motion_side.G (suggestion = did you mean 'motion_side.F'?)");
  learned = short_correction();
  learned.start = 1.0;
  EXPECT_EQ(refusal(learned), "learned-other-grid (run_start = 0 s, run_step = 0.001 s, start = 1 s, step = 0.001 s)");
  learned = short_correction();
  auto other_step = with_learned(description, learned);
  other_step.step = {2e-3, {}};
  EXPECT_EQ(test::refusal_outline([&] { Simulation(other_step, {.learned = &learned}); }),
            "learned-other-grid (run_start = 0 s, run_step = 0.002 s, start = 0 s, step = 0.001 s)");
}

TEST(LowPass, keeps_constants_and_has_no_phase) {
  std::vector<double> constant(50, 3.0);
  learning::smooth(constant, 10.0, 1e-3);
  for (const double value : constant) EXPECT_DOUBLE_EQ(value, 3.0);
  // Forwards and backwards: the answer to an impulse far from the ends is symmetric and adds up to it.
  std::vector<double> impulse(4001, 0.0);
  impulse[2000] = 1.0;
  learning::smooth(impulse, 10.0, 1e-3);
  double sum = 0.0;
  for (std::size_t k = 0; k <= 2000; ++k) EXPECT_NEAR(impulse[2000 - k], impulse[2000 + k], 1e-15);
  for (const double value : impulse) sum += value;
  EXPECT_NEAR(sum, 1.0, 1e-12);
  EXPECT_GT(impulse[2000], impulse[2001]);
}

TEST(WireRecord, of_a_slow_and_late_output_means_the_line_between_its_exact_values) {
  learning::LearnedWire wire;
  wire.connection = {OutputId{0}, InputId{0}, 2.0, 1.0};
  wire.late = true;
  wire.source_span = 2;
  learning::WireRecord record({wire}, 1);
  RunSummary summary;
  // Sent at 0, then late by two: 10 belongs to t = 0, 30 to t = 2.
  const double sent[] = {10.0, 10.0, 10.0, 10.0, 30.0};
  const double received[] = {0.0, 21.0, 21.0, 21.0, 21.0};
  for (std::size_t k = 0; k < 5; ++k) {
    summary.macro_steps = k;
    const double values[] = {sent[k], received[k]};
    record.communicated({static_cast<double>(k), values, {}, {}}, summary);
  }
  ASSERT_EQ(record.steps(), 4U);
  EXPECT_EQ(record.meant(0, 0), 21.0);
  EXPECT_EQ(record.meant(0, 1), 41.0);  // 2 * 20 + 1
  EXPECT_EQ(record.meant(0, 2), 61.0);
  EXPECT_EQ(record.error(0, 1), 20.0);
  EXPECT_EQ(record.meant(0, 3), 61.0) << "after the last one it is held";
}

TEST(Learn, system_without_feedthrough_has_nothing_to_learn) {
  auto description = example("lotka_volterra");
  description.stop = {0.1, {}};
  LearnOptions held;
  held.inputs = LearnInputs::Held;
  EXPECT_EQ(test::refusal_outline([&] { learn(description, held); }), "nothing-to-learn");
}

TEST(Learn, wrong_options_are_reported_all_at_once) {
  LearnOptions options;
  options.inputs = LearnInputs::Held;
  options.iterations = 0;
  options.gain = 3.0;
  const auto facts = test::refusal_of([&] { learn(example("learning"), options); });
  EXPECT_TRUE(test::has_fact(facts, FactCode::LearnOptionRange, "iterations"));
  EXPECT_TRUE(test::has_fact(facts, FactCode::LearnOptionRange, "gain"));
}

/// plant: x' = u, y = x, and a part whose output is a function of its input and its state.
SystemDescription loop_of(const std::string& part) {
  return test::system_from(R"([run]
stop = 1.0
step = 0.01
[subsystems.plant]
model = "plant"
[subsystems.part]
model = ")" + part + R"("
[connections]
"plant.y" = "part.u"
"part.y" = "plant.u"
)");
}

std::unique_ptr<Model> parts(std::string_view name) {
  const auto zero = [](double, double) { return 0.0; };
  const auto make = [](test::OdeModel::Equation equation) { return std::make_unique<test::OdeModel>(equation); };
  if (name == "plant") return make({[](double, double u) { return u; }, [](double x, double) { return x; }, 1.0});
  // Flat where it starts (x = u = 1): its slope there is zero.
  if (name == "cubic") return make({zero, [](double x, double u) { return std::pow(x - u, 3); }, 1.0, true});
  if (name == "boaster")
    return make({[](double x, double) { return -x; }, [](double x, double) { return -x; }, 1.0, true});
  // Follows its input only once its state has moved.
  if (name == "sleeper") {
    return make({[](double, double) { return 1.0; }, [](double x, double u) { return -x * u; }, 0.0, true});
  }
  return nullptr;
}

LearnPlan plan_of(const std::string& part) {
  LearnPlan plan;
  LearnOptions options;
  options.inputs = LearnInputs::Held;
  options.iterations = 1;
  learn(loop_of(part), options, {[&](const LearnPlan& known) { plan = known; }, {}}, parts);
  return plan;
}

TEST(Learn, what_was_learned_outlives_a_last_run_that_fails) {
  bool learned = false;
  LearnOptions options;
  options.inputs = LearnInputs::Held;
  options.iterations = 2;
  LearnProgress progress;
  progress.iterated = [&](const LearnIteration&) { learned = true; };
  const auto result = learn(loop_of("sleeper"), options, progress, [&](std::string_view name) {
    return learned ? nullptr : parts(name);  // no system can be made any more
  });
  EXPECT_FALSE(result.judged);
  EXPECT_TRUE(learned);
  EXPECT_FALSE(result.learned.inputs.empty());
  EXPECT_EQ(result.notes.back().code, FactCode::UnknownModel);
}

TEST(Feedthrough, of_a_cubic_that_is_flat_at_the_start_is_found) {
  EXPECT_EQ(plan_of("cubic").delayed, std::vector<std::string>{"part.y"});
}

TEST(Feedthrough, that_shows_only_later_is_found_in_a_first_run) {
  EXPECT_EQ(plan_of("sleeper").delayed, std::vector<std::string>{"part.y"});
}

TEST(Feedthrough, that_is_declared_but_never_shows_is_not_learned_and_reported) {
  EXPECT_EQ(test::refusal_outline([] { plan_of("boaster"); }), "nothing-to-learn");
}

}  // namespace learning_test
}  // namespace entrain
