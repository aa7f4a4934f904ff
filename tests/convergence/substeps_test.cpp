// Sub-steps: what a subsystem that takes constants loses against one that takes the polynomials whole.
#include <gtest/gtest.h>

#include <cmath>

#include "support/systems.hpp"

namespace entrain {
namespace substeps_test {

struct Case {
  std::string method;
  int degree;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.method << " degree " << c.degree;
}

/// Two masses, of which the second follows the first; it has no feedthrough to what is measured. (In Lotka-Volterra's
/// equations only the integral of an input counts, so means lose nothing.)
constexpr const char* kMasses = R"(
run = { stop = 2.0, step = 0.1 }
[subsystems.first]
model = "chain.mass"
start = { x = 1.0 }
[subsystems.second]
model = "chain.mass"
[connections]
"first.x" = "second.left_x"
"first.v" = "second.left_v"
)";

/// The second mass at t = 2 s. `substeps` = 0: the polynomials are taken whole; else constants only, in so many
/// sub-steps.
double position_after(const Case& c, std::int64_t substeps, int threads = 1) {
  auto description = test::changed(test::system_from(kMasses),
                                   {.method = c.method, .options = {"degree=" + std::to_string(c.degree)}});
  if (substeps > 0) {
    description.subsystems[1].input_degree = {0, {}};
    description.subsystems[1].substeps = {substeps, {}};
  }
  Simulation simulation(description, {.threads = threads, .interrupt = nullptr});
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return simulation.value("second.x");
}

class Substeps : public testing::TestWithParam<Case> {};

// A part of length h / k under the mean has the right impulse; what is left is its third power, k times per step.
TEST_P(Substeps, lose_a_share_that_falls_with_the_square_of_their_number) {
  const double whole = position_after(GetParam(), 0);
  double before = std::abs(position_after(GetParam(), 2) - whole);
  for (const std::int64_t substeps : {4, 8, 16}) {
    const double loss = std::abs(position_after(GetParam(), substeps) - whole);
    EXPECT_NEAR(std::log2(before / loss), 2.0, 0.1) << substeps << " sub-steps";
    before = loss;
  }
}

TEST_P(Substeps, give_the_same_bits_with_any_number_of_threads) {
  EXPECT_EQ(position_after(GetParam(), 4, 1), position_after(GetParam(), 4, 4));
}

INSTANTIATE_TEST_SUITE_P(ExplicitMethods, Substeps,
                         testing::Values(Case{"jacobi", 1}, Case{"jacobi", 2}, Case{"jacobi", 3},
                                         Case{"gauss-seidel", 1}));

}  // namespace substeps_test
}  // namespace entrain
