// Rollback is accepted when two steps from the restored state are those of before: tests/support/forgetful_fmu.c.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "subsystem/fmi/fmu_subsystem.hpp"
#include "support/archives.hpp"
#include "support/facts.hpp"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace rollback_proof_test {

class RollbackProof : public testing::Test {
 protected:
  std::unique_ptr<Subsystem> subsystem(const std::string& guid, const std::string& experiment = {},
                                       const subsystem::FmuChoice& choice = {}) const {
    const std::string xml = fmt::format(R"(<fmiModelDescription fmiVersion="2.0" modelName="late" guid="{}">
  <CoSimulation modelIdentifier="late" canHandleVariableCommunicationStepSize="true" canGetAndSetFMUstate="true"/>
  {}
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="1"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>)",
                                        guid, experiment);
    const auto file = folder_ / (guid + ".fmu");
    test::write_archive(file, {{"modelDescription.xml", xml},
                               {"binaries/linux64/late.so", test::text_of(test::forgetful_fmu_library())}});
    return subsystem::make_fmu_subsystem("part", file, choice);
  }

  test::TemporaryFolder folder_;
};

TEST_F(RollbackProof, is_given_by_an_fmu_that_restores_everything) {
  const auto part = subsystem("faithful");
  EXPECT_TRUE(part->capabilities().rollback);
  EXPECT_TRUE(part->warnings().empty());
}

TEST_F(RollbackProof, takes_a_second_step_to_fail_for_what_is_forgotten_in_secret) {
  const auto part = subsystem("forgetful");
  EXPECT_FALSE(part->capabilities().rollback);
  ASSERT_EQ(part->warnings().size(), 1U);
  EXPECT_EQ(test::word_of(part->warnings(), FactCode::FmuClaimWithdrawn, "claim"), "canGetAndSetFMUstate");
}

// A thousandth of this experiment is 1e5 s: with the steps of 1e-6 s inside some FMUs, for ever.
constexpr const char* kFarStop = R"(<DefaultExperiment startTime="1e-5" stopTime="1e8"/>)";

TEST_F(RollbackProof, takes_short_steps_whatever_the_stop_of_the_default_experiment) {
  const auto part = subsystem("at most 0.001", kFarStop);
  EXPECT_TRUE(part->capabilities().rollback);
  EXPECT_TRUE(part->warnings().empty());
}

TEST_F(RollbackProof, takes_no_longer_steps_than_the_run) {
  subsystem::FmuChoice choice;
  choice.step = 1e-4;
  for (const char* experiment : {"", kFarStop, R"(<DefaultExperiment stopTime="10" stepSize="0.1"/>)"}) {
    const auto part = subsystem("at most 0.0001", experiment, choice);
    EXPECT_TRUE(part->capabilities().rollback) << experiment;
    EXPECT_TRUE(part->warnings().empty()) << experiment;
  }
}

}  // namespace rollback_proof_test
}  // namespace entrain
