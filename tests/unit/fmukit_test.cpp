#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/registry.hpp"
#include "subsystem/native/native_subsystem.hpp"
#include "support/loaded_fmu.hpp"

namespace entrain {
namespace fmukit_test {

using test::FmuLibrary;
using test::FmuLog;

constexpr fmi2ValueReference kInput = 100;
constexpr fmi2ValueReference kOutput = 200;
constexpr fmi2ValueReference kDerivative = 400;
constexpr fmi2ValueReference kParameter = 500;
constexpr fmi2ValueReference kDoStepCalls = 900;

/// An FMI 2 instance, brought to step mode at t = 0 by default.
class Fmu2 {
 public:
  Fmu2(const std::string& folder, const std::string& name) : library_(folder, name), functions_{} {
    functions_.logger = test::log_fmi2;
    functions_.componentEnvironment = &log;
    component = ENTRAIN_FMU_CALL(library_, fmi2Instantiate)("it", fmi2CoSimulation, library_.token().c_str(), nullptr,
                                                            &functions_, fmi2False, fmi2False);
    if (component == nullptr) throw std::runtime_error("not instantiated");
  }
  ~Fmu2() { ENTRAIN_FMU_CALL(library_, fmi2FreeInstance)(component); }
  Fmu2(const Fmu2&) = delete;
  Fmu2& operator=(const Fmu2&) = delete;

  fmi2Status enter(double at = 0.0) {
    const auto status = ENTRAIN_FMU_CALL(library_, fmi2SetupExperiment)(component, fmi2False, 0.0, at, fmi2False, 0.0);
    return status == fmi2OK ? ENTRAIN_FMU_CALL(library_, fmi2EnterInitializationMode)(component) : status;
  }
  fmi2Status exit() { return ENTRAIN_FMU_CALL(library_, fmi2ExitInitializationMode)(component); }
  void start(double at = 0.0) {
    ASSERT_EQ(enter(at), fmi2OK);
    ASSERT_EQ(exit(), fmi2OK);
  }
  fmi2Status set(fmi2ValueReference reference, double value) {
    return ENTRAIN_FMU_CALL(library_, fmi2SetReal)(component, &reference, 1, &value);
  }
  double get(fmi2ValueReference reference) {
    double value = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(ENTRAIN_FMU_CALL(library_, fmi2GetReal)(component, &reference, 1, &value), fmi2OK);
    return value;
  }
  fmi2Status set_input_derivative(int order, double value) {
    return ENTRAIN_FMU_CALL(library_, fmi2SetRealInputDerivatives)(component, &kInput, 1, &order, &value);
  }
  fmi2Status step(double from, double size) {
    return ENTRAIN_FMU_CALL(library_, fmi2DoStep)(component, from, size, fmi2False);
  }
  const FmuLibrary& library() const { return library_; }

  fmi2Component component = nullptr;
  FmuLog log;

