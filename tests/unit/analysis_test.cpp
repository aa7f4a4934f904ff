// Measures of a coupling from linear networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/coupled_motion.hpp"
#include "analysis/linearize.hpp"
#include "analysis/measures.hpp"
#include "analysis/search.hpp"
#include "coupling/engine.hpp"
#include "numerics/eigenvalues.hpp"
#include "session/prepare.hpp"
#include "support/facts.hpp"
#include "support/mass_network.hpp"
#include "support/ring_network.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace analysis_test {

/// Two subsystems without states that pass `gain` times their input on to each other.
LinearNetwork gains_in_a_loop(double first, double second) {
  LinearNetwork network;
  network.outputs = {"a.y", "b.y"};
  for (const double gain : {first, second}) {
    auto& subsystem = network.subsystems.emplace_back();
    subsystem.name = network.subsystems.size() == 1 ? "a" : "b";
    subsystem.matrices = {Matrix(0, 0), Matrix(0, 1), Matrix(1, 0), Matrix(1, 1)};
    subsystem.matrices.D(0, 0) = gain;
    subsystem.inputs = {{subsystem.name + ".u", 2 - network.subsystems.size(), 1.0}};
    subsystem.capabilities.input_degree = kMaxInputDegree;
  }
  return network;
}

LinearNetwork oscillator() {
  std::vector<Problem> problems;
  const auto prepared = session::prepare(test::example("oscillator"), 1, {}, problems);
  prepared.system->engine().initialize(0.0, 1.0);
  return *analysis::linearized(*prepared.system).network;
}

using test::masses;
using test::ring;

double radius(const LinearNetwork& network, const CouplingChoice& choice) {
  const auto steps = analysis::subsystem_steps(network, choice.step, choice.degree);
  return analysis::step_radius(analysis::StepProgram(network, steps, choice));
}

TEST(ExactCoupling, names_the_outputs_of_a_loop_without_solution) {
  try {
    analysis::exact_coupling(gains_in_a_loop(2.0, 0.5));
    FAIL() << "a loop of gain 1 has no unique solution";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::LoopNotSolved);
    EXPECT_NE(std::string(error.what()).find("a.y, b.y"), std::string::npos) << error.what();
  }
}

TEST(ExactCoupling, units_that_are_far_apart_make_no_loop_unsolvable) {
  // What goes round is multiplied by 0.1, whatever the size of the numbers on its way.
  const auto coupling = analysis::exact_coupling(gains_in_a_loop(1e9, 1e-10));
  EXPECT_EQ(coupling.outputs.rows, 2U);
  EXPECT_THROW(analysis::exact_coupling(gains_in_a_loop(1e9, 1e-9)), Error);
}

TEST(ExactCoupling, stiff_spring_is_no_loop) {
  auto description = test::example("mechanical");
  description.subsystems[1].start["c2"] = {1e12, {}};
  std::vector<Problem> problems;
  const auto prepared = session::prepare(description, 1, {}, problems);
  prepared.system->engine().initialize(0.0, 1.0);
  const auto network = *analysis::linearized(*prepared.system).network;
  // Two masses on so stiff a spring, m1 = 5 kg and m2: the fast motion has omega^2 = c2 (1/m1 + 1/m2).
  double c2_by_m2 = 0.0;
  for (const double entry : network.subsystems[1].matrices.B.values) c2_by_m2 = std::max(c2_by_m2, std::abs(entry));
  const double omega = std::sqrt(c2_by_m2 + 1e12 / 5.0);
  EXPECT_NEAR(numerics::spectral_radius(analysis::exact_coupling(network).dynamics), omega, 1e-3 * omega);
}

TEST(Initialisation, converges_by_fixed_point_while_the_gain_around_the_loop_is_below_1) {
  const auto initialisation = [](double gain, const CouplingChoice& choice) {
    const LinearNetwork network = gains_in_a_loop(gain, 1.0);
    const auto steps = analysis::subsystem_steps(network, choice.step, choice.degree);
    return analysis::fixed_point_initialisation(analysis::StepProgram(network, steps, choice));
  };
  const std::vector<std::size_t> sequence{0, 1};
  for (int degree = 0; degree <= kMaxInputDegree; ++degree) {
    SCOPED_TRACE(degree);
    const auto seidel = method::sequential_choice(sequence, degree, 1.0);
    EXPECT_TRUE(initialisation(-0.9, seidel).converges);
    EXPECT_NEAR(initialisation(-0.9, seidel).radius, 0.9, 1e-12);
    EXPECT_FALSE(initialisation(-1.0, seidel).converges);  // oscillates for ever, (51)
    EXPECT_FALSE(initialisation(1.1, seidel).converges);
    // In parallel half of the loop is gone round in a sweep.
    EXPECT_NEAR(initialisation(-0.5, method::parallel_choice(2, degree, 1.0)).radius, std::sqrt(0.5), 1e-12);
  }
}

/// From just stable, by slow growth, to far too long a step; alike masses and different ones.
TEST(SpectralRadius, of_a_sparse_matrix_is_that_of_the_dense_one) {
  for (const auto& [count, spread] : {std::pair<std::size_t, double>{20, 0.0}, {30, 0.0}, {30, 0.9}}) {
    std::vector<std::size_t> sequence(count);
    std::iota(sequence.begin(), sequence.end(), std::size_t{0});
    const LinearNetwork network = masses(count, spread);
    for (const Duration step : {0.01, 0.1, 0.3}) {
      for (const int degree : {0, 1, 3}) {
        const auto steps = analysis::subsystem_steps(network, step, degree);
        auto filtered = method::sequential_choice(sequence, degree, step);
        filtered.gains.assign(network.input_count(), 0.3);
        for (const auto& choice : {method::parallel_choice(count, degree, step),
                                   method::sequential_choice(sequence, degree, step), filtered}) {
          const analysis::StepProgram program(network, steps, choice);
          const double dense = numerics::spectral_radius(analysis::step_matrix(program));
          const double known = dense > 1.2 ? 2e-2 : 1e-8;  // how fast it grows matters less than that it does
          EXPECT_NEAR(numerics::spectral_radius(program.sparse()), dense, known * dense)
              << count << " masses, spread " << spread << ", step " << step << ", degree " << degree << ", "
              << choice.stages.size() << " stages, " << choice.gains.size() << " gains";
        }
      }
    }
  }
}

