// Model exchange without rollback: the integrator goes on from step to step.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/registry.hpp"
#include "numerics/ode.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/places.hpp"
#include "support/rod_fmus.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace kept_integrator_test {

numerics::OdeOptions with_method(numerics::OdeMethod method) {
  numerics::OdeOptions options;
  options.method = method;
  options.relative_tolerance = 1e-9;
  options.absolute_tolerance = 1e-11;
  return options;
}

/// x'' = -x from (1, 0) to t = 10 in equal parts.
struct Swing {
  int evaluations = 0;
  double error = 0.0;

  Swing(numerics::OdeMethod method, int parts, bool goes_on) {
    numerics::OdeSolver solver(2, with_method(method));
    std::vector<double> x{1.0, 0.0};
    const auto f = [this](Time, std::span<const double> at, std::span<double> dx) {
      ++evaluations;
      dx[0] = at[1];
      dx[1] = -at[0];
    };
    for (int k = 0; k < parts; ++k) {
      const Time from = k == 0 ? 0.0 : 10.0 * k / parts;
      const Time to = 10.0 * (k + 1) / parts;
      static_cast<void>(goes_on ? solver.go_on(from, to, x, {.derivatives = f})
                                : solver.advance(from, to, x, {.derivatives = f}));
    }
    error = std::abs(x[0] - std::cos(10.0));
  }
};

class KeptHistory : public testing::TestWithParam<numerics::OdeMethod> {};

TEST_P(KeptHistory, saves_the_starts) {
  constexpr int kParts = 50;
  const Swing one(GetParam(), 1, false);
  const Swing kept(GetParam(), kParts, true);
  const Swing afresh(GetParam(), kParts, false);
  EXPECT_LE(kept.evaluations, 2 * one.evaluations);
  EXPECT_GE(afresh.evaluations, 3 * kept.evaluations);
  EXPECT_LT(kept.error, 1e-6);  // a thousand steps of 1e-9
}

INSTANTIATE_TEST_SUITE_P(Each, KeptHistory, testing::Values(numerics::OdeMethod::Adams, numerics::OdeMethod::Bdf),
                         [](const auto& method) { return method.param == numerics::OdeMethod::Bdf ? "Bdf" : "Adams"; });

TEST(OdeSolver, that_is_put_elsewhere_starts_afresh) {
  for (const auto method : {numerics::OdeMethod::Adams, numerics::OdeMethod::Bdf}) {
    const auto f = [](Time, std::span<const double> at, std::span<double> dx) {
      dx[0] = at[1];
      dx[1] = -at[0];
    };
    numerics::OdeSolver moved(2, with_method(method));
    numerics::OdeSolver fresh(2, with_method(method));
    std::vector<double> x{1.0, 0.0};
    static_cast<void>(moved.go_on(0.0, 1.0, x, {.derivatives = f}));
    x[0] += 1e-12;
    std::vector<double> other = x;
    static_cast<void>(moved.go_on(1.0, 2.0, x, {.derivatives = f}));
    static_cast<void>(fresh.advance(1.0, 2.0, other, {.derivatives = f}));
    EXPECT_EQ(x, other);
  }
}

subsystem::FmuChoice exchange_without_rollback(double tolerance) {
  subsystem::FmuChoice choice;
  choice.interface = FmuInterface::ModelExchange;
  choice.relative_tolerance = tolerance;
  choice.alone = true;
  choice.uses = CapabilityUse::none();
  return choice;
}

struct Rod {
  double middle, rates;
};

/// With the left end at 1, from t = 1 s on at `then`.
Rod heated(const std::filesystem::path& file, int steps, double then = 1.0) {
  const auto rod = subsystem::make_fmu_subsystem("rod", file, exchange_without_rollback(1e-8));
  static_cast<void>(rod->capabilities());
  rod->set_start(*rod->variables().find("u"), 1.0);
  rod->initialize(0.0, 2.0);
  std::vector<double> outputs(3);
  for (int k = 0; k < steps; ++k) {
    const double from = 2.0 * k / steps;
    const double u = from < 1.0 ? 1.0 : then;
    static_cast<void>(rod->step({from, 2.0 / steps, {&u, 1, 0}}, outputs));
  }
  return {outputs[0], outputs[2]};
}

TEST(KeptIntegrator, of_a_stiff_fmu_costs_no_more_than_twice_that_of_one_step) {
  const test::TemporaryFolder folder;
  test::write_rod(folder / "rod.fmu");
  const auto one = heated(folder / "rod.fmu", 1);
  const auto many = heated(folder / "rod.fmu", 200);
  EXPECT_LE(many.rates, 2.0 * one.rates);
  constexpr double kPoints = kRodPoints;
  const double exact = 1.0 - 0.5 * kPoints / (kPoints + 1.0);
  EXPECT_NEAR(one.middle, exact, 1e-6);
  EXPECT_NEAR(many.middle, exact, 1e-6);
}

TEST(KeptIntegrator, starts_afresh_where_an_input_jumps) {
  const test::TemporaryFolder folder;
  test::write_rod(folder / "rod.fmu");
  const auto kept = heated(folder / "rod.fmu", 20, 3.0);
  EXPECT_NEAR(kept.middle, heated(folder / "rod.fmu", 2, 3.0).middle, 1e-6);
  EXPECT_GT(kept.middle, 1.0);
}

/// Steps much shorter than the explicit integrator would take: the one with a history takes over.
TEST(KeptIntegrator, of_a_smooth_fmu_is_exact_over_short_steps) {
  const auto fmu = subsystem::make_fmu_subsystem("s", test::fmu_folder() + "/test/strict/2/mechanical_left.fmu",
                                                 exchange_without_rollback(1e-10));
  const auto native = subsystem::make_native_subsystem("s", models::make_built_in_model("mechanical.left"));
  const double force = 1.0;
  for (auto* each : {fmu.get(), native.get()}) {
    static_cast<void>(each->capabilities());
    each->set_start(*each->variables().find("F"), force);
    each->initialize(0.0, 2.0);
  }
  std::vector<double> ours(2);
  std::vector<double> exact(2);
  double scale = 0.0;
  double error = 0.0;
  for (int k = 0; k < 2000; ++k) {
    const Subsystem::Step step{1e-3 * k, 1e-3, {&force, 1, 0}};
    static_cast<void>(fmu->step(step, ours));
    static_cast<void>(native->step(step, exact));
    scale = std::max(scale, std::abs(exact[0]));
    error = std::max(error, std::abs(ours[0] - exact[0]));
  }
  EXPECT_LT(error, 1e-7 * scale);  // a thousand times the tolerance, over some periods
}

}  // namespace kept_integrator_test
}  // namespace entrain
