// Where a coupling is stable, over the step and over parameters: nothing is missed, whatever the grid.
#include "analysis/stable_ranges.hpp"
#include "coupling/engine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analysis/linearize.hpp"
#include "analysis/measures.hpp"
#include "analysis/spectral_content.hpp"
#include "session/prepare.hpp"
#include "support/ring_network.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace stable_ranges_test {

bool contain(const StableRanges& ranges, double value) {
  return std::any_of(ranges.ranges.begin(), ranges.ranges.end(),
                     [&](const StableRange& of) { return of.low <= value && value <= of.high; });
}

/// Two lightly damped masses, coupled: from some steps on stable and unstable ranges alternate.
class TwoMasses {
 public:
  TwoMasses() : network_(linear()), spectrum_(network_) {}

  analysis::StabilityAt sequential(Duration step) const {
    return at(method::sequential_choice(std::vector<std::size_t>{0, 1}, 0, step));
  }
  analysis::StabilityAt parallel(Duration step) const { return at(method::parallel_choice(2, 0, step)); }

 private:
  static LinearNetwork linear() {
    std::vector<Problem> problems;
    const auto prepared = session::prepare(test::example("mechanical"), 1, {}, problems);
    prepared.system->engine().initialize(0.0, 1.0);
    return *analysis::linearized(*prepared.system).network;
  }
  analysis::StabilityAt at(const CouplingChoice& choice) const {
    const auto steps = analysis::subsystem_steps(network_, choice.step, choice.degree);
    return {analysis::step_radius(analysis::StepProgram(network_, steps, choice)), spectrum_.phase_in(choice.step)};
  }

  LinearNetwork network_;
  analysis::SpectralContent spectrum_;
};

TEST(StableRanges, finds_islands_and_their_limits) {
  // Stable below 2 and between 5 and 7.
  const auto found = analysis::stable_ranges(
      {0.1, 100.0, 200}, [](double x) { return analysis::StabilityAt{x < 2.0 || (x > 5.0 && x < 7.0) ? 0.5 : 2.0}; });
  ASSERT_EQ(found.ranges.size(), 2U);
  EXPECT_EQ(found.ranges[0].low, 0.1);
  EXPECT_NEAR(found.ranges[0].high, 2.0, 1e-12);
  EXPECT_NEAR(found.ranges[1].low, 5.0, 1e-12);
  EXPECT_NEAR(found.ranges[1].high, 7.0, 1e-12);
  EXPECT_EQ(found.searched.high, 100.0);
}

TEST(StableRanges, radius_that_is_not_a_number_counts_as_unstable) {
  EXPECT_TRUE(
      analysis::stable_ranges({0.1, 10.0, 20}, [](double) { return analysis::StabilityAt{std::nan("")}; }).empty());
}

TEST(StableRanges, gaps_and_islands_between_two_points_are_found_at_the_extremum) {
  // Points at 0, 1, 2 ..: the gap lies between 4.69 and 4.71, the island likewise.
  const auto gap = analysis::stable_ranges({0.0, 10.0, 11},
                                           [](double x) { return analysis::StabilityAt{1.01 - std::abs(x - 4.7)}; });
  ASSERT_EQ(gap.ranges.size(), 2U);
  EXPECT_NEAR(gap.ranges[0].high, 4.69, 1e-12);
  EXPECT_NEAR(gap.ranges[1].low, 4.71, 1e-12);
  const auto island = analysis::stable_ranges({0.0, 10.0, 11},
                                              [](double x) { return analysis::StabilityAt{0.99 + std::abs(x - 4.7)}; });
  ASSERT_EQ(island.ranges.size(), 1U);
  EXPECT_NEAR(island.ranges[0].low, 4.69, 1e-12);
  EXPECT_NEAR(island.ranges[0].high, 4.71, 1e-12);
}

