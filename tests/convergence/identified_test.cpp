// Bare subsystems, whose steps are identified from their own past (docs/theory/identified.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "coupling/engine.hpp"
#include "entrain/advice.hpp"
#include "entrain/recording.hpp"
#include "session/prepare.hpp"
#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace identified_test {

using test::has_fact;
using test::number_of;

/// Masses of 2 and 3 kg, between them 20 000 N/m and 60 N s/m, every capability taken away.
SystemDescription bare_pair(double step, const std::string& estimator = "") {
  auto description = test::changed(test::example("mechanical"), {.method = "missiles", .step = step, .stop = 2.0});
  auto& left = description.subsystems[0];
  auto& right = description.subsystems[1];
  const auto set = [](SubsystemDescription& of, const std::map<std::string, double>& values) {
    for (const auto& [name, value] : values) of.start[name] = {value, {}};
  };
  set(left, {{"m1", 2.0}, {"c1", 50.0}, {"d1", 0.0}, {"x", 0.0}, {"v", 1.0}});
  set(right, {{"m2", 3.0}, {"c2", 20000.0}, {"d2", 60.0}, {"c3", 30.0}, {"d3", 0.0}, {"x2", 0.0}, {"v2", 0.0}});
  for (auto& subsystem : description.subsystems) {
    subsystem.rollback = {false, {}};
    subsystem.states = {false, {}};
    subsystem.input_degree = {0, {}};
    subsystem.output_derivative_order = {0, {}};
    if (!estimator.empty()) subsystem.estimator = {estimator, {}};
  }
  return description;
}

/// The pair of examples/mechanical as FMUs that can only step, and refuse every call out of the order of the standard.
SystemDescription strict_bare_pair(const std::string& version, const std::string& method,
                                   const std::string& estimator = "") {
  auto description = test::changed(test::example("mechanical"), {.method = method, .step = 1e-3, .stop = 2.0});
  for (auto& subsystem : description.subsystems) {
    subsystem.fmu = test::fmu_folder() + "/test/bare/" + version + "/mechanical_" + subsystem.name + ".fmu";
    subsystem.model.clear();
    if (!estimator.empty()) subsystem.estimator = {estimator, {}};
  }
  return description;
}

/// rms of left.x at multiples of the step, relative to its range. A method may communicate more often.
double relative_error(const MemoryRecorder& recorder, const std::vector<double>& exact, double step) {
  const auto ours = recorder.column("left.x");
  double sum = 0.0;
  std::size_t compared = 0;
  for (std::size_t k = 0; k < ours.size(); ++k) {
    const double multiple = std::round(recorder.times[k] / step);
    if (std::abs(recorder.times[k] - multiple * step) > 1e-6 * step || multiple >= static_cast<double>(exact.size()))
      continue;
    const double miss = ours[k] - exact[static_cast<std::size_t>(multiple)];
    sum += miss * miss;
    ++compared;
  }
  EXPECT_GE(compared, exact.size() - 1);
  const auto [low, high] = std::minmax_element(exact.begin(), exact.end());
  return std::sqrt(sum / static_cast<double>(compared)) / (*high - *low);
}

/// rms of left.x, relative to its range, against the equations of the built-in models solved as one.
double error_of_example(const SystemDescription& description) {
  const auto ours = test::recorded(description);
  const auto exact =
      test::recorded(test::changed(test::example("mechanical"), {.method = "monolithic", .step = 1e-3, .stop = 2.0}));
  return relative_error(ours, exact.column("left.x"), 1e-3);
}

