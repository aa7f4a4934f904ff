// What an advice contains of a system: measures, limits, search; for small and large networks.
#include "entrain/advice.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "advise/parameter_study.hpp"
#include "report/advice_page.hpp"
#include "support/facts.hpp"
#include "support/ring_network.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace advice_test {

SystemDescription oscillator(Duration step, Time stop) {
  return test::changed(test::example("oscillator"), {.step = step, .stop = stop});
}

const Candidate* find(const Advice& advice, const std::string& method, int degree) {
  for (const auto& of : advice.candidates) {
    if (of.method == method && of.degree.value_or(0) == degree && !of.searched) return &of;
  }
  return nullptr;
}

/// A chain of masses; each is pulled by the next only, so that no loop closes over the whole.
SystemDescription long_chain(std::size_t size) {
  SystemDescription description;
  description.name = "long chain";
  description.stop = {1.0, {}};
  description.step = {0.01, {}};
  for (std::size_t s = 0; s < size; ++s) {
    auto& subsystem = description.subsystems.emplace_back();
    subsystem.name = "m" + std::to_string(s);
    subsystem.model = "chain.mass";
    if (s == 0) {
      subsystem.start["x"] = {1.0, {}};
      continue;
    }
    const std::string left = "m" + std::to_string(s - 1);
    description.connections.push_back({left + ".x", subsystem.name + ".left_x", {}});
    description.connections.push_back({left + ".v", subsystem.name + ".left_v", {}});
    description.connections.push_back({subsystem.name + ".F_left", left + ".right_F", {}});
  }
  return description;
}

TEST(Advice, contains_the_stable_steps_of_the_paper_with_their_island) {
  const Advice advice = advise(oscillator(0.1, 40.0));
  const Candidate* seidel = find(advice, "gauss-seidel", 0);
  ASSERT_NE(seidel, nullptr);
  const auto& ranges = seidel->stable_steps.ranges;
  ASSERT_GE(ranges.size(), 2U);
  EXPECT_NEAR(ranges.front().high, 9.10130403, 1e-6);  // quality.beyond
  EXPECT_GT(ranges[1].low, 9.2);
}

TEST(Advice, contains_how_far_stable_steps_were_searched) {
  // So long a step that a thousand times it cannot be searched with steps that see the motion turn.
  const Advice advice = advise(test::changed(test::example("mechanical"), {.step = 0.12, .stop = 200.0}));
  const Candidate* jacobi = find(advice, "jacobi", 0);
  ASSERT_NE(jacobi, nullptr);
  const auto& [ranges, searched] = jacobi->stable_steps;
  EXPECT_EQ(searched.low, 0.12 / 64.0);
  EXPECT_GT(searched.high, 1.0);
  EXPECT_LT(searched.high, 100.0);
  ASSERT_FALSE(ranges.empty());
  EXPECT_LE(ranges.back().high, searched.high);
  const auto json = nlohmann::json::parse(advice_json(advice));
  EXPECT_EQ(json["candidates"][0]["searched_steps"][1], searched.high);
}

TEST(Advice, best_explicit_config_has_the_measures_of_the_paper) {
  const Advice advice = advise(oscillator(1.0, 40.0));
  ASSERT_TRUE(advice.robustness);
  const auto& of = *advice.robustness;
  EXPECT_TRUE(advice.candidates[of.candidate].degree.has_value());
  ASSERT_TRUE(of.consistency);
  EXPECT_GT(*of.consistency, 0.0);
  ASSERT_EQ(of.margins.size(), 2U);
  for (const auto& [subsystem, margin] : of.margins) {
    EXPECT_GT(margin, 0.0) << subsystem;
    EXPECT_LT(margin, 1.0) << subsystem;
  }
  ASSERT_TRUE(of.initialisation);  // the spring passes on x and v at once, the mass answers with its states
  EXPECT_TRUE(of.initialisation->converges);
}

TEST(ParameterStudy, limits_are_those_of_the_paper) {
  // quality.numbers: Seidel at 8.9 s is stable up to c_k = 1.1230369 and d_k = 2.6844177.
  const auto description = oscillator(8.9, 890.0);
  std::vector<Problem> problems;
  const auto prepared = session::prepare(description, 1, {}, problems);
  ASSERT_TRUE(problems.empty());
  const ModelFactory built_in;
  const advising::ParameterStudy study(description, built_in, prepared,
                                       {.parameters = {{"force_side.c_k", {}, {}}, {"force_side.d_k", 0.1, 100.0}}});
  MethodConfig seidel;
  seidel.method = "gauss-seidel";
  const std::vector<std::size_t> force_first{0, 1};
  const auto limits = study.limits(seidel, force_first, 8.9);
  ASSERT_EQ(limits.size(), 2U);
  const auto limit_above = [](const ParameterLimits& of) {
    for (const auto& range : of.stable) {
      if (range.low <= of.value && of.value <= range.high) return range.high;
    }
    return 0.0;
  };
  EXPECT_NEAR(limit_above(limits[0]), 1.1230369, 1e-6);
  EXPECT_NEAR(limit_above(limits[1]), 2.6844177, 1e-6);
  // Both at once: no more than each alone allows.
  const auto joint = study.joint_factor(seidel, force_first, 8.9);
  ASSERT_TRUE(joint);
  EXPECT_GT(*joint, 1.0);
  EXPECT_LE(*joint, 1.1230369);
}

