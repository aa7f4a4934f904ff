// How often the engine calls an FMU: the scripted ones, whose output can be the number of calls so far.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "entrain/recording.hpp"
#include "support/archives.hpp"
#include "support/faults.h"
#include "support/places.hpp"
#include "support/scripted_descriptions.hpp"
#include "support/systems.hpp"
#include "support/temporary_folder.hpp"

namespace entrain {
namespace fmu_calls_test {

constexpr double kOneOfEach = COUNTED_GET + COUNTED_SET + COUNTED_STEP;

class FmuCalls : public testing::Test {
 protected:
  void write(const std::string& xml, const std::string& binary, const std::string& library) const {
    test::write_archive(folder_ / "part.fmu", {{"modelDescription.xml", xml}, {binary, test::text_of(library)}});
  }
  /// Added by each macro step; one FMU feeds the other.
  void expect_each_step_to_add(double calls, const std::string& method, int degree) const {
    auto system =
        test::system_from(fmt::format(R"(
[run]
stop = 20.0
step = 0.1
method = "{0}"
[method.{0}]
degree = {1}
[subsystems.a]
fmu = "{2}"
start = {{ mode = {3} }}
[subsystems.b]
fmu = "{2}"
start = {{ mode = {3} }}
[connections]
"a.y" = "b.u"
)",
                                      method, degree, (folder_ / "part.fmu").string(), static_cast<int>(CountCalls)));
    Simulation simulation(system);
    MemoryRecorder record({"a.y", "b.y"});
    simulation.observe(record);
    ASSERT_EQ(simulation.run().termination, Termination::Completed) << simulation.summary().message;
    for (const auto& column : record.columns) {
      ASSERT_EQ(column.size(), 201U);
      // From the third step on: a slope needs two samples.
      for (std::size_t k = 3; k < column.size(); ++k) ASSERT_EQ(column[k] - column[k - 1], calls) << "in step " << k;
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(FmuCalls, of_fmi_2_are_one_set_one_step_and_one_get_in_each_step) {
  write(test::scripted_description(""), "binaries/linux64/scripted.so", test::scripted_fmu_library());
  for (const char* method : {"jacobi", "gauss-seidel", "nepce"}) expect_each_step_to_add(kOneOfEach, method, 0);
}

TEST_F(FmuCalls, of_fmi_3_are_one_set_one_step_and_one_get_in_each_step) {
  write(test::scripted3_description(""), "binaries/x86_64-linux/scripted.so", test::scripted_fmu3_library());
  for (const char* method : {"jacobi", "gauss-seidel", "nepce"}) expect_each_step_to_add(kOneOfEach, method, 0);
}

TEST_F(FmuCalls, of_fmi_2_with_slopes_are_one_more_for_all_derivatives) {
  write(test::scripted_description("canInterpolateInputs=\"true\""), "binaries/linux64/scripted.so",
        test::scripted_fmu_library());
  expect_each_step_to_add(kOneOfEach + COUNTED_DERIVATIVES, "jacobi", 1);
}

}  // namespace fmu_calls_test
}  // namespace entrain
