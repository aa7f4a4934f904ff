// Methods and subsystems that a program brings along are treated as the built-in ones.
#include <gtest/gtest.h>

#include <algorithm>

#include "advise/choose_method.hpp"
#include "entrain/advice.hpp"
#include "methods/hermite/missiles.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace extensions_test {

/// A built-in method that passes for a cheaper one.
class Cheap : public Method {
 public:
  const MethodTraits& traits() const override {
    static const MethodTraits kTraits = [] {
      MethodTraits traits = method::Missiles().traits();
      traits.name = "cheap";
      traits.calls_per_step = 0.5;
      return traits;
    }();
    return kTraits;
  }
  void bind(OptionBinder& binder) override { inner_.bind(binder); }
  Requirements requirements() const override { return inner_.requirements(); }
  void start(CoupledSystem& system, const RunSettings& settings) override { inner_.start(system, settings); }
  MacroStepReport advance(CoupledSystem& system) override { return inner_.advance(system); }
  MethodMemory memory() const override { return inner_.memory(); }
  void restore(const MethodMemory& memory) override { inner_.restore(memory); }

 private:
  method::Missiles inner_;
};

Extensions cheap() {
  Extensions extensions;
  extensions.add_method<Cheap>();
  return extensions;
}

TEST(Extensions, method_is_run_as_the_one_that_it_stands_for) {
  const auto value = [](const std::string& method) {
    const auto description = test::changed(test::example("mechanical"), {.method = method, .step = 1e-3, .stop = 0.2});
    Simulation simulation(description, {}, cheap());
    simulation.run();
    EXPECT_EQ(simulation.summary().method, method);
    EXPECT_EQ(simulation.summary().family, MethodFamily::Implicit);
    return simulation.value("left.x");
  };
  EXPECT_EQ(value("cheap"), value("missiles"));
}

TEST(Extensions, method_is_a_candidate_of_auto) {
  auto description = test::changed(test::example("mechanical"), {.method = "auto", .step = 1e-3});
  const auto without = advising::choose_method(description, {});
  EXPECT_EQ(without.description.method.value, "missiles");
  description.exclude = std::vector<Written<std::string>>{{"missiles", {}}};
  const auto with = advising::choose_method(description, cheap());
  EXPECT_EQ(with.description.method.value, "cheap");  // it is the same under another name
}

TEST(Extensions, method_is_judged_by_the_adviser) {
  const auto advice = advise(test::changed(test::example("mechanical"), {.step = 1e-3}), {}, cheap());
  const auto judged = [&](const std::string& method) {
    return *std::find_if(advice.candidates.begin(), advice.candidates.end(),
                         [&](const Candidate& of) { return of.method == method; });
  };
  EXPECT_TRUE(judged("cheap").obstacles.empty());
  EXPECT_EQ(judged("cheap").radius, judged("missiles").radius);
  EXPECT_EQ(judged("cheap").error, judged("missiles").error);
  // Measured, not declared, which is half of it; in a shorter run the first linearizations count for more.
  ASSERT_TRUE(judged("cheap").calls_per_step && judged("missiles").calls_per_step);
  EXPECT_NEAR(*judged("cheap").calls_per_step / *judged("missiles").calls_per_step, 1.0, 0.15);
}

TEST(Extensions, linear_step_of_its_own_yields_the_stability) {
  class Damped : public Cheap {
   public:
    const MethodTraits& traits() const override {
      static const MethodTraits kTraits = [] {
        MethodTraits traits{.name = "damped", .summary = "", .family = MethodFamily::Implicit};
        traits.linear_step.matrix = [](const MethodConfig&, const LinearNetwork& network, Duration) {
          Matrix matrix(network.state_count(), network.state_count());
          for (std::size_t i = 0; i < matrix.rows; ++i) matrix(i, i) = 0.75;
          return matrix;
        };
        return traits;
      }();
      return kTraits;
    }
  };
  Extensions extensions;
  extensions.add_method<Damped>();
  const auto advice = advise(test::changed(test::example("mechanical"), {.step = 1e-3}), {}, extensions);
  const auto found = std::find_if(advice.candidates.begin(), advice.candidates.end(),
                                  [&](const Candidate& of) { return of.method == "damped"; });
  ASSERT_NE(found, advice.candidates.end());
  EXPECT_NEAR(found->radius.value_or(0.0), 0.75, 1e-12);
  EXPECT_FALSE(found->error.has_value());  // nothing is forecast of it, so it is measured
}

TEST(Extensions, names_that_are_taken_are_refused) {
  class Impostor : public Cheap {
   public:
    explicit Impostor(std::string name) { traits_.name = std::move(name); }
    const MethodTraits& traits() const override { return traits_; }

   private:
    MethodTraits traits_;
  };
  for (const std::string name : {"jacobi", "auto", ""}) {
    Extensions extensions;
    extensions.methods.push_back([name] { return std::make_unique<Impostor>(name); });
    EXPECT_THROW(Simulation(test::example("mechanical"), {}, extensions), Error) << name;
  }
}

}  // namespace extensions_test
}  // namespace entrain
