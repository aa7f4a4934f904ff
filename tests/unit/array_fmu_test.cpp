// An FMU whose states, inputs and outputs are arrays, some of 32 bits: integrated, linearized and coupled like any
// other.
#include <gtest/gtest.h>

#include <cmath>

#include "subsystem/fmi/fmu_subsystem.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/problems_of.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace array_fmu_test {

using test::TemporaryFolder;

/// Of the FMU in array_fmu3.c. `derivatives`: which flags of derivatives it has.
std::string description(const std::string& derivatives) {
  return R"xml(<fmiModelDescription fmiVersion="3.0" modelName="array" instantiationToken="array">
  <ModelExchange modelIdentifier="array" )xml" +
         derivatives + R"xml(/>
  <CoSimulation modelIdentifier="array" canHandleVariableCommunicationStepSize="true" )xml" +
         derivatives + R"xml(/>
  <ModelVariables>
    <Float64 name="x" valueReference="1" initial="exact" start="1 2 3"><Dimension start="3"/></Float64>
    <Float64 name="u" valueReference="2" causality="input" start="0 0"><Dimension start="2"/></Float64>
    <Float64 name="held" valueReference="3" causality="input" variability="discrete" start="0 0"><Dimension start="2"/></Float64>
    <Float32 name="single" valueReference="4" causality="input" start="0"/>
    <Float64 name="der(x)" valueReference="5" derivative="1"><Dimension start="3"/></Float64>
    <Float64 name="y" valueReference="6" causality="output"><Dimension start="2"/></Float64>
    <Float32 name="z" valueReference="7" causality="output"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="6"/><Output valueReference="7"/><ContinuousStateDerivative valueReference="5"/>
  </ModelStructure>
</fmiModelDescription>)xml";
}

std::filesystem::path write_array(const TemporaryFolder& folder, const std::string& xml) {
  const auto file = folder / "array.fmu";
  test::write_archive(file, {{"modelDescription.xml", xml},
                             {"binaries/x86_64-linux/array.so", test::text_of(test::array_fmu3_library())}});
  return file;
}

const std::string kDirectional = "providesDirectionalDerivatives=\"true\"";

/// With states of type Float32 instead.
std::string with_single_states(std::string xml) {
  for (const auto& [what, by] : {std::pair("instantiationToken=\"array\"", "instantiationToken=\"array32\""),
                                 {"<Float64 name=\"x\"", "<Float32 name=\"x\""},
                                 {"<Dimension start=\"3\"/></Float64>", "<Dimension start=\"3\"/></Float32>"},
                                 {"<Float64 name=\"der(x)\"", "<Float32 name=\"der(x)\""},
                                 {"<Dimension start=\"3\"/></Float64>", "<Dimension start=\"3\"/></Float32>"}})
    xml.replace(xml.find(what), std::string_view(what).size(), by);
  return xml;
}

// The matrix of array_fmu3.c: columns x[3], u[2], held[2], single; rows x'[3], y[2], z.
constexpr double kMatrix[6][8] = {{-1.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0}, {0.25, -2.0, 0.5, 0.0, 2.0, 0.0, 0.0, 0.0},
                                  {0.0, 0.5, -3.0, 0.5, 0.0, 0.0, 0.0, 1.0}, {1.0, 0.0, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0},
                                  {0.0, 1.0, -1.0, 0.0, 0.0, 0.0, 1.0, 0.0}, {0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0}};

struct Variant {
  std::string name;
  FmuInterface interface;
  std::string derivatives;
  double tolerance;  ///< of the linearization
};

class ArrayFmu : public testing::TestWithParam<Variant> {};

TEST_P(ArrayFmu, is_linearized_element_by_element) {
  const TemporaryFolder folder;
  subsystem::FmuChoice choice;
  choice.interface = GetParam().interface;
  const auto fmu = subsystem::make_fmu_subsystem("a", write_array(folder, description(GetParam().derivatives)), choice);
  ASSERT_TRUE(fmu->capabilities().linearization);
  EXPECT_TRUE(fmu->capabilities().states);
  EXPECT_EQ(fmu->variables().states.at(2).name, "x[3]");
  fmu->initialize(0.0, 1.0);
  Linearization matrices;
  fmu->facets().linearizer->linearize(matrices);
  ASSERT_EQ(matrices.A.rows, 3U);
  ASSERT_EQ(matrices.B.cols, 5U);
  ASSERT_EQ(matrices.C.rows, 3U);
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t j = 0; j < 8; ++j) {
      const bool is_held = j == 5 || j == 6;  // between events a discrete input cannot be varied
      if (is_held && GetParam().derivatives.empty()) continue;
      const Matrix& matrix = i < 3 ? (j < 3 ? matrices.A : matrices.B) : (j < 3 ? matrices.C : matrices.D);
      EXPECT_NEAR(matrix(i % 3, j < 3 ? j : j - 3), kMatrix[i][j], GetParam().tolerance) << i << " " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Variants, ArrayFmu,
    testing::Values(
        Variant{"exchange", FmuInterface::ModelExchange, "providesDirectionalDerivatives=\"true\"", 0.0},
        // Float32 outputs have 24 bits: differences of them over 6e-6 lose all but a hundredth.
        Variant{"exchange_by_differences", FmuInterface::ModelExchange, "", 0.05},
        Variant{"co_simulation", FmuInterface::CoSimulation, "providesDirectionalDerivatives=\"true\"", 0.0},
        Variant{"co_simulation_by_rows", FmuInterface::CoSimulation, "providesAdjointDerivatives=\"true\"", 0.0}),
    [](const auto& each) { return each.param.name; });

