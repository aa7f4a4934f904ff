// Options of missiles and f3ornits as the user writes them: what each does, and what a wrong value is answered with.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "methods/registry.hpp"
#include "support/places.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace method_options_test {

using test::changed;

struct Wrong {
  std::string method, option, answer;
};
void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << wrong.method << ' ' << wrong.option;
}

class WrongOption : public testing::TestWithParam<Wrong> {};

TEST_P(WrongOption, is_refused_with_what_would_do) {
  const auto& [method, option, answer] = GetParam();
  try {
    const auto description =
        changed(test::example("lotka_volterra"), {.method = method, .step = 0.1, .options = {option}});
    const Simulation simulation(description);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(answer), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Missiles, WrongOption,
    testing::Values(
        Wrong{"missiles", "adaptive=1", "method.missiles.adaptive must be true or false"},
        Wrong{"missiles", "relative_tolerance=0", "method.missiles.relative_tolerance must be between 1e-14 and 1"},
        Wrong{"missiles", "relative_tolerance=\"small\"", "method.missiles.relative_tolerance must be a number"},
        Wrong{"missiles", "min_step=-1", "method.missiles.min_step must be at least 0"},
        Wrong{"missiles", "max_step=-1", "method.missiles.max_step must be at least 0"},
        Wrong{"missiles", "restart=\"reel\"", "did you mean 'real'?"},
        Wrong{"missiles", "reconstruction=1", "method.missiles.reconstruction must be 0 or 2, not 1"},
        Wrong{"missiles", "reconstruction=3", "method.missiles.reconstruction must be between 0 and 2"},
        Wrong{"missiles", "linearize=\"when-neded\"", "did you mean 'when-needed'?"},
        Wrong{"missiles", "laplace=\"gaver_stehfest\"", "did you mean 'gaver-stehfest'?"},
        Wrong{"missiles", "stehfest_terms=7", "method.missiles.stehfest_terms must be even, not 7"},
        Wrong{"missiles", "relative_tolerence=1e-6", "did you mean 'relative_tolerance'?"}));

INSTANTIATE_TEST_SUITE_P(
    F3ornits, WrongOption,
    testing::Values(Wrong{"f3ornits", "calibration=\"clss\"", "did you mean 'cls'?"},
                    Wrong{"f3ornits", "smooth=1", "method.f3ornits.smooth must be true or false"},
                    Wrong{"f3ornits", "normalisation=\"damped_amplitude\"", "did you mean 'damped-amplitude'?"},
                    Wrong{"f3ornits", "damping=-0.1", "method.f3ornits.damping must be at least 0"},
                    Wrong{"f3ornits", "relative_tolerance=-1", "method.f3ornits.relative_tolerance must be at least 0"},
                    Wrong{"f3ornits", "absolute_tolerance=-1", "method.f3ornits.absolute_tolerance must be at least 0"},
                    Wrong{"f3ornits", "max_order=-1", "method.f3ornits.max_order must be between 0 and 3"},
                    Wrong{"f3ornits", "initial_step=-1", "method.f3ornits.initial_step must be at least 0"},
                    Wrong{"f3ornits", "memory=\"yes\"", "method.f3ornits.memory must be true or false"},
                    Wrong{"f3ornits", "relativ_tolerance=1e-4", "did you mean 'relative_tolerance'?"}));

INSTANTIATE_TEST_SUITE_P(
    OfAnEarlierVersion, WrongOption,
    testing::Values(
        Wrong{"jacobi", "tolerance=1e-3", "tolerance is now relative_tolerance; write relative_tolerance = 0.001"},
        Wrong{"gauss-seidel", "tolerance=1e-3", "write relative_tolerance = 0.001"},
        Wrong{"nepce", "tolerance=1e-3", "write relative_tolerance = 0.001"},
        Wrong{"missiles", "tolerance=1", "tolerance is now relative_tolerance; write relative_tolerance = 1"},
        Wrong{"monolithic", "tolerance=1e-9",
              "is now relative_tolerance and absolute_tolerance; write relative_tolerance = 1e-09 and "
              "absolute_tolerance = 1e-09"},
        Wrong{"f3ornits", "tol_rel=1e-5", "tol_rel is now relative_tolerance; write relative_tolerance = 1e-05"},
        Wrong{"f3ornits", "tol_abs=1e-5", "tol_abs is now absolute_tolerance; write absolute_tolerance = 1e-05"},
        Wrong{"ifosmondi", "epsilon=1e-8", "epsilon is now iteration_tolerance; write iteration_tolerance = 1e-08"},
        Wrong{"ifosmondi", "urgency=1e-8", "write linearization_tolerance = 1e-08"},
        Wrong{"missiles", "urgency=1e-8", "write linearization_tolerance = 1e-08"},
        Wrong{"jacobi", "energy_tolerance=0.1", "write energy_relative_tolerance = 0.1"},
        Wrong{"jacobi", "energy_min_step=0.1", "energy_min_step is now min_step; write min_step = 0.1"},
        Wrong{"jacobi", "energy_max_step=0.1", "energy_max_step is now max_step; write max_step = 0.1"}));

struct Outcome {
  RunSummary summary;
  double prey;
};
Outcome run_missiles(const std::vector<std::string>& options) {
  Simulation simulation(
      changed(test::example("lotka_volterra"), {.method = "missiles", .step = 0.02, .stop = 4.0, .options = options}));
  const auto& summary = simulation.run();
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  return {summary, simulation.value("prey.p")};
}

TEST(MissilesLinearize, sets_how_often_the_subsystems_are_linearized) {
  const auto once = run_missiles({"linearize=\"once\""}).summary.linearizations;
  const auto when_needed = run_missiles({"linearize=\"when-needed\""}).summary.linearizations;
  const auto every_step = run_missiles({"linearize=\"every-step\"", "start=\"plain\""}).summary.linearizations;
  EXPECT_EQ(once, 2U);  // each of two, at the start
  EXPECT_EQ(every_step, 2U * 200U);
  EXPECT_GT(when_needed, once);
  EXPECT_LT(when_needed, every_step);
}

// Prey and predator decay and grow slowly over a step: there the papers' inversion is fair, and the answer nearly the
// same.
TEST(MissilesLaplace, gaver_stehfest_of_the_paper_gives_nearly_the_same_answer) {
  const double exact = run_missiles({}).prey;
  const double inverted = run_missiles({"laplace=\"gaver-stehfest\""}).prey;
  EXPECT_NE(inverted, exact);
  EXPECT_NEAR(inverted, exact, 1e-3 * exact);
}

TEST(DefaultMethod, is_chosen_for_the_system) {
  EXPECT_EQ(default_method(), method::kAuto);
}

TEST(Documented, is_every_method_in_the_readme_and_with_a_page) {
  const auto root = std::filesystem::path(test::examples_folder()).parent_path();
  const auto readme = test::text_of(root / "README.md");
  const auto index = test::text_of(root / "docs/README.md");
  for (const auto& name : method::built_in_methods().names()) {
    std::string page = "theory/" + name + ".md";
    std::replace(page.begin(), page.end(), '-', '_');
    EXPECT_NE(readme.find("\n| `" + name + "` |"), std::string::npos) << name;
    EXPECT_NE(index.find('(' + page + ')'), std::string::npos) << page;
    EXPECT_TRUE(std::filesystem::is_regular_file(root / "docs" / page)) << page;
  }
}

}  // namespace method_options_test
}  // namespace entrain
