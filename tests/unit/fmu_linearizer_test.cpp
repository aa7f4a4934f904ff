// The matrices of an FMU, found in three ways, beside those of the model.
#include <gtest/gtest.h>

#include <cmath>

#include "models/registry.hpp"
#include "subsystem/fmi/fmu.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/loaded_fmu.hpp"

namespace entrain {
namespace fmu_linearizer_test {

struct Case {
  std::string folder;
  std::string fmu;
  std::string model;
  subsystem::LinearizationSource source;
  double tolerance;  ///< relative to 1 + |value|
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.folder << " " << c.model;
}

class FmuLinearization : public testing::TestWithParam<Case> {};

TEST_P(FmuLinearization, is_that_of_the_model_after_a_step) {
  const auto& [folder, name, model, source, tolerance] = GetParam();
  const auto file = test::fmu_file(folder, name);
  const auto opened = subsystem::Fmu::open(file);
  EXPECT_EQ(opened->abilities(FmuInterface::CoSimulation, opened->ports(), {}, {"s"}).linearization, source);
  const auto fmu = subsystem::make_fmu_subsystem("s", file);
  const auto native = subsystem::make_native_subsystem("s", models::make_built_in_model(model));
  const std::vector<double> u{0.7, -0.3};
  std::vector<double> expected;
  for (auto* subsystem : {native.get(), fmu.get()}) {
    ASSERT_TRUE(subsystem->capabilities().linearization);
    subsystem->initialize(0.0, 1.0);
    std::vector<double> y(subsystem->variables().outputs.size());
    static_cast<void>(subsystem->step({0.0, 0.1, {u.data(), subsystem->variables().inputs.size(), 0}}, y));
    Linearization found;
    subsystem->facets().linearizer->linearize(found);
    std::vector<double> values;
    for (const auto* matrix : {&found.A, &found.B, &found.C, &found.D}) {
      values.insert(values.end(), matrix->values.begin(), matrix->values.end());
    }
    if (expected.empty()) expected = values;
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], expected[i], tolerance * (1.0 + std::abs(expected[i]))) << i;
    }
    // By differences the FMU was moved about: it must be where it was.
    std::vector<double> x(subsystem->variables().states.size());
    subsystem->facets().states->states(x);
    const auto reached = x;
    subsystem->facets().linearizer->linearize(found);
    subsystem->facets().states->states(x);
    EXPECT_EQ(x, reached);
  }
}

// Central differences of a smooth function: the square of the cube root of a rounding, with some room for its third
// derivative.
constexpr double kDifferences = 1e-9;

INSTANTIATE_TEST_SUITE_P(Variants, FmuLinearization,
                         testing::Values(Case{"test/strict/2", "oscillator_force_side", "oscillator.force_side",
                                              subsystem::LinearizationSource::Directional, 0.0},
                                         Case{"test/adjoint/3", "oscillator_force_side", "oscillator.force_side",
                                              subsystem::LinearizationSource::Adjoint, 0.0},
                                         Case{"test/differences/2", "oscillator_force_side", "oscillator.force_side",
                                              subsystem::LinearizationSource::Differences, kDifferences},
                                         Case{"test/differences/2", "lotka_volterra_prey", "lotka_volterra.prey",
                                              subsystem::LinearizationSource::Differences, kDifferences}));

TEST(FmuLinearization, is_not_there_when_states_cannot_be_set_and_nothing_else_is_offered) {
  const auto fmu = subsystem::Fmu::open(test::fmu_file("test/bare/2", "mechanical_left"));
  EXPECT_EQ(fmu->abilities(FmuInterface::CoSimulation, fmu->ports(), {}, {"s"}).linearization,
            subsystem::LinearizationSource::None);
}

}  // namespace fmu_linearizer_test
}  // namespace entrain
