// f3ornits under imposed steps: a jump is accepted only when the sample behind it agrees.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "entrain/recording.hpp"
#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace f3ornits_imposed_test {

using test::changed;

const std::vector<std::string> kAnimals{"prey.p", "predator.P"};

/// The largest error of prey and predator when both step by `step`.
double error_with_imposed_steps(double step, const std::string& detect_jumps) {
  auto description = changed(test::example("lotka_volterra"), {.method = "monolithic", .step = step, .stop = 20.0});
  Simulation exact(description);
  MemoryRecorder reference(kAnimals);
  exact.observe(reference);
  exact.run();
  description = changed(description, {.method = "f3ornits", .options = {"detect_jumps=" + detect_jumps}});
  for (auto& subsystem : description.subsystems) subsystem.step = Written<double>{step, {}};
  Simulation simulation(description);
  MemoryRecorder recorder(kAnimals);
  simulation.observe(recorder);
  EXPECT_EQ(simulation.run().termination, Termination::Completed);
  double largest = 0.0;
  for (const auto& animal : kAnimals) {
    const auto& ours = recorder.column(animal);
    const auto& theirs = reference.column(animal);
    EXPECT_EQ(ours.size(), theirs.size());
    for (std::size_t k = 0; k < ours.size(); ++k) largest = std::max(largest, std::abs(ours[k] - theirs[k]));
  }
  return largest;
}

// The rise of the prey is steep beside such steps: no order predicts its first sample.
TEST(F3ornitsImposed, watching_for_jumps_costs_a_smooth_system_next_to_nothing) {
  for (const double step : {0.1, 0.2, 0.4}) {
    EXPECT_LE(error_with_imposed_steps(step, "true"), 1.05 * error_with_imposed_steps(step, "false")) << step;
  }
}

/// What a probe that imposes steps of 0.1 s receives of source.y, which imposes them too.
class Jump {
 public:
  explicit Jump(const std::string& detect_jumps)
      : simulation_(described(detect_jumps), {}, [](std::string_view name) -> std::unique_ptr<Model> {
          if (name == "source") return std::make_unique<test::StaticModel>([](Time t, double) { return y(t); });
          return std::make_unique<test::StaticModel>([](Time, double u) { return 0.0 * u; });
        }) {}

  static double y(Time t) { return std::sin(3 * t) + (t < 1.03 ? 0.0 : 2.0); }
  Simulation& simulation() { return simulation_; }

 private:
  static SystemDescription described(const std::string& detect_jumps) {
    return changed(test::system_from(R"(
      [run]
      stop = 2.0
      [subsystems.source]
      model = "source"
      step = 0.1
      [subsystems.probe]
      model = "probe"
      step = 0.1
      [connections]
      "source.y" = "probe.u"
      "probe.y" = "source.u"
    )"),
                   {.method = "f3ornits",
                    .step = 0.1,
                    .options = {"calibration=\"cls\"", "max_order=2", "detect_jumps=" + detect_jumps}});
  }

  Simulation simulation_;
};

TEST(F3ornitsImposed, a_jump_is_sent_once_and_no_polynomial_spans_it) {
  Jump jump("true");
  MemoryRecorder recorder({"probe.u"});
  jump.simulation().observe(recorder);
  const auto& summary = jump.simulation().run();
  ASSERT_EQ(summary.termination, Termination::Completed) << summary.message;
  EXPECT_EQ(summary.subsystems[0].own_steps->jumps, 1U);
  EXPECT_EQ(test::number_of(summary.notes, FactCode::OutputJumps, "jumps", "source"), 1.0);
  EXPECT_EQ(test::number_of(summary.notes, FactCode::OutputJumps, "late", "source"), 1.0);
  // Behind the jump the wave moves by up to 0.3 per step: what is held or continued from there misses less than that.
  // A polynomial across the jump would miss by 2.
  for (std::size_t k = 0; k < recorder.times.size(); ++k) {
    if (recorder.times[k] < 1.15) continue;
    EXPECT_NEAR(recorder.columns[0][k], Jump::y(recorder.times[k]), 0.35);
  }
}

TEST(F3ornitsImposed, a_run_restored_while_a_jump_is_in_doubt_is_the_same_to_the_last_bit) {
  Jump jump("true");
  auto& simulation = jump.simulation();
  simulation.run_until(1.1);  // the first sample behind the jump
  const auto checkpoint = simulation.checkpoint();
  simulation.run();
  const double first = simulation.value("probe.u");
  const auto jumps = simulation.summary().subsystems[0].own_steps->jumps;
  EXPECT_EQ(jumps, 1U);
  simulation.restore(*checkpoint);
  simulation.run();
  EXPECT_EQ(simulation.value("probe.u"), first);
  EXPECT_EQ(simulation.summary().subsystems[0].own_steps->jumps, jumps);
}

}  // namespace f3ornits_imposed_test
}  // namespace entrain
