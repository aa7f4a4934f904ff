// Measured orders of ifosmondi, with trials by rollback and by estimate. Reference values: docs/theory/reproduction.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "entrain/recording.hpp"
#include "reproduce/measure.hpp"
#include "support/ode_model.hpp"
#include "support/places.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace ifosmondi_test {

using test::OdeModel;

struct Arrangement {
  SystemDescription description;
  std::string signal;
  ModelFactory models = {};
};

std::vector<double> recorded(SystemDescription description, const Arrangement& arrangement) {
  Simulation simulation(description, {}, arrangement.models);
  MemoryRecorder recorder({arrangement.signal});
  simulation.observe(recorder);
  const auto& summary = simulation.run();
  if (summary.termination != Termination::Completed) throw std::runtime_error(summary.message);
  return recorder.column(arrangement.signal);
}

/// Error in per cent of the range, over all communication times.
double error_of(const Arrangement& arrangement, double step, const std::vector<std::string>& options = {}) {
  std::vector<std::string> all{"iteration_tolerance=1e-12"};
  all.insert(all.end(), options.begin(), options.end());
  const auto ours = recorded(
      test::changed(arrangement.description, {.method = "ifosmondi", .step = step, .options = all}), arrangement);
  const auto exact =
      recorded(test::changed(arrangement.description, {.method = "monolithic", .step = step}), arrangement);
  return reproducing::percent_error(ours, exact);
}

double order_of(const Arrangement& arrangement, double step, const std::vector<std::string>& options = {}) {
  return std::log2(error_of(arrangement, step, options) / error_of(arrangement, step / 2, options));
}

SystemDescription with_trials(SystemDescription description, TrialChoice trials) {
  for (auto& subsystem : description.subsystems) subsystem.trials = {trials, {}};
  return description;
}

Arrangement lotka_volterra(TrialChoice trials) {
  return {with_trials(test::example("lotka_volterra"), trials), "prey.p"};
}

TEST(IfosmondiOrder, is_4_with_rollback) {
  EXPECT_NEAR(order_of(lotka_volterra(TrialChoice::Rollback), 0.05), 4.0, 0.1);
}

TEST(IfosmondiOrder, is_3_with_estimates) {
  EXPECT_NEAR(order_of(lotka_volterra(TrialChoice::Costarica), 0.05), 3.0, 0.1);
}

TEST(IfosmondiOrder, is_4_with_estimates_that_reconstruct_the_rest_of_the_rate) {
  EXPECT_NEAR(order_of(lotka_volterra(TrialChoice::Costarica), 0.05, {"reconstruction=2"}), 4.0, 0.15);
  EXPECT_NEAR(order_of(lotka_volterra(TrialChoice::Costarica), 0.05, {"reconstruction=2", "linearize=\"once\""}), 4.0,
              0.15);
}

TEST(IfosmondiOrder, is_1_with_estimates_without_state_derivatives) {
  auto arrangement = lotka_volterra(TrialChoice::Costarica);
  for (auto& subsystem : arrangement.description.subsystems) subsystem.state_derivatives = {false, {}};
  EXPECT_NEAR(order_of(arrangement, 0.01), 1.0, 0.1);
}

TEST(IfosmondiOrder, restarting_from_real_outputs_makes_the_error_of_estimates_four_times_smaller) {
  const auto arrangement = lotka_volterra(TrialChoice::Costarica);
  EXPECT_NEAR(error_of(arrangement, 0.05, {"restart=\"c1\""}) / error_of(arrangement, 0.05), 4.0, 0.1);
}

TEST(IfosmondiOrder, with_rollback_here_and_estimates_there_is_3_and_nearly_as_good_as_with_estimates_alone) {
  auto mixed = lotka_volterra(TrialChoice::Auto);
  mixed.description.subsystems[1].rollback = {false, {}};
  EXPECT_GE(order_of(mixed, 0.05), 2.9);
  EXPECT_LE(error_of(mixed, 0.05), 1.5 * error_of(lotka_volterra(TrialChoice::Costarica), 0.05));
}

/// The same system of FMUs: one folder below ENTRAIN_FMUS per subsystem.
SystemDescription as_fmus(const SystemDescription& native, const std::vector<std::string>& folders) {
  const std::string root = test::fmu_folder();
  auto description = reproducing::with_fmus(native, {root + "/2"});
  for (std::size_t s = 0; s < folders.size(); ++s) {
    auto& fmu = description.subsystems[s].fmu;
    fmu = root + folders[s] + "/2/" + std::filesystem::path(fmu).filename().string();
  }
  return description;
}

