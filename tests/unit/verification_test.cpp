// Runs at h, h/2 and h/4 as a proof of a result.
#include "entrain/verification.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "entrain/recording.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"
#include "support/verified_output.hpp"

namespace entrain {
namespace verification_test {

using test::kAnyError;
using test::output;

/// The largest error of an output against the equations solved as one.
double true_error(const SystemDescription& description, const std::string& name) {
  const auto column = [&](const std::string& method) {
    auto changed = description;
    changed.method.value = method;
    Simulation simulation(changed);
    MemoryRecorder recorder;
    simulation.observe(recorder);
    simulation.run();
    return recorder.column(name);
  };
  const auto ours = column(description.method.value);
  const auto exact = column("monolithic");
  double worst = 0.0;
  for (std::size_t k = 0; k < ours.size(); ++k) worst = std::max(worst, std::abs(ours[k] - exact[k]));
  return worst;
}

TEST(Verify, error_bar_is_the_true_error_to_ten_per_cent) {
  const auto held = test::changed(test::example("mechanical"), {.step = 1e-4, .stop = 0.5});
  const auto result = verify(held);
  ASSERT_TRUE(result.confirmed(kAnyError));
  const auto& x = output(result, "left.x");
  EXPECT_NEAR(*x.order, 1.0, 0.05);
  EXPECT_NEAR(*x.error_bar / true_error(held, "left.x"), 1.0, 0.1);
}

TEST(Verify, sees_the_order_of_an_implicit_method) {
  const auto result =
      verify(test::changed(test::example("mechanical"), {.method = "missiles", .step = 4e-3, .stop = 0.5}));
  EXPECT_NEAR(*output(result, "left.x").order, 4.0, 0.3);
}

/// The bound covers the true error: 1.25 times the root mean square where the order is as it should be, else 2 times.
TEST(Verify, bound_has_a_factor_of_safety) {
  const auto held = verify(test::changed(test::example("mechanical"), {.step = 1e-4, .stop = 0.5}));
  const auto& x = output(held, "left.x");
  EXPECT_EQ(x.safety, 1.25);
  EXPECT_EQ(x.relative_bound(), std::max(1.25 * x.rms_error / x.range, x.relative_error()));
  auto unsure = x;
  unsure.safety = 3.0;
  unsure.rms_error = 0.9 * *x.error_bar;
  EXPECT_EQ(unsure.relative_bound(), 3.0 * unsure.rms_error / x.range);
  Verification of;
  of.outputs = {unsure};
  Tolerances tolerances;
  tolerances.usual = 1.5 * x.relative_error();
  EXPECT_EQ(of.grade(tolerances), Grade::Check) << "within the tolerance without its factor of safety";
  EXPECT_NE(of.headline(tolerances).find("Check: error at most "), std::string::npos) << of.headline(tolerances);
}

TEST(Verify, black_box_without_any_capability) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = 1e-2, .stop = 2.0});
  for (auto& subsystem : description.subsystems) {
    subsystem.rollback = subsystem.states = subsystem.linearization = Written<bool>{false, {}};
    subsystem.input_degree = Written<std::int64_t>{0, {}};
  }
  EXPECT_NEAR(*output(verify(description), "prey.p").order, 1.0, 0.1);
}

TEST(Verify, imposed_step_that_stays_is_not_confirmed) {
  auto description = test::changed(test::example("lotka_volterra"), {.step = 0.01, .stop = 2.0});
  description.subsystems[0].step = {0.04, {}};
  const auto result = verify(description);
  // The prey talks every 0.04 s whatever the macro step: the runs may agree and still be wrong.
  EXPECT_EQ(result.unrefined, std::vector<std::string>{"prey"});
  EXPECT_FALSE(result.confirmed(kAnyError));
}

TEST(Verify, step_beyond_stability_is_not_confirmed) {
  // Stable to 9.1 s. The finer runs are stable, so the differences fall, but the first run has a larger error than it
  // moves.
  const auto result =
      verify(test::changed(test::example("oscillator"), {.method = "gauss-seidel", .step = 12.0, .stop = 480.0}));
  ASSERT_FALSE(result.failure) << *result.failure;
  const auto& x = output(result, "motion_side.x");
  EXPECT_EQ(x.verdict, OutputVerdict::StepTooLong);
  EXPECT_GT(x.relative_error(), 1.0);
  EXPECT_FALSE(result.confirmed(kAnyError));
}

/// A loop of gain -3.2 under held inputs grows with every macro step: the finer the run, the farther.
TEST(Verify, blow_up_is_never_at_rounding) {
  auto description = test::system_from(R"(
    [run]
    step = 0.01
    method = "jacobi"
    [subsystems.a]
    model = "half"
    [subsystems.b]
    model = "half"
    [connections]
    "a.y" = { to = "b.u", factor = -6.13 }
    "b.y" = { to = "a.u", factor = 2.07 }
  )");
  const ModelFactory models = [](std::string_view) -> std::unique_ptr<Model> {
    return std::make_unique<test::StaticModel>([](Time, double u) { return 0.5 * u + 1.0; });
  };
  for (const double stop : {1.0, 1.5, 2.0}) {
    description.stop = {stop, {}};
    const auto result = verify(description, {}, models);
    for (const auto* name : {"a.y", "b.y"}) {
      EXPECT_EQ(output(result, name).verdict, OutputVerdict::StepTooLong) << stop;
      EXPECT_GT(output(result, name).relative_error(), 1.0) << stop;
    }
    EXPECT_EQ(result.grade(), Grade::Unreliable) << stop;
  }
}

TEST(Verify, exact_coupling_agrees_to_rounding) {
  const auto result =
      verify(test::changed(test::example("mechanical"), {.method = "monolithic", .step = 1e-2, .stop = 0.2}));
  EXPECT_EQ(output(result, "left.x").verdict, OutputVerdict::AtRounding);
}

TEST(Verify, failing_run_is_reported_with_its_step) {
  const auto description = test::system_from(R"(
    [run]
    stop = 1.0
    step = 0.1
    method = "jacobi"
    [subsystems.a]
    model = "late"
    [subsystems.b]
    model = "late"
    [connections]
    "a.y" = "b.u"
    "b.y" = "a.u"
  )");
  const auto result = verify(description, {}, [](std::string_view) -> std::unique_ptr<Model> {
    return std::make_unique<test::StaticModel>([](Time t, double) { return t > 0.5 ? std::nan("") : 1.0; });
  });
  ASSERT_TRUE(result.failure);
  EXPECT_NE(result.failure->find("the run with a step of 0.1 s failed: subsystem 'a'"), std::string::npos)
      << *result.failure;
  EXPECT_FALSE(result.confirmed(kAnyError));
}

}  // namespace verification_test
}  // namespace entrain
