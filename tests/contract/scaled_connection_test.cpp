// A factor and an offset on a connection mean the same to every method as a model that scales its output itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "description/system_file.hpp"
#include "methods/registry.hpp"
#include "support/facts.hpp"
#include "support/ode_model.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace scaled_connection_test {

using Equation = test::OdeModel::Equation;

std::unique_ptr<Model> scaled_model(std::string_view name) {
  const auto f = [](double x, double u) { return -x + 0.5 * u; };
  const auto make = [&](const test::OdeModel::Function& g, bool feedthrough) {
    return std::make_unique<test::OdeModel>(Equation{f, g, 1.0, feedthrough});
  };
  if (name == "plain") return make([](double x, double) { return x; }, false);
  if (name == "scales") return make([](double x, double) { return -4 * x + 3; }, false);
  if (name == "plain_through") return make([](double x, double u) { return x + 0.125 * u; }, true);
  if (name == "scales_through") return make([](double x, double u) { return -4 * (x + 0.125 * u) + 3; }, true);
  return nullptr;
}

/// a feeds b, which feeds a and passes its own input on.
SystemDescription pair(const std::string& model_of_a, const std::string& input_of_b, const std::string& method) {
  return test::system_from("[run]\nstop = 2.0\nstep = 0.05\nmethod = \"" + method + "\"\n[subsystems.a]\nmodel = \"" +
                           model_of_a + "\"\n[subsystems.b]\nmodel = \"plain_through\"\n[connections]\n\"a.y\" = " +
                           input_of_b + "\n\"b.y\" = [{ to = \"a.u\" }]\n");
}

class ScaledConnection : public testing::TestWithParam<std::string> {
 protected:
  /// How far b ends from where it ends when the model scales.
  static double difference(const std::string& plain, const std::string& scaling) {
    Simulation by_connection(pair(plain, "{ to = \"b.u\", factor = -4, offset = 3.0 }", GetParam()), {}, scaled_model);
    Simulation by_model(pair(scaling, "\"b.u\"", GetParam()), {}, scaled_model);
    EXPECT_EQ(by_connection.run().termination, Termination::Completed) << by_connection.summary().message;
    EXPECT_EQ(by_model.run().termination, Termination::Completed) << by_model.summary().message;
    return std::abs(by_connection.value("b.x") - by_model.value("b.x")) +
           std::abs(by_connection.value("a.x") - by_model.value("a.x"));
  }
};

// The two differ by rounding, and by what depends on the size of an output: where an iteration ends, and in f3ornits
// the steps that the tolerance allows (2e-6 here). A slope or a start that is not scaled makes 1e-2 and more.
constexpr double kAlike = 1e-5;

TEST_P(ScaledConnection, equals_a_model_that_scales_its_output) {
  EXPECT_LT(difference("plain", "scales"), kAlike);
}

TEST_P(ScaledConnection, equals_it_in_an_algebraic_loop_too) {
  EXPECT_LT(difference("plain_through", "scales_through"), kAlike);
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& entry : method::built_in_methods().entries()) names.push_back(entry.traits.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Methods, ScaledConnection, testing::ValuesIn(method_names()), [](const auto& each) {
  std::string name = each.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(ScaledStart, honours_factor_and_offset_of_a_loop) {
  // a.y = x_a + b.y / 8 and b.y = x_b + (3 - 4 a.y) / 8 with x_a = x_b = 1.
  Simulation simulation(pair("plain_through", "{ to = \"b.u\", factor = -4, offset = 3.0 }", "jacobi"), {},
                        scaled_model);
  simulation.run_until(0.0);
  const double y = (1.0 + 1.375 / 8) / (1.0 + 1.0 / 16);
  EXPECT_NEAR(simulation.value("a.y"), y, 1e-12);
  EXPECT_NEAR(simulation.value("b.u"), 3 - 4 * y, 1e-12);
}

TEST(ScaledConnectionText, is_written_as_it_was_read) {
  const auto system =
      pair("plain", "[\"b.u\", { to = \"b.w\", factor = 9.55 }, { to = \"b.z\", offset = -1 }]", "jacobi");
  ASSERT_EQ(system.connections.size(), 4U);
  EXPECT_EQ(system.connections[1].factor, 9.55);
  EXPECT_EQ(system.connections[1].offset, 0.0);
  EXPECT_EQ(system.connections[2].offset, -1.0);
  const auto text = system_text(system);
  EXPECT_NE(text.find("\"a.y\" = [\"b.u\", { to = \"b.w\", factor = 9.55 }, { to = \"b.z\", offset = -1.0 }]\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(system_text(test::system_from(text)), text);
}

TEST(ScaledConnectionText, with_a_fault_names_the_fault) {
  const auto problem = [](const std::string& input) {
    try {
      pair("plain", input, "jacobi");
    } catch (const Error& error) {
      return test::outline(error.problems().front());
    }
    return std::string("read");
  };
  EXPECT_NE(problem("{ factor = 2 }").find("no-input-named connections.\"a.y\"; write { to = \"subsystem.input\""),
            std::string::npos);
  EXPECT_NE(problem("{ to = \"b.u\", factr = 2 }").find("unknown-key factr (owner = connections.\"a.y\")"),
            std::string::npos);
  EXPECT_NE(problem("{ to = \"b.u\", factor = nan }").find("not-finite connections.\"a.y\".factor"), std::string::npos);
  EXPECT_NE(problem("{ to = \"b.u\", offset = inf }").find("not-finite connections.\"a.y\".offset"), std::string::npos);
  EXPECT_NE(
      problem("{ to = 3 }").find("wrong-type connections.\"a.y\".to (expected = a string, found = the integer 3)"),
      std::string::npos);
}

}  // namespace scaled_connection_test
}  // namespace entrain
