// System structures of the Open Simulation Platform beside their twins in TOML.
#include <gtest/gtest.h>

#include "support/facts.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace osp_test {

namespace fs = std::filesystem;

class Osp : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path fmus = test::fmu_folder() + "/test";
    fs::copy_file(fmus / "fmi1/1/mechanical_left.fmu", folder_ / "left.fmu");
    fs::copy_file(fmus / "strict/2/mechanical_right.fmu", folder_ / "right.fmu");
    test::write_text(folder_ / "mechanical.left_OspModelDescription.xml", R"(<OspModelDescription><VariableGroups>
      <Generic name="motion"><Generic name="inner"><Variable ref="x"/></Generic><Variable ref="v"/></Generic>
      </VariableGroups></OspModelDescription>)");
    test::write_text(folder_ / "right_OspModelDescription.xml", R"(<OspModelDescription><VariableGroups>
      <Generic name="motion"><Variable ref="x"/><Variable ref="v"/></Generic>
      <Generic name="short"><Variable ref="x"/></Generic></VariableGroups></OspModelDescription>)");
  }

  fs::path write(const std::string& connections, const std::string& functions = {}) const {
    test::write_text(folder_ / "OspSystemStructure.xml",
                     R"(<OspSystemStructure xmlns="http://opensimulationplatform.com/MSMI/OSPSystemStructure">
      <StartTime>0.0</StartTime><EndTime>0.4</EndTime><BaseStepSize>0.01</BaseStepSize>
      <Simulators>
        <Simulator name="left" source="left.fmu"><InitialValues>
          <InitialValue variable="m1"><Real value="4.0"/></InitialValue></InitialValues></Simulator>
        <Simulator name="right" source="right.fmu" stepSize="0.02"/>
      </Simulators><Functions>)" +
                         functions + "</Functions><Connections>" + connections + "</Connections></OspSystemStructure>");
    return folder_ / "OspSystemStructure.xml";
  }

  test::TemporaryFolder folder_;
};

constexpr const char* kForce =
    R"(<VariableConnection><Variable simulator="left" name="F"/><Variable simulator="right" name="F"/></VariableConnection>)";
constexpr const char* kMotion =
    R"(<VariableGroupConnection><VariableGroup simulator="left" name="motion"/><VariableGroup simulator="right" name="motion"/>
       </VariableGroupConnection>)";

TEST_F(Osp, is_read_as_its_twin_in_toml_whatever_the_order_of_the_ends) {
  write(std::string(kForce) + kMotion);
  auto system = load(folder_.path());  // the folder is enough
  EXPECT_EQ(system.step->value, 0.01);
  EXPECT_EQ(system.subsystems[1].step->value, 0.02);
  auto twin = test::system_in(folder_, R"(
run = { stop = 0.4, step = 0.01 }
[subsystems.left]
fmu = "left.fmu"
start = { m1 = 4.0 }
[subsystems.right]
fmu = "right.fmu"
step = 0.02
[connections]
"right.F" = "left.F"
"left.x" = "right.x"
"left.v" = "right.v"
)");
  system.method.value = twin.method.value = "f3ornits";
  EXPECT_EQ(test::recorded(system).column("left.x"), test::recorded(twin).column("left.x"));
}

TEST_F(Osp, functions_become_factor_and_offset) {
  const auto system = load(write(
      std::string(kMotion) +
          R"(<SignalConnection><Variable simulator="right" name="F"/><Signal function="half" name="in"/></SignalConnection>
             <SignalConnection><Signal function="half" name="out"/><Variable simulator="left" name="F"/></SignalConnection>)",
      R"(<LinearTransformation name="half" factor="0.5" offset="3"/>)"));
  const auto& connection = system.connections.back();
  EXPECT_EQ(connection.output, "right.F");
  EXPECT_EQ(connection.input, "left.F");
  EXPECT_EQ(connection.factor, 0.5);
  EXPECT_EQ(connection.offset, 3.0);
  EXPECT_FALSE(connection.convert_units);  // the function is applied to the numbers as they are
}

/// left.F = right.F + right.F, by hand 2 right.F.
TEST_F(Osp, sums_add_up_without_a_delay) {
  const auto end = [](const std::string& variable, const std::string& signal) {
    return "<SignalConnection><Variable " + variable + "/><Signal function=\"both\" name=\"" + signal +
           "\"/></SignalConnection>";
  };
  const std::string right = R"(simulator="right" name="F")";
  auto system = load(write(
      std::string(kMotion) + end(right, "in[0]") + end(right, "in[1]") + end(R"(simulator="left" name="F")", "out"),
      R"(<Sum name="both" inputCount="2"/>)"));
  ASSERT_EQ(system.subsystems.back().model, "sum.2");
  auto twin = load(write(
      std::string(kMotion) +
          R"(<SignalConnection><Variable simulator="right" name="F"/><Signal function="twice" name="in"/></SignalConnection>
             <SignalConnection><Signal function="twice" name="out"/><Variable simulator="left" name="F"/></SignalConnection>)",
      R"(<LinearTransformation name="twice" factor="2" offset="0"/>)"));
  system.method.value = twin.method.value = "jacobi";
  system.subsystems[1].step.reset();
  twin.subsystems[1].step.reset();
  EXPECT_EQ(test::recorded(system).column("left.x"), test::recorded(twin).column("left.x"));
}

