// FMUs of FMI 1.0: one interface each, no states by name, no initialization mode. Their twins of FMI 2 are of the same
// models, so that steps of the same kind must end in the same bits.
#include <gtest/gtest.h>

#include <cmath>

#include "subsystem/fmi/fmu_subsystem.hpp"
#include "subsystem/fmi/model_description.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/recorded.hpp"
#include "support/systems.hpp"

namespace entrain {
namespace fmi1_test {

/// `kind`: the folder of both FMUs.
SystemDescription mechanical(const std::string& kind, const std::string& more) {
  return test::system_from(fmt::format(R"(
run = {{ stop = 0.5, step = 0.01 }}
[subsystems.left]
fmu = "{0}/test/{1}/mechanical_left.fmu"
{2}
[subsystems.right]
fmu = "{0}/test/{1}/mechanical_right.fmu"
{2}
[connections]
"right.F" = "left.F"
"left.x" = "right.x"
"left.v" = "right.v"
)",
                                       test::fmu_folder(), kind, more));
}

std::vector<double> course_of(const SystemDescription& system, const std::string& output) {
  return test::recorded(system).column(output);
}

TEST(Fmi1CoSimulation, has_the_bits_of_fmi_2_with_held_inputs_and_with_derivatives) {
  for (const auto* method : {"jacobi", "gauss-seidel", "nepce"}) {
    auto one = mechanical("fmi1/1", "");
    auto two = mechanical("strict/2", "");
    one.method.value = two.method.value = method;
    const auto ours = course_of(one, "left.x");
    EXPECT_GT(ours.size(), 50U);
    EXPECT_EQ(ours, course_of(two, "left.x")) << method;
  }
}

TEST(Fmi1CoSimulation, has_no_states_to_go_back_to_and_takes_derivatives_of_its_inputs) {
  const auto fmu = subsystem::make_fmu_subsystem("s", test::fmu_folder() + "/test/fmi1/1/mechanical_left.fmu");
  const Capabilities& can = fmu->capabilities();
  EXPECT_FALSE(can.rollback);
  EXPECT_FALSE(can.states);
  EXPECT_TRUE(can.reset);
  EXPECT_EQ(can.input_degree, 3);  // found on new instances
  EXPECT_EQ(can.output_derivative_order, 1);
  EXPECT_TRUE(fmu->warnings().empty());
}

/// As Stair 0.0.1 of the FMI cross-check: nothing is announced before the first update.
TEST(Fmi1ModelExchange, that_reports_no_event_at_its_initialization_is_asked_for_it) {
  const test::TemporaryFolder folder;
  test::write_archive(folder / "stair.fmu",
                      {{"modelDescription.xml",
                        R"(<fmiModelDescription fmiVersion="1.0" modelName="stair" modelIdentifier="stair" guid="stair"
  numberOfContinuousStates="0" numberOfEventIndicators="0">
  <ModelVariables><ScalarVariable name="count" valueReference="0" variability="discrete" causality="output"><Real/></ScalarVariable>
  </ModelVariables>
</fmiModelDescription>)"},
                       {"binaries/linux64/stair.so", test::text_of(test::stair_exchange1_library())}});
  const auto rows = test::recorded(test::system_in(
      folder, "[run]\nstop = 1.0\nstep = 0.25\nmethod = \"jacobi\"\n[subsystems.a]\nfmu = \"stair.fmu\"\n"));
  EXPECT_EQ(rows.column("a.count"), (std::vector<double>{0, 0, 1, 2, 3}));
}

TEST(Fmi1ModelExchange, has_the_bits_of_fmi_2) {
  const std::string exchange = "relative_tolerance = 1e-8";
  const auto one = course_of(mechanical("fmi1_exchange/1", exchange), "left.x");
  const auto two = course_of(mechanical("strict/2", exchange + "\ninterface = \"model-exchange\""), "left.x");
  EXPECT_GT(one.size(), 50U);
  EXPECT_EQ(one, two);
}

/// h(t) of a ball dropped from 1 m, by the formula of free fall between bounces that keep 0.7 of the speed.
double height(double t) {
  const double gravity = 9.81;
  double bounce = std::sqrt(2.0 / gravity);
  if (t <= bounce) return 1.0 - 0.5 * gravity * t * t;
  double speed = 0.7 * gravity * bounce;
  while (t > bounce + 2.0 * speed / gravity) {
    bounce += 2.0 * speed / gravity;
    speed *= 0.7;
  }
  return speed * (t - bounce) - 0.5 * gravity * (t - bounce) * (t - bounce);
}

TEST(Fmi1ModelExchange, finds_the_bounces_of_a_ball) {
  auto system = test::system_from("run = { stop = 2.0, step = 0.01 }\n[subsystems.ball]\nfmu = \"" +
                                  test::fmu_folder() + "/test/fmi1_exchange/1/ball_bounce.fmu\"\n");
  const auto recorder = test::recorded(system);
  const auto& h = recorder.column("ball.h");
  ASSERT_EQ(h.size(), recorder.times.size());
  // 1e-8 is the tolerance of the integration, times some for the four bounces, each of which multiplies what came in.
  for (std::size_t i = 0; i < h.size(); ++i) EXPECT_NEAR(h[i], height(recorder.times[i]), 1e-6);
}

TEST(Fmi1ModelExchange, numbers_its_states_and_they_can_be_recorded) {
  const auto system = mechanical("fmi1_exchange/1", "");
  Simulation simulation(system);
  MemoryRecorder recorder({"left.x", "left.$state*"});
  simulation.observe(recorder);
  ASSERT_EQ(simulation.run().termination, Termination::Completed);
  const auto& x = recorder.column("left.x");
  const bool first_is_x = recorder.column("left.$state[1]") == x;
  EXPECT_EQ(recorder.column(first_is_x ? "left.$state[1]" : "left.$state[2]"), x);
}

TEST(Fmi1Start, values_of_parameters_reach_the_fmu) {
  auto soft = mechanical("fmi1/1", "");
  auto twin = mechanical("strict/2", "");
  for (auto* system : {&soft, &twin}) system->subsystems.front().start["m1"].value = 2.0;
  EXPECT_EQ(course_of(soft, "left.x"), course_of(twin, "left.x"));
  EXPECT_NE(course_of(soft, "left.x"), course_of(mechanical("fmi1/1", ""), "left.x"));
}

std::string description_with(const std::string& variables, const std::string& rest = {}) {
  return "<fmiModelDescription fmiVersion=\"1.0\" modelName=\"m\" modelIdentifier=\"m\" guid=\"g\" "
         "numberOfContinuousStates=\"1\" numberOfEventIndicators=\"2\"><TypeDefinitions><Type name=\"Level\">"
         "<EnumerationType><Item name=\"low\"/><Item name=\"high\"/></EnumerationType></Type></TypeDefinitions>"
         "<ModelVariables>" +
         variables + "</ModelVariables>" + rest + "</fmiModelDescription>";
}

TEST(Fmi1Description, is_read_in_the_terms_of_the_later_versions) {
  const auto read = subsystem::parse_model_description(
      description_with(
          R"(<ScalarVariable name="k" valueReference="1" variability="parameter"><Real start="3" unit="N/m"/></ScalarVariable>
             <ScalarVariable name="u" valueReference="2" causality="input"><Real/></ScalarVariable>
             <ScalarVariable name="other" valueReference="3" causality="input"><Real/></ScalarVariable>
             <ScalarVariable name="y" valueReference="4" causality="output"><Real/><DirectDependency><Name>u</Name>
             </DirectDependency></ScalarVariable>
             <ScalarVariable name="level" valueReference="5"><Enumeration declaredType="Level"/></ScalarVariable>
             <ScalarVariable name="minus_y" valueReference="4" alias="negatedAlias"><Real/></ScalarVariable>
             <ScalarVariable name="also_y" valueReference="4" alias="alias"><Real/></ScalarVariable>)"),
      "m.fmu");
  ASSERT_TRUE(read.model_exchange);
  EXPECT_FALSE(read.co_simulation);
  EXPECT_EQ(read.model_exchange->event_indicators, 2U);
  EXPECT_EQ(read.state_derivatives.size(), 1U);
  EXPECT_EQ(read.variables[0].causality, subsystem::FmuCausality::Parameter);
  EXPECT_EQ(read.variables[0].unit, "N/m");
  ASSERT_EQ(read.outputs.size(), 1U);
  EXPECT_EQ(*read.outputs[0].dependencies, std::vector<std::size_t>{1});
  EXPECT_EQ(read.variables[4].items->back().second, 2);
  EXPECT_TRUE(read.variables[5].negated);
  EXPECT_EQ(read.variables[3].other_names, std::vector<std::string>{"also_y"});
}

TEST(Fmi1Description, with_an_implementation_is_for_co_simulation) {
  const auto read = subsystem::parse_model_description(
      description_with("",
                       "<Implementation><CoSimulation_StandAlone><Capabilities canInterpolateInputs=\"true\" "
                       "canBeInstantiatedOnlyOncePerProcess=\"true\"/></CoSimulation_StandAlone></Implementation>"),
      "m.fmu");
  ASSERT_TRUE(read.co_simulation);
  EXPECT_FALSE(read.model_exchange);
  EXPECT_TRUE(read.co_simulation->input_derivatives);
  EXPECT_TRUE(read.co_simulation->once_per_process);
  EXPECT_FALSE(read.co_simulation->variable_step);
}

TEST(Fmi1Description, a_port_that_negates_another_variable_is_a_local_one) {
  const auto read = subsystem::parse_model_description(
      description_with(
          R"(<ScalarVariable name="v" valueReference="1" causality="output" alias="negatedAlias"><Real/></ScalarVariable>)"),
      "m.fmu");
  EXPECT_EQ(read.variables[0].causality, subsystem::FmuCausality::Local);
  EXPECT_TRUE(read.variables[0].negated);
}

TEST(Fmi1Description, a_reference_of_any_size_is_that_of_its_variable) {
  const auto read = subsystem::parse_model_description(
      description_with(R"(<ScalarVariable name="v" valueReference="4294967294"><Real/></ScalarVariable>)"), "m.fmu");
  EXPECT_FALSE(read.variables[0].numbered);
  EXPECT_TRUE(read.variables[1].numbered);
}

TEST(Fmi1Description, with_words_that_the_standard_does_not_have_is_refused_with_the_variable) {
  for (const auto* wrong :
       {R"(<ScalarVariable name="v" valueReference="1" causality="local"><Real/></ScalarVariable>)",
        R"(<ScalarVariable name="v" valueReference="1" variability="tuned"><Real/></ScalarVariable>)"}) {
    const auto error = test::error_of([&] { subsystem::parse_model_description(description_with(wrong), "m.fmu"); });
    ASSERT_TRUE(error) << wrong;
    EXPECT_EQ(error->fact().code, FactCode::DescriptionWord);
  }
}

}  // namespace fmi1_test
}  // namespace entrain