TEST(ParameterStudy, range_has_its_gaps_however_wide_it_is_searched) {
  const auto description = oscillator(8.9, 890.0);
  std::vector<Problem> problems;
  const auto prepared = session::prepare(description, 1, {}, problems);
  const ModelFactory built_in;
  const advising::ParameterStudy study(description, built_in, prepared, {.parameters = {{"force_side.c_k", {}, {}}}});
  MethodConfig implicit;
  implicit.method = "ifosmondi";
  const auto limits = study.limits(implicit, {0, 1}, 8.9);
  ASSERT_EQ(limits.size(), 1U);
  EXPECT_EQ(limits[0].high, 100.0);
  ASSERT_GE(limits[0].stable.size(), 2U);
  EXPECT_NEAR(limits[0].stable[0].high, 15.55, 0.01);
  EXPECT_NEAR(limits[0].stable[1].low, 17.08, 0.01);
  const auto joint = study.joint_factor(implicit, {0, 1}, 8.9);
  ASSERT_TRUE(joint);
  EXPECT_NEAR(*joint, limits[0].stable[0].high, 1e-9);  // c_k is 1
}

TEST(ParameterStudy, joint_factor_is_never_beyond_what_one_parameter_alone_allows) {
  // With c_k and m1 changed together the coupling stays stable where c_k alone has made it unstable.
  const auto description = oscillator(4.0, 400.0);
  std::vector<Problem> problems;
  const auto prepared = session::prepare(description, 1, {}, problems);
  const ModelFactory built_in;
  const advising::ParameterStudy study(description, built_in, prepared,
                                       {.parameters = {{"force_side.c_k", {}, {}}, {"force_side.m1", {}, {}}}});
  MethodConfig implicit;
  implicit.method = "missiles";
  const auto alone = study.limits(implicit, {0, 1}, 4.0)[0].stable[0].high;
  EXPECT_LT(alone, 20.0);
  EXPECT_LE(*study.joint_factor(implicit, {0, 1}, 4.0), alone * (1 + 1e-9));  // c_k is 1
}

TEST(Advice, parameter_that_is_not_there_is_named_with_a_suggestion) {
  AdviceSettings settings;
  settings.parameters = {{"force_side.c_kk", {}, {}}, {"motion_side.m2", 2.0, 1.0}};
  try {
    advise(oscillator(0.1, 4.0), settings);
    FAIL() << "it advised";
  } catch (const Error& error) {
    ASSERT_EQ(error.problems().size(), 2U);
    EXPECT_EQ(error.problems()[0].fact, (Fact{FactCode::UnknownParameter, {"force_side.c_kk"}}));
    EXPECT_NE(error.problems()[0].remedy.find("force_side.c_k"), std::string::npos) << error.problems()[0].remedy;
    EXPECT_EQ(error.problems()[1].fact.subjects, std::vector<std::string>{"motion_side.m2"});
  }
}

TEST(Advice, search_finds_gains_that_carry_the_step_beyond_every_plain_method) {
  // At 9.5 s no plain explicit coupling of the oscillator is stable; the paper's gains are (nepce.md).
  auto description = oscillator(9.5, 950.0);
  AdviceSettings settings;
  settings.search = true;
  const Advice advice = advise(description, settings);
  ASSERT_TRUE(advice.front);
  const auto& front = *advice.front;
  ASSERT_FALSE(front.points.empty());
  ASSERT_TRUE(front.how);
  EXPECT_EQ(front.how->code, FactCode::SearchedByEvolution);
  bool searched = false;
  for (const auto& of : advice.candidates) {
    if (!of.searched) continue;
    searched = true;
    if (of.method != "nepce") continue;
    EXPECT_FALSE(of.gains.empty());
  }
  EXPECT_TRUE(searched);
  EXPECT_LT(front.knee, front.points.size());
  for (std::size_t i = 1; i < front.points.size(); ++i) EXPECT_LE(front.points[i - 1].step, front.points[i].step);
  const bool far = std::any_of(front.points.begin(), front.points.end(), [](const FrontPoint& of) {
    return of.step > 9.2 && of.config.method == "nepce" && of.quality.radius < 0.9;
  });
  EXPECT_TRUE(far);
}

