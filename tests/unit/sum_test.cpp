// Sums between subsystems: without a delay, under every method.
#include <gtest/gtest.h>

#include <fstream>

#include "models/registry.hpp"
#include "subsystem/native/sum.hpp"
#include "support/clocked_fmus.hpp"
#include "support/facts.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace sum_test {

TEST(Sum, is_made_of_its_name_alone) {
  for (const char* name : {"sum.1", "sum.12", "sum.3x2", "sum.500x2"}) EXPECT_NE(subsystem::make_sum(name), nullptr);
  for (const char* name : {"sum", "sum.", "sum.0", "sum.02", "sum.-1", "sum.1001", "sum.2x", "sum.2x0", "sum.2x3x4",
                           "sum.600x2", "sum.2 ", "sums.2", "sum.99999999999999999999"})
    EXPECT_EQ(subsystem::make_sum(name), nullptr) << name;
}

TEST(Sum, of_vectors_adds_up_each_place) {
  const auto sum = subsystem::make_sum("sum.3x2");
  sum->configure({});
  EXPECT_EQ(sum->variables().inputs[4].name, "in[1][1]");
  const std::vector<double> u{1.0, 2.0, 4.0, 10.0, 20.0, 40.0};
  std::vector<double> y(2);
  sum->outputs({0.0, {}, u, {}, {}}, y);
  EXPECT_EQ(y, (std::vector<double>{7.0, 70.0}));
}

class SumWithMethod : public testing::TestWithParam<std::string> {
 protected:
  SumWithMethod() {
    std::ofstream(folder_ / "a.csv") << "time,F\n0,0\n1,2\n";
    std::ofstream(folder_ / "b.csv") << "time,F\n0,1\n0.5,1\n1,4\n";
    std::ofstream(folder_ / "both.csv") << "time,F\n0,1\n0.5,2\n1,6\n";
  }
  std::vector<double> motion(const std::string& sources, const std::string& connections,
                             const std::string& options = {}) const {
    auto system = test::system_in(folder_, "[run]\nstop = 1.0\nstep = 0.05\n" + options +
                                               "[subsystems.m]\nmodel = \"mechanical.left\"\n" + sources +
                                               "[connections]\n" + connections);
    system.method.value = GetParam();
    return test::recorded(system).column("m.x");
  }
  static std::string table(const std::string& name) {
    return "[subsystems." + name + "]\ncsv = \"" + name + ".csv\"\ninterpolation = \"linear\"\n";
  }
  test::TemporaryFolder folder_;
};

/// As from one table that holds the sum: rounding apart, where the method integrates or iterates.
TEST_P(SumWithMethod, feeds_a_subsystem_as_one_source_does) {
  const std::string sum = "[subsystems.s]\nmodel = \"sum.2\"\n";
  for (const std::string options : {"", "degree = 1"}) {
    const bool is_explicit = GetParam() == "jacobi" || GetParam() == "gauss-seidel" || GetParam() == "nepce";
    if (!options.empty() && !is_explicit) continue;
    const std::string written = options.empty() ? "" : "[method." + GetParam() + "]\n" + options + "\n";
    const auto one = motion(table("both"), "\"both.F\" = \"m.F\"\n", written);
    const auto two = motion(table("a") + table("b") + sum,
                            "\"a.F\" = \"s.in[0]\"\n\"b.F\" = \"s.in[1]\"\n\"s.out\" = \"m.F\"\n", written);
    ASSERT_EQ(one.size(), two.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], two[i], 1e-12 * (1.0 + std::abs(one[i]))) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SumWithMethod,
                         testing::Values("jacobi", "gauss-seidel", "nepce", "ifosmondi", "missiles", "monolithic"),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

/// The coupled pair with its force through a sum is the pair without it, to the last bit.
TEST(Sum, in_a_loop_of_two_changes_nothing) {
  const test::TemporaryFolder folder;
  const auto run = [&](const std::string& method, const std::string& subsystems, const std::string& force) {
    auto system =
        test::system_in(folder,
                        "[run]\nstop = 0.5\nstep = 0.01\n[subsystems.left]\nmodel = \"mechanical.left\"\n"
                        "[subsystems.right]\nmodel = \"mechanical.right\"\n" +
                            subsystems + "[connections]\n\"left.x\" = \"right.x\"\n\"left.v\" = \"right.v\"\n" + force);
    system.method.value = method;
    return test::recorded(system).column("left.x");
  };
  for (const char* method : {"jacobi", "gauss-seidel"}) {
    EXPECT_EQ(run(method, "", "\"right.F\" = \"left.F\"\n"),
              run(method, "[subsystems.s]\nmodel = \"sum.1\"\n", "\"right.F\" = \"s.in[0]\"\n\"s.out\" = \"left.F\"\n"))
        << method;
  }
}

/// A jump passes through it in the instant where it is.
TEST(Sum, passes_a_jump_on_in_the_same_event_phase) {
  const test::TemporaryFolder folder;
  test::write_clocked(folder, "clocked.fmu", "intervalVariability=\"constant\" intervalDecimal=\"0.3\"");
  test::write_clocked(folder, "countdown.fmu", test::kCountdownTick);
  auto system = test::system_in(folder,
                                "[run]\nstop = 1.0\nstep = 0.25\nmethod = \"jacobi\"\nopen = [\"*.*\"]\n"
                                "[subsystems.a]\nfmu = \"clocked.fmu\"\n"
                                "[subsystems.b]\nfmu = \"countdown.fmu\"\nstart = { interval = 5 }\n"
                                "[subsystems.s]\nmodel = \"sum.2\"\n"
                                "[connections]\n\"a.z\" = [\"s.in[0]\", \"s.in[1]\"]\n\"s.out\" = \"b.x\"\n");
  const auto rows = test::recorded(system);
  const auto at = static_cast<std::size_t>(std::find(rows.times.begin(), rows.times.end(), 0.3) - rows.times.begin());
  ASSERT_LT(at + 1, rows.times.size());
  EXPECT_EQ(rows.times[at + 1], 0.3);
  EXPECT_EQ(rows.column("b.z")[at], 20.0);
  EXPECT_EQ(rows.column("b.z")[at + 1], 40.0);
}

}  // namespace sum_test
}  // namespace entrain