 private:
  FmuLibrary library_;
  fmi2CallbackFunctions functions_;
};

std::unique_ptr<Subsystem> native(const char* model) {
  auto subsystem = subsystem::make_native_subsystem("native", models::make_built_in_model(model));
  subsystem->initialize(0.0, 10.0);
  return subsystem;
}

TEST(Fmukit, constant_inputs_give_the_bits_of_the_native_model) {
  for (const auto& [model, fmu_name] : {std::pair{"mechanical.left", "mechanical_left"},
                                        {"lotka_volterra.modulated_prey", "lotka_volterra_modulated_prey"}}) {
    const auto reference = native(model);
    std::vector<double> y(reference->variables().outputs.size());
    Fmu2 fmu("test/strict/2", fmu_name);
    fmu.start();
    for (int k = 0; k < 20; ++k) {
      const double u = 0.1 * k;
      const double from = 0.01 * k;
      (void)reference->step({from, 0.01, InputBlock(&u, 1, 0)}, y);
      ASSERT_EQ(fmu.set(kInput, u), fmi2OK);
      ASSERT_EQ(fmu.step(from, 0.01), fmi2OK);
      EXPECT_EQ(fmu.get(kOutput), y[0]) << model << " at step " << k;
    }
  }
}

TEST(Fmukit, calculated_output_belongs_to_the_time_reached) {
  // y = x + 0.5 sin 3t with x' = cos t: nothing is set between the steps, only the time passes.
  Fmu2 fmu("test/strict/2", "tough");
  fmu.start();
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(fmu.get(kOutput), std::sin(0.5 * k) + 0.5 * std::sin(1.5 * k), 1e-15) << "only rounding is left";
    ASSERT_EQ(fmu.step(0.5 * k, 0.5), fmi2OK);
  }
}

TEST(Fmukit, input_derivatives_make_a_polynomial_for_one_step_only) {
  // u(s) = 1 + 2 s + 3 s^2 + 4 s^3, so the derivatives are 2, 6, 24; then a step with the value it ended with, held.
  const std::array<double, 4> coefficients = {1.0, 2.0, 3.0, 4.0};
  const double size = 0.25;
  const auto reference = native("mechanical.left");
  std::array<double, 2> y{};
  Fmu2 fmu("test/strict/2", "mechanical_left");
  fmu.start();
  fmu.set(kInput, 1.0);
  fmu.set_input_derivative(1, 2.0);
  fmu.set_input_derivative(2, 6.0);
  fmu.set_input_derivative(3, 24.0);
  const InputBlock inputs(coefficients.data(), 1, 3);
  for (const double from : {0.0, size}) {
    const double held = inputs.value(0, size);
    (void)reference->step({from, size, from == 0.0 ? inputs : InputBlock(&held, 1, 0)}, y);
    ASSERT_EQ(fmu.step(from, size), fmi2OK);
    // Only dividing by 6 rounds: a few units in the last place of a velocity of about 50 m/s.
    EXPECT_NEAR(fmu.get(kOutput), y[0], 1e-12);
    EXPECT_NEAR(fmu.get(kOutput + 1), y[1], 1e-12);
    EXPECT_DOUBLE_EQ(fmu.get(kInput), held);
  }
  EXPECT_EQ(fmu.set_input_derivative(4, 1.0), fmi2Error);
}

TEST(Fmukit, an_input_that_ended_with_a_slope_gives_it_to_what_differentiates_it) {
  // car.controller after its switch time: F = Kp (target - dx/dt) = 1000 (16 - slope).
  Fmu2 fmu("test/strict/2", "car_controller");
  fmu.start(20.0);
  fmu.set(kInput, 100.0);
  fmu.set_input_derivative(1, 15.0);
  ASSERT_EQ(fmu.step(20.0, 0.5), fmi2OK);
  EXPECT_DOUBLE_EQ(fmu.get(kOutput), 1000.0);
  fmu.set(kInput, 107.5);  // a value without a slope: the input stands still
  ASSERT_EQ(fmu.step(20.5, 0.5), fmi2OK);
  EXPECT_DOUBLE_EQ(fmu.get(kOutput), 16000.0);
}

TEST(Fmukit, output_derivatives_and_directional_derivatives_are_those_of_the_model) {
  Fmu2 fmu("test/strict/2", "mechanical_left");  // states x, v; outputs v, x; input F
  fmu.start();
  fmu.set(kInput, 3.0);
  ASSERT_EQ(fmu.step(0.0, 0.01), fmi2OK);
  const double x = fmu.get(kOutput + 1);
  const double v = fmu.get(kOutput);
  // m1 = 5 kg, c1 = 1e4 N/m, d1 = 10 N s/m: the defaults of the model.
  const double acceleration = (3.0 - 1e4 * x - 10.0 * v) / 5.0;
  EXPECT_NEAR(fmu.get(kDerivative + 1), acceleration, 1e-12 * 1e4);

  const std::array<fmi2ValueReference, 2> outputs = {kOutput, kOutput + 1};
  const std::array<fmi2Integer, 2> orders = {1, 1};
  std::array<double, 2> rates{};
  ASSERT_EQ(ENTRAIN_FMU_CALL(fmu.library(), fmi2GetRealOutputDerivatives)(fmu.component, outputs.data(), 2,
                                                                          orders.data(), rates.data()),
            fmi2OK);
  EXPECT_NEAR(rates[0], acceleration, 1e-12 * 1e4);
  EXPECT_DOUBLE_EQ(rates[1], v);

  const std::array<fmi2ValueReference, 3> unknowns = {kDerivative, kDerivative + 1, kOutput};
  const std::array<fmi2ValueReference, 3> knowns = {kInput, kOutput, kOutput + 1};  // F, v, x
  const std::array<double, 3> seed = {1.0, 10.0, 100.0};
  std::array<double, 3> sensitivity{};
  ASSERT_EQ(ENTRAIN_FMU_CALL(fmu.library(), fmi2GetDirectionalDerivative)(
                fmu.component, unknowns.data(), 3, knowns.data(), 3, seed.data(), sensitivity.data()),
            fmi2OK);
  EXPECT_DOUBLE_EQ(sensitivity[0], 10.0);
  EXPECT_DOUBLE_EQ(sensitivity[1], (1.0 - 10.0 * 10.0 - 1e4 * 100.0) / 5.0);
  EXPECT_DOUBLE_EQ(sensitivity[2], 10.0);
}

TEST(Fmukit, restored_state_replays_to_the_same_bits_also_in_another_instance) {
  Fmu2 fmu("test/strict/2", "lotka_volterra_modulated_prey");
  fmu.set(kParameter, 0.9);  // a parameter belongs to the state as well
  fmu.start();
  fmu.set(kInput, 0.5);
  ASSERT_EQ(fmu.step(0.0, 0.1), fmi2OK);
  const auto& library = fmu.library();
  fmi2FMUstate state = nullptr;
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi2GetFMUstate)(fmu.component, &state), fmi2OK);
  ASSERT_EQ(fmu.step(0.1, 0.1), fmi2OK);
  const double first = fmu.get(kOutput);
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi2SetFMUstate)(fmu.component, state), fmi2OK);
  EXPECT_NE(fmu.get(kOutput), first);
  ASSERT_EQ(fmu.step(0.1, 0.1), fmi2OK);
  EXPECT_EQ(fmu.get(kOutput), first);

  std::size_t size = 0;
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi2SerializedFMUstateSize)(fmu.component, state, &size), fmi2OK);
  std::vector<fmi2Byte> bytes(size);
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi2SerializeFMUstate)(fmu.component, state, bytes.data(), size), fmi2OK);
  ENTRAIN_FMU_CALL(library, fmi2FreeFMUstate)(fmu.component, &state);
  EXPECT_EQ(state, nullptr);

  Fmu2 other("test/strict/2", "lotka_volterra_modulated_prey");
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi2DeSerializeFMUstate)(other.component, bytes.data(), size, &state), fmi2OK);
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi2SetFMUstate)(other.component, state), fmi2OK);
  ENTRAIN_FMU_CALL(library, fmi2FreeFMUstate)(other.component, &state);
  ASSERT_EQ(other.step(0.1, 0.1), fmi2OK);
  EXPECT_EQ(other.get(kOutput), first);

  for (const std::size_t cut : {std::size_t{0}, size / 2, size - 1}) {
    EXPECT_EQ(ENTRAIN_FMU_CALL(library, fmi2DeSerializeFMUstate)(other.component, bytes.data(), cut, &state),
              fmi2Error);
  }
  EXPECT_EQ(other.log.back(), "fmi2DeSerializeFMUstate: the bytes are no saved state of this FMU");
}