SystemDescription alone(const TemporaryFolder& folder, const std::string& interface) {
  return test::system_in(
      folder, "[run]\nstop = 1.0\nstep = 0.25\n[subsystems.a]\nfmu = \"array.fmu\"\ninterface = \"" + interface +
                  "\"\nstart = { \"x[2]\" = -2.0, \"u[1]\" = 1.0, \"u[2]\" = 2.0, \"held[2]\" = 7.0, single = 0.5 }\n");
}

/// x' = A x + b by the classical scheme in steps of 1e-4, far below the tolerance of the integrator.
std::vector<double> integrated(std::vector<double> x, const std::vector<double>& u) {
  constexpr int kSteps = 10'000;
  constexpr double h = 1.0 / kSteps;
  const auto slope = [&](const std::vector<double>& at) {
    std::vector<double> dx(3);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) dx[i] += kMatrix[i][j] * at[j];
      for (std::size_t j = 0; j < 5; ++j) dx[i] += kMatrix[i][3 + j] * u[j];
    }
    return dx;
  };
  const auto moved = [&](const std::vector<double>& by, double size) {
    auto at = x;
    for (std::size_t i = 0; i < 3; ++i) at[i] += size * by[i];
    return at;
  };
  for (int step = 0; step < kSteps; ++step) {
    const auto a = slope(x);
    const auto b = slope(moved(a, 0.5 * h));
    const auto c = slope(moved(b, 0.5 * h));
    const auto d = slope(moved(c, h));
    for (std::size_t i = 0; i < 3; ++i) x[i] += h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]);
  }
  return x;
}

TEST(ArrayStates, are_integrated_from_the_start_values_of_their_elements) {
  const TemporaryFolder folder;
  write_array(folder, description(kDirectional));
  const auto x = integrated({1.0, -2.0, 3.0}, {1.0, 2.0, 0.0, 7.0, 0.5});
  for (const char* interface : {"model-exchange", "co-simulation"}) {
    Simulation simulation(alone(folder, interface));
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    EXPECT_NEAR(simulation.value("a.x[1]"), x[0], 1e-9) << interface;
    EXPECT_NEAR(simulation.value("a.x[2]"), x[1], 1e-9) << interface;
    EXPECT_NEAR(simulation.value("a.x[3]"), x[2], 1e-9) << interface;
    EXPECT_NEAR(simulation.value("a.y[1]"), x[0] + 0.5, 1e-9) << interface;
    EXPECT_NEAR(simulation.value("a.y[2]"), x[1] - x[2] + 7.0, 1e-9) << interface;
    EXPECT_EQ(simulation.value("a.z"), static_cast<float>(simulation.value("a.x[2]") + 1.0)) << interface;
  }
}

/// To the digits that 24 bits have.
TEST(SingleStates, are_integrated_read_and_linearized) {
  const TemporaryFolder folder;
  const auto file = write_array(folder, with_single_states(description(kDirectional)));
  const auto x = integrated({1.0, -2.0, 3.0}, {1.0, 2.0, 0.0, 7.0, 0.5});
  for (const auto interface : {FmuInterface::ModelExchange, FmuInterface::CoSimulation}) {
    Simulation simulation(alone(folder, interface == FmuInterface::ModelExchange ? "model-exchange" : "co-simulation"));
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_NEAR(simulation.value("a.x[" + std::to_string(i + 1) + "]"), x[i], 3e-6 * std::abs(x[i]));
    subsystem::FmuChoice choice;
    choice.interface = interface;
    const auto fmu = subsystem::make_fmu_subsystem("a", file, choice);
    ASSERT_TRUE(fmu->capabilities().states && fmu->capabilities().linearization);
    fmu->initialize(0.0, 1.0);
    Linearization matrices;
    fmu->facets().linearizer->linearize(matrices);
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) EXPECT_EQ(matrices.A(i, j), kMatrix[i][j]);
    }
  }
}

TEST(SingleStates, beside_others_of_64_bits_are_not_used_and_model_exchange_reports_it) {
  const TemporaryFolder folder;
  std::string xml = description(kDirectional);
  xml.replace(xml.find("<Float64 name=\"der(x)\""), 8, "<Float32");
  xml.replace(xml.rfind("<Dimension start=\"3\"/></Float64>"), 32, "<Dimension start=\"3\"/></Float32>");
  write_array(folder, xml);
  const std::string refusal = test::problems_of(alone(folder, "model-exchange"));
  EXPECT_NE(refusal.find("of = fmu-states-unknown"), std::string::npos) << refusal;
}

TEST(ArrayStates, take_part_in_methods_that_linearize) {
  const TemporaryFolder folder;
  write_array(folder, description(kDirectional));
  const auto system = test::system_in(
      folder,
      "[run]\nstop = 1.0\nstep = 0.01\n[subsystems.a]\nfmu = \"array.fmu\"\ninterface = \"model-exchange\"\n"
      "[subsystems.b]\nfmu = \"array.fmu\"\ninterface = \"model-exchange\"\n[connections]\n\"a.y[2]\" = \"b.u[1]\"\n"
      "\"b.y[2]\" = \"a.u[2]\"\n");
  const auto end = [&](const std::string& method) {
    Simulation simulation(test::changed(system, {method}));
    EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    return simulation.value("b.x[1]");
  };
  const double reference = end("monolithic");
  EXPECT_NEAR(end("missiles"), reference, 1e-7);
  EXPECT_NEAR(end("jacobi"), reference, 0.05);
  EXPECT_GT(std::abs(end("jacobi") - reference), 1e-6) << "the coupling must be felt";
}

}  // namespace array_fmu_test
}  // namespace entrain