/// x of the left mass at multiples of a step: the equations of both masses, by Runge-Kutta with 16 parts per step
/// (error below 1e-10).
std::vector<double> truth(double step, std::size_t count) {
  using State = std::array<double, 4>;
  const auto rate = [](const State& s) {
    const double force = 20000.0 * (s[2] - s[0]) + 60.0 * (s[3] - s[1]);
    return State{s[1], (force - 50.0 * s[0]) / 2.0, s[3], (-force - 30.0 * s[2]) / 3.0};
  };
  const auto along = [](const State& s, const State& d, double by) {
    State moved = s;
    for (std::size_t i = 0; i < 4; ++i) moved[i] += by * d[i];
    return moved;
  };
  State s{0.0, 1.0, 0.0, 0.0};
  std::vector<double> course{0.0};
  const double part = step / 16.0;
  while (course.size() < count) {
    for (int k = 0; k < 16; ++k) {
      const State a = rate(s), b = rate(along(s, a, part / 2)), c = rate(along(s, b, part / 2)),
                  d = rate(along(s, c, part));
      for (std::size_t i = 0; i < 4; ++i) s[i] += part / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
    }
    course.push_back(s[0]);
  }
  return course;
}

struct Measured {
  double error = 0.0;  // root mean square of left.x, relative to its range
  RunSummary summary;
};

Measured measured(const SystemDescription& description, const Extensions& extensions = {}) {
  Simulation simulation(description, {}, extensions);
  MemoryRecorder recorder({"left.x"});
  simulation.observe(recorder);
  Measured result;
  result.summary = simulation.run();
  EXPECT_EQ(result.summary.termination, Termination::Completed) << result.summary.message;
  const double step = description.step->value;
  const auto count = static_cast<std::size_t>(std::lround(description.stop->value / step)) + 1;
  result.error = relative_error(recorder, truth(step, count), step);
  return result;
}

TEST(IdentifiedSteps, couple_a_bare_stiff_pair_below_1_percent_and_of_order_2) {
  EXPECT_LT(measured(bare_pair(2.5e-4)).error, 0.001);
  // Which models serve when differs from step to step, so over three halvings.
  EXPECT_GT(std::log2(measured(bare_pair(1e-3)).error / measured(bare_pair(1.25e-4)).error) / 3.0, 1.9);
  EXPECT_GT(measured(bare_pair(2.5e-4, "continued")).error, 0.1);
}

TEST(IdentifiedSteps, are_reported_with_their_prediction_errors) {
  const auto run = measured(bare_pair(2.5e-4));
  const auto reported = [&](const char* what, const char* side) {
    return number_of(run.summary.notes, FactCode::StepsIdentified, what, side);
  };
  EXPECT_LT(reported("error", "right"), 0.1 * reported("continued", "right"));
  EXPECT_LE(reported("error", "left"), 1.1 * reported("continued", "left"));
  for (const auto* side : {"left", "right"}) EXPECT_GT(reported("used", side), 0.9 * reported("steps", side));
  EXPECT_FALSE(has_fact(measured(bare_pair(2.5e-4, "continued")).summary.notes, FactCode::StepsIdentified));
}

TEST(IdentifiedSteps, make_ifosmondi_possible_for_bare_subsystems) {
  for (const auto* estimator : {"", "identified"}) {
    auto description = bare_pair(2.5e-4, estimator);
    description.method.value = "ifosmondi";
    const auto run = measured(description);
    EXPECT_LT(run.error, 0.02) << estimator;
    EXPECT_TRUE(has_fact(run.summary.notes, FactCode::StepsIdentified, "right")) << estimator;
  }
}

/// In step mode such an FMU allows no reading after a value was set: what is known of feedthrough is from before.
TEST(IdentifiedSteps, couple_bare_fmus_that_keep_to_the_standard) {
  for (const std::string version : {"2", "3"}) {
    EXPECT_LT(error_of_example(strict_bare_pair(version, "missiles")), 0.002) << version;
    EXPECT_LT(error_of_example(strict_bare_pair(version, "waveform")), 0.002) << version;
    EXPECT_LT(error_of_example(strict_bare_pair(version, "ifosmondi")), 0.01) << version;
  }
}

TEST(IdentifiedSteps, know_how_outputs_of_bare_fmus_follow_inputs_where_the_run_starts) {
  const auto gains = [](const SystemDescription& description) {
    std::vector<Problem> problems;
    const auto prepared = session::prepare(description, 1, {}, problems);
    auto& engine = prepared.system->engine();
    engine.initialize(0.0, 2.0, true);
    return engine.start_gains(SubsystemId{1});
  };
  const auto native = gains(test::example("mechanical"));
  for (const std::string version : {"2", "3"}) {
    const auto found = gains(strict_bare_pair(version, "missiles"));
    ASSERT_EQ(found.size(), native.size());
    for (std::size_t i = 0; i < native.size(); ++i) EXPECT_NEAR(found[i], native[i], 1e-6 * std::abs(native[i]));
  }
}

