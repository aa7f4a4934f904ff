// Advice on systems that give little to go by: everything is named, and nothing is recommended without a reason.
#include <gtest/gtest.h>

#include <cmath>

#include "facade/advice.hpp"
#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace {

/// Two subsystems without states in a loop; each is y = gain u + 1.
SystemDescription loop() {
  SystemDescription description;
  description.name = "loop";
  description.stop = {1.0, {}};
  description.step = {0.01, {}};
  for (const std::string name : {"a", "b"}) {
    auto& subsystem = description.subsystems.emplace_back();
    subsystem.name = name;
    subsystem.model = name;
  }
  description.connections = {{"a.y", "b.u", {}}, {"b.y", "a.u", {}}};
  return description;
}

ModelFactory gains(double first, double second) {
  return [=](std::string_view name) -> std::unique_ptr<Model> {
    const double gain = name == "a" ? first : second;
    return std::make_unique<test::StaticModel>([gain](Time, double u) { return gain * u + 1.0; });
  };
}

std::string all(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

/// The prey, but its linearization fails.
class Unlinear final : public test::StaticModel {
 public:
  Unlinear() : StaticModel([](Time t, double u) { return std::sin(t) + 0.1 * u; }) {}
  void linearize(const Point&, Linearization&) const override { throw std::runtime_error("the table ends here"); }
};

TEST(AdviseBadInput, loop_without_a_solution_is_named_and_nothing_is_recommended) {
  const Advice advice = advise(loop(), {}, gains(2.0, 0.5));  // y = 2 (0.5 y + 1) + 1 holds for no y
  EXPECT_FALSE(advice.choice);
  EXPECT_FALSE(advice.reason.empty());
  const auto remarks = all(advice.remarks);
  EXPECT_NE(remarks.find("a.y"), std::string::npos) << remarks;
  EXPECT_NE(remarks.find("b.y"), std::string::npos) << remarks;
}

TEST(AdviseBadInput, coupling_that_grows_at_every_step_is_called_unstable) {
  auto description = loop();
  for (auto& subsystem : description.subsystems) {  // only explicit methods are left
    subsystem.rollback = {false, {}};
    subsystem.states = {false, {}};
    subsystem.linearization = std::nullopt;
  }
  const Advice advice = advise(description, {}, gains(-2.0, 2.0));  // what goes round is multiplied by -4
  for (const auto& of : advice.candidates) {
    if (of.radius && of.explicit_method()) {
      EXPECT_FALSE(of.stable) << of.title();
      EXPECT_TRUE(of.stable_steps.empty()) << of.title();
    }
  }
  ASSERT_TRUE(advice.robustness || !advice.choice);
  EXPECT_FALSE(advice.reason.empty());
  if (advice.robustness) {
    ASSERT_TRUE(advice.robustness->initialisation);
    EXPECT_FALSE(advice.robustness->initialisation->converges);
    EXPECT_NEAR(advice.robustness->initialisation->radius, 4.0, 1e-9);
  }
}

TEST(AdviseBadInput, subsystem_that_fails_when_linearized_is_named_and_runs_decide) {
  const ModelFactory models = [](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "a") return std::make_unique<Unlinear>();
    return std::make_unique<test::StaticModel>([](Time, double u) { return -0.5 * u; });
  };
  const Advice advice = advise(loop(), {}, models);
  const auto remarks = all(advice.remarks);
  EXPECT_NE(remarks.find("'a' failed when it was linearized: the table ends here"), std::string::npos) << remarks;
  ASSERT_TRUE(advice.choice) << advice.reason;
  EXPECT_NE(advice.reason.find("measured over"), std::string::npos) << advice.reason;
}

TEST(AdviseBadInput, without_linearization_nothing_is_foretold_and_the_measured_best_is_chosen) {
  auto description = test::changed(test::example("mechanical"), {.step = 1e-3, .stop = 0.3});
  for (auto& subsystem : description.subsystems) subsystem.linearization = {false, {}};
  const Advice advice = advise(description);
  ASSERT_TRUE(advice.choice) << advice.reason;
  for (const auto& of : advice.candidates) EXPECT_FALSE(of.error) << of.title();
  ASSERT_TRUE(advice.candidates[*advice.choice].probed_error || advice.match);
  EXPECT_NE(all(advice.remarks).find("'left' tells no linearization"), std::string::npos);
  EXPECT_NE(all(advice.missing).find("'left' tells no linearization"), std::string::npos);
}

}  // namespace
}  // namespace entrain
