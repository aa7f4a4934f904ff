// What is read of an FMU before it is used: its default experiment, its clocks.
#include <gtest/gtest.h>

#include "support/facts.hpp"
#include "support/systems.hpp"
#include "support/typed_fmus.hpp"
#include "support/zip_bytes.hpp"

namespace entrain {
namespace fmu_import_test {

using test::TemporaryFolder;

SystemDescription with_fmu(const TemporaryFolder& folder, const std::string& fmu, const std::string& more = {}) {
  return test::system_in(
      folder, "[run]\nstop = 0.2\nstep = 0.1\nopen = [\"a.*\"]\n[subsystems.a]\nfmu = \"" + fmu + "\"\n" + more);
}

TEST(DefaultExperimentOfAnFmu, is_read_without_unpacking_the_rest) {
  const TemporaryFolder folder;
  test::ZipBytes zip;
  zip.add({"modelDescription.xml", test::kTyped2});
  zip.add({"binaries/linux64/typed.so", "no deflated bytes", true, 100});  // unpacking it fails
  test::write_text(folder / "a.fmu", zip.finished());
  test::write_text(folder / "system.toml", "[subsystems.a]\nfmu = \"a.fmu\"\n[subsystems.b]\nfmu = \"a.fmu\"\n");
  const auto system = load(folder / "system.toml");
  EXPECT_EQ(system.start.value, 0.5);
  EXPECT_EQ(system.stop->value, 3.0);
  EXPECT_EQ(system.step->value, 0.25);
  EXPECT_THROW(Simulation{system}, Error);
}

/// typed3 with this clock.
void write_clocked(const TemporaryFolder& folder, const std::string& clock) {
  std::string xml = test::typed3();
  xml.insert(xml.find("</ModelVariables>"), clock);
  const std::string exchange = "<ModelExchange modelIdentifier=\"typed\"/>";
  xml.insert(xml.find("<CoSimulation"), exchange);
  test::write_archive(
      folder / "clocked.fmu",
      {{"modelDescription.xml", xml}, {"binaries/x86_64-linux/typed.so", test::text_of(test::typed_fmu3_library())}});
}

constexpr const char* kTicked =
    "<Clock name=\"sampling\" valueReference=\"90\" causality=\"input\" intervalVariability=\"constant\" "
    "intervalDecimal=\"0.1\"/>";

Fact warning_of(const SystemDescription& system) {
  Simulation simulation(system);
  EXPECT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
  return simulation.summary().warnings.empty() ? Fact{} : simulation.summary().warnings.front();
}

/// Without one it keeps their times itself.
TEST(ClocksOfAnFmu, without_an_event_mode_are_named_in_a_warning) {
  const TemporaryFolder folder;
  write_clocked(folder, kTicked);
  const auto system = with_fmu(folder, "clocked.fmu");
  const Fact warning = warning_of(system);
  EXPECT_EQ(warning.code, FactCode::FmuClocksUnused);
  EXPECT_EQ(warning.text("clocks"), "sampling");
  EXPECT_FALSE(Simulation(system).summary().subsystems[0].capabilities.announces_events);
}

}  // namespace fmu_import_test
}  // namespace entrain
