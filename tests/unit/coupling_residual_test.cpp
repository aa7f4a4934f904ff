// What the coupling residual is relative to where a signal has no range worth the name.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace coupling_residual_test {

constexpr double kRounding = std::numeric_limits<double>::epsilon();

/// source.y = function(t, wave), read by a probe under held inputs; wave.y = sin(t) feeds the source.
RunSummary summary_of(const test::StaticModel::Function& function) {
  const ModelFactory models = [&](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "source") return std::make_unique<test::StaticModel>(function);
    if (name == "wave") return std::make_unique<test::StaticModel>([](Time t, double) { return std::sin(t); });
    return std::make_unique<test::StaticModel>([](Time, double) { return 0.0; });
  };
  const auto description = test::changed(test::system_from(R"(
    [run]
    stop = 2.0
    [subsystems.wave]
    model = "wave"
    start = { u = 0.0 }
    [subsystems.source]
    model = "source"
    [subsystems.probe]
    model = "probe"
    [connections]
    "wave.y" = "source.u"
    "source.y" = "probe.u"
  )"),
                                         {.method = "jacobi", .step = 0.1});
  Simulation simulation(description, {}, models);
  return simulation.run();
}

TEST(CouplingResidual, of_a_constant_that_rounding_moves_is_relative_to_its_magnitude) {
  const auto summary =
      summary_of([](Time t, double) { return 5.0 * (1.0 + (std::sin(40 * t) > 0.0 ? kRounding : 0.0)); });
  ASSERT_EQ(summary.connections[1].output, "source.y");
  EXPECT_GT(summary.connections[1].max_residual, 0.0);
  EXPECT_LT(summary.connections[1].max_residual, 2 * kRounding);
  EXPECT_DOUBLE_EQ(summary.connections[1].range, 5.0);
  EXPECT_EQ(summary.worst_connection, "wave.y -> source.u");  // which really lags
}

TEST(CouplingResidual, of_a_zero_that_rounding_moves_is_relative_to_the_signals_around_its_subsystem) {
  const auto summary = summary_of([](Time t, double u) { return (u + std::sin(40 * t)) * 0.1 * kRounding; });
  EXPECT_NEAR(summary.connections[1].range, std::sin(1.6), 1e-3);  // the largest of the wave on the grid
  EXPECT_LT(summary.connections[1].max_residual, kRounding);
}

TEST(CouplingResidual, of_a_small_signal_is_relative_to_its_own_range) {
  const auto summary = summary_of([](Time t, double) { return 7.0 + 1e-9 * std::sin(t); });
  EXPECT_NEAR(summary.connections[1].range, 1e-9, 1e-11);
  EXPECT_NEAR(summary.connections[1].max_residual, 0.1, 0.01);  // a step of 0.1 s late
}

TEST(CouplingResidual, of_what_rests_beside_others_of_its_unit_is_relative_to_what_matters_there) {
  // Twice the same pair of masses; the second moves by 1e-15 of the first.
  const auto description = test::system_from(R"(
    [run]
    stop = 2.0
    step = 0.01
    method = "jacobi"
    [subsystems.a]
    model = "chain.mass"
    start = { x = 1.0 }
    [subsystems.b]
    model = "chain.mass"
    [subsystems.c]
    model = "chain.mass"
    start = { x = 1e-15 }
    [subsystems.d]
    model = "chain.mass"
    [connections]
    "a.x" = "b.left_x"
    "a.v" = "b.left_v"
    "b.F_left" = "a.right_F"
    "c.x" = "d.left_x"
    "c.v" = "d.left_v"
    "d.F_left" = "c.right_F"
  )");
  Simulation simulation(description);
  const auto& connections = simulation.run().connections;
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_GT(connections[c].max_residual, 1e-3) << connections[c].name;
    EXPECT_LT(connections[c + 3].max_residual, 1e-5 * connections[c].max_residual) << connections[c + 3].name;
  }
}

}  // namespace coupling_residual_test
}  // namespace entrain
