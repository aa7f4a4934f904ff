// Every reason that method = "auto" gives is true of the system at hand.
#include <gtest/gtest.h>

#include <cmath>

#include "advise/choose_method.hpp"
#include "advise/recommendation.hpp"
#include "entrain/method.hpp"
#include "entrain/run.hpp"
#include "support/facts.hpp"
#include "support/measured_error.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"
#include "support/two_in_a_loop.hpp"

namespace entrain {
namespace auto_reasons_test {

/// a: x' = -x + u, b: x' = -x - gain u; each hears of the other's x.
SystemDescription pair() {
  auto description = test::two_in_a_loop(10.0);
  description.method.value = method::kAuto;
  return description;
}

SystemDescription pair_with_free_step() {
  auto description = pair();
  description.step.reset();
  return description;
}

ModelFactory with_gain(double gain) {
  return [=](std::string_view name) -> std::unique_ptr<Model> {
    const double factor = name == "a" ? 1.0 : -gain;
    return std::make_unique<test::OdeModel>(
        test::OdeModel::Equation{[=](double x, double u) { return -x + factor * u; },
                                 [](double x, double) { return x; }, name == "a" ? 1.0 : 0.0});
  };
}

SystemDescription bare(SystemDescription description) {
  for (auto& subsystem : description.subsystems) {
    subsystem.linearization = subsystem.rollback = subsystem.states = Written<bool>{false, {}};
  }
  return description;
}

using test::measured_error;

advising::MethodChoice chosen(const SystemDescription& description, double gain = 1.0) {
  return advising::choose_method(description, with_gain(gain));
}

TEST(AutoReasons, nothing_coupled_needs_no_method) {
  auto alone = pair();
  alone.connections.clear();
  const auto choice = chosen(alone);
  EXPECT_EQ(choice.description.method.value, "jacobi");
  EXPECT_TRUE(test::has_fact(choice.reasons, FactCode::NothingCoupled));
}

TEST(AutoReasons, linear_system_has_a_forecast_of_the_whole_run_that_is_right) {
  for (const double gain : {1.0, 30.0}) {
    const auto choice = chosen(pair_with_free_step(), gain);
    const double forecast = test::number_of(choice.reasons, FactCode::ForecastTaken, "error");
    const double measured = measured_error(choice.description, with_gain(gain));
    ASSERT_FALSE(std::isnan(forecast)) << testing::PrintToString(choice.reasons);
    EXPECT_LE(measured, 0.01) << gain;
    if (measured < 1e-7) continue;  // integrators of subsystems
    EXPECT_LT(std::max(forecast / measured, measured / forecast), 2.0) << gain << ": " << forecast << ", " << measured;
  }
}

TEST(AutoReasons, system_without_capabilities_is_measured_and_within_the_tolerance) {
  for (const double gain : {1.0, 30.0}) {
    for (const double tolerance : {0.01, 1e-3}) {
      auto description = bare(pair_with_free_step());
      description.tolerance = {tolerance, {}};
      const auto choice = chosen(description, gain);
      EXPECT_FALSE(test::has_fact(choice.reasons, FactCode::ForecastTaken));
      ASSERT_TRUE(test::has_fact(choice.reasons, FactCode::TrialMeasured)) << testing::PrintToString(choice.reasons);
      auto known = choice.description;  // all equations are needed for the truth
      for (auto& subsystem : known.subsystems) subsystem.linearization = subsystem.rollback = subsystem.states = {};
      EXPECT_LE(measured_error(known, with_gain(gain)), tolerance) << gain << " " << choice.description.method.value;
    }
  }
}

TEST(AutoReasons, given_step_is_kept_and_the_one_that_would_do_does) {
  auto description = bare(pair());
  description.step = {0.05, {}};
  description.exclude = {{{"missiles", {}}}};  // identifies such subsystems, and keeps the tolerance
  const auto choice = chosen(description, 30.0);
  EXPECT_EQ(choice.description.step->value, 0.05);
  const double better = test::number_of(choice.reasons, FactCode::ToleranceNotMet, "better_step");
  ASSERT_LT(better, 0.05) << testing::PrintToString(choice.reasons);
  auto finer = choice.description;
  finer.step = {better, {}};
  for (auto& subsystem : finer.subsystems) subsystem.linearization = subsystem.rollback = subsystem.states = {};
  EXPECT_LE(measured_error(finer, with_gain(30.0)), 0.01);
}

TEST(AutoReasons, given_step_is_kept_however_many_of_them_the_run_has) {
  auto description = pair();
  description.step = {1e-3, {}};
  description.stop = {2000.0, {}};
  const auto choice = advising::choose_method(description, with_gain(1.0));
  EXPECT_NE(choice.description.method.value, method::kAuto);
  EXPECT_EQ(choice.description.step->value, 1e-3);
}

TEST(AutoReasons, excluded_method_is_not_chosen) {
  auto description = pair_with_free_step();
  const auto first = chosen(description);
  ASSERT_EQ(first.description.method.value, "missiles");
  EXPECT_TRUE(test::has_fact(first.notes, FactCode::PatentDeclared, "missiles"));
  description.exclude = {{{"missiles", {}}}};
  const auto second = chosen(description);
  EXPECT_NE(second.description.method.value, "missiles");
  EXPECT_FALSE(test::has_fact(second.notes, FactCode::PatentDeclared));
  EXPECT_LE(measured_error(second.description, with_gain(1.0)), 0.01);
}

TEST(AutoReasons, unknown_excluded_method_is_an_error_with_the_nearest) {
  auto description = pair();
  description.exclude = {{{"misiles", {}}}};
  try {
    Simulation simulation(description, {}, with_gain(1.0));
    FAIL() << "misiles is no method";
  } catch (const Error& error) {
    ASSERT_EQ(error.problems().size(), 1U);
    EXPECT_EQ(error.problems().front().fact.code, FactCode::UnknownMethod);
    EXPECT_NE(error.problems().front().remedy.find("missiles"), std::string::npos);
  }
}

TEST(AutoReasons, subsystem_with_side_effects_is_never_run_before_the_run) {
  auto description = pair();
  description.subsystems[1].side_effects = Written<bool>{true, {}};
  const auto choice = chosen(description);
  EXPECT_TRUE(test::has_fact(choice.reasons, FactCode::NotTried, "b")) << testing::PrintToString(choice.reasons);
  EXPECT_EQ(choice.calls, 0.0);
}

TEST(AutoReasons, system_that_no_method_serves_is_refused_with_the_reason) {
  // What goes round is multiplied by -9 at every macro step, and nothing can be solved for without an identified step.
  auto description = bare(pair());
  description.exclude = {{{"missiles", {}}, {"waveform", {}}, {"ifosmondi", {}}}};
  const auto models = [](std::string_view name) -> std::unique_ptr<Model> {
    const double gain = name == "a" ? -3.0 : 3.0;
    return std::make_unique<test::StaticModel>([gain](Time t, double u) { return gain * u + t; });
  };
  for (const bool free : {false, true}) {
    if (free) description.step.reset();
    try {
      const auto choice = advising::choose_method(description, models);
      FAIL() << choice.description.method.value << testing::PrintToString(choice.reasons);
    } catch (const Error& error) {
      EXPECT_EQ(error.fact().code, FactCode::NoMethodServes);
      EXPECT_FALSE(error.fact().text("why").empty());
    }
  }
}

TEST(AutoReasons, subsystem_that_differentiates_an_input_excludes_methods_that_hold_it_behind_jumps) {
  const auto description = test::changed(test::example("car"), {.method = std::string(method::kAuto)});
  const auto choice = advising::choose_method(description, {});
  EXPECT_LT(measured_error(choice.description), 0.01) << choice.description.method.value;
}

TEST(AutoReasons, forecast_that_a_run_refutes_is_reported_and_not_used) {
  // One semi-implicit step of Euler per macro step: no forecast knows that.
  const auto description = test::changed(test::example("learning"), {.method = std::string(method::kAuto)});
  const auto choice = advising::choose_method(description, {});
  EXPECT_TRUE(test::has_fact(choice.notes, FactCode::ForecastRefuted)) << testing::PrintToString(choice.notes);
  EXPECT_FALSE(test::has_fact(choice.reasons, FactCode::ForecastTaken));
}

TEST(AutoReasons, choice_is_written_down_and_taken_from_there) {
  const test::TemporaryFolder folder;
  auto description = pair_with_free_step();
  RunDirectoryOptions options;
  options.folder = folder / "out";
  const auto result = run(description, options, with_gain(1.0));
  const auto written = load(folder / "out/system.resolved.toml", with_gain(1.0));
  EXPECT_EQ(written.method.value, result.summary.method);
  ASSERT_TRUE(written.step);
  EXPECT_EQ(written.step->value, result.summary.step);
}

/// Looked at first, like missiles; no run of it comes to its end.
class Failing : public Method {
 public:
  const MethodTraits& traits() const override {
    static const MethodTraits kTraits{.name = "failing", .summary = "fails", .family = MethodFamily::Implicit};
    return kTraits;
  }
  void start(CoupledSystem&, const RunSettings&) override {}
  MacroStepReport advance(CoupledSystem&) override { throw Error(ErrorCode::SubsystemFailed, "it does not work"); }
  MethodMemory memory() const override { return {}; }
  void restore(const MethodMemory&) override {}
};

TEST(AutoReasons, method_whose_trials_fail_is_named_when_another_is_chosen) {
  auto description = pair_with_free_step();
  description.exclude = {{{"missiles", {}}}};
  Extensions extensions(with_gain(1.0));
  extensions.add_method<Failing>();
  const auto choice = advising::choose_method(description, extensions);
  EXPECT_NE(choice.description.method.value, "failing");
  EXPECT_TRUE(test::has_fact(choice.notes, FactCode::TrialFailed, "failing")) << testing::PrintToString(choice.notes);
}

advising::Offer offer(double ratio, double calls) {
  advising::Offer of;
  of.ratio = ratio;
  of.calls = calls;
  return of;
}

TEST(BestOffer, is_the_cheapest_within_the_tolerance_or_the_most_exact_of_about_its_calls) {
  EXPECT_FALSE(advising::best_offer({}));
  EXPECT_EQ(advising::best_offer({offer(0.9, 100.0), offer(0.3, 240.0), offer(0.01, 260.0)}), 1U);
  EXPECT_EQ(advising::best_offer({offer(0.9, 100.0), offer(0.5, 100.0)}), 0U) << "alike: the first";
  EXPECT_EQ(advising::best_offer({offer(1.1, 1.0), offer(0.9, 1000.0)}), 1U);
  EXPECT_EQ(advising::best_offer({offer(9.0, 1.0), offer(3.0, 1000.0)}), 1U) << "none is: what comes nearest";
}

}  // namespace auto_reasons_test
}  // namespace entrain
