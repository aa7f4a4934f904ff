#include "subsystem/native/native_subsystem.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "entrain/error.hpp"
#include "support/facts.hpp"

namespace entrain {
namespace native_subsystem_test {

/// A model that breaks in a chosen way.
class Broken final : public Model {
 public:
  enum class Fault { StandardException, OtherException, SolverError };
  explicit Broken(Fault fault) : fault_(fault) { variables_.outputs = {{"y", "", "", ValueType::Real, std::nullopt}}; }
  const VariableTable& variables() const noexcept override { return variables_; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {1, 0}; }
  void derivatives(const Point&, std::span<double>) const override {}
  void outputs(const Point&, std::span<double> y) const override { y[0] = 0.0; }
  void linearize(const Point&, Linearization&) const override {}
  void integrate(Time, Duration, const InputBlock&, std::span<double>) override {
    if (fault_ == Fault::StandardException) throw std::out_of_range("table ends at 3");
    if (fault_ == Fault::OtherException) throw 42;
    throw Error(ErrorCode::SolverFailed, "gave up", {"", "", 7.25, ""});
  }

 private:
  Fault fault_;
  VariableTable variables_;
};

TEST(NativeSubsystem, names_itself_and_the_time_when_its_model_throws) {
  struct Expected {
    Broken::Fault fault;
    ErrorCode code;
    std::string outline;
    double time;
  };
  const Expected all[] = {
      {Broken::Fault::StandardException, ErrorCode::SubsystemFailed, "custom-error (text = table ends at 3)", 4.5},
      {Broken::Fault::OtherException, ErrorCode::SubsystemFailed, "model-threw", 4.5},
      {Broken::Fault::SolverError, ErrorCode::SolverFailed, "custom-error (text = gave up)", 7.25},
  };
  for (const auto& expected : all) {
    const auto subsystem = subsystem::make_native_subsystem("pump", std::make_unique<Broken>(expected.fault));
    subsystem->initialize(0.0, 10.0);
    double y = 0.0;
    try {
      (void)subsystem->step({4.5, 0.1, {nullptr, 0, 0}}, {&y, 1});
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), expected.code);
      EXPECT_EQ(test::outline(error), expected.outline);
      EXPECT_EQ(error.context().subsystem, "pump");
      EXPECT_EQ(error.context().time, expected.time);
    }
  }
}

/// x' = -k x + u, y = x^2 + k u: feedthrough only when k is not zero. Leaves output_rates to the default.
class Square final : public Model {
 public:
  Square() {
    variables_.inputs = {{"u", "", "", ValueType::Real, Value(0.0)}};
    variables_.outputs = {{"y", "", "", ValueType::Real, std::nullopt}};
    variables_.states = {{"x", "", "", ValueType::Real, Value(3.0)}};
    variables_.parameters = {{"k", "", "", ValueType::Real, Value(0.0)}};
  }
  const VariableTable& variables() const noexcept override { return variables_; }
  void configure(std::span<const Value> parameters) override {
    k_ = std::get<double>(parameters[0]);
    if (k_ < 0.0) throw Error(ErrorCode::InvalidSystem, "k must not be negative", {"", "k", std::nullopt, ""});
  }
  Feedthrough feedthrough() const override { return {1, 1, k_ != 0.0}; }
  void derivatives(const Point& at, std::span<double> dx) const override { dx[0] = -k_ * at.x[0] + at.u[0]; }
  void outputs(const Point& at, std::span<double> y) const override { y[0] = at.x[0] * at.x[0] + k_ * at.u[0]; }
  void linearize(const Point& at, Linearization& result) const override {
    for (Matrix* matrix : {&result.A, &result.B, &result.C, &result.D}) matrix->resize(1, 1);
    result.A(0, 0) = -k_;
    result.B(0, 0) = 1.0;
    result.C(0, 0) = 2.0 * at.x[0];
    result.D(0, 0) = k_;
  }
  void integrate(Time, Duration size, const InputBlock&, std::span<double> x) override { x[0] *= std::exp(-k_ * size); }

