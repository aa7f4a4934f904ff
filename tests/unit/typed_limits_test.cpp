// What typed values cannot do, and how it is reported: by culprit, time and remedy.
#include <gtest/gtest.h>

#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"

namespace entrain {
namespace typed_limits_test {

using test::problems_of;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

class TypedLimits : public testing::Test {
 protected:
  void write_typed3(const std::string& xml) {
    test::write_archive(
        folder_ / "typed3.fmu",
        {{"modelDescription.xml", xml}, {"binaries/x86_64-linux/typed.so", test::text_of(test::typed_fmu3_library())}});
  }
  void write_typed3(const std::string& what, const std::string& by) {
    write_typed3(replaced(test::typed3(), what, by));
  }
  /// Two instances, a and b.
  SystemDescription two(const std::string& fmu, const std::string& start, const std::string& connections) {
    return test::system_in(folder_, "[run]\nstop = 0.2\nstep = 0.1\n[subsystems.a]\nfmu = \"" + fmu +
                                        "\"\nstart = " + start + "\n[subsystems.b]\nfmu = \"" + fmu +
                                        "\"\n[connections]\n" + connections);
  }
  test::TemporaryFolder folder_;
};

TEST_F(TypedLimits, an_unsigned_number_beyond_63_bits_cannot_feed_a_signed_input) {
  test::write_typed3(folder_);
  Simulation simulation(
      two("typed3.fmu", R"({ "in.UInt64" = "18446744073709551615" })", "\"a.out.UInt64\" = \"b.in.Int64\"\n"));
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  EXPECT_EQ(test::outline(test::failure_of(simulation.summary())),
            "value-does-not-fit (source = a.out.UInt64, type = Int64, value = 18446744073709551615)");
  const auto [subsystem, variable, time, remedy] = test::place_of_failure(simulation.summary());
  EXPECT_EQ(subsystem, "b");
  EXPECT_EQ(variable, "in.Int64");
  EXPECT_EQ(time, 0.0);
  EXPECT_NE(remedy.find("UInt64"), std::string::npos) << remedy;
}

TEST_F(TypedLimits, a_number_beyond_the_range_of_float32_is_blamed_on_the_input) {
  test::write_typed3(folder_);
  Simulation simulation(two("typed3.fmu", "{ x = 1e300 }", "\"a.y\" = \"b.in.Float32\"\n"));
  EXPECT_EQ(simulation.run().termination, Termination::Failed);
  EXPECT_EQ(test::outline(test::failure_of(simulation.summary())),
            "value-does-not-fit (type = Float32, value = 1e+300)");
  EXPECT_EQ(test::place_of_failure(simulation.summary()).subsystem, "b");
  EXPECT_EQ(test::place_of_failure(simulation.summary()).variable, "in.Float32");
}

// Two that pass their values to each other have none in common: each round swaps them.
TEST_F(TypedLimits, values_that_do_not_settle_at_the_start_are_reported) {
  test::write_typed2(folder_);
  Simulation ring(two("typed2.fmu", "{ i = 1 }", "\"a.j\" = \"b.i\"\n\"b.j\" = \"a.i\"\n"));
  ASSERT_EQ(ring.run().termination, Termination::Completed) << ring.summary().message;
  const Fact* unsettled = test::find_fact(ring.summary().warnings, FactCode::DiscreteValuesUnsettled);
  ASSERT_NE(unsettled, nullptr);
  EXPECT_EQ(*unsettled, (Fact{FactCode::DiscreteValuesUnsettled, {"a.i", "b.i"}, {{"rounds", 3}}}));
  Simulation chain(two("typed2.fmu", "{ i = 1 }", "\"a.j\" = \"b.i\"\n"));
  chain.run();
  EXPECT_FALSE(test::has_fact(chain.summary().warnings, FactCode::DiscreteValuesUnsettled));
}

TEST_F(TypedLimits, a_discrete_input_without_a_value_is_an_error_like_a_real_one) {
  write_typed3("variability=\"discrete\" start=\"7 8\"", "variability=\"discrete\"");
  EXPECT_EQ(problems_of(two("typed3.fmu", R"({ "in.pair[1]" = 1, "in.pair[2]" = 2 })", "")),
            "test.toml:7: input-not-connected b.in.pair[1]; connect it, or give it a value: start = { \"in.pair[1]\" = "
            "... }\ntest.toml:7: input-not-connected b.in.pair[2]; connect it, or give it a value: start = { "
            "\"in.pair[2]\" = ... }");
  EXPECT_EQ(problems_of(two("typed3.fmu", R"({ "in.pair[1]" = 1, "in.pair[2]" = 2 })",
                            "\"a.out.pair[1]\" = \"b.in.pair[1]\"\n\"a.out.pair[2]\" = \"b.in.pair[2]\"\n")),
            "accepted");
}

TEST_F(TypedLimits, another_name_of_a_variable_connects_starts_and_records_it) {
  write_typed3(replaced(replaced(test::typed3(), "causality=\"input\" start=\"0\"/>",
                                 "causality=\"input\" start=\"0\"><Alias name=\"force\"/></Float64>"),
                        "<Dimension start=\"3\"/></Float64>",
                        "<Dimension start=\"3\"/><Alias name=\"grid\"/></Float64>"));
  auto system = two("typed3.fmu", R"({ force = 1.5, "grid[2,1]" = 8.0 })", "\"a.y\" = \"b.force\"\n");
  system.record.variables = {{"b.force", {}}, {"a.grid[2,1]", {}}};
  Simulation simulation(system);
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(simulation.value("b.x"), 1.5);
  EXPECT_EQ(simulation.value("b.force"), 1.5);
  EXPECT_EQ(simulation.value("a.m[2,1]"), 8.0);
  EXPECT_EQ(problems_of(two("typed3.fmu", "{ force = 1.0, x = 2.0 }", "")),
            "test.toml:6: start-twice a.force, a.x; leave one of them out");
}

TEST_F(TypedLimits, one_start_value_for_an_array_reaches_every_element) {
  write_typed3("start=\"1 2 3 4 5 6\"", "start=\"9\"");
  Simulation simulation(two("typed3.fmu", R"({ "a[1,1]" = 3.0 })", ""));
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(simulation.value("a.m[1,1]"), 3.0);
  for (const char* element : {"a.m[1,2]", "a.m[2,3]"}) EXPECT_EQ(simulation.value(element), 9.0) << element;
}

TEST_F(TypedLimits, an_element_of_a_tunable_array_changes_by_schedule_and_the_others_stay) {
  write_typed3("valueReference=\"5\" causality=\"input\"",
               "valueReference=\"5\" causality=\"parameter\" variability=\"tunable\"");
  auto system = two("typed3.fmu", "{}", "[schedule]\n\"a.a[1,2]\" = [[0.1, 50.0]]\n");
  Simulation simulation(system);
  simulation.run_until(0.1);
  EXPECT_EQ(simulation.value("a.m[1,2]"), 2.0);
  ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  EXPECT_EQ(simulation.value("a.m[1,2]"), 50.0);
  EXPECT_EQ(simulation.value("a.m[1,1]"), 1.0);
  EXPECT_EQ(simulation.value("a.m[2,3]"), 6.0);
}

TEST_F(TypedLimits, a_text_is_wanted_in_quotes) {
  test::write_typed2(folder_);
  auto system = two("typed2.fmu", "{}", "");
  apply_set(system, "a.s=12");
  EXPECT_EQ(problems_of(system),
            "--set a.s=12: wrong-value-type a.s (expected = a string, found = an integer); write it in quotes: --set "
            "'a.s=\"12\"'");
  EXPECT_EQ(problems_of(two("typed2.fmu", "{ s = 12 }", "")),
            "test.toml:6: wrong-value-type a.s (expected = a string, found = an integer); write it in quotes: \"12\"");
}

}  // namespace typed_limits_test
}  // namespace entrain