TEST(Advice, search_with_one_gain_is_a_grid_and_does_not_depend_on_the_threads) {
  AdviceSettings settings;
  settings.search = true;
  settings.gains = {"motion_side.F"};
  const Advice alone = advise(oscillator(1.0, 100.0), settings);
  settings.threads = 3;
  const Advice together = advise(oscillator(1.0, 100.0), settings);
  ASSERT_TRUE(alone.front && together.front);
  ASSERT_TRUE(alone.front->how);
  EXPECT_EQ(alone.front->how->code, FactCode::SearchedByGrid);
  ASSERT_EQ(alone.front->points.size(), together.front->points.size());
  for (std::size_t i = 0; i < alone.front->points.size(); ++i) {
    EXPECT_EQ(alone.front->points[i].quality.radius, together.front->points[i].quality.radius);
    for (const auto& [input, gain] : alone.front->points[i].config.gains) EXPECT_EQ(input, "motion_side.F");
  }
}

TEST(Advice, applied_search_runs_with_its_sequence_and_gains) {
  Advice advice;
  Candidate found;
  found.method = "nepce";
  found.degree = 0;
  found.sequence = {"motion_side", "force_side"};
  found.gains = {{"motion_side.F", 0.6}};
  advice.candidates = {found};
  advice.choice = 0;
  advice.step = 9.5;
  const auto description = applied(oscillator(0.1, 950.0), advice);
  Simulation simulation(description);
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_EQ(summary.method, "nepce");
  EXPECT_LT(std::abs(simulation.value("motion_side.x")), 1e-20);  // nepce.md: it dies away
}

TEST(Advice, large_network_gets_radii_and_a_measured_choice) {
  const Advice advice = advise(long_chain(70));  // beyond a vector of 300: no forecast of errors
  const Candidate* jacobi = find(advice, "jacobi", 0);
  ASSERT_NE(jacobi, nullptr);
  ASSERT_TRUE(jacobi->radius) << testing::PrintToString(advice.remarks);
  EXPECT_GT(*jacobi->radius, 0.9);
  EXPECT_FALSE(jacobi->error);
  EXPECT_TRUE(advice.fastest_rate);
  ASSERT_TRUE(advice.choice) << advice.reason();
  EXPECT_GT(test::number_of(advice.reasons, FactCode::TrialMeasured, "length"), 0.0) << advice.reason();
  // The wave does not reach the last masses within the run: rounding there must not decide.
  EXPECT_EQ(advice.candidates[*advice.choice].method, "missiles") << advice.reason();
  ASSERT_TRUE(find(advice, "missiles", 0)->tried);
  EXPECT_LT(find(advice, "missiles", 0)->tried->error, 0.01);
  // Alike subsystems share a line.
  EXPECT_EQ(advice.capabilities.size(), 1u);
}

TEST(AdvicePage, data_has_the_agreed_fields) {
  AdviceSettings settings;
  settings.search = true;
  settings.gains = {"motion_side.F"};
  settings.curves = true;
  const auto json = nlohmann::json::parse(reporting::advice_page_json(advise(oscillator(1.0, 40.0), settings)));
  EXPECT_EQ(json["kind"], "advice");
  EXPECT_EQ(json["system"], "oscillator");
  EXPECT_TRUE(json["recommendation"]["method"].is_string());
  EXPECT_TRUE(json["recommendation"]["step"].is_number());
  EXPECT_TRUE(json["recommendation"]["why"].is_array());
  for (const auto& method : json["methods"]) {
    EXPECT_TRUE(method["name"].is_string());
    EXPECT_TRUE(method["usable"].is_boolean());
    for (const char* field : {"radius", "error", "cost"}) {
      EXPECT_TRUE(method[field].is_number() || method[field].is_null()) << field;
    }
  }
  ASSERT_FALSE(json["curves"].empty());
  for (const auto& curve : json["curves"]) {
    EXPECT_EQ(curve["step"].size(), curve["radius"].size());
    if (curve.contains("consistency")) {
      EXPECT_EQ(curve["step"].size(), curve["consistency"].size());
    }
  }
  ASSERT_GT(json["choices"].size(), 4U);
  for (const auto& choice : json["choices"]) {
    EXPECT_TRUE(choice["method"].is_string());
    for (const char* field : {"step", "calls", "error"}) EXPECT_GT(choice[field], 0.0) << field;
  }
  ASSERT_FALSE(json["search"]["points"].empty());
  EXPECT_LT(json["search"]["knee"], json["search"]["points"].size());
  EXPECT_TRUE(json["search"]["points"][0]["choice"].is_string());
  EXPECT_TRUE(json["heat"]["config"].is_string());
  ASSERT_TRUE(json.contains("heat"));
  EXPECT_EQ(json["heat"]["radius"].size(), json["heat"]["y"]["values"].size());
  EXPECT_EQ(json["heat"]["radius"][0].size(), json["heat"]["x"]["values"].size());
}

}  // namespace advice_test
}  // namespace entrain
