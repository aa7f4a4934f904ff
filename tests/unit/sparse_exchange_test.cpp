// Stiff model-exchange FMUs with many states: their Jacobian by directional derivatives, as sparse as ModelStructure
// says (tests/support/rod_fmu.c).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "entrain/simulation.hpp"
#include "numerics/ode.hpp"
#include "numerics/sparse_ode.hpp"
#include "support/rod_fmus.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace sparse_exchange_test {

constexpr double kPoints = kRodPoints;

// The rod is as stiff as 8 n^2 = 320 000 / s. In the end its temperatures lie on a straight line.
TEST(SparseExchange, rod_reaches_its_steady_state_with_three_products_per_jacobian) {
  const test::TemporaryFolder folder;
  test::write_rod(folder / "rod.fmu");
  Simulation simulation(test::system_from(fmt::format(R"(
run = {{ stop = 2.0, step = 1.0 }}
[subsystems.rod]
fmu = "{}"
relative_tolerance = 1e-8
start = {{ u = 1.0 }}
)",
                                                      (folder / "rod.fmu").string())));
  const auto& summary = simulation.run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_NEAR(simulation.value("rod.middle"), 1.0 - 0.5 * kPoints / (kPoints + 1.0), 1e-6);
  const auto products = static_cast<int>(simulation.value("rod.products"));
  EXPECT_GT(products, 0);
  EXPECT_EQ(products % 3, 0);       // every third point in one group
  EXPECT_LT(products, kRodPoints);  // fewer than one dense Jacobian takes
}

/// x_i' = 100 x_{i+1} (- 150 x_i) in a ring: not symmetric, and a pattern with or without its diagonal.
struct Ring {
  static constexpr std::size_t kSize = 60;
  bool diagonal;

  void derivatives(std::span<const double> x, std::span<double> dx) const {
    for (std::size_t i = 0; i < kSize; ++i) dx[i] = 100.0 * x[(i + 1) % kSize] - (diagonal ? 150.0 * x[i] : 0.0);
  }
  numerics::SparsityPattern pattern() const {
    numerics::SparsityPattern result;
    for (std::size_t j = 0; j < kSize; ++j) {
      std::vector<std::size_t> rows{(j + kSize - 1) % kSize};
      if (diagonal) rows.push_back(j);
      std::sort(rows.begin(), rows.end());
      result.rows_of_column.push_back(std::move(rows));
    }
    return result;
  }
  std::vector<double> solved(bool sparse) const {
    numerics::OdeOptions options;
    options.method = numerics::OdeMethod::Bdf;
    options.relative_tolerance = 1e-9;
    options.absolute_tolerance = 1e-11;
    options.jacobian = pattern();
    EXPECT_TRUE(numerics::is_sparse(*options.jacobian));
    if (sparse) options.linear_solver = numerics::sparse_linear_solver;
    numerics::OdeSolver solver(kSize, options);
    std::vector<double> x(kSize);
    for (std::size_t i = 0; i < kSize; ++i) x[i] = 1.0 + 0.1 * static_cast<double>(i % 7);
    const auto f = [&](Time, std::span<const double> at, std::span<double> dx) { derivatives(at, dx); };
    const auto product = [&](Time, std::span<const double>, std::span<const double> seed, std::span<double> dx) {
      derivatives(seed, dx);  // linear
    };
    numerics::OdeProblem problem{.derivatives = f};
    problem.jacobian_product = product;
    EXPECT_EQ(solver.advance(0.0, 0.05, x, problem).cause, numerics::OdeReached::Cause::End);
    return x;
  }
};

TEST(SparseSolver, goes_where_the_dense_one_goes) {
  for (const bool diagonal : {true, false}) {
    const Ring ring{diagonal};
    const auto dense = ring.solved(false);
    const auto sparse = ring.solved(true);
    for (std::size_t i = 0; i < Ring::kSize; ++i) EXPECT_NEAR(sparse[i], dense[i], 1e-9 * std::abs(dense[i]));
  }
}

TEST(SparseSolver, is_for_many_states_with_few_dependencies) {
  numerics::SparsityPattern full;
  full.rows_of_column.assign(60, std::vector<std::size_t>(60, 0));
  EXPECT_FALSE(numerics::is_sparse(full));
  numerics::SparsityPattern small;
  small.rows_of_column.assign(10, {0});
  EXPECT_FALSE(numerics::is_sparse(small));
}

}  // namespace sparse_exchange_test
}  // namespace entrain
