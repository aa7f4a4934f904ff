// Models that fail in the middle of a run.
#include <gtest/gtest.h>

#include <limits>
#include <new>
#include <stdexcept>

#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace broken_models_test {

std::unique_ptr<Model> broken_model(std::string_view name) {
  using test::StaticModel;
  const auto identity = [](Time, double u) { return u; };
  if (name == "nan") {
    return std::make_unique<StaticModel>(
        [](Time t, double) { return t > 0.55 ? std::numeric_limits<double>::quiet_NaN() : t; });
  }
  if (name == "throws") {
    return std::make_unique<StaticModel>(identity, [](Time from) {
      if (from > 0.35) throw std::runtime_error("the table has no entry");
    });
  }
  if (name == "exhausts_memory") {
    return std::make_unique<StaticModel>(identity, [](Time from) {
      if (from > 0.35) throw std::bad_alloc();
    });
  }
  if (name == "echo") return std::make_unique<StaticModel>([](Time, double u) { return 0.1 * u; });
  if (name == "throws_at_start") {
    return std::make_unique<StaticModel>([](Time, double) -> double { throw std::runtime_error("no licence"); });
  }
  return nullptr;
}

Simulation run_with(const std::string& model, MemoryRecorder& recorder) {
  Simulation simulation(
      test::system_from("[run]\nstop = 1.0\nstep = 0.1\n[subsystems.culprit]\nmodel = \"" + model + "\"\n"), {},
      broken_model);
  simulation.observe(recorder);
  simulation.run();
  return simulation;
}

TEST(BrokenModel, that_returns_nan_ends_the_run_with_culprit_time_and_remedy) {
  MemoryRecorder recorder;
  const auto simulation = run_with("nan", recorder);
  EXPECT_EQ(simulation.summary().termination, Termination::Failed);
  const auto failure = simulation.summary().failure;
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->fact().code, FactCode::OutputNotFinite);
  EXPECT_TRUE(std::isnan(failure->fact().number("value").value_or(0.0)));
  EXPECT_EQ(failure->context().subsystem, "culprit");
  EXPECT_EQ(failure->context().variable, "culprit.y");
  EXPECT_NEAR(failure->context().time.value_or(0.0), 0.6, 1e-12);
  EXPECT_FALSE(failure->fact().remedy.empty());
  EXPECT_EQ(recorder.times.size(), 6U);  // 0 .. 0.5: what was good is kept
}

/// The step is cut as long as the iteration does not converge, which under a NaN it never does.
TEST(BrokenModel, that_returns_nan_to_an_iteration_is_named_by_its_output) {
  Simulation simulation(test::system_from(R"([run]
stop = 1.0
step = 0.1
method = "ifosmondi"
[subsystems.culprit]
model = "nan"
[subsystems.other]
model = "echo"
[connections]
"culprit.y" = "other.u"
"other.y" = "culprit.u"
)"),
                        {}, broken_model);
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  const auto failure = simulation.summary().failure;
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->fact().code, FactCode::OutputNotFinite) << failure->what();
  EXPECT_EQ(failure->context().subsystem, "culprit");
  EXPECT_EQ(failure->context().variable, "culprit.y");
  EXPECT_NEAR(failure->context().time.value_or(0.0), 0.55, 0.01);
}

TEST(BrokenModel, that_runs_out_of_memory_is_named_with_the_memory_in_use) {
  MemoryRecorder recorder;
  const auto simulation = run_with("exhausts_memory", recorder);
  const auto failure = simulation.summary().failure;
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->fact().code, FactCode::OutOfMemory);
  EXPECT_EQ(failure->context().subsystem, "culprit");
  EXPECT_GT(failure->fact().number("used").value_or(0.0), 1e6);
}

TEST(BrokenModel, that_throws_is_named_with_its_own_words) {
  MemoryRecorder recorder;
  const auto simulation = run_with("throws", recorder);
  EXPECT_EQ(simulation.summary().termination, Termination::Failed);
  const auto failure = simulation.summary().failure;
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->context().subsystem, "culprit");
  EXPECT_NE(failure->fact().text("text").find("the table has no entry"), std::string::npos) << failure->what();
  EXPECT_NEAR(failure->context().time.value_or(0.0), 0.4, 1e-12);
  EXPECT_EQ(simulation.summary().macro_steps, 4U);
}

TEST(BrokenModel, that_throws_at_the_start_is_named_too) {
  MemoryRecorder recorder;
  const auto simulation = run_with("throws_at_start", recorder);
  EXPECT_EQ(simulation.summary().termination, Termination::Failed);
  EXPECT_EQ(test::place_of_failure(simulation.summary()).subsystem, "culprit");
  EXPECT_TRUE(recorder.times.empty());
}

TEST(BrokenModel, an_observer_that_throws_ends_the_run_as_failed) {
  class FullDisk : public Observer {
    void communicated(const Sample& sample, const RunSummary&) override {
      if (sample.t > 0.25) throw Error(ErrorCode::FileFailed, "no space left");
    }
  };
  FullDisk disk;
  Simulation simulation(test::changed(test::example("lotka_volterra"), {.step = 0.1, .stop = 1.0}));
  simulation.observe(disk);
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  EXPECT_EQ(simulation.summary().failure->code(), ErrorCode::FileFailed);
  EXPECT_EQ(test::failure_of(simulation.summary()).text("text"), "no space left");
}

}  // namespace broken_models_test
}  // namespace entrain