 private:
  VariableTable variables_;
  double k_ = 0.0;
};

const VariableTable::Place kParameter{Causality::Parameter, 0};
const VariableTable::Place kState{Causality::State, 0};
const VariableTable::Place kInput{Causality::Input, 0};

TEST(NativeSubsystem, capabilities_follow_the_parameters_before_initialisation) {
  const auto subsystem = subsystem::make_native_subsystem("s", std::make_unique<Square>());
  EXPECT_FALSE(subsystem->capabilities().feedthrough(0, 0));
  subsystem->set_start(kParameter, Value(2.0));
  EXPECT_TRUE(subsystem->capabilities().feedthrough(0, 0));
}

TEST(NativeSubsystem, refused_parameters_are_reported_at_their_first_use) {
  const auto subsystem = subsystem::make_native_subsystem("s", std::make_unique<Square>());
  subsystem->set_start(kParameter, Value(-1.0));
  const auto expect_refusal = [&](const auto& call) {
    try {
      call();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidSystem);
      EXPECT_EQ(error.context().subsystem, "s");
      EXPECT_EQ(error.context().variable, "k");
      EXPECT_FALSE(error.context().time);
    }
  };
  expect_refusal([&] { subsystem->capabilities(); });
  EXPECT_NE(subsystem->facets().rollback, nullptr);  // which must not throw
  expect_refusal([&] { subsystem->initialize(0.0, 1.0); });
}

TEST(NativeSubsystem, start_values_of_states_and_inputs_are_in_force_after_initialisation) {
  const auto subsystem = subsystem::make_native_subsystem("s", std::make_unique<Square>());
  subsystem->set_start(kParameter, Value(2.0));
  subsystem->set_start(kState, Value(5.0));
  subsystem->set_start(kInput, Value(1.5));
  subsystem->initialize(0.0, 1.0);
  double dx = 0.0;
  subsystem->facets().states->derivatives({&dx, 1});
  EXPECT_EQ(dx, -2.0 * 5.0 + 1.5);
}

TEST(NativeSubsystem, default_output_derivatives_are_c_f_plus_d_times_the_input_slope) {
  const auto subsystem = subsystem::make_native_subsystem("s", std::make_unique<Square>());
  subsystem->set_start(kParameter, Value(2.0));
  subsystem->initialize(0.0, 1.0);
  const double x[] = {3.0}, u[] = {0.5}, du[] = {7.0};
  double rate = 0.0;
  subsystem->facets().equations->output_rates({0.0, x, u, du}, {&rate, 1});
  EXPECT_DOUBLE_EQ(rate, 2.0 * 3.0 * (-2.0 * 3.0 + 0.5) + 2.0 * 7.0);
}

TEST(NativeSubsystem, evaluation_for_other_inputs_forgets_the_slopes_of_the_last_step) {
  const auto subsystem = subsystem::make_native_subsystem("s", std::make_unique<Square>());
  subsystem->set_start(kParameter, Value(2.0));
  subsystem->initialize(0.0, 1.0);
  const double inputs[] = {0.5, 7.0};
  double y = 0.0;
  (void)subsystem->step({0.0, 0.1, {inputs, 1, 1}}, {&y, 1});
  double with_slope = 0.0;
  double without = 0.0;
  const double end = 0.5 + 0.1 * 7.0;
  subsystem->facets().output_derivatives->output_derivatives({&with_slope, 1});
  double again = 0.0;
  subsystem->evaluate({&end, 1}, {&again, 1});
  subsystem->facets().output_derivatives->output_derivatives({&without, 1});
  EXPECT_DOUBLE_EQ(again, y);
  EXPECT_NEAR(with_slope - without, 2.0 * 7.0, 1e-12);
}

}  // namespace native_subsystem_test
}  // namespace entrain