TEST(Fmukit, reset_brings_back_the_start_values) {
  Fmu2 fmu("test/strict/2", "mechanical_left");
  fmu.set(kParameter, 7.0);
  fmu.start();
  ASSERT_EQ(fmu.step(0.0, 0.1), fmi2OK);
  ASSERT_EQ(ENTRAIN_FMU_CALL(fmu.library(), fmi2Reset)(fmu.component), fmi2OK);
  fmu.start();
  EXPECT_EQ(fmu.get(kParameter), 5.0);
  EXPECT_EQ(fmu.get(kOutput + 1), 1.0);
}

TEST(Fmukit, flags_switched_off_at_export_are_off_in_description_and_library) {
  Fmu2 fmu("test/bare/2", "mechanical_left");
  const auto& description = fmu.library().description();
  EXPECT_NE(description.find("canGetAndSetFMUstate=\"false\""), std::string::npos);
  EXPECT_NE(description.find("canInterpolateInputs=\"false\""), std::string::npos);
  EXPECT_NE(description.find("providesDirectionalDerivative=\"false\""), std::string::npos);
  EXPECT_EQ(description.find("<Derivatives>"), std::string::npos);
  EXPECT_EQ(description.find("der("), std::string::npos);
  fmu.start();
  ASSERT_EQ(fmu.step(0.0, 0.1), fmi2OK);
  fmi2FMUstate state = nullptr;
  EXPECT_EQ(ENTRAIN_FMU_CALL(fmu.library(), fmi2GetFMUstate)(fmu.component, &state), fmi2Error);
  EXPECT_EQ(fmu.log.back(), "fmi2GetFMUstate: the state of this FMU can be neither saved nor restored");
}