TEST(IdentifiedSteps, are_what_advise_recommends_for_a_bare_stiff_pair) {
  auto description = bare_pair(2.5e-4);
  description.method.value = "auto";
  const Advice advice = advise(description);
  ASSERT_TRUE(advice.choice);
  const Candidate& chosen = advice.candidates[*advice.choice];
  EXPECT_EQ(chosen.method, "missiles");
  EXPECT_LT(chosen.known_error().value_or(1.0), 1e-3);
}

/// The left mass as a surrogate: its own spring pulls as where the step began.
class RoughMass final : public StepEstimator {
 public:
  explicit RoughMass(double mass) : mass_(mass) {}
  void observe(const Point& point) override { v_ = point.outputs[0], x_ = point.outputs[1]; }
  void estimate(Duration h, const InputBlock& inputs, std::span<double> outputs, std::span<double> slopes) override {
    double once = 0.0;
    double twice = 0.0;
    for (int p = 0; p <= inputs.degree(); ++p) {
      once += inputs.order(p)[0] * std::pow(h, p + 1) / (p + 1);
      twice += inputs.order(p)[0] * std::pow(h, p + 2) / ((p + 1) * (p + 2));
    }
    outputs[0] = v_ + (once - h * 50.0 * x_) / mass_;
    outputs[1] = x_ + h * v_ + (twice - h * h / 2.0 * 50.0 * x_) / mass_;
    slopes[0] = (inputs.value(0, h) - 50.0 * x_) / mass_;
    slopes[1] = outputs[0];
  }

 private:
  double mass_;
  double v_ = 0.0, x_ = 0.0;
};

TEST(EstimatorOfAUser, is_used_for_trials_and_its_misses_are_reported) {
  const auto with = [](double mass) {
    auto description = bare_pair(2.5e-4);
    description.subsystems[0].estimator = {"rough", {}};
    Extensions extensions;
    extensions.add_estimator("rough", [mass](const EstimatorRequest&) { return std::make_unique<RoughMass>(mass); });
    return measured(description, extensions);
  };
  const auto right = with(2.0);
  const auto heavy = with(2.2);
  EXPECT_LT(right.error, 0.01);
  EXPECT_LT(heavy.error, 0.05);  // only the estimate is wrong: the real mass makes the steps
  const auto reported = [](const Measured& run) {
    return number_of(run.summary.notes, FactCode::StepsByEstimator, "error", "left");
  };
  EXPECT_GT(reported(heavy), 5.0 * reported(right));
}

/// Several steps in a row: the estimator observes the estimated ends, and is put back.
TEST(EstimatorOfAUser, is_used_by_waveform_too) {
  const auto with = [](double mass) {
    auto description = bare_pair(2.5e-4);
    description.method.value = "waveform";
    description.subsystems[0].estimator = {"rough", {}};
    Extensions extensions;
    extensions.add_estimator("rough", [mass](const EstimatorRequest&) { return std::make_unique<RoughMass>(mass); });
    return measured(description, extensions);
  };
  const auto right = with(2.0);
  const auto heavy = with(2.2);
  EXPECT_LT(right.error, 0.02);
  const auto reported = [](const Measured& run) {
    return number_of(run.summary.notes, FactCode::StepsByEstimator, "error", "left");
  };
  EXPECT_GT(reported(heavy), 5.0 * reported(right));
  EXPECT_FALSE(has_fact(right.summary.notes, FactCode::StepsIdentified, "left"));
}

TEST(EstimatorOfAUser, that_is_unknown_is_refused_with_what_there_is) {
  auto description = bare_pair(2.5e-4, "idendified");
  try {
    Simulation{description};
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_TRUE(std::any_of(error.problems().begin(), error.problems().end(),
                            [](const Problem& problem) { return problem.fact.code == FactCode::UnknownEstimator; }));
  }
}

