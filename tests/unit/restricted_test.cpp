#include "subsystem/restricted.hpp"

#include <gtest/gtest.h>

#include "entrain/error.hpp"
#include "models/registry.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/facts.hpp"

namespace entrain {
namespace restricted_test {

std::unique_ptr<Subsystem> make(const std::string& model, const SubsystemDescription& restrictions) {
  return subsystem::restricted(subsystem::make_native_subsystem("s", models::make_built_in_model(model)), restrictions);
}

TEST(Restricted, an_empty_restriction_is_reported_and_changes_nothing) {
  EXPECT_FALSE(subsystem::restricts(SubsystemDescription{}));
  const auto subsystem = make("two_mass.right", {});
  const auto& can = subsystem->capabilities();
  EXPECT_TRUE(can.rollback && can.states && can.state_derivatives && can.linearization && can.announces_events);
  EXPECT_EQ(can.input_degree, 3);
  EXPECT_EQ(subsystem->name(), "s");
}

TEST(Restricted, takes_away_rollback_input_degree_and_output_derivatives) {
  SubsystemDescription less;
  less.rollback = {false, {}};
  less.input_degree = {1, {}};
  less.output_derivative_order = {0, {}};
  EXPECT_TRUE(subsystem::restricts(less));
  const auto subsystem = make("lotka_volterra.prey", less);
  EXPECT_FALSE(subsystem->capabilities().rollback);
  EXPECT_EQ(subsystem->capabilities().input_degree, 1);
  EXPECT_EQ(subsystem->capabilities().output_derivative_order, 0);
  EXPECT_EQ(subsystem->facets().rollback, nullptr);
  EXPECT_EQ(subsystem->facets().output_derivatives, nullptr);
  EXPECT_NE(subsystem->facets().states, nullptr);
}

TEST(Restricted, without_states_there_is_no_linearization_but_the_equations_stay) {
  SubsystemDescription less;
  less.states = {false, {}};
  const auto subsystem = make("lotka_volterra.prey", less);
  const auto& can = subsystem->capabilities();
  EXPECT_FALSE(can.states || can.state_derivatives || can.linearization);
  EXPECT_TRUE(can.equations);
  const Facets facets = subsystem->facets();
  EXPECT_EQ(facets.states, nullptr);
  EXPECT_EQ(facets.linearizer, nullptr);
  EXPECT_NE(facets.equations, nullptr);
}

TEST(Restricted, without_state_derivatives_the_states_are_still_provided) {
  SubsystemDescription less;
  less.state_derivatives = {false, {}};
  const auto subsystem = make("lotka_volterra.prey", less);
  subsystem->initialize(0.0, 1.0);
  EXPECT_TRUE(subsystem->capabilities().states);
  EXPECT_TRUE(subsystem->capabilities().linearization);
  States* states = subsystem->facets().states;
  ASSERT_NE(states, nullptr);
  double x = 0.0;
  states->states({&x, 1});
  EXPECT_EQ(x, 1.0);
  try {
    states->derivatives({&x, 1});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::MissingCapability);
    EXPECT_EQ(error.context().subsystem, "s");
  }
}

TEST(Restricted, given_events_replace_the_announced_ones) {
  SubsystemDescription known;
  known.events = {{7.5, 2.5}, {}};
  const auto subsystem = make("two_mass.right", known);
  EXPECT_TRUE(subsystem->capabilities().announces_events);
  Events* events = subsystem->facets().events;
  ASSERT_NE(events, nullptr);
  EXPECT_EQ(events->next_event(0.0), 2.5);
  EXPECT_EQ(events->next_event(2.5), 7.5);
  EXPECT_EQ(events->next_event(7.5 * (1 - 1e-16)), kNever);  // a rounding before it is at it
  EXPECT_EQ(subsystem->facets().equations->next_discontinuity(0.0), 100.0);
}

TEST(Restricted, events_can_be_hidden) {
  SubsystemDescription none;
  none.events.emplace();
  const auto subsystem = make("two_mass.right", none);
  EXPECT_FALSE(subsystem->capabilities().announces_events);
  EXPECT_EQ(subsystem->facets().events, nullptr);
}

TEST(Restricted, follows_capabilities_that_depend_on_parameters) {
  SubsystemDescription less;
  less.rollback = {false, {}};
  const auto subsystem = make("oscillator.force_side", less);
  const auto place = subsystem->variables().find_startable("d_k");
  ASSERT_TRUE(place);
  EXPECT_TRUE(subsystem->capabilities().feedthrough(0, 1));
  subsystem->set_start(*place, Value(0.0));
  EXPECT_FALSE(subsystem->capabilities().feedthrough(0, 1));
}

TEST(Restricted, steps_are_imposed_and_bounded) {
  SubsystemDescription steps;
  steps.step = {0.05, {}};
  steps.min_step = {0.01, {}};
  steps.max_step = {0.1, {}};
  const auto subsystem = make("tough", steps);
  EXPECT_EQ(subsystem->capabilities().imposed_step, 0.05);
  EXPECT_EQ(subsystem->capabilities().min_step, 0.01);
  EXPECT_EQ(subsystem->capabilities().max_step, 0.1);
}

TEST(Additions, are_none_when_something_is_only_taken_away) {
  const auto subsystem = make("tough", {});
  SubsystemDescription less;
  less.rollback = {false, {}};
  less.states = {true, {}};
  less.input_degree = {0, {}};
  less.step = {0.1, {}};
  less.events = {{1.0}, {}};
  EXPECT_TRUE(subsystem::additions(subsystem->capabilities(), less).empty());
}

TEST(Additions, each_attempt_is_named) {
  Capabilities poor;
  poor.input_degree = 1;
  poor.imposed_step = 0.2;
  poor.min_step = 0.1;
  poor.max_step = 0.5;
  SubsystemDescription more;
  more.rollback = {true, {}};
  more.states = {true, {}};
  more.state_derivatives = {true, {}};
  more.linearization = {true, {}};
  more.input_degree = {2, {}};
  more.output_derivative_order = {1, {}};
  more.step = {0.3, {}};
  more.min_step = {0.05, {}};
  more.max_step = {0.6, {}};
  more.name = "part";
  const auto of = [](FactCode code, std::vector<FactValue> values) { return Fact{code, {"part"}, std::move(values)}; };
  const std::vector<Fact> expected = {
      of(FactCode::CapabilityNotThere, {{"key", "rollback"}}),
      of(FactCode::CapabilityNotThere, {{"key", "states"}}),
      of(FactCode::CapabilityNotThere, {{"key", "state_derivatives"}}),
      of(FactCode::CapabilityNotThere, {{"key", "linearization"}}),
      of(FactCode::CapabilityNotRaised, {{"key", "input_degree"}, {"wanted", 2}, {"present", 1}}),
      of(FactCode::CapabilityNotRaised, {{"key", "output_derivative_order"}, {"wanted", 1}, {"present", 0}}),
      of(FactCode::StepIsImposed, {{"step", 0.3, "s"}, {"imposed", 0.2, "s"}}),
      of(FactCode::StepBelowShortest, {{"step", 0.05, "s"}, {"limit", 0.1, "s"}}),
      of(FactCode::StepAboveLongest, {{"step", 0.6, "s"}, {"limit", 0.5, "s"}}),
  };
  EXPECT_EQ(subsystem::additions(poor, more), expected);
}

}  // namespace restricted_test
}  // namespace entrain
