// f3ornits on FMUs: as on native models, for bare ones, and with the events of FMI 3.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/f3ornits_runs.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"

namespace entrain {
namespace f3ornits_fmus_test {

using test::changed;
using test::finished;
using test::number_of;
using test::two_masses;

SystemDescription with_fmus(const std::string& pair, const std::string& folder, const std::vector<std::string>& parts) {
  auto description = test::example(pair);
  for (std::size_t s = 0; s < parts.size(); ++s) {
    description.subsystems[s].model.clear();
    description.subsystems[s].fmu = test::fmu_folder() + "/" + folder + "/" + pair + "_" + parts[s] + ".fmu";
  }
  return description;
}

double prey_at_the_end(SystemDescription description, const test::Change& change) {
  Simulation simulation(changed(std::move(description), change));
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return simulation.value("prey.p");
}

TEST(F3ornitsFmus, bare_ones_with_imposed_steps_beat_held_inputs_fivefold) {
  const double exact =
      prey_at_the_end(test::example("lotka_volterra"), {.method = "monolithic", .step = 0.1, .stop = 6.0});
  for (const std::string version : {"2", "3"}) {
    auto bare = with_fmus("lotka_volterra", "test/bare/" + version, {"prey", "predator"});
    bare.subsystems[0].step = Written<double>{0.02, {}};
    bare.subsystems[1].step = Written<double>{0.02, {}};
    const double held = prey_at_the_end(bare, {.method = "jacobi", .step = 0.02, .stop = 6.0});
    const double ours = prey_at_the_end(bare, {.method = "f3ornits", .step = 0.02, .stop = 6.0});
    EXPECT_LT(std::abs(ours - exact), std::abs(held - exact) / 5) << version;
    bare.subsystems[1].step = Written<double>{0.03, {}};  // no common grid
    const double apart = prey_at_the_end(bare, {.method = "f3ornits", .step = 0.02, .stop = 6.0});
    EXPECT_LT(std::abs(apart - exact), std::abs(held - exact) / 5) << version;
  }
}

// In its first 10 s the controller ignores its input, so that no step there can prove which input derivatives it takes.
TEST(F3ornitsFmus, an_input_that_has_no_effect_yet_keeps_the_degree_that_is_claimed) {
  Simulation simulation(
      changed(with_fmus("car", "test/strict/2", {"body", "controller"}), {.method = "f3ornits", .step = 0.01}));
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(simulation.summary().subsystems[1].capabilities.input_degree, 1);
  EXPECT_NEAR(simulation.value("body.v"), 16.09, 0.05);
}

// Their own event ends their step, whether it is announced to others or not: that is known, and located as a jump is.
TEST(F3ornitsFmus, of_fmi_3_have_an_event_that_was_not_announced_located) {
  const auto with_options = [](const std::vector<std::string>& options) {
    auto native = two_masses(false, options);
    const auto fmus = with_fmus("two_mass", "test/strict/3", {"left", "right"});
    for (std::size_t s = 0; s < 2; ++s) {
      native.subsystems[s].model.clear();
      native.subsystems[s].fmu = fmus.subsystems[s].fmu;
    }
    return native;
  };
  const auto located = finished(with_options({}), {"left.x"});
  const auto seen = std::upper_bound(located.record.times.begin(), located.record.times.end(), 100.0);
  EXPECT_LE(*seen - 100.0, 0.01 + 1e-12);
  EXPECT_GT(located.summary.rejected_steps, 0U);
  EXPECT_EQ(located.summary.subsystems[1].own_steps->jumps, 1U);
  EXPECT_FALSE(number_of(located.summary.notes, FactCode::OutputJumps, "late") > 0.0);
  const auto late = finished(with_options({"locate_jumps=false"}), {"left.x"});
  EXPECT_EQ(number_of(late.summary.notes, FactCode::OutputJumps, "jumps", "right"), 1.0);
  EXPECT_EQ(number_of(late.summary.notes, FactCode::OutputJumps, "late", "right"), 1.0);
}

TEST(F3ornitsFmus, run_as_the_native_models_do) {
  for (const std::string version : {"2", "3"}) {
    auto native = two_masses(true);
    native.subsystems[1].events = Written<std::vector<double>>{{100.0}, {}};
    if (version == "3") {  // which knows no input derivatives
      for (auto& subsystem : native.subsystems) subsystem.input_degree = Written<std::int64_t>{0, {}};
    }
    auto imported = native;
    const auto fmus = with_fmus("two_mass", "test/strict/" + version, {"left", "right"});
    for (std::size_t s = 0; s < 2; ++s) {
      imported.subsystems[s].model.clear();
      imported.subsystems[s].fmu = fmus.subsystems[s].fmu;
    }
    const auto expected = finished(native, {"left.x"});
    const auto found = finished(imported, {"left.x"});
    EXPECT_EQ(found.summary.macro_steps, expected.summary.macro_steps) << version;
    EXPECT_NEAR(found.record.column("left.x").back(), expected.record.column("left.x").back(), 1e-6) << version;
  }
}

}  // namespace f3ornits_fmus_test
}  // namespace entrain