/// Error of a system of FMUs against the native reference.
double fmu_error(const Arrangement& native, const std::vector<std::string>& folders, double step,
                 const std::string& epsilon) {
  const auto fmus = as_fmus(native.description, folders);
  const auto run =
      test::changed(fmus, {.method = "ifosmondi", .step = step, .options = {"iteration_tolerance=" + epsilon}});
  const auto reference = test::changed(native.description, {.method = "monolithic", .step = step});
  return reproducing::percent_error(recorded(run, native), recorded(reference, native));
}

const std::string kRollback = "/test/strict";
const std::string kNoRollback = "/test/no_rollback";

TEST(IfosmondiFmus, a_mixed_pair_has_order_3_and_is_nearly_as_good_as_with_estimates_alone) {
  const auto pair = lotka_volterra(TrialChoice::Auto);
  const auto mixed = [&](double step) { return fmu_error(pair, {kRollback, kNoRollback}, step, "1e-12"); };
  EXPECT_GE(std::log2(mixed(0.05) / mixed(0.025)), 2.9);
  EXPECT_LE(mixed(0.05), 1.5 * fmu_error(pair, {kNoRollback, kNoRollback}, 0.05, "1e-12"));
}

TEST(IfosmondiFmus, meet_the_rows_of_the_tables_with_rollback_and_without) {
  // At most twice the verified values of missiles.table4 and table6 (docs/theory/reproduction.md).
  const Arrangement mechanical{test::example("mechanical"), "left.x"};
  for (const auto& folder : {kRollback, kNoRollback}) {
    EXPECT_LE(fmu_error(mechanical, {folder, folder}, 1e-3, "1e-5"), 2 * 8.0e-7) << folder;
    EXPECT_LE(fmu_error(lotka_volterra(TrialChoice::Auto), {folder, folder}, 1e-3, "1e-5"), 2 * 3.6e-8) << folder;
  }
}

Arrangement with_input_degree(int degree, TrialChoice trials) {
  Arrangement arrangement{with_trials(test::example("mechanical"), trials), "left.x"};
  for (auto& subsystem : arrangement.description.subsystems) subsystem.input_degree = {degree, {}};
  return arrangement;
}

TEST(IfosmondiOrder, with_inputs_of_a_lower_degree_has_the_errors_of_the_reference) {
  // docs/theory/trials.md, at 1e-3 s: degree 1: 1.1e-6 %, order 4; degree 0: 1.1e-2 %, order 2.
  for (const TrialChoice trials : {TrialChoice::Rollback, TrialChoice::Costarica}) {
    EXPECT_NEAR(error_of(with_input_degree(1, trials), 1e-3), 1.1e-6, 0.05e-6) << to_word(trials);
    EXPECT_NEAR(order_of(with_input_degree(1, trials), 2e-3), 4.0, 0.1) << to_word(trials);
    EXPECT_NEAR(error_of(with_input_degree(0, trials), 1e-3), 1.1e-2, 0.05e-2) << to_word(trials);
    EXPECT_NEAR(order_of(with_input_degree(0, trials), 2e-3), 2.0, 0.1) << to_word(trials);
  }
}

TEST(IfosmondiOrder, is_3_without_output_derivatives) {
  Arrangement arrangement{test::example("mechanical"), "left.x"};
  for (auto& subsystem : arrangement.description.subsystems) {
    subsystem.output_derivative_order = {0, {}};
    subsystem.linearization = {false, {}};
  }
  EXPECT_NEAR(order_of(arrangement, 1e-3), 3.0, 0.1);
}

/// Prey and predator that send p^2 and P^3, and take the roots of what they receive: the same motion.
Arrangement bent_outputs() {
  Arrangement arrangement;
  arrangement.description = with_trials(test::system_from(R"(
    [run]
    stop = 20.0
    [subsystems.prey]
    model = "square"
    [subsystems.predator]
    model = "cube"
    [connections]
    "prey.y" = "predator.u"
    "predator.y" = "prey.u"
  )"),
                                        TrialChoice::Costarica);
  arrangement.signal = "prey.y";
  arrangement.models = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "square") {
      return std::make_unique<OdeModel>(
          OdeModel::Equation{[](double x, double u) { return x * (2.0 / 3.0 - 4.0 / 3.0 * std::cbrt(u)); },
                             [](double x, double) { return x * x; }, 1.0});
    }
    return std::make_unique<OdeModel>(OdeModel::Equation{[](double x, double u) { return x * (std::sqrt(u) - 1.0); },
                                                         [](double x, double) { return x * x * x; }, 1.0});
  };
  return arrangement;
}

