// Inputs inside a step of an FMI 3 FMU, from both sides: what our FMUs request, and what they receive.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "models/registry.hpp"
#include "numerics/polynomial.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/fmi/input_sampling.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/loaded_fmu.hpp"

namespace entrain {
namespace intermediate_update_test {

constexpr std::array<double, 4> kCubic{1.0, -2.0, 30.0, 400.0};  // u(s) = 1 - 2 s + 30 s^2 + 400 s^3

TEST(InputSampling, holds_the_mean_of_a_cubic_over_the_next_internal_step) {
  const InputBlock cubic(kCubic.data(), 1, 3);
  subsystem::InputSampling known(0.25);
  const auto primitive = [](double s) { return s - s * s + 10.0 * s * s * s + 100.0 * s * s * s * s; };
  EXPECT_NEAR(*known.held_from(cubic, 0.5, 1.0), (primitive(0.75) - primitive(0.5)) / 0.25, 1e-12);
  EXPECT_NEAR(*known.held_from(cubic, 0.9, 1.0), (primitive(1.0) - primitive(0.9)) / 0.1, 1e-12) << "not past the step";
  EXPECT_DOUBLE_EQ(*known.held_from(cubic, 1.0, 1.0), cubic.value(0, 1.0)) << "nothing is left of the step";
  subsystem::InputSampling unknown(std::nullopt);
  EXPECT_DOUBLE_EQ(*unknown.held_from(cubic, 0.5, 1.0), cubic.value(0, 0.5));
  EXPECT_DOUBLE_EQ(*unknown.at(cubic, 1.0 + 1e-16, 1.0), cubic.value(0, 1.0));
}

std::unique_ptr<Subsystem> fmu3(const std::string& folder) {
  return subsystem::make_fmu_subsystem("s", test::fmu_file(folder, "mechanical_left"));
}

std::array<double, 2> stepped(Subsystem& subsystem, Time from, Duration size, const InputBlock& inputs) {
  std::array<double, 2> y{};
  EXPECT_EQ(subsystem.step({from, size, inputs}, y).outcome, StepOutcome::Completed);
  return y;
}

TEST(IntermediateUpdate, degree_is_proven_with_rollback_and_on_new_instances_without) {
  for (const char* folder : {"test/strict/3", "test/no_rollback/3", "test/internal_steps/3"}) {
    EXPECT_EQ(fmu3(folder)->capabilities().input_degree, 3) << folder;
  }
  EXPECT_EQ(fmu3("test/bare/3")->capabilities().input_degree, 0);
  EXPECT_EQ(fmu3("test/strict/3")->capabilities().internal_step, std::nullopt);
  EXPECT_EQ(fmu3("test/internal_steps/3")->capabilities().internal_step, 0.01);
}

// Our FMUs ask at four times, which determine a cubic: what is left are the roundings of its coefficients.
TEST(IntermediateUpdate, cubic_inputs_reach_the_model_whole) {
  const auto fmu = fmu3("test/strict/3");
  const auto native = subsystem::make_native_subsystem("s", models::make_built_in_model("mechanical.left"));
  for (auto* subsystem : {fmu.get(), native.get()}) {
    static_cast<void>(subsystem->capabilities());
    subsystem->initialize(0.0, 1.0);
  }
  const InputBlock cubic(kCubic.data(), 1, 3);
  for (int k = 0; k < 4; ++k) {
    const auto ours = stepped(*fmu, 0.1 * k, 0.1, cubic);
    const auto theirs = stepped(*native, 0.1 * k, 0.1, cubic);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-13 * (1.0 + std::abs(theirs[i])));
  }
}

// Ten internal steps of 0.01 s, each with the mean: what a subsystem that takes constants does in ten sub-steps.
TEST(IntermediateUpdate, internal_steps_get_the_mean_of_the_polynomial_on_each) {
  const auto fmu = fmu3("test/internal_steps/3");
  const auto native = subsystem::make_native_subsystem("s", models::make_built_in_model("mechanical.left"));
  for (auto* subsystem : {fmu.get(), native.get()}) {
    static_cast<void>(subsystem->capabilities());
    subsystem->initialize(0.0, 1.0);
  }
  const auto ours = stepped(*fmu, 0.0, 0.1, InputBlock(kCubic.data(), 1, 3));
  std::array<double, 2> theirs{};
  for (int k = 0; k < 10; ++k) {
    auto part = kCubic;
    const numerics::PolynomialBlock block{part.data(), 1, 3};
    numerics::shift_origin(block, 0.01 * k);
    numerics::project(block, 0, 0.01);
    theirs = stepped(*native, 0.01 * k, 0.01, InputBlock(part.data(), 1, 0));
  }
  for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(ours[i], theirs[i], 1e-13 * (1.0 + std::abs(theirs[i])));
}

/// An importer that answers as requested by the test, without the engine.
struct Importer {
  const test::FmuLibrary& library;
  fmi3Instance instance = nullptr;
  fmi3ValueReference sets = 100;  ///< the input
  double return_early_at = 1e9;
  std::vector<double> asked_at{};
  fmi3Status set = fmi3OK;
};

void answer(fmi3InstanceEnvironment environment, fmi3Float64 time, fmi3Boolean set_requested, fmi3Boolean, fmi3Boolean,
            fmi3Boolean can_return_early, fmi3Boolean* early_return_requested, fmi3Float64*) {
  auto& importer = *static_cast<Importer*>(environment);
  importer.asked_at.push_back(time);
  EXPECT_TRUE(set_requested);
  const double force = 1.0;
  importer.set = ENTRAIN_FMU_CALL(importer.library, fmi3SetFloat64)(importer.instance, &importer.sets, 1, &force, 1);
  *early_return_requested = can_return_early && time >= importer.return_early_at - 1e-9;
}

void ignore(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String) {}

struct Stepped {
  fmi3Status status;
  bool early;
  double reached;
};

Stepped one_step(Importer& importer) {
  const auto& library = importer.library;
  const fmi3ValueReference input = 100;
  importer.instance = ENTRAIN_FMU_CALL(library, fmi3InstantiateCoSimulation)(
      "it", library.token().c_str(), nullptr, false, true, false, true, &input, 1, &importer, ignore, answer);
  EXPECT_NE(importer.instance, nullptr);
  EXPECT_EQ(ENTRAIN_FMU_CALL(library, fmi3EnterInitializationMode)(importer.instance, false, 0.0, 0.0, false, 0.0),
            fmi3OK);
  EXPECT_EQ(ENTRAIN_FMU_CALL(library, fmi3ExitInitializationMode)(importer.instance), fmi3OK);
  bool event = false;
  bool stop = false;
  Stepped result{};
  result.status = ENTRAIN_FMU_CALL(library, fmi3DoStep)(importer.instance, 0.0, 0.03, false, &event, &stop,
                                                        &result.early, &result.reached);
  ENTRAIN_FMU_CALL(library, fmi3FreeInstance)(importer.instance);
  return result;
}

TEST(IntermediateUpdate, of_our_fmus_asks_inside_and_at_the_end_of_the_step) {
  const test::FmuLibrary library("test/strict/3", "mechanical_left");
  Importer importer{library};
  const auto stepped = one_step(importer);
  EXPECT_EQ(stepped.status, fmi3OK);
  EXPECT_FALSE(stepped.early);
  ASSERT_EQ(importer.asked_at.size(), 3U);
  EXPECT_NEAR(importer.asked_at[0], 0.01, 1e-15);
  EXPECT_EQ(importer.asked_at[2], 0.03);
}

TEST(IntermediateUpdate, early_return_is_granted_between_internal_steps) {
  const test::FmuLibrary library("test/internal_steps/3", "mechanical_left");
  Importer importer{library};
  importer.return_early_at = 0.02;
  const auto stepped = one_step(importer);
  EXPECT_EQ(stepped.status, fmi3OK);
  EXPECT_TRUE(stepped.early);
  EXPECT_DOUBLE_EQ(stepped.reached, 0.02);
}

TEST(IntermediateUpdate, strict_fmu_refuses_to_set_what_was_not_registered) {
  const test::FmuLibrary library("test/strict/3", "mechanical_left");
  Importer importer{library};
  importer.sets = 500;  // a parameter
  EXPECT_EQ(one_step(importer).status, fmi3Error);
  EXPECT_EQ(importer.set, fmi3Error);
}

}  // namespace intermediate_update_test
}  // namespace entrain