/// What a subsystem may do to its outputs.
struct Trouble {
  const char* name;
  std::function<double(Time, double)> output;  // of the time and of the input
};

/// x'' = F(t, x) - x - 0.4 x' from x = 1, at multiples of a step; the trapezoidal rule with 4096 parts per step.
std::vector<double> motion_under(const Trouble& trouble, double step, std::size_t count) {
  constexpr int kParts = 4096;
  const double part = step / kParts;
  double x = 1.0;
  double v = 0.0;
  std::vector<double> course{x};
  for (std::size_t k = 0; k + 1 < count; ++k) {
    for (int i = 0; i < kParts; ++i) {
      const double t = static_cast<double>(k) * step + i * part;
      const auto rate = [&](double at, double x_at, double v_at) {
        return trouble.output(at, x_at) - x_at - 0.4 * v_at;
      };
      const double a = rate(t, x, v);
      const double b = rate(t + part, x + part * v, v + part * a);
      x += part * (v + part / 2.0 * a);
      v += part / 2.0 * (a + b);
    }
    course.push_back(x);
  }
  return course;
}

class UnderTrouble : public testing::TestWithParam<Trouble> {};

/// A slow mass-like partner and a static subsystem with the trouble, both bare.
TEST_P(UnderTrouble, an_identified_coupling_is_at_most_10_percent_worse_than_a_continued_one) {
  const auto& trouble = GetParam();
  const ModelFactory models = [&](std::string_view name) -> std::unique_ptr<Model> {
    if (name != "trouble") return nullptr;
    return std::make_unique<test::StaticModel>([&](Time t, double u) { return trouble.output(t, u); });
  };
  const auto run = [&](const std::string& estimator) {
    auto description = test::changed(test::system_from(R"(
      [run]
      stop = 4.0
      [subsystems.mass]
      model = "mechanical.left"
      start = { m1 = 1.0, c1 = 1.0, d1 = 0.4 }
      [subsystems.side]
      model = "trouble"
      [connections]
      "mass.x" = "side.u"
      "side.y" = "mass.F"
    )"),
                                     {.method = "missiles", .step = 0.04});
    for (auto& subsystem : description.subsystems) {
      subsystem.rollback = {false, {}};
      subsystem.states = {false, {}};
      subsystem.input_degree = {0, {}};
      subsystem.output_derivative_order = {0, {}};
      if (subsystem.name == "side") subsystem.linearization = {false, {}};
      subsystem.estimator = {estimator, {}};
    }
    Simulation simulation(description, {}, models);
    MemoryRecorder recorder({"mass.x"});
    simulation.observe(recorder);
    EXPECT_EQ(simulation.run().termination, Termination::Completed);
    return recorder.column("mass.x");
  };
  const auto exact = motion_under(trouble, 0.04, 101);
  const auto error = [&](const std::vector<double>& course) {
    double sum = 0.0;
    for (std::size_t k = 0; k < course.size(); ++k) sum += std::pow(course[k] - exact[k], 2);
    return std::sqrt(sum / static_cast<double>(course.size()));
  };
  EXPECT_LT(error(run("auto")), 1.1 * error(run("continued")));
}

const Trouble kTroubles[] = {
    {"noise", [](Time t, double u) { return -2.0 * u + 0.02 * std::sin(1e4 * t + 3.0 * std::sin(377.0 * t)); }},
    {"constant", [](Time, double) { return 0.7; }},
    {"jumps", [](Time t, double u) { return -2.0 * u + (std::fmod(t, 1.0) < 0.5 ? 1.0 : -1.0); }},
    {"mode", [](Time t, double u) { return t < 2.0 ? -4.0 * u : -0.5 * u + 0.5; }},
    {"bent", [](Time, double u) { return -2.0 * u - 0.5 * u * u * u; }},
};

INSTANTIATE_TEST_SUITE_P(Troubles, UnderTrouble, testing::ValuesIn(kTroubles),
                         [](const auto& case_info) { return std::string(case_info.param.name); });

}  // namespace identified_test
}  // namespace entrain