TEST(Fmukit, strict_fmu_refuses_a_call_in_the_wrong_state) {
  Fmu2 fmu("test/strict/2", "mechanical_left");
  EXPECT_EQ(fmu.step(0.0, 0.1), fmi2Error);
  ASSERT_EQ(fmu.log.size(), 1U);
  EXPECT_EQ(fmu.log[0], "fmi2DoStep: fmi2DoStep is not allowed when the FMU is 'instantiated'");
  EXPECT_EQ(fmu.enter(), fmi2Error) << "after an error only reading, resetting and freeing is allowed";
}

TEST(Fmukit, strict_fmu_refuses_a_jump_in_time_and_a_late_start_value) {
  Fmu2 jumping("test/strict/2", "mechanical_left");
  jumping.start();
  EXPECT_EQ(jumping.step(0.5, 0.1), fmi2Error);
  Fmu2 late("test/strict/2", "mechanical_left");
  late.start();
  EXPECT_EQ(late.set(kParameter, 1.0), fmi2OK) << "it is tunable";
  EXPECT_EQ(late.set(kOutput, 1.0), fmi2Error) << "it is a state";
}

TEST(Fmukit, strict_fmu_is_not_read_between_setting_and_the_next_step) {
  Fmu2 fmu("test/strict/2", "mechanical_left");
  fmu.start();
  ASSERT_EQ(fmu.step(0.0, 0.1), fmi2OK);
  fmu.get(kOutput);
  fmu.set(kInput, 1.0);
  double value = 0.0;
  EXPECT_EQ(ENTRAIN_FMU_CALL(fmu.library(), fmi2GetReal)(fmu.component, &kOutput, 1, &value), fmi2Error);
  EXPECT_EQ(fmu.log.back(), "fmi2GetReal: a value was set in step mode, so a step must follow before anything is read");
}

TEST(Fmukit, strict_fmu_counts_calls) {
  Fmu2 fmu("test/strict/2", "mechanical_left");
  fmu.start();
  for (int k = 0; k < 3; ++k) {
    fmu.set(kInput, 1.0);
    ASSERT_EQ(fmu.step(0.1 * k, 0.1), fmi2OK);
  }
  fmu.get(kOutput);
  const std::array<fmi2ValueReference, 3> counters = {kDoStepCalls, kDoStepCalls + 1, kDoStepCalls + 2};
  std::array<fmi2Integer, 3> calls{};
  ASSERT_EQ(ENTRAIN_FMU_CALL(fmu.library(), fmi2GetInteger)(fmu.component, counters.data(), 3, calls.data()), fmi2OK);
  EXPECT_EQ(calls, (std::array<fmi2Integer, 3>{3, 3, 1}));
}

TEST(Fmukit, parameter_that_makes_no_sense_fails_the_initialization_and_is_named) {
  Fmu2 fmu("test/strict/2", "mechanical_left");
  fmu.set(kParameter, -1.0);
  ASSERT_EQ(fmu.enter(), fmi2OK);
  EXPECT_EQ(fmu.exit(), fmi2Error);
  ASSERT_FALSE(fmu.log.empty());
  EXPECT_NE(fmu.log.back().find("'m1' must be greater than 0"), std::string::npos) << fmu.log.back();
}