TEST(SpectralRadius, of_a_thousand_masses_is_that_of_their_slowest_mode) {
  // x'' = -0.1 x - 0.01 x': all masses swing together against the ground; inputs of degree 3 leave that as it is.
  const LinearNetwork network = masses(1000, 0.0);
  const auto choice = method::parallel_choice(1000, 3, 0.01);
  const auto steps = analysis::subsystem_steps(network, choice.step, choice.degree);
  const analysis::StepProgram program(network, steps, choice);
  ASSERT_GT(program.size(), analysis::kLargestDense);
  EXPECT_NEAR(analysis::step_radius(program), std::exp(-0.005 * 0.01), 2e-8);
}

TEST(CoupledMotion, sparse_matrix_has_the_eigenvalues_of_the_dense_one) {
  const LinearNetwork network = masses(40, 0.5);
  const auto motion = analysis::coupled_motion(network);
  const double fastest = analysis::fastest_rate(network);
  EXPECT_NEAR(numerics::mean_growth(motion), fastest, 0.03 * fastest);
  EXPECT_NEAR(std::exp(0.5 * numerics::spectral_abscissa(motion, fastest)), analysis::own_growth(network, 0.5), 1e-9);
}

TEST(SpectralRadius, free_motion_is_1_although_a_double_eigenvalue_is_known_to_the_root_of_rounding) {
  LinearNetwork network;
  auto& mass = network.subsystems.emplace_back();
  mass.name = "mass";
  mass.matrices = {Matrix(2, 2), Matrix(2, 0), Matrix(1, 2), Matrix(1, 0)};
  mass.matrices.A.values = {0.3, 1.0, -0.09, -0.3};  // nilpotent: both eigenvalues are 0
  mass.matrices.C.values = {1.0, 0.0};
  network.outputs = {"mass.x"};
  EXPECT_EQ(radius(network, method::parallel_choice(1, 0, 0.1)), 1.0);
}

TEST(SpectralRadius, of_a_cycle_counts_per_macro_step) {
  // A subsystem alone that steps every third macro step: its radius per macro step is that of its own motion.
  LinearNetwork network = ring(1);
  network.subsystems[0].matrices.B.values = {0, 0};
  network.subsystems[0].capabilities.imposed_step = 0.3;
  EXPECT_NEAR(radius(network, method::parallel_choice(1, 0, 0.1)), std::exp(-0.2 * 0.1), 1e-12);
}

TEST(ParetoFront, keeps_points_that_are_not_dominated) {
  const std::vector<std::vector<double>> points{{1, 5}, {2, 2}, {3, 3}, {5, 1}, {2, 2}, {1, 6}, {std::nan(""), 0}};
  EXPECT_EQ(analysis::pareto_front(points), (std::vector<std::size_t>{0, 1, 3, 4}));
}

TEST(Evolution, finds_masters_as_robust_as_the_highlighted_one_of_the_paper) {
  const LinearNetwork network = oscillator();
  const analysis::EvolutionSettings settings{
      .shortest_step = 1e-3, .longest_step = 10.0, .highest_degree = 1, .largest_gain = 0.99, .gained = {}};
  const auto front = analysis::evolve_choices({&network, 1}, settings);
  const auto again = analysis::evolve_choices({&network, 1}, settings);
  ASSERT_EQ(front.size(), again.size());
  double least = 1.0;
  for (std::size_t i = 0; i < front.size(); ++i) {
    EXPECT_EQ(front[i].quality.radius, again[i].quality.radius);
    EXPECT_EQ(front[i].quality.radius, radius(network, front[i].choice));
    if (front[i].choice.step > 8.0) least = std::min(least, front[i].quality.radius);
  }
  EXPECT_LT(least, 0.46);  // Control12 of the paper: 0.4125 at 8.9 s, found on a grid of 128 000 points
}

TEST(Linearized, names_every_subsystem_without_linearization) {
  auto description = test::example("mechanical");
  for (auto& subsystem : description.subsystems) subsystem.linearization = {false, {}};
  std::vector<Problem> problems;
  const auto prepared = session::prepare(description, 1, {}, problems);
  prepared.system->engine().initialize(0.0, 1.0);
  const auto result = analysis::linearized(*prepared.system);
  EXPECT_FALSE(result.network);
  EXPECT_EQ(result.obstacles,
            (std::vector<Fact>{{FactCode::NoLinearization, {"left"}}, {FactCode::NoLinearization, {"right"}}}));
}

TEST(Linearized, subsystem_that_differentiates_its_input_is_no_linear_system) {
  std::vector<Problem> problems;
  const auto prepared = session::prepare(test::example("car"), 1, {}, problems);
  prepared.system->engine().initialize(0.0, 1.0);
  const auto result = analysis::linearized(*prepared.system);
  ASSERT_EQ(result.obstacles.size(), 1U);
  EXPECT_EQ(result.obstacles[0], (Fact{FactCode::LinearizationIncomplete, {"controller"}}));
}

}  // namespace analysis_test
}  // namespace entrain