TEST(StableRanges, island_where_another_eigenvalue_takes_over_is_found) {
  // One falls below 1 at 5.3, another rises above it at 5.33: on the points 0, 0.5 .. the radius only falls.
  const auto found = analysis::stable_ranges({0.0, 10.0, 21}, [](double x) {
    const double k = 0.05 / (0.27 * 0.27);
    return analysis::StabilityAt{std::max(1.0 + (5.3 - x), 1.05 - k * (x - 5.6) * (x - 5.6))};
  });
  ASSERT_EQ(found.ranges.size(), 2U);
  EXPECT_NEAR(found.ranges[0].low, 5.3, 1e-12);
  EXPECT_NEAR(found.ranges[0].high, 5.33, 1e-12);
  EXPECT_NEAR(found.ranges[1].low, 5.87, 1e-12);
}

TEST(StableRanges, of_the_step_are_those_of_brute_force) {
  constexpr int kPoints = 20'000;
  const TwoMasses masses;
  const auto compare = [&](const auto& stability) {
    const analysis::SearchRange search{1e-3 / 64.0, 1.024, 65};
    const StableRanges found = analysis::stable_ranges(search, stability);
    EXPECT_GE(found.ranges.size(), 8U);
    EXPECT_EQ(found.searched.high, search.high);
    for (int k = 1; k <= kPoints; ++k) {
      const Duration step = search.high * k / kPoints;
      ASSERT_EQ(contain(found, step), stability(step).radius < 1.0) << step;
    }
  };
  compare([&](Duration step) { return masses.sequential(step); });
  compare([&](Duration step) { return masses.parallel(step); });
}

TEST(StableRanges, do_not_depend_on_where_the_grid_begins) {
  const TwoMasses masses;
  const auto stability = [&](Duration step) { return masses.sequential(step); };
  const auto limits_above = [&](const analysis::SearchRange& search) {
    std::vector<double> limits;
    for (const auto& [low, high] : analysis::stable_ranges(search, stability).ranges) {
      if (low > 0.1) limits.push_back(low);
      if (high > 0.1 && high < 1.0) limits.push_back(high);
    }
    return limits;
  };
  const auto limits = limits_above({1e-5, 1.0, 65});
  ASSERT_GE(limits.size(), 14U);
  for (const double low : {1.3e-5, 7.7e-4, 0.0123, 0.05}) {
    const auto others = limits_above({low, 1.0, 65});
    ASSERT_EQ(others.size(), limits.size()) << low;
    for (std::size_t i = 0; i < limits.size(); ++i) EXPECT_NEAR(others[i], limits[i], 1e-9) << low;
  }
}

TEST(StableRanges, search_that_takes_too_many_values_ends_early_and_reports_it) {
  const TwoMasses masses;
  int judged = 0;
  const auto found = analysis::stable_ranges({1e-3, 100.0, 65, 300}, [&](Duration step) {
    ++judged;
    return masses.parallel(step);
  });
  EXPECT_GT(found.searched.high, 0.1);
  EXPECT_LT(found.searched.high, 1.0);
  ASSERT_FALSE(found.empty());
  EXPECT_LE(found.ranges.back().high, found.searched.high);
  EXPECT_LT(judged, 500);  // the limits come on top
}

TEST(StableRanges, first_limit_judges_nothing_far_behind_it) {
  double farthest = 0.0;
  const double limit = analysis::first_limit({1.0, 100.0, 48}, [&](double x) {
    farthest = std::max(farthest, x);
    return analysis::StabilityAt{x / 3.0};
  });
  EXPECT_NEAR(limit, 3.0, 1e-12);
  EXPECT_LT(farthest, 3.5);
}

TEST(SpectralContent, phase_counts_the_next_motion_after_the_fastest_has_decayed) {
  LinearNetwork network = test::oscillators_in_a_row(2, false);
  network.subsystems[0].matrices.A.values = {0.0, 1.0, -100.0, 0.0};  // 10 rad/s, for ever
  network.subsystems[1].matrices.A.values = {-10.0, 1000.0, -1000.0, -10.0};
  const analysis::SpectralContent spectrum(network);
  const double life = std::log(1e4) / 10.0;
  EXPECT_NEAR(spectrum.phase_in(0.1), 100.0, 1e-6);
  EXPECT_NEAR(spectrum.phase_in(life + 1.0), 1000.0 * life + 10.0, 1e-6);
}

}  // namespace stable_ranges_test
}  // namespace entrain