TEST(Fmukit, text_parameter_is_read_and_set) {
  Fmu2 fmu("test/strict/2", "oscillator_motion_side");
  const auto& description = fmu.library().description();
  const auto reference = static_cast<fmi2ValueReference>(
      std::stoi(test::matched(description, "name=\"integrator\" valueReference=\"(\\d+)\"")));
  fmi2String value = "semi-implicit";
  ASSERT_EQ(ENTRAIN_FMU_CALL(fmu.library(), fmi2SetString)(fmu.component, &reference, 1, &value), fmi2OK);
  fmu.start();
  fmi2String read = nullptr;
  ASSERT_EQ(ENTRAIN_FMU_CALL(fmu.library(), fmi2GetString)(fmu.component, &reference, 1, &read), fmi2OK);
  EXPECT_STREQ(read, "semi-implicit");
}

TEST(Fmukit, wrong_guid_and_null_logger_are_survived) {
  const FmuLibrary library("test/strict/2", "mechanical_left");
  fmi2CallbackFunctions silent{};
  EXPECT_EQ(ENTRAIN_FMU_CALL(library, fmi2Instantiate)("it", fmi2CoSimulation, "{wrong}", nullptr, &silent, 0, 0),
            nullptr);
  const auto component = ENTRAIN_FMU_CALL(library, fmi2Instantiate)("it", fmi2CoSimulation, library.token().c_str(),
                                                                    nullptr, &silent, 0, 0);
  ASSERT_NE(component, nullptr);
  EXPECT_EQ(ENTRAIN_FMU_CALL(library, fmi2CancelStep)(component), fmi2Error);
  ENTRAIN_FMU_CALL(library, fmi2FreeInstance)(component);
}

TEST(Fmukit, fmi3_steps_to_the_bits_of_the_native_model_and_rolls_back) {
  const auto reference = native("mechanical.left");
  std::array<double, 2> y{};
  const FmuLibrary library("test/strict/3", "mechanical_left");
  FmuLog log;
  const auto instance = ENTRAIN_FMU_CALL(library, fmi3InstantiateCoSimulation)(
      "it", library.token().c_str(), nullptr, false, true, false, false, nullptr, 0, &log, test::log_fmi3, nullptr);
  ASSERT_NE(instance, nullptr);
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi3EnterInitializationMode)(instance, false, 0.0, 0.0, false, 0.0), fmi3OK);
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi3ExitInitializationMode)(instance), fmi3OK);
  fmi3FMUState state = nullptr;
  const auto step = [&](int k) {
    const double force = 2.0 * k;
    const fmi3ValueReference input = kInput;
    EXPECT_EQ(ENTRAIN_FMU_CALL(library, fmi3SetFloat64)(instance, &input, 1, &force, 1), fmi3OK);
    bool event = true;
    bool stop = true;
    bool early = true;
    double reached = 0.0;
    EXPECT_EQ(ENTRAIN_FMU_CALL(library, fmi3DoStep)(instance, 0.01 * k, 0.01, false, &event, &stop, &early, &reached),
              fmi3OK);
    EXPECT_FALSE(event || stop || early);
    EXPECT_EQ(reached, 0.01 * k + 0.01);
    (void)reference->step({0.01 * k, 0.01, InputBlock(&force, 1, 0)}, y);
    const std::array<fmi3ValueReference, 2> outputs = {kOutput, kOutput + 1};
    std::array<double, 2> values{};
    EXPECT_EQ(ENTRAIN_FMU_CALL(library, fmi3GetFloat64)(instance, outputs.data(), 2, values.data(), 2), fmi3OK);
    EXPECT_EQ(values, y);
  };
  step(0);
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi3GetFMUState)(instance, &state), fmi3OK);
  const StateId saved = reference->facets().rollback->save();
  step(1);
  ASSERT_EQ(ENTRAIN_FMU_CALL(library, fmi3SetFMUState)(instance, state), fmi3OK);
  reference->facets().rollback->restore(saved);
  step(1);
  ENTRAIN_FMU_CALL(library, fmi3FreeFMUState)(instance, &state);
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(ENTRAIN_FMU_CALL(library, fmi3EnterEventMode)(instance), fmi3Error);
  EXPECT_EQ(log.back(), "fmi3EnterEventMode: this instance was made without event mode");
  ENTRAIN_FMU_CALL(library, fmi3FreeInstance)(instance);
}

}  // namespace fmukit_test
}  // namespace entrain
