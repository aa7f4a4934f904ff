#include <gtest/gtest.h>

#include <cmath>

#include "models/registry.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "subsystem/restricted.hpp"
#include "support/places.hpp"

// The short path of a step under held inputs must equal the long one to the last bit, events and ends of runs included.

namespace entrain {
namespace held_step_test {

std::unique_ptr<Subsystem> changing_mass(const std::string& kind) {
  auto subsystem =
      kind == "native"
          ? subsystem::make_native_subsystem("s", models::make_built_in_model("two_mass.right"))
          : subsystem::make_fmu_subsystem("s", test::fmu_folder() + "/test/strict/" + kind + "/two_mass_right.fmu");
  subsystem->set_start(*subsystem->variables().find("change_time"), 1.03);  // inside a step of 0.1 s
  subsystem->capabilities();
  return subsystem;
}

class HeldStepTwin : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, HeldStepTwin, testing::Values("native", "2", "3"),
                         [](const auto& of) { return of.param == "native" ? of.param : "fmi" + of.param; });

/// To `end` by one way or the other, early returns continued.
void advance(Subsystem& subsystem, bool by_held_step, Time from, Time end, const std::vector<double>& u,
             std::vector<double>& y) {
  const HeldStep held = subsystem.held_step();
  while (from < end) {
    if (by_held_step) {
      const StepReport* report = held.function(held.context, from, end - from, u.data(), y.data());
      from = report == nullptr ? end : report->reached;
      if (report != nullptr) {
        ASSERT_EQ(report->outcome, StepOutcome::EndedEarly);
      }
    } else {
      const StepReport report = subsystem.step({from, end - from, {u.data(), u.size(), 0}}, y);
      from = report.outcome == StepOutcome::Completed ? end : report.reached;
    }
  }
}

TEST_P(HeldStepTwin, ends_in_the_same_bits) {
  const auto first = changing_mass(GetParam());
  const auto second = changing_mass(GetParam());
  for (auto* subsystem : {first.get(), second.get()}) subsystem->initialize(0.0, 2.0);
  std::vector<double> ours(first->variables().outputs.size());
  auto theirs = ours;
  for (int k = 0; k < 20; ++k) {
    const std::vector<double> u{std::sin(0.7 * k), std::cos(0.7 * k)};
    advance(*first, true, 0.1 * k, 0.1 * (k + 1), u, ours);
    advance(*second, false, 0.1 * k, 0.1 * (k + 1), u, theirs);
    ASSERT_EQ(ours, theirs) << "step " << k;
    if (k == 12) {  // a step that does not count, by the short path
      Rollback& rollback = *first->facets().rollback;
      const StateId here = rollback.save();
      advance(*first, true, 1.3, 1.35, u, ours);
      rollback.restore(here);
    }
  }
}

TEST_P(HeldStepTwin, can_follow_steps_under_polynomials) {
  const auto first = changing_mass(GetParam());
  const auto second = changing_mass(GetParam());
  std::vector<double> ours(first->variables().outputs.size());
  auto theirs = ours;
  for (auto* subsystem : {first.get(), second.get()}) subsystem->initialize(0.0, 2.0);
  for (int k = 0; k < 9; ++k) {
    const std::vector<double> u{1.0, 2.0 + k, 0.5, -0.5};  // values, slopes
    if (k % 3 == 1) {
      for (auto* subsystem : {first.get(), second.get()}) {
        static_cast<void>(subsystem->step({0.1 * k, 0.1, {u.data(), 2, 1}}, subsystem == first.get() ? ours : theirs));
      }
    } else {
      advance(*first, true, 0.1 * k, 0.1 * (k + 1), {u[0], u[1]}, ours);
      advance(*second, false, 0.1 * k, 0.1 * (k + 1), {u[0], u[1]}, theirs);
    }
    ASSERT_EQ(ours, theirs) << "step " << k;
  }
}

TEST(HeldStep, is_not_taken_away_with_capabilities) {
  SubsystemDescription restrictions;
  restrictions.rollback = {false, {}};
  const auto subsystem = subsystem::restricted(changing_mass("native"), restrictions);
  EXPECT_NE(subsystem->held_step().function, nullptr);
}

TEST(HeldStep, is_not_offered_by_model_exchange) {
  subsystem::FmuChoice choice;
  choice.interface = FmuInterface::ModelExchange;
  const auto subsystem =
      subsystem::make_fmu_subsystem("s", test::fmu_folder() + "/test/strict/2/lotka_volterra_prey.fmu", choice);
  EXPECT_EQ(subsystem->held_step().function, nullptr);
}

}  // namespace held_step_test
}  // namespace entrain
