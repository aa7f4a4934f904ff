// A model whose integrator gives up inside a trial: the step is cut, as for a subsystem that rejects it.
#include <gtest/gtest.h>

#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace trial_failure_test {

/// y = 0.5 u; gives up on steps longer than `longest`.
class Impatient final : public test::StaticModel {
 public:
  explicit Impatient(Duration longest) : StaticModel([](Time, double u) { return 0.5 * u; }), longest_(longest) {}
  void integrate(Time, Duration size, const InputBlock&, std::span<double>) override {
    if (size > longest_) throw Error(ErrorCode::SolverFailed, "the integrator gave up: too much work");
  }

 private:
  Duration longest_;
};

RunSummary summary_with(Duration longest) {
  const ModelFactory models = [&](std::string_view) { return std::make_unique<Impatient>(longest); };
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
                                      {.method = "ifosmondi", .step = 0.1}),
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

}  // namespace trial_failure_test
}  // namespace entrain
