#pragma once

#include <fmt/format.h>

#include <string>

namespace entrain::test {

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