TEST(IfosmondiOrder, with_bent_outputs_is_3_when_the_control_part_is_continued_and_2_when_held) {
  EXPECT_NEAR(order_of(bent_outputs(), 0.025), 3.0, 0.15);
  EXPECT_NEAR(order_of(bent_outputs(), 0.025, {"control=\"hold\""}), 2.0, 0.15);
}

/// Feedthrough on both sides with a loop gain of -3, one side stiff: held inputs grow threefold with every macro step.
Arrangement stiff_feedthrough(TrialChoice trials) {
  Arrangement arrangement;
  arrangement.description = with_trials(test::system_from(R"(
    [run]
    stop = 1.0
    [subsystems.a]
    model = "stiff"
    [subsystems.b]
    model = "slow"
    [connections]
    "a.y" = "b.u"
    "b.y" = "a.u"
  )"),
                                        trials);
  arrangement.signal = "a.y";
  arrangement.models = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "stiff") {
      return std::make_unique<OdeModel>(
          OdeModel::Equation{[](double x, double u) { return -1000.0 * (x + x * x * x - u); },
                             [](double x, double u) { return x + 2.0 * u + 0.05 * u * u * u; }, 0.5, true});
    }
    return std::make_unique<OdeModel>(OdeModel::Equation{[](double x, double u) { return -x - u; },
                                                         [](double x, double u) { return x - 1.5 * u; }, 1.0, true});
  };
  return arrangement;
}

TEST(IfosmondiStiff, couples_where_explicit_methods_blow_up) {
  const double step = 0.01;
  const auto reference = stiff_feedthrough(TrialChoice::Auto);
  for (const char* method : {"jacobi", "gauss-seidel"}) {
    const auto description = test::changed(reference.description, {.method = method, .step = step});
    Simulation simulation(description, {}, reference.models);
    simulation.run();
    const bool blown_up =
        simulation.summary().termination == Termination::Failed || std::abs(simulation.value("a.y")) > 1e6;
    EXPECT_TRUE(blown_up) << method;
  }
  const auto values = [&](const Arrangement& of, const std::string& method, const std::vector<std::string>& options) {
    Simulation simulation(test::changed(of.description, {.method = method, .step = step, .options = options}), {},
                          of.models);
    std::vector<double> at;
    for (const Time t : {0.1, 0.5, 1.0}) {
      simulation.run_until(t);
      at.push_back(simulation.value("a.y"));
    }
    EXPECT_EQ(simulation.summary().termination, Termination::Completed) << simulation.summary().message;
    return at;
  };
  const auto exact = values(reference, "monolithic", {});
  for (const TrialChoice trials : {TrialChoice::Rollback, TrialChoice::Costarica}) {
    for (const char* solver : {"anderson", "newton-krylov"}) {
      const auto ours = values(stiff_feedthrough(trials), "ifosmondi", {std::string("solver=\"") + solver + "\""});
      for (std::size_t k = 0; k < exact.size(); ++k) {
        EXPECT_NEAR(ours[k], exact[k], 1e-3 * std::abs(exact[k])) << to_word(trials) << ' ' << solver;
      }
    }
  }
}

class Solver : public testing::TestWithParam<const char*> {};

TEST_P(Solver, finds_the_same_coupling) {
  const auto arrangement = lotka_volterra(TrialChoice::Rollback);
  const std::string option = std::string("solver=\"") + GetParam() + "\"";
  EXPECT_NEAR(error_of(arrangement, 0.05, {option}), error_of(arrangement, 0.05), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Ifosmondi, Solver, testing::Values("anderson", "newton-krylov", "fixed-point"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(IfosmondiEvents, an_announced_jump_keeps_order_4_and_a_hidden_one_is_found_and_costs_it) {
  const auto final_error = [](double step, bool hidden) {
    auto description =
        test::changed(test::example("two_mass"),
                      {.method = "ifosmondi", .step = step, .stop = 150.0, .options = {"iteration_tolerance=1e-12"}});
    if (hidden) description.subsystems[1].events = {std::vector<double>{}, {}};
    Simulation simulation(description);
    EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    EXPECT_EQ(simulation.summary().warnings.empty(), !hidden);
    Simulation exact(test::changed(test::example("two_mass"), {.method = "monolithic", .step = 1.0, .stop = 150.0}));
    exact.run();
    return std::abs(simulation.value("left.x") - exact.value("left.x"));
  };
  EXPECT_NEAR(std::log2(final_error(0.4, false) / final_error(0.2, false)), 4.0, 0.1);
  EXPECT_NEAR(std::log2(final_error(0.4, true) / final_error(0.2, true)), 1.0, 0.1);
}

}  // namespace ifosmondi_test
}  // namespace entrain
