#include <fmt/format.h>
#include <gtest/gtest.h>

#include "entrain/entrain.hpp"
#include "support/facts.hpp"
#include "support/scripted_fmus.hpp"
#include "support/systems.hpp"

// Steps under held inputs make their calls in one go. Each call must still be named when it takes the process along.

namespace entrain {
namespace fmu_held_step_test {

class FmuHeldStep : public test::ScriptedFmus {
 protected:
  std::string system(int mode, const std::string& keys = "") const {
    return fmt::format(
        "run = {{ stop = 1.0, step = 0.1 }}\n[subsystems.part]\nfmu = \"{}\"\nstart = {{ mode = {} }}\n{}\n",
        write(test::scripted_description("")).string(), mode, keys);
  }
  nlohmann::json failure(int mode) const {
    test::write_text(folder_ / "s.toml", system(mode));
    const auto result = run_here({"run", "s.toml", "--out", "out"});
    EXPECT_EQ(result.exit_code, 1);
    return test::failure_in(test::text_of(folder_ / "out" / "run.json"))["values"];
  }
};

TEST_F(FmuHeldStep, crash_while_inputs_are_set_names_that_call) {
  const auto values = failure(CrashInSet);
  EXPECT_EQ(values["fault"], "memory");
  EXPECT_EQ(values["function"], "fmi2SetReal");
}

TEST_F(FmuHeldStep, crash_while_outputs_are_read_names_that_call) {
  const auto values = failure(CrashInGet);
  EXPECT_EQ(values["fault"], "memory");
  EXPECT_EQ(values["function"], "fmi2GetReal");
}

TEST_F(FmuHeldStep, tolerance_in_the_system_file_is_passed_to_the_fmu) {
  Simulation with(test::system_from(system(ReturnTolerance, "relative_tolerance = 1e-5")));
  with.run();
  EXPECT_EQ(with.value("part.y"), 1e-5);
  Simulation without(test::system_from(system(ReturnTolerance)));
  without.run();
  EXPECT_EQ(without.value("part.y"), -1.0);
}

}  // namespace fmu_held_step_test
}  // namespace entrain