TEST_F(Osp, sums_of_vectors_are_connected_by_groups) {
  const auto group = [](const std::string& owner, const std::string& name, const std::string& signal) {
    return "<SignalGroupConnection><VariableGroup simulator=\"" + owner + "\" name=\"" + name +
           "\"/><SignalGroup function=\"s\" name=\"" + signal + "\"/></SignalGroupConnection>";
  };
  const auto system =
      load(write(std::string(kForce) + group("left", "motion", "in[0]") + group("right", "motion", "out"),
                 R"(<VectorSum name="s" inputCount="1" numericType="real" dimension="2"/>)"));
  EXPECT_EQ(system.subsystems.back().model, "sum.1x2");
  std::vector<std::pair<std::string, std::string>> connections;
  for (const auto& each : system.connections) connections.emplace_back(each.output, each.input);
  EXPECT_EQ(connections, (std::vector<std::pair<std::string, std::string>>{{"right.F", "left.F"},
                                                                           {"left.x", "s.in[0][0]"},
                                                                           {"left.v", "s.in[0][1]"},
                                                                           {"s.out[0]", "right.x"},
                                                                           {"s.out[1]", "right.v"}}));
}

TEST_F(Osp, with_what_is_not_there_is_refused_by_name_with_the_line) {
  const auto codes = [&](const std::string& connections, const std::string& functions = {}) {
    std::vector<FactCode> found;
    const auto error = test::error_of([&] { load(write(connections, functions)); });
    if (!error) return found;
    for (const auto& problem : error->problems()) {
      EXPECT_GT(problem.where.line, 0);
      found.push_back(problem.fact.code);
    }
    return found;
  };
  using Codes = std::vector<FactCode>;
  EXPECT_EQ(codes(R"(<VariableConnection><Variable simulator="lift" name="F"/><Variable simulator="right" name="F"/>
                     </VariableConnection>)"),
            Codes{FactCode::UnknownElement});
  EXPECT_EQ(codes(R"(<VariableConnection><Variable simulator="left" name="G"/><Variable simulator="right" name="F"/>
                     </VariableConnection>)"),
            Codes{FactCode::UnknownVariable});
  EXPECT_EQ(codes(R"(<VariableConnection><Variable simulator="left" name="x"/><Variable simulator="right" name="F"/>
                     </VariableConnection>)"),
            Codes{FactCode::SameDirection});
  EXPECT_EQ(codes(R"(<VariableGroupConnection><VariableGroup simulator="left" name="motion"/>
                     <VariableGroup simulator="right" name="short"/></VariableGroupConnection>)"),
            Codes{FactCode::WordUnknown});
  EXPECT_EQ(codes(kForce, R"(<Product name="s" inputCount="2"/>)"), Codes{FactCode::WordUnknown});
  EXPECT_EQ(codes(kForce, R"(<Sum name="s" inputCount="0"/>)"), Codes{FactCode::WordUnknown});
  EXPECT_EQ(codes(kForce, R"(<Sum name="left" inputCount="2"/>)"), Codes{FactCode::ElementTwice});
  EXPECT_EQ(codes(R"(<SignalConnection><Variable simulator="right" name="F"/><Signal function="s" name="in[2]"/>
                     </SignalConnection>)",
                  R"(<Sum name="s" inputCount="2"/>)"),
            (Codes{FactCode::UnknownVariable, FactCode::InputNotConnected, FactCode::InputNotConnected}));
  const std::string out =
      R"(<SignalConnection><Signal function="f" name="out"/><Variable simulator="left" name="F"/></SignalConnection>)";
  const std::string in =
      R"(<SignalConnection><Signal function="f" name="in"/><Variable simulator="right" name="F"/></SignalConnection>)";
  const std::string function = R"(<LinearTransformation name="f" factor="2" offset="0"/>)";
  EXPECT_EQ(codes(out, function), Codes{FactCode::WordUnknown});  // nothing feeds it
  EXPECT_EQ(codes(in + in + out, function), Codes{FactCode::ConnectorFedTwice});
  EXPECT_EQ(codes(in + out, function + function), Codes{FactCode::ElementTwice});
}

}  // namespace osp_test
}  // namespace entrain
