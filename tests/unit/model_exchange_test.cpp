#include "subsystem/fmi/model_exchange.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "entrain/recording.hpp"
#include "models/registry.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/fmi/jacobian_pattern.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/places.hpp"
#include "support/systems.hpp"

// Our models as FMUs for model exchange, integrated by ours, beside the same models as they are.

namespace entrain {
namespace model_exchange_test {

std::string fmu_file(const std::string& model, const std::string& folder) {
  std::string name = model;
  std::replace(name.begin(), name.end(), '.', '_');
  return fmt::format("{}/{}/{}.fmu", test::fmu_folder(), folder, name);
}

std::unique_ptr<Subsystem> exchange_fmu(const std::string& model, const std::string& folder) {
  subsystem::FmuChoice choice;
  choice.interface = FmuInterface::ModelExchange;
  auto subsystem = subsystem::make_fmu_subsystem("s", fmu_file(model, folder), choice);
  subsystem->capabilities();
  return subsystem;
}

class ExchangeTwin : public testing::TestWithParam<std::pair<int, std::string>> {};

std::vector<std::pair<int, std::string>> all_cases() {
  std::vector<std::pair<int, std::string>> cases;
  for (const int version : {2, 3}) {
    for (const auto& entry : models::built_in_models()) {
      if (entry.name != "car.controller") cases.emplace_back(version, entry.name);  // reads u'
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(All, ExchangeTwin, testing::ValuesIn(all_cases()), [](const auto& of) {
  std::string name = of.param.second + "_fmi" + std::to_string(of.param.first);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST_P(ExchangeTwin, moves_like_the_model_under_cubic_inputs) {
  const auto& [version, model] = GetParam();
  const auto native = subsystem::make_native_subsystem("s", models::make_built_in_model(model));
  const auto fmu = exchange_fmu(model, fmt::format("test/strict/{}", version));
  const std::size_t inputs = native->variables().inputs.size();
  std::vector<double> coefficients;
  for (std::size_t i = 0; i < 4 * inputs; ++i) coefficients.push_back(std::cos(1.0 + 2.0 * static_cast<double>(i)));
  std::vector<double> ours(native->variables().outputs.size());
  auto theirs = ours;
  std::vector<double> scale(ours.size(), 1.0);
  for (auto* subsystem : {native.get(), fmu.get()}) subsystem->initialize(0.0, 2.0);
  for (int k = 0; k < 20; ++k) {
    const InputBlock block(coefficients.data(), inputs, 3);
    static_cast<void>(native->step({0.1 * k, 0.1, block}, theirs));
    const auto report = fmu->step({0.1 * k, 0.1, block}, ours);
    EXPECT_EQ(report.outcome, StepOutcome::Completed);
    for (std::size_t i = 0; i < ours.size(); ++i) {
      scale[i] = std::max(scale[i], std::abs(theirs[i]));
      // The tolerance is 1e-10 per internal step, of which there are some hundred in each step.
      EXPECT_NEAR(ours[i], theirs[i], 1e-8 * (k + 1) * scale[i]) << "output " << i << " at t = " << 0.1 * (k + 1);
    }
  }
}

TEST(ModelExchangeFmu, can_do_everything) {
  for (const char* folder : {"test/strict/2", "test/strict/3"}) {
    const Capabilities can = exchange_fmu("mechanical.right", folder)->capabilities();
    EXPECT_TRUE(can.rollback && can.states && can.state_derivatives && can.linearization && can.output_refresh);
    EXPECT_TRUE(can.equations && can.announces_events && can.reset);
    EXPECT_EQ(can.input_degree, kMaxInputDegree);
    EXPECT_EQ(can.output_derivative_order, 1);
  }
}

TEST(ModelExchangeFmu, without_states_returns_its_outputs) {
  for (const char* folder : {"test/strict/2", "test/strict/3"}) {
    const auto fmu = exchange_fmu("minimal", folder);
    fmu->initialize(0.0, 1.0);
    const double u[] = {3.0, 1.0};
    std::vector<double> y(1);
    const auto report = fmu->step({0.0, 0.5, {u, 1, 1}}, y);
    EXPECT_EQ(report.reached, 0.5);
    EXPECT_EQ(y[0], 0.5 * 3.5 + 1.0);
    Linearization l;
    fmu->facets().linearizer->linearize(l);
    EXPECT_EQ(l.D(0, 0), 0.5);
    EXPECT_EQ(l.A.rows, 0U);
    fmu->facets().output_derivatives->output_derivatives(y);
    EXPECT_EQ(y[0], 0.5);
  }
}

TEST(ModelExchangeFmu, without_state_functions_and_events_is_rolled_back_by_its_states) {
  for (const char* folder : {"test/exchange_only/2", "test/exchange_only/3"}) {
    const auto fmu = exchange_fmu("lotka_volterra.prey", folder);
    EXPECT_TRUE(fmu->capabilities().rollback);
    fmu->initialize(0.0, 1.0);
    const double u = 0.4;
    std::vector<double> first(1);
    std::vector<double> second(1);
    static_cast<void>(fmu->step({0.0, 0.1, {&u, 1, 0}}, first));
    const StateId id = fmu->facets().rollback->save();
    static_cast<void>(fmu->step({0.1, 0.1, {&u, 1, 0}}, first));
    fmu->facets().rollback->restore(id);
    static_cast<void>(fmu->step({0.1, 0.1, {&u, 1, 0}}, second));
    EXPECT_EQ(first, second);
  }
  // With events its states are not all that it remembers.
  EXPECT_FALSE(exchange_fmu("ball.bounce", "test/no_rollback/2")->capabilities().rollback);
}

TEST(ModelExchangeFmu, without_directional_derivatives_is_linearized_by_differences) {
  const auto fmu = exchange_fmu("lotka_volterra.prey", "test/exchange_only/2");
  const auto native = subsystem::make_native_subsystem("s", models::make_built_in_model("lotka_volterra.prey"));
  const double u = 0.4;
  std::vector<double> y(1);
  std::vector<Linearization> l(2);
  int i = 0;
  for (auto* subsystem : {fmu.get(), native.get()}) {
    subsystem->initialize(0.0, 1.0);
    static_cast<void>(subsystem->step({0.0, 0.1, {&u, 1, 0}}, y));
    subsystem->facets().linearizer->linearize(l[static_cast<std::size_t>(i++)]);
  }
  EXPECT_NEAR(l[0].A(0, 0), l[1].A(0, 0), 1e-9);
  EXPECT_NEAR(l[0].B(0, 0), l[1].B(0, 0), 1e-9);
  EXPECT_NEAR(l[0].C(0, 0), 1.0, 1e-9);
  EXPECT_NEAR(l[0].D(0, 0), 0.0, 1e-9);
}

TEST(ModelExchangeFmu, model_that_reads_input_derivatives_offers_co_simulation_only) {
  const auto title = subsystem::fmu_title(fmu_file("car.controller", "test/strict/2"), {});
  EXPECT_EQ(title, "car_controller.fmu (FMI 2.0 co-simulation)");
  EXPECT_THROW(exchange_fmu("car.controller", "test/strict/2"), Error);
}

TEST(ModelExchangeFmu, title_names_both_interfaces_and_the_integrator) {
  subsystem::FmuChoice choice;
  EXPECT_EQ(subsystem::fmu_title(fmu_file("tough", "test/strict/3"), choice),
            "tough.fmu (FMI 3.0 co-simulation; offers model exchange)");
  choice.interface = FmuInterface::ModelExchange;
  choice.relative_tolerance = 1e-8;
  EXPECT_EQ(
      subsystem::fmu_title(fmu_file("tough", "test/strict/3"), choice),
      "tough.fmu (FMI 3.0 model exchange by Runge-Kutta, BDF where stiff, tolerance 1e-08; offers co-simulation)");
}

TEST(ModelExchangeFmu, jacobian_pattern_comes_from_the_model_structure) {
  subsystem::FmuDescription description;
  subsystem::FmuPorts ports;
  ports.state_origins = {{4, 0}, {5, 0}, {6, 0}};
  description.state_derivatives = {
      {7, std::vector<std::size_t>{4, 0}}, {8, std::nullopt}, {9, std::vector<std::size_t>{6, 5}}};
  const auto pattern = subsystem::jacobian_pattern(description, ports);
  EXPECT_EQ(pattern.rows_of_column, (std::vector<std::vector<std::size_t>>{{0, 1}, {1, 2}, {1, 2}}));
  ports.state_origins = {{4, 0}, {4, 1}, {5, 0}, {6, 0}};  // the first is an array
  EXPECT_EQ(subsystem::jacobian_pattern(description, ports).rows_of_column,
            (std::vector<std::vector<std::size_t>>{{0, 1, 2}, {0, 1, 2}, {2, 3}, {2, 3}}));
}

/// The example with its models replaced by their FMUs for model exchange.
SystemDescription with_fmus(SystemDescription system, int version) {
  for (auto& subsystem : system.subsystems) {
    subsystem.fmu = fmu_file(subsystem.model, fmt::format("test/strict/{}", version));
    subsystem.model.clear();
    subsystem.interface = {FmuInterface::ModelExchange, {}};
  }
  return system;
}

class ExchangeSystem : public testing::TestWithParam<test::Change> {};
INSTANTIATE_TEST_SUITE_P(All, ExchangeSystem,
                         testing::Values(test::Change{"jacobi", 0.01, 1.0, {"degree=2"}},
                                         test::Change{"gauss-seidel", 0.01, 1.0},
                                         test::Change{"monolithic", 0.1, 1.0}));

void expect_alike(const SystemDescription& native, const SystemDescription& fmus) {
  MemoryRecorder ours;
  MemoryRecorder theirs;
  Simulation first(native);
  Simulation second(fmus);
  first.observe(theirs);
  second.observe(ours);
  ASSERT_EQ(first.run().termination, Termination::Completed) << first.summary().message;
  ASSERT_EQ(second.run().termination, Termination::Completed) << second.summary().message;
  ASSERT_EQ(ours.names, theirs.names);
  for (std::size_t c = 0; c < ours.columns.size(); ++c) {
    double range = 1.0;
    for (const double value : theirs.columns[c]) range = std::max(range, std::abs(value));
    for (std::size_t k = 0; k < ours.times.size(); ++k) {
      ASSERT_NEAR(ours.columns[c][k], theirs.columns[c][k], 1e-7 * range)
          << ours.names[c] << " at t = " << ours.times[k];
    }
  }
}

TEST_P(ExchangeSystem, agrees_with_the_native_models) {
  for (const char* name : {"mechanical", "lotka_volterra"}) {
    const auto native = test::changed(test::example(name), GetParam());
    for (const int version : {2, 3}) expect_alike(native, with_fmus(native, version));
  }
}

TEST(ExchangeEvents, two_masses_agree_through_the_change_at_100_s) {
  for (const char* method : {"jacobi", "monolithic"}) {
    const auto native = test::changed(test::example("two_mass"), {method, 0.5, 110.0});
    for (const int version : {2, 3}) expect_alike(native, with_fmus(native, version));
  }
}

/// A force that jumps from 0 to 20 at 5 s lifts a ball at rest: from then on it moves with 20 - 9.81 m/s^2.
TEST(ExchangeEvents, a_jump_that_comes_through_a_connection_lifts_the_resting_ball) {
  const auto native = test::system_from(R"(
run = { stop = 8.0, step = 0.3 }
[subsystems.right]
model = "two_mass.right"
start = { x2 = 0.0, v2 = 0.0, x = 0.0, v = 0.0, change_time = 5.0, change_force = 20.0 }
[subsystems.ball]
model = "ball.bounce"
start = { e = 0.3 }
[connections]
"right.F" = { to = "ball.a", factor = 1.0 }
)");
  for (const char* method : {"ifosmondi", "missiles", "monolithic"}) {
    for (const int version : {2, 3}) {
      Simulation simulation(with_fmus(test::changed(native, {.method = method}), version));
      ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
      EXPECT_NEAR(simulation.value("ball.h"), 0.5 * (20.0 - 9.81) * 3.0 * 3.0, 1e-6) << method << ", FMI " << version;
    }
  }
}

TEST(ExchangeEvents, monolithic_handles_state_events_of_models_and_fmus) {
  const auto native = test::system_from(R"(
run = { stop = 2.3, step = 0.1, method = "monolithic" }
[subsystems.ball]
model = "ball.bounce"
)");
  Simulation simulation(native);
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  // Without a coupling the model's own integration is the reference.
  const auto alone = subsystem::make_native_subsystem("ball", models::make_built_in_model("ball.bounce"));
  alone->initialize(0.0, 2.3);
  std::vector<double> y(2);
  const double a = 0.0;
  static_cast<void>(alone->step({0.0, 2.3, {&a, 1, 0}}, y));
  EXPECT_NEAR(simulation.value("ball.h"), y[0], 1e-9);
  for (const int version : {2, 3}) expect_alike(native, with_fmus(native, version));
}

}  // namespace model_exchange_test
}  // namespace entrain
