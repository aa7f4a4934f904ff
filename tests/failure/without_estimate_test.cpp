// What makes it hard to estimate the error of a run: the run and its files stay as they are, the grade says what is
// known.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "entrain/fact_codes.hpp"
#include "entrain/run.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"
#include "support/trap_fmus.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain::test {
namespace without_estimate_test {

using Json = nlohmann::json;

/// x' = gain u + drift, y = x. What a step does besides is up to the test.
class Part : public OdeModel {
 public:
  struct Motion {
    double gain = 0.0;
    double drift = 0.0;
    double start = 0.0;
  };
  using BeforeStep = std::function<void(Time from, Duration size, std::span<double> x)>;
  Part(Motion motion, BeforeStep before)
      : OdeModel({.f = [=](double, double u) { return motion.gain * u + motion.drift; },
                  .g = [](double x, double) { return x; },
                  .start = motion.start}),
        before_(std::move(before)) {}
  void integrate(Time from, Duration size, const InputBlock& inputs, std::span<double> x) override {
    if (before_) before_(from, size, x);
    OdeModel::integrate(from, size, inputs, x);
  }

 private:
  BeforeStep before_;
};

/// a' = b, b' = -a from a = 0, b = 1: sin and cos.
Extensions turning(const Part::BeforeStep& before) {
  return ModelFactory([=](std::string_view name) -> std::unique_ptr<Model> {
    return std::make_unique<Part>(name == "a" ? Part::Motion{1.0, 0.0, 0.0} : Part::Motion{-1.0, 0.0, 1.0}, before);
  });
}

struct Finished {
  RunResult run;
  Json json;
  std::string rows;
};

Finished finished(const SystemDescription& description, const Extensions& extensions, bool estimate = true) {
  const TemporaryFolder folder;
  RunDirectoryOptions options;
  options.folder = folder / "out";
  options.estimate = estimate;
  Finished result{run(description, options, extensions), {}, {}};
  result.json = Json::parse(text_of(folder / "out/run.json"));
  result.rows = text_of(result.run.results);
  return result;
}

TEST(EstimateBadInput, output_that_never_moves_has_an_error_of_zero_and_limits_no_grade) {
  for (const double rest : {3.0, 0.0}) {
    const auto models = ModelFactory([=](std::string_view name) -> std::unique_ptr<Model> {
      return std::make_unique<Part>(name == "a" ? Part::Motion{0.0, 0.0, rest} : Part::Motion{1.0, 1.0, 0.0}, nullptr);
    });
    const auto [run, json, rows] = finished(two_in_a_loop(1.0), models);
    EXPECT_EQ(run.verdict.grade, Grade::Trusted) << run.verdict.headline();
    EXPECT_EQ(json["outputs"]["a.y"]["error"], 0.0) << rest;
    EXPECT_EQ(json["outputs"]["a.y"]["bound"], 0.0) << rest;
    EXPECT_NEAR(json["outputs"]["b.y"]["last"], 1.0 + rest, 1e-9);
  }
}

TEST(EstimateBadInput, nan_in_the_middle_ends_the_run_unreliable_and_leaves_the_rows_before_it) {
  const auto models = turning([](Time from, Duration, std::span<double> x) {
    if (from > 0.4995) x[0] = std::numeric_limits<double>::quiet_NaN();
  });
  const auto [run, json, rows] = finished(two_in_a_loop(1.0), models);
  EXPECT_EQ(run.summary.termination, Termination::Failed);
  EXPECT_EQ(run.verdict.grade, Grade::Unreliable);
  EXPECT_TRUE(json["verdict"]["bound"].is_null());
  EXPECT_NEAR(*run.recorded_until, 0.5, 1e-9);
}

TEST(EstimateBadInput, nan_in_companions_alone_leaves_the_run_completed) {
  const auto models = turning([](Time from, Duration size, std::span<double> x) {
    if (size > 0.015 && from > 0.5) x[0] = std::numeric_limits<double>::quiet_NaN();
  });
  const auto [run, json, rows] = finished(two_in_a_loop(6.0), models);
  EXPECT_EQ(run.summary.termination, Termination::Completed);
  EXPECT_TRUE(has_fact(run.estimate.reasons, FactCode::EstimateCompanionFailed));
  // The radius grows by exp(h t / 2): found by smaller steps, which have no NaN.
  EXPECT_GT(json["outputs"]["a.y"]["error"], 0.003);
  EXPECT_LT(json["outputs"]["a.y"]["error"], 0.03);
}

TEST(EstimateBadInput, run_of_one_step_is_graded) {
  auto description = two_in_a_loop(0.01);
  const auto [run, json, rows] = finished(description, turning(nullptr));
  EXPECT_EQ(run.summary.macro_steps, 1U);
  EXPECT_EQ(run.verdict.grade, Grade::Unreliable) << "b moves by 5e-5, and the error is as large";
  EXPECT_NEAR(json["outputs"]["b.y"]["max_error"].get<double>() * json["outputs"]["b.y"]["range"].get<double>(), 0.5e-4,
              0.1e-4);
}

TEST(EstimateBadInput, imposed_steps_that_no_companion_fits_leave_the_grade_unknown_with_a_command) {
  auto description = two_in_a_loop(2.7);
  description.step = {0.03, {}};
  description.subsystems[0].step = Written<double>{0.01, {}};  // neither a half nor a quarter of the step
  description.subsystems[1].step = Written<double>{0.09, {}};  // neither twice nor four times the step
  for (auto& subsystem : description.subsystems) {             // else the error is propagated beside the run
    subsystem.states = Written<bool>{false, {}};
    subsystem.linearization = Written<bool>{false, {}};
  }
  const auto [run, json, rows] = finished(description, turning(nullptr));
  EXPECT_EQ(run.summary.termination, Termination::Completed) << run.summary.message;
  EXPECT_EQ(run.verdict.grade, Grade::Unknown) << run.verdict.headline();
  EXPECT_TRUE(has_fact(run.estimate.reasons, FactCode::EstimateNotPossible));
  EXPECT_FALSE(run.verdict.command.empty());
  EXPECT_TRUE(json["outputs"]["a.y"]["error"].is_null());
}

TEST(EstimateBadInput, companions_that_all_fail_leave_the_same_files_and_an_unknown_grade) {
  const auto models = turning([](Time, Duration size, std::span<double>) {
    if (std::abs(size - 0.01) > 1e-6) throw std::runtime_error("only steps of 0.01 s");
  });
  const auto [run, json, rows] = finished(two_in_a_loop(2.0), models);
  EXPECT_EQ(run.summary.termination, Termination::Completed);
  EXPECT_EQ(run.verdict.grade, Grade::Unknown) << run.verdict.headline();
  EXPECT_TRUE(has_fact(run.estimate.reasons, FactCode::EstimateCompanionFailed));
  EXPECT_EQ(json["termination"], "completed");
  EXPECT_EQ(rows, finished(two_in_a_loop(2.0), models, false).rows);
}

/// x' = 2 x + 1 of an integrator and a gain: x = (exp(2 t) - 1) / 2.
TEST(EstimateBadInput, fmu_for_one_instance_has_its_companions_in_another_process) {
  const TemporaryFolder folder;
  write_trap(folder / "once.fmu", "second_crash", "canBeInstantiatedOnlyOncePerProcess=\"true\"");
  write_trap(folder / "gain.fmu", "gain");
  write_text(folder / "system.toml", R"([run]
stop = 1.0
step = 0.01
method = "jacobi"
[subsystems.a]
fmu = "once.fmu"
start = { v = 1.0 }
[subsystems.b]
fmu = "gain.fmu"
start = { v = 0.0 }
[connections]
"a.y" = "b.u"
"b.y" = "a.u"
)");
  const auto result = run_program(folder, {"run", "system.toml", "--out", "out", "--require", "any"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const auto json = Json::parse(text_of(folder / "out/run.json"));
  EXPECT_EQ(json["termination"], "completed");
  const auto& output = json["outputs"]["a.y"];
  ASSERT_EQ(output["estimate"], "companion") << json["verdict"];
  double squares = 0.0;
  double count = 0.0;
  std::istringstream rows(text_of(folder / "out/results.csv"));
  std::string row;
  std::getline(rows, row);
  for (; std::getline(rows, row); count += 1.0) {
    const double t = std::stod(row);
    const double y = std::stod(row.substr(row.find(',') + 1));
    squares += std::pow(y - (std::exp(2.0 * t) - 1.0) / 2.0, 2);
  }
  const double truth = std::sqrt(squares / count) / ((std::exp(2.0) - 1.0) / 2.0);
  EXPECT_GT(truth, 1e-3);
  EXPECT_NEAR(output["error"].get<double>() / truth, 1.0, 0.3);
}

}  // namespace without_estimate_test
}  // namespace entrain::test
