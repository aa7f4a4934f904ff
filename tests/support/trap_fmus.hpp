#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/archives.hpp"
#include "support/places.hpp"
#include "support/program.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {

/// modelDescription.xml of tests/support/trap_fmu.c with one of its traps.
inline std::string trap_description(const std::string& trap, const std::string& flags) {
  const char* more =
      trap == "late_number" ? R"(<ScalarVariable name="n" valueReference="10" causality="output" variability="discrete">
      <Integer/></ScalarVariable>)"
      : trap == "number"    ? R"(<ScalarVariable name="k" valueReference="11" causality="input" variability="discrete">
      <Integer start="0"/></ScalarVariable>)"
                            : "";
  const bool depends = trap == "gain" || trap == "late_sum";
  return fmt::format(R"(<fmiModelDescription fmiVersion="2.0" modelName="trap" guid="{}">
  <CoSimulation modelIdentifier="trap" canHandleVariableCommunicationStepSize="true" {}/>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="0" causality="input"><Real start="0"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real/></ScalarVariable>
    <ScalarVariable name="v" valueReference="2" causality="input"><Real start="0"/></ScalarVariable>
    {}
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2"{}/>{}</Outputs></ModelStructure>
</fmiModelDescription>)",
                     trap, flags, more, depends ? " dependencies=\"1\"" : " dependencies=\"\"",
                     trap == "late_number" ? "<Unknown index=\"4\" dependencies=\"\"/>" : "");
}

inline void write_trap(const std::filesystem::path& file, const std::string& trap, const std::string& flags = {},
                       const std::string& platform = "linux64") {
  write_archive(file, {{"modelDescription.xml", trap_description(trap, flags)},
                       {"binaries/" + platform + "/trap.so", text_of(trap_fmu_library())}});
}

/// A folder with a system of one such FMU, which integrates u = 1 up to t = 1 s in steps of 0.1 s, and a native mass
/// beside it.
class TrappedRun : public testing::Test {
 protected:
  void write_system(const std::string& trap, const std::string& format = "csv") const {
    write_trap(folder_ / "part.fmu", trap);
    write_text(folder_ / "system.toml", fmt::format(R"([run]
stop = 1.0
step = 0.1
method = "jacobi"
[subsystems.part]
fmu = "part.fmu"
start = {{ u = 1.0 }}
[subsystems.left]
model = "mechanical.left"
start = {{ F = 1.0 }}
[record]
format = "{}"
)",
                                                    format));
  }
  ProgramResult run(const std::vector<std::string>& more = {}) const { return run_program(folder_, arguments(more)); }
  static std::vector<std::string> arguments(const std::vector<std::string>& more = {}) {
    std::vector<std::string> all{"run", "system.toml", "--out", "out", "--no-estimate"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  nlohmann::json summary() const { return nlohmann::json::parse(text_of(folder_ / "out/run.json")); }

  TemporaryFolder folder_;
};

}  // namespace entrain::test
