// State events of native models where subsystems share their events: instants of all.
#include <gtest/gtest.h>

#include <cmath>

#include "support/clocked_fmus.hpp"
#include "support/late_fmus.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace shared_native_events_test {

/// A ball of 1 m height, whose velocity an FMU with event mode doubles. `clock`: how it ticks, which only makes the
/// events common.
SystemDescription system_of(const test::TemporaryFolder& folder, const std::string& more = {}) {
  test::write_clocked(folder, "clocked.fmu",
                      R"(intervalVariability="constant" intervalDecimal="100" shiftDecimal="100")");
  for (const auto& interface : test::kLateInterfaces) test::write_late(folder, "gain", interface);
  return test::system_in(folder, fmt::format(R"([run]
stop = 0.7
step = 0.1
[subsystems.clock]
fmu = "clocked.fmu"
[subsystems.ball]
model = "ball.bounce"
{}
[subsystems.g]
fmu = "gain_fmi3_events.fmu"
[connections]
"ball.v" = "g.u"
)",
                                             more));
}

const double kBounce = std::sqrt(2.0 / 9.81);
const double kSpeed = 9.81 * kBounce;

class NativeStateEvent : public testing::TestWithParam<std::string> {};

TEST_P(NativeStateEvent, is_an_instant_of_all_and_the_jump_arrives_at_once) {
  const test::TemporaryFolder folder;
  auto system = system_of(folder);
  system.method.value = GetParam();
  const auto rows = test::recorded(system);
  std::vector<std::size_t> there;
  for (std::size_t i = 0; i < rows.times.size(); ++i) {
    if (std::abs(rows.times[i] - kBounce) < 1e-6) there.push_back(i);
  }
  ASSERT_EQ(there.size(), 2U) << "of " << rows.times.size();
  const auto& v = rows.column("ball.v");
  const auto& doubled = rows.column("g.y");
  EXPECT_NEAR(v[there[0]], -kSpeed, 1e-5);
  EXPECT_NEAR(v[there[1]], 0.7 * kSpeed, 1e-5);
  EXPECT_EQ(doubled[there[1]], 2.0 * v[there[1]]);
  EXPECT_EQ(rows.times.back(), 0.7);
}

INSTANTIATE_TEST_SUITE_P(Methods, NativeStateEvent, testing::Values("jacobi", "gauss-seidel", "nepce"),
                         [](const auto& tested) {
                           return tested.param == "gauss-seidel" ? std::string("gauss_seidel") : tested.param;
                         });

TEST(SharedNativeEvents, have_the_same_bits_in_a_process_of_their_own) {
  const test::TemporaryFolder folder;
  auto here = system_of(folder);
  here.method.value = "jacobi";
  auto apart = system_of(folder, "isolate = true");
  apart.method.value = "jacobi";
  const auto ours = test::recorded(here);
  const auto theirs = test::recorded(apart);
  EXPECT_EQ(ours.times, theirs.times);
  EXPECT_EQ(ours.column("g.y"), theirs.column("g.y"));
}

/// Without clocks and discrete signals nothing is shared, and steps go through events as they are.
TEST(SharedNativeEvents, of_models_alone_are_no_reason_to_share) {
  const auto rows = test::recorded(
      test::system_from("run = { stop = 0.7, step = 0.1 }\n[subsystems.ball]\nmodel = \"ball.bounce\"\n"));
  EXPECT_EQ(rows.times.size(), 8U);
}

}  // namespace shared_native_events_test
}  // namespace entrain
