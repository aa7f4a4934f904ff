#include "subsystem/fmi/fmu_subsystem.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "models/registry.hpp"
#include "subsystem/fmi/fmu_probe.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/any_polynomials.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"

// Our models as FMUs beside the same models as they are: their values and their motion.

namespace entrain {
namespace fmu_subsystem_test {

using test::any_polynomials;

struct Case {
  int version;
  std::string model;
  std::string variant = "strict";  ///< a folder of fmukit's test variants
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.variant << " " << c.model << " FMI " << c.version;
}

std::filesystem::path file_of(const Case& c) {
  std::string name = c.model;
  std::replace(name.begin(), name.end(), '.', '_');
  return std::filesystem::path(test::fmu_folder()) / "test" / c.variant / std::to_string(c.version) / (name + ".fmu");
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const int version : {2, 3}) {
    for (const auto& entry : models::built_in_models()) cases.push_back({version, entry.name});
  }
  return cases;
}

std::vector<double> step(Subsystem& subsystem, Time from, Duration size, int degree) {
  const std::size_t inputs = subsystem.variables().inputs.size();
  const auto coefficients = any_polynomials(inputs, degree);
  std::vector<double> y(subsystem.variables().outputs.size());
  const auto report = subsystem.step({from, size, {coefficients.data(), inputs, degree}}, y);
  EXPECT_EQ(report.outcome, StepOutcome::Completed);
  EXPECT_EQ(report.reached, from + size);
  return y;
}

/// All values of the facets, one after the other.
std::vector<double> all_values(Subsystem& subsystem) {
  const Facets can = subsystem.facets();
  const std::size_t states = subsystem.variables().states.size();
  std::vector<double> all(2 * states);
  if (states > 0) {  // an FMU that lists no states might hide some, so it provides none of them
    can.states->states(std::span(all).first(states));
    can.states->derivatives(std::span(all).last(states));
    Linearization l;
    can.linearizer->linearize(l);
    for (const auto* m : {&l.A, &l.B, &l.C, &l.D}) all.insert(all.end(), m->values.begin(), m->values.end());
  }
  std::vector<double> dy(subsystem.variables().outputs.size());
  can.output_derivatives->output_derivatives(dy);
  all.insert(all.end(), dy.begin(), dy.end());
  return all;
}

/// Coefficients pass through p! c and back: some roundings, of the largest number that the others are made of.
void expect_near(const std::vector<double>& ours, const std::vector<double>& theirs) {
  ASSERT_EQ(ours.size(), theirs.size());
  double largest = 1.0;
  for (const double number : theirs) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < ours.size(); ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-13 * (1.0 + largest));
}

std::vector<std::string> names_of(const std::vector<Variable>& variables) {
  std::vector<std::string> names(variables.size());
  std::transform(variables.begin(), variables.end(), names.begin(), [](const Variable& v) { return v.name; });
  return names;
}

class FmuTwin : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    fmu_ = subsystem::make_fmu_subsystem("s", file_of(GetParam()));
    native_ = subsystem::make_native_subsystem("s", models::make_built_in_model(GetParam().model));
  }
  void initialize() {
    for (auto* subsystem : {fmu_.get(), native_.get()}) subsystem->initialize(0.0, 1.0);
  }
  int degree() const { return fmu_->capabilities().input_degree; }

  std::unique_ptr<Subsystem> fmu_;
  std::unique_ptr<Subsystem> native_;
};

