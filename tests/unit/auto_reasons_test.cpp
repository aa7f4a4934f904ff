// Every reason that method = "auto" gives is true of the system at hand.
#include <gtest/gtest.h>

#include <cmath>

#include "advise/choose_method.hpp"
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

ModelFactory with_gain(double gain) {
  return [=](std::string_view name) -> std::unique_ptr<Model> {
    const double factor = name == "a" ? 1.0 : -gain;
    return std::make_unique<test::OdeModel>(
        test::OdeModel::Equation{[=](double x, double u) { return -x + factor * u; },
                                 [](double x, double) { return x; }, name == "a" ? 1.0 : 0.0});
  };
}

SystemDescription without_linearization(SystemDescription description) {
  for (auto& subsystem : description.subsystems) subsystem.linearization = {false, {}};
  return description;
}

using test::measured_error;

advising::MethodChoice chosen(const SystemDescription& description, double gain = 1.0) {
  return advising::choose_method(description, with_gain(gain));
}

struct Reason {
  FactCode code;
  std::string subject = {};
};

void expect_reason(const advising::MethodChoice& choice, const std::string& method,
                   const std::vector<Reason>& reasons) {
  EXPECT_EQ(choice.description.method.value, method) << testing::PrintToString(choice.reasons);
  for (const auto& [code, subject] : reasons) {
    EXPECT_TRUE(test::has_fact(choice.reasons, code, subject)) << name_of(code) << "\n"
                                                               << testing::PrintToString(choice.reasons);
  }
}

TEST(AutoReasons, nothing_coupled_needs_no_method) {
  auto alone = pair();
  alone.connections.clear();
  expect_reason(chosen(alone), "jacobi", {{FactCode::NothingCoupled}});
}

TEST(AutoReasons, without_linearization_iterations_need_trials_of_every_subsystem) {
  const auto description = without_linearization(pair());
  expect_reason(chosen(description), "ifosmondi", {{FactCode::NoLinearization, "a"}, {FactCode::IterationsPossible}});
}

TEST(AutoReasons, subsystem_without_trials_is_named) {
  auto description = without_linearization(pair());
  description.subsystems[1].rollback = {false, {}};
  expect_reason(
      chosen(description), "gauss-seidel",
      {{FactCode::NoLinearization, "a"}, {FactCode::MethodObstacle, "b"}, {FactCode::InputsContinuedLinearly}});
}

TEST(AutoReasons, subsystem_with_constant_inputs_receives_the_mean_of_a_line) {
  auto description = without_linearization(pair());
  for (auto& subsystem : description.subsystems) {
    subsystem.rollback = {false, {}};
    subsystem.input_degree = Written<std::int64_t>{0, {}};
  }
  const auto choice = chosen(description);
  expect_reason(choice, "gauss-seidel", {{FactCode::InputsContinuedLinearly}});
  auto held = choice.description;
  held.method_options["gauss-seidel"]["degree"] = {std::int64_t{0}, {}};
  EXPECT_LT(measured_error(choice.description, with_gain(1.0)), 0.2 * measured_error(held, with_gain(1.0)));
}

TEST(AutoReasons, subsystem_that_differentiates_an_input_excludes_methods_that_hold_it_behind_jumps) {
  const auto description = test::changed(test::example("car"), {.method = std::string(method::kAuto)});
  const auto choice = advising::choose_method(description, {});
  expect_reason(choice, "gauss-seidel", {{FactCode::NoPilotRun, "controller"}});
  EXPECT_LT(measured_error(choice.description), 1e-3);
}

TEST(AutoReasons, iterations_that_disagree_with_finer_steps_are_not_chosen) {
  // b remembers how often it was stepped, whatever is taken back: trials count for it.
  auto description = without_linearization(test::two_in_a_loop(100.0));
  description.method.value = method::kAuto;
  const auto models = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "a") return with_gain(1.0)(name);
    const auto count = std::make_shared<int>(0);
    return std::make_unique<test::StaticModel>([count](Time, double u) { return 0.01 * *count - u; },
                                               [count](Time) { ++*count; });
  };
  expect_reason(advising::choose_method(description, models), "gauss-seidel",
                {{FactCode::IterationsDisagree, "ifosmondi"}});
}

TEST(AutoReasons, announced_events_exclude_a_forecast) {
  // The pilot over a fiftieth of the run ends before the first.
  auto description = pair();
  description.subsystems[0].events = Written<std::vector<double>>{{5.0}, {}};
  expect_reason(chosen(description), "missiles", {{FactCode::AnnouncesEvents, "a"}, {FactCode::LinearizationUsed}});
}

TEST(AutoReasons, forecast_that_a_brief_run_refutes_is_reported_with_it) {
  const auto inexact = test::changed(test::example("learning"), {.method = std::string(method::kAuto)});
  const auto refuted = advising::choose_method(inexact, {});
  EXPECT_EQ(refuted.description.method.value, "missiles");
  EXPECT_GT(test::number_of(refuted.reasons, FactCode::SmallestForecastError, "measured"),
            test::number_of(refuted.reasons, FactCode::SmallestForecastError, "measured_forecast"));
  const auto exact = test::changed(test::example("mechanical"), {.method = std::string(method::kAuto)});
  const auto held = advising::choose_method(exact, {});
  ASSERT_TRUE(test::has_fact(held.reasons, FactCode::SmallestForecastError));
  EXPECT_FALSE(held.reasons.front().number("measured"));
}

TEST(AutoReasons, coupling_in_one_direction_needs_no_iterations) {
  auto description = without_linearization(pair());
  description.connections.pop_back();
  expect_reason(chosen(description), "gauss-seidel", {{FactCode::ActsOneWay}});
}

TEST(AutoReasons, longer_imposed_step_is_named_as_what_prevents_a_forecast) {
  auto description = pair();
  description.subsystems[0].step = Written<double>{0.02, {}};
  expect_reason(chosen(description), "gauss-seidel", {{FactCode::NoPilotRun, "a"}});
}

TEST(AutoReasons, printed_error_is_that_of_the_whole_run) {
  // Of which the pilot sees a fiftieth: hardly anything has moved by then.
  for (const auto& [example, step] : {std::pair{"oscillator", 0.5}, {"mechanical", 2e-3}}) {
    const auto description =
        test::changed(test::example(example), {.method = std::string(method::kAuto), .step = step});
    const auto choice = advising::choose_method(description, {});
    const double forecast = test::number_of(choice.reasons, FactCode::SmallestForecastError, "error");
    const double measured = measured_error(choice.description);
    EXPECT_LT(std::max(forecast / measured, measured / forecast), 2.0)
        << *choice.note << "; measured " << measured << ", " << example;
  }
}

TEST(AutoReasons, step_that_would_do_does) {
  auto description = pair();
  description.step = {0.5, {}};
  for (auto& subsystem : description.subsystems) subsystem.input_degree = Written<std::int64_t>{0, {}};
  const auto models = with_gain(100.0);
  const auto choice = advising::choose_method(description, models);
  auto finer = choice.description;
  finer.step = {test::number_of(choice.reasons, FactCode::SmallestForecastError, "better_step"), {}};
  const double forecast = test::number_of(choice.reasons, FactCode::SmallestForecastError, "better_error");
  const double measured = measured_error(finer, models);
  EXPECT_LT(std::max(forecast / measured, measured / forecast), 2.0) << *choice.note << "; measured " << measured;
  EXPECT_LE(forecast, 0.1);
}

}  // namespace auto_reasons_test
}  // namespace entrain
