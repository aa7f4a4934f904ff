// Arrays connected as a whole: element by element.
#include <gtest/gtest.h>

#include <map>

#include "description/array_connections.hpp"
#include "entrain/inspection.hpp"
#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/program.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace array_connection_test {

std::string two(const std::string& connections) {
  return "[run]\nstop = 1.0\nstep = 0.5\n[subsystems.a]\nfmu = \"typed3.fmu\"\nstart = { n = 3, \"v[1]\" = 4.5, "
         "\"v[2]\" = 5.5, \"v[3]\" = 6.5, \"a[1,2]\" = 12.0, \"in.pair[2]\" = 9 }\n[subsystems.b]\nfmu = "
         "\"typed3.fmu\"\n[connections]\n" +
         connections;
}

class ArrayConnection : public testing::Test {
 protected:
  void SetUp() override { test::write_typed3(folder_); }
  test::TemporaryFolder folder_;
};

TEST_F(ArrayConnection, carries_every_element_of_real_and_of_discrete_arrays) {
  const auto system =
      test::system_in(folder_, two("\"a.m\" = { to = \"b.a\", factor = 2.0 }\n\"a.out.pair\" = \"b.in.pair\"\n"));
  Simulation simulation(system);
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  const std::vector<std::pair<std::string, double>> expected{
      {"b.a[1,1]", 2.0}, {"b.a[1,2]", 24.0}, {"b.a[2,3]", 12.0}, {"b.in.pair[1]", 7.0}, {"b.in.pair[2]", 9.0}};
  for (const auto& [input, value] : expected) EXPECT_EQ(simulation.value(input), value) << input;
  std::map<std::string, std::string> origins;
  for (const auto& input : inspect_initial(system)) origins[input.name] = input.from;
  EXPECT_EQ(origins["b.a[2,1]"], "'a.m[2,1]', 4 there");
  EXPECT_EQ(origins["b.in.pair[2]"], "'a.out.pair[2]'");
}

TEST_F(ArrayConnection, of_unequal_shapes_is_an_error_with_both) {
  EXPECT_EQ(test::problems_of(test::system_in(folder_, two("\"a.w\" = \"b.v\"\n"))),
            "test.toml:10: shapes-differ a.w, b.v (input_shape = [2], shape = [3]); connect their elements one by one, "
            "or change the structural parameters");
  EXPECT_EQ(test::problems_of(test::system_in(folder_, two("\"a.m\" = \"b.x\"\n"))),
            "test.toml:10: array-not-element a.m (shape = [2,3]); name an element, such as 'a.m[1,1]', or connect it "
            "with an array of the same shape");
  EXPECT_EQ(test::problems_of(test::system_in(folder_, two("\"a.y\" = \"b.v\"\n"))),
            "test.toml:10: array-not-element b.v (shape = [2]); name an element, such as 'b.v[1]', or connect it with "
            "an array of the same shape");
}

TEST_F(ArrayConnection, feeds_each_element_once) {
  EXPECT_EQ(test::problems_of(test::system_in(folder_, two("\"a.m\" = \"b.a\"\n\"a.y\" = \"b.a[2,2]\"\n"))),
            "test.toml:11: input-fed-twice b.a[2,2], a.m[2,2], a.y (line = 10); an input takes one output");
}

TEST_F(ArrayConnection, becomes_connections_of_elements_in_ssp) {
  test::write_text(folder_ / "a.toml", two("\"a.m\" = \"b.a\"\n"));
  ASSERT_EQ(test::run_program(folder_, {"convert", "a.toml", "b.ssp"}).exit_code, 0);
  EXPECT_EQ(load(folder_ / "b.ssp").connections.size(), 6U);
  EXPECT_EQ(test::results_of(folder_, "a.toml", "a"), test::results_of(folder_, "b.ssp", "b"));
}

TEST(PortArray, is_whole_or_none) {
  VariableTable variables;
  const auto port = [](const std::string& name) { return Variable{name, "", "", ValueType::Real, 0.0}; };
  for (const auto* name : {"a[1]", "a[3]", "b[2]", "b[1]", "c[1,1]", "c[1]", "d", "d[1]", "e[x]", "f[0]"})
    variables.outputs.push_back(port(name));
  EXPECT_FALSE(description::output_array(variables, "a")) << "an element is missing";
  ASSERT_TRUE(description::output_array(variables, "b")) << "scalars of FMI 2 that are named like elements";
  EXPECT_EQ(description::output_array(variables, "b")->shape, "[2]");
  for (const auto* name : {"c", "d", "e", "f", "", "g"})
    EXPECT_FALSE(description::output_array(variables, name)) << name;
}

}  // namespace array_connection_test
}  // namespace entrain
