// `entrain new` on the FMUs of every example, as the folders are found; and on FMUs whose ports are no real numbers.
#include <gtest/gtest.h>

#include "support/example_fmus.hpp"
#include "support/program.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace new_system_examples_test {

using test::TemporaryFolder;

class NewOfExample : public testing::TestWithParam<std::string> {};

TEST_P(NewOfExample, checks_and_runs) {
  const TemporaryFolder folder;
  std::vector<std::string> arguments{"new", "system"};
  for (const auto& subsystem : test::example(GetParam()).subsystems) arguments.push_back(test::fmu_of(subsystem));
  ASSERT_GE(arguments.size(), 3U);
  for (const auto& command : {arguments, {"check", "system"}, {"run", "system", "--quiet", "--require", "any"}}) {
    const auto result = test::run_program(folder, command);
    ASSERT_EQ(result.exit_code, 0) << command.front() << ": " << result.err;
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, NewOfExample, testing::ValuesIn(test::example_names()),
                         [](const auto& each) { return each.param; });

TEST(NewOfTypedFmus, connects_integers_booleans_and_texts_by_name_and_convert_keeps_them) {
  const TemporaryFolder folder;
  test::write_typed2(folder);
  std::string twin = test::kTyped2;  // its inputs have the names of the other's outputs
  for (const auto& [input, output] :
       {std::pair("\"i\"", "\"j\""), {"\"e\"", "\"f\""}, {"\"b\"", "\"c\""}, {"\"s\"", "\"t\""}}) {
    const auto at = twin.find(input);
    const auto other = twin.find(output);
    twin.replace(at, 3, output);
    twin.replace(other, 3, input);
  }
  test::write_typed2(folder, "twin.fmu", twin);
  ASSERT_EQ(test::run_program(folder, {"new", "system", "typed2.fmu", "twin.fmu"}).exit_code, 0);
  const std::string text = test::text_of(folder / "system/system.toml");
  for (const auto* line : {"\"typed2.j\" = \"twin.j\"  # same name", "\"typed2.f\" = \"twin.f\"  # same name",
                           "\"typed2.c\" = \"twin.c\"  # same name", "\"typed2.t\" = \"twin.t\"  # same name",
                           "\"twin.i\" = \"typed2.i\"  # same name",
                           "# inputs: x (degC), i (Int32), e (Enumeration), b (Boolean), s (String)"})
    EXPECT_NE(text.find(line), std::string::npos) << line << "\nis missing in\n" << text;

  const auto results = [&](const std::string& system, const std::string& out) {
    return test::results_of(folder, system, out,
                            {"--method", "jacobi", "--step", "0.25", "--set", "typed2.s=a b", "--set", "typed2.i=7",
                             "--set", "typed2.b=true"});
  };
  const std::string first = results("system", "first");
  EXPECT_NE(first.find("\"a b\""), std::string::npos);
  for (const auto& [source, target] : {std::pair("system", "b.ssp"), {"b.ssp", "c.toml"}}) {
    const auto converted = test::run_program(folder, {"convert", source, target});
    ASSERT_EQ(converted.exit_code, 0) << converted.err;
    EXPECT_EQ(results(target, std::string(target) + ".run"), first) << source << " -> " << target;
  }
}

}  // namespace new_system_examples_test
}  // namespace entrain