INSTANTIATE_TEST_SUITE_P(All, FmuTwin, testing::ValuesIn(all_cases()), [](const auto& of) {
  std::string name = of.param.variant + of.param.model + "_fmi" + std::to_string(of.param.version);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST_P(FmuTwin, has_the_same_variables) {
  const auto& ours = fmu_->variables();
  const auto& theirs = native_->variables();
  EXPECT_EQ(names_of(ours.inputs), names_of(theirs.inputs));
  EXPECT_EQ(names_of(ours.outputs), names_of(theirs.outputs));
  EXPECT_EQ(names_of(ours.states), names_of(theirs.states));
  EXPECT_EQ(names_of(ours.parameters), names_of(theirs.parameters));
  for (std::size_t i = 0; i < ours.inputs.size(); ++i) EXPECT_EQ(ours.inputs[i].unit, theirs.inputs[i].unit);
  for (std::size_t i = 0; i < ours.parameters.size(); ++i) {
    EXPECT_EQ(ours.parameters[i].start, theirs.parameters[i].start) << ours.parameters[i].name;
  }
}

TEST_P(FmuTwin, can_do_what_the_model_can) {
  const Capabilities& can = fmu_->capabilities();
  const Capabilities& native = native_->capabilities();
  EXPECT_TRUE(can.rollback && can.reset);
  const bool has_states = !native_->variables().states.empty();
  EXPECT_EQ(can.states, has_states);
  EXPECT_EQ(can.state_derivatives, has_states);
  EXPECT_EQ(can.linearization, has_states);
  EXPECT_EQ(can.output_derivative_order, 1);
  EXPECT_FALSE(can.imposed_step);
  EXPECT_EQ(can.announces_events, GetParam().version == 3 && native.announces_events);
  for (const auto& warning : fmu_->warnings()) ADD_FAILURE() << warning;
  for (std::size_t i = 0; i < fmu_->variables().outputs.size(); ++i) {
    for (std::size_t j = 0; j < fmu_->variables().inputs.size(); ++j) {
      EXPECT_EQ(can.feedthrough(i, j), native.feedthrough(i, j)) << i << ", " << j;
    }
  }
}

TEST_P(FmuTwin, evaluates_outputs_before_the_first_step_for_any_inputs) {
  initialize();
  for (const double u : {0.0, 1.0, -2.5}) {
    const std::vector<double> inputs(fmu_->variables().inputs.size(), u);
    std::vector<double> y(fmu_->variables().outputs.size());
    auto expected = y;
    fmu_->evaluate(inputs, y);
    native_->evaluate(inputs, expected);
    EXPECT_EQ(y, expected);
  }
}

TEST_P(FmuTwin, moves_and_speaks_like_the_model_to_the_bit_under_constant_inputs) {
  initialize();
  for (int k = 0; k < 6; ++k) {
    EXPECT_EQ(step(*fmu_, k * 0.05, 0.05, 0), step(*native_, k * 0.05, 0.05, 0)) << "step " << k;
    if (k % 2 == 0) continue;
    EXPECT_EQ(all_values(*fmu_), all_values(*native_)) << "step " << k;
  }
}

TEST_P(FmuTwin, moves_and_speaks_like_the_model_under_polynomial_inputs) {
  initialize();
  for (int k = 0; k < 6; ++k) {
    const int d = std::min(k % 4, degree());  // up and down: derivatives of a step must not live on
    expect_near(step(*fmu_, k * 0.05, 0.05, d), step(*native_, k * 0.05, 0.05, d));
    if (k % 2 == 1) expect_near(all_values(*fmu_), all_values(*native_));
  }
}

TEST_P(FmuTwin, restored_state_replays_to_the_same_bits) {
  initialize();
  Rollback& rollback = *fmu_->facets().rollback;
  const auto run = [&](Time from) {
    std::vector<double> trace;
    for (int k = 0; k < 3; ++k) {
      for (const double y : step(*fmu_, from + k * 0.02, 0.02, std::min(k, degree()))) trace.push_back(y);
      for (const double value : all_values(*fmu_)) trace.push_back(value);
    }
    return trace;
  };
  step(*fmu_, 0.0, 0.01, std::min(2, degree()));
  const StateId first = rollback.save();
  const auto words = all_values(*fmu_);
  const auto expected = run(0.01);
  const StateId second = rollback.save();
  const auto expected_after = run(0.07);
  step(*fmu_, 0.13, 0.3, degree());  // its inputs must be forgotten
  rollback.restore(first);
  EXPECT_EQ(all_values(*fmu_), words);
  EXPECT_EQ(run(0.01), expected);
  rollback.restore(second);
  EXPECT_EQ(run(0.07), expected_after);
  rollback.release(second);
  EXPECT_EQ(rollback.save(), second);  // the pool does not grow
}

TEST_P(FmuTwin, reset_runs_again_to_the_same_bits) {
  initialize();
  const auto expected = step(*fmu_, 0.0, 0.05, degree());
  fmu_->facets().reset->reset();
  fmu_->initialize(0.0, 1.0);
  EXPECT_EQ(step(*fmu_, 0.0, 0.05, degree()), expected);
}

TEST_P(FmuTwin, takes_start_values) {
  const auto& table = native_->variables();
  const auto change = [&](Causality causality, const std::vector<Variable>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].start || !std::holds_alternative<double>(*list[i].start)) continue;
      const Value value = 0.875 * std::get<double>(*list[i].start) + (causality == Causality::State ? 0.125 : 0.0);
      for (auto* subsystem : {fmu_.get(), native_.get()}) subsystem->set_start({causality, i}, value);
    }
  };
  change(Causality::Parameter, table.parameters);
  change(Causality::State, table.states);
  initialize();
  EXPECT_EQ(step(*fmu_, 0.0, 0.05, 0), step(*native_, 0.0, 0.05, 0));
  EXPECT_EQ(all_values(*fmu_), all_values(*native_));
}

/// A far stop makes macro steps that a small step inside would not end in a lifetime.
TEST(TrialStep, contains_at_most_a_hundred_steps_of_the_fmu) {
  subsystem::FmuDescription description;
  description.experiment.stop = 1e8;
  description.co_simulation.emplace();
  description.co_simulation->variable_step = true;
  description.co_simulation->fixed_internal_step = 1e-3;
  EXPECT_DOUBLE_EQ(subsystem::trial_step(description, 0.0, 1e5), 0.1);
  EXPECT_DOUBLE_EQ(subsystem::trial_step(description, 0.0, 0.01), 0.01);
  EXPECT_DOUBLE_EQ(subsystem::trial_step(description, 0.0, std::nullopt), 1e-3);
}

