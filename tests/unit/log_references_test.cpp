#include "subsystem/fmi/log_references.hpp"

#include <gtest/gtest.h>

namespace entrain {
namespace log_references_test {

TEST(LogReferences, become_the_names_of_the_variables) {
  subsystem::FmuDescription description;
  subsystem::FmuVariable speed;
  speed.name = "motor.speed";
  speed.reference = 100;
  subsystem::FmuVariable on = speed;
  on.name = "motor.on";
  on.type = subsystem::FmuType::Boolean;
  description.variables = {speed, on};
  EXPECT_EQ(subsystem::with_names("#r100# is too high while #b100#", description),
            "motor.speed is too high while motor.on");
  EXPECT_EQ(subsystem::with_names("## 5 of #r101#, 100%#", description), "# 5 of #r101#, 100%#");
  EXPECT_EQ(subsystem::with_names("#", description), "#");
  EXPECT_EQ(subsystem::with_names("a#r100", description), "a#r100");
}

}  // namespace log_references_test
}  // namespace entrain
