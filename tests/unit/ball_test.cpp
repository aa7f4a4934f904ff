#include "models/ball.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "entrain/error.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/places.hpp"

// A ball dropped from 1 m: t1 = sqrt(2 h / g), and after bounce k the flight takes 2 e^k t1.

namespace entrain {
namespace ball_test {

constexpr double kG = 9.81;
constexpr double kE = 0.7;
const double kFirst = std::sqrt(2.0 / kG);

/// Height at t while the ball bounces, which it does for v_min = 0.1 m/s until the 11th bounce.
double height(double t) {
  double speed = kE * kG * kFirst;  // after the bounce
  if (t <= kFirst) return 1.0 - 0.5 * kG * t * t;
  for (double bounce = kFirst;; speed *= kE) {
    const double flight = 2.0 * speed / kG;
    if (t <= bounce + flight) return speed * (t - bounce) - 0.5 * kG * (t - bounce) * (t - bounce);
    bounce += flight;
  }
}

struct Case {
  std::string file;  ///< empty = native
  FmuInterface interface = FmuInterface::CoSimulation;
  double tolerance = 1e-12;  ///< of heights, in m
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << (c.file.empty() ? "native" : c.file);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases{{}};
  for (const char* folder : {"/test/strict/2", "/test/strict/3"}) {
    const std::string file = test::fmu_folder() + folder + "/ball_bounce.fmu";
    cases.push_back({file});
    // A hundred times the tolerance of the integration.
    cases.push_back({file, FmuInterface::ModelExchange, 1e-8});
  }
  return cases;
}

class Ball : public testing::TestWithParam<Case> {
 protected:
  Ball() {
    subsystem::FmuChoice choice;
    choice.interface = GetParam().interface;
    ball_ = GetParam().file.empty() ? subsystem::make_native_subsystem("ball", models::make_bouncing_ball())
                                    : subsystem::make_fmu_subsystem("ball", GetParam().file, choice);
    ball_->capabilities();
  }
  void start(const std::string& name, double value) {
    ball_->set_start(*ball_->variables().find_startable(name), value);
  }
  double step(Time from, Duration size, double a = 0.0) {
    std::vector<double> y(2);
    const auto report = ball_->step({from, size, {&a, 1, 0}}, y);
    EXPECT_EQ(report.outcome, StepOutcome::Completed);
    EXPECT_EQ(report.reached, from + size);
    return y[0];
  }

  std::unique_ptr<Subsystem> ball_;
};

INSTANTIATE_TEST_SUITE_P(All, Ball, testing::ValuesIn(all_cases()), [](const auto& of) {
  std::string name =
      of.param.file.substr(of.param.file.find("fmus") == std::string::npos ? 0 : of.param.file.find("fmus"));
  if (name.empty()) return std::string("native");
  name += of.param.interface == FmuInterface::ModelExchange ? "_exchange" : "_cosimulation";
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '/' || c == '.'; }, '_');
  return name;
});

TEST_P(Ball, follows_the_closed_form_through_its_bounces) {
  ball_->initialize(0.0, 10.0);
  for (int k = 0; k < 23; ++k) {
    EXPECT_NEAR(step(k * 0.1, 0.1), height((k + 1) * 0.1), GetParam().tolerance) << "t = " << (k + 1) * 0.1;
  }
}

TEST_P(Ball, bounces_at_the_times_of_the_closed_form) {
  // Just before and just after each bounce the ball is as high as its speed requires; a bounce that comes too early or
  // too late by d has an error of (1 + e) v d.
  ball_->initialize(0.0, 10.0);
  double bounce = kFirst;
  double t = 0.0;
  for (double speed = kG * kFirst; speed > 1.0; speed *= kE) {
    const double near = 1e-6;
    const double fallen = 0.5 * kG * near * near;
    EXPECT_NEAR((step(t, bounce - near - t) + fallen) / speed, near, GetParam().tolerance);
    EXPECT_NEAR((step(bounce - near, 2.0 * near) + fallen) / (kE * speed), near, GetParam().tolerance);
    t = bounce + near;
    bounce += 2.0 * kE * speed / kG;
  }
}

TEST_P(Ball, comes_to_rest_and_is_lifted_again) {
  ball_->initialize(0.0, 20.0);
  step(0.0, 10.0);
  EXPECT_NEAR(step(10.0, 1.0), 0.0, 1e-300);
  EXPECT_NEAR(step(11.0, 1.0, 9.0), 0.0, 1e-300);  // too little to lift it
  EXPECT_NEAR(step(12.0, 1.0, kG + 2.0), 1.0, 1e-9);
}

TEST_P(Ball, memory_is_restored_with_the_states) {
  ball_->initialize(0.0, 20.0);
  Rollback& rollback = *ball_->facets().rollback;
  const double before = step(0.0, 1.2);
  const StateId flying = rollback.save();
  const double expected = step(1.2, 0.3);
  step(1.5, 10.0);
  const StateId resting = rollback.save();
  rollback.restore(flying);
  EXPECT_EQ(step(1.2, 0.3), expected);
  EXPECT_NE(before, expected);
  rollback.restore(resting);
  EXPECT_NEAR(step(11.5, 1.0), 0.0, 1e-300);
  ball_->facets().reset->reset();
  ball_->initialize(0.0, 20.0);
  EXPECT_EQ(step(0.0, 1.2), before);  // it flies again
}

TEST_P(Ball, begins_with_an_event_when_it_starts_below_the_floor) {
  start("h", -0.5);
  start("v", -2.0);
  ball_->initialize(0.0, 1.0);
  EXPECT_NEAR(step(0.0, 0.1), 1.4 * 0.1 - 0.5 * kG * 0.01, GetParam().tolerance);
}

TEST(BallModel, impossible_parameters_are_refused) {
  const auto ball = subsystem::make_native_subsystem("ball", models::make_bouncing_ball());
  ball->set_start(*ball->variables().find("e"), 1.5);
  EXPECT_THROW(ball->capabilities(), Error);
}

}  // namespace ball_test
}  // namespace entrain
