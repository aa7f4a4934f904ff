// A subsystem that fails inside a trial or a step, its integrator or a call of an FMU: the step is cut, as for one that
// rejects it.
#include <gtest/gtest.h>

#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace trial_failure_test {

const Error kGaveUp(ErrorCode::SolverFailed, "the integrator gave up: too much work");

Error call_failed(const std::string& status) {
  return {ErrorCode::SubsystemFailed,
          {FactCode::FmuCallFailed, {"a.fmu"}, {{"function", "fmi2DoStep"}, {"status", status}, {"said", ""}}}};
}

/// y = 0.5 u; fails in steps longer than `longest`.
class Impatient final : public test::StaticModel {
 public:
  Impatient(Duration longest, Error failure)
      : StaticModel([](Time, double u) { return 0.5 * u; }), longest_(longest), failure_(std::move(failure)) {}
  void integrate(Time, Duration size, const InputBlock&, std::span<double>) override {
    if (size > longest_) throw failure_;
  }

 private:
  Duration longest_;
  Error failure_;
};

RunSummary summary_with(Duration longest, const Error& failure = kGaveUp, const std::string& method = "ifosmondi",
                        const std::vector<std::string>& options = {}) {
  const ModelFactory models = [&](std::string_view) { return std::make_unique<Impatient>(longest, failure); };
  Simulation simulation(test::changed(test::system_from(R"(
    [run]
    stop = 1.0
    [subsystems.a]
    model = "a"
    [subsystems.b]
    model = "b"
    [connections]
    "a.y" = "b.u"
    "b.y" = "a.u"
  )"),
                                      {.method = method, .step = 0.1, .options = options}),
                        {}, models);
  return simulation.run();
}

TEST(TrialFailure, of_an_integrator_cuts_the_step) {
  const auto summary = summary_with(0.03);
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_GE(summary.rejected_steps, 20U);
  EXPECT_LE(summary.largest_step, 0.03);
}

TEST(TrialFailure, that_no_smaller_step_cures_ends_the_run_with_the_words_of_the_integrator) {
  const auto summary = summary_with(1e-9);
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_NE(test::failure_of(summary).text("refusal").find("the integrator gave up: too much work"), std::string::npos)
      << summary.message;
}

// Missiles tries nothing out: its steps are taken back.
TEST(TrialFailure, of_a_call_of_an_fmu_cuts_the_step) {
  for (const std::string method : {"ifosmondi", "missiles"}) {
    const auto summary = summary_with(0.03, call_failed("fmi2Error"), method);
    EXPECT_EQ(summary.termination, Termination::Completed) << method << ": " << summary.message;
    EXPECT_GT(summary.rejected_steps, 10U) << method;
  }
}

// Nor do explicit methods; f3ornits chooses its steps anyway.
TEST(TrialFailure, in_an_explicit_method_that_may_go_back_cuts_the_step) {
  for (const std::string option : {"adaptive=true", "locate_jumps=true"}) {
    for (const std::string method : {"jacobi", "gauss-seidel", "nepce"}) {
      const auto summary = summary_with(0.03, call_failed("fmi2Error"), method, {option});
      EXPECT_EQ(summary.termination, Termination::Completed) << method << " " << option << ": " << summary.message;
      EXPECT_GE(summary.rejected_steps, 1U) << method << " " << option;
      EXPECT_LE(summary.largest_step, 0.03) << method << " " << option;
    }
  }
  const auto summary = summary_with(0.03, call_failed("fmi2Error"), "f3ornits");
  EXPECT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_GE(summary.rejected_steps, 1U);
  EXPECT_LE(summary.largest_step, 0.03);
}

TEST(TrialFailure, in_an_explicit_method_with_fixed_steps_ends_the_run) {
  const auto summary = summary_with(0.03, call_failed("fmi2Error"), "jacobi");
  EXPECT_EQ(summary.termination, Termination::Failed);
  EXPECT_EQ(test::failure_of(summary).code, FactCode::FmuCallFailed) << summary.message;
}

TEST(TrialFailure, of_a_call_that_no_smaller_step_cures_is_what_ends_the_run) {
  for (const std::string method : {"ifosmondi", "missiles", "jacobi", "f3ornits"}) {
    const auto summary =
        summary_with(1e-9, call_failed("fmi2Error"), method,
                     method == "jacobi" ? std::vector<std::string>{"locate_jumps=true"} : std::vector<std::string>{});
    EXPECT_EQ(summary.termination, Termination::Failed) << method;
    EXPECT_EQ(test::failure_of(summary).code, FactCode::FmuCallFailed) << method << ": " << summary.message;
  }
}

TEST(TrialFailure, that_is_fatal_is_not_tried_again) {
  for (const std::string method : {"ifosmondi", "missiles"}) {
    const auto summary = summary_with(0.03, call_failed("fmi2Fatal"), method);
    EXPECT_EQ(summary.termination, Termination::Failed) << method;
    EXPECT_EQ(summary.rejected_steps, 0U) << method;
  }
}

}  // namespace trial_failure_test
}  // namespace entrain
