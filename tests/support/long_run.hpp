#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "support/places.hpp"

namespace entrain::test {

/// Arguments of the program: a run of 2e8 steps into 'out', longer than any test.
inline std::vector<std::string> endless_run() {
  return {"run", examples_folder() + "/mechanical", "--method", "jacobi", "--step", "1e-8", "--stop", "2", "--out",
          "out"};
}

/// A system file: predator and prey for 1000 s in steps of `step` s, recorded in this format. Long enough to be killed,
/// or to fill a disk.
inline std::string long_run(double step, const std::string& format) {
  return fmt::format(R"([run]
method = "jacobi"
stop = 1000.0
step = {}
[subsystems.prey]
model = "lotka_volterra.prey"
[subsystems.predator]
model = "lotka_volterra.predator"
[connections]
"predator.P" = "prey.u"
"prey.p" = "predator.u"
[record]
format = "{}"
)",
                     step, format);
}

}  // namespace entrain::test