TEST(FmuSubsystem, honours_the_input_degree_that_was_probed) {
  EXPECT_EQ(subsystem::make_fmu_subsystem("s", file_of({2, "mechanical.left"}))->capabilities().input_degree, 3);
  EXPECT_EQ(subsystem::make_fmu_subsystem("s", file_of({3, "mechanical.left"}))->capabilities().input_degree, 3);
}

TEST(FmuSubsystem, of_fmi_3_announces_events_and_ends_its_steps_there) {
  const auto fmu = subsystem::make_fmu_subsystem("s", file_of({3, "two_mass.right"}));
  const auto native = subsystem::make_native_subsystem("s", models::make_built_in_model("two_mass.right"));
  const auto& parameters = native->variables().parameters;
  const auto change_time = std::find_if(parameters.begin(), parameters.end(),
                                        [](const Variable& parameter) { return parameter.name == "change_time"; });
  for (auto* subsystem : {fmu.get(), native.get()}) {
    const auto index = static_cast<std::size_t>(change_time - parameters.begin());
    subsystem->set_start({Causality::Parameter, index}, 0.25);
    ASSERT_TRUE(subsystem->capabilities().announces_events);
    subsystem->initialize(0.0, 1.0);
    EXPECT_EQ(subsystem->facets().events->next_event(0.0), 0.25);
  }
  EXPECT_EQ(step(*fmu, 0.0, 0.2, 0), step(*native, 0.0, 0.2, 0));
  const std::size_t inputs = fmu->variables().inputs.size();
  const auto u = any_polynomials(inputs, 0);
  std::vector<double> y(fmu->variables().outputs.size());
  const auto report = fmu->step({0.2, 0.2, {u.data(), inputs, 0}}, y);
  EXPECT_EQ(report.outcome, StepOutcome::EndedEarly);
  EXPECT_EQ(report.reached, 0.25);
  EXPECT_EQ(fmu->facets().events->next_event(0.25), kNever);
  const auto ours = step(*fmu, 0.25, 0.15, 0);
  const auto theirs = step(*native, 0.2, 0.2, 0);
  expect_near(ours, theirs);
}

TEST(FmuSubsystem, that_does_not_react_to_its_inputs_at_the_start_is_taken_at_its_word) {
  // The controller of the car acts from 10 s on, on the slope of its input: constant inputs would be wrong.
  EXPECT_EQ(subsystem::make_fmu_subsystem("s", file_of({2, "car.controller"}))->capabilities().input_degree, 1);
  EXPECT_EQ(subsystem::make_fmu_subsystem("s", file_of({3, "car.controller"}))->capabilities().input_degree, 3);
}

TEST(FmuSubsystem, without_rollback_shows_the_degree_of_its_inputs_on_new_instances) {
  const auto fmu = subsystem::make_fmu_subsystem("s", file_of({2, "mechanical.left", "no_rollback"}));
  EXPECT_FALSE(fmu->capabilities().rollback);
  EXPECT_EQ(fmu->facets().rollback, nullptr);
  EXPECT_EQ(fmu->capabilities().input_degree, 3);
  EXPECT_TRUE(fmu->capabilities().linearization);
}

TEST(FmuSubsystem, bare_has_no_abilities_and_still_moves) {
  for (const int version : {2, 3}) {
    const auto fmu = subsystem::make_fmu_subsystem("s", file_of({version, "mechanical.left", "bare"}));
    const auto native = subsystem::make_native_subsystem("s", models::make_built_in_model("mechanical.left"));
    const Capabilities& can = fmu->capabilities();
    EXPECT_FALSE(can.rollback || can.states || can.linearization || can.state_derivatives);
    EXPECT_EQ(can.input_degree, 0);
    EXPECT_EQ(can.output_derivative_order, 0);
    EXPECT_TRUE(fmu->warnings().empty());
    fmu->initialize(0.0, 1.0);
    native->initialize(0.0, 1.0);
    EXPECT_EQ(step(*fmu, 0.0, 0.05, 0), step(*native, 0.0, 0.05, 0));
  }
}

TEST(FmuSubsystem, last_step_does_not_pass_the_stop_time_by_a_rounding) {
  const auto fmu = subsystem::make_fmu_subsystem("s", file_of({2, "mechanical.left"}));
  const Time stop = 0.3;
  fmu->initialize(0.0, stop);
  step(*fmu, 0.0, 0.1, 0);
  step(*fmu, 0.1, 0.1, 0);
  ASSERT_GT(0.2 + 0.1, stop);  // in double arithmetic
  std::vector<double> y(fmu->variables().outputs.size());
  const auto u = any_polynomials(fmu->variables().inputs.size(), 0);
  const auto report = fmu->step({0.2, 0.1, {u.data(), fmu->variables().inputs.size(), 0}}, y);
  EXPECT_EQ(report.outcome, StepOutcome::Completed);
  EXPECT_LE(report.reached, stop);
}

}  // namespace fmu_subsystem_test
}  // namespace entrain
