#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "support/archives.hpp"
#include "support/places.hpp"
#include "support/rod_fmu.h"
#include "support/temporary_folder.hpp"

namespace entrain::test {

inline std::string rod_variable(const std::string& name, int reference, const std::string& attributes,
                                const std::string& real) {
  return fmt::format("<ScalarVariable name=\"{}\" valueReference=\"{}\" {}><Real {}/></ScalarVariable>\n", name,
                     reference, attributes, real);
}

/// Variables from 1 on: the states, their derivatives, the input, the outputs.
inline std::string rod_description() {
  std::string variables;
  std::string derivatives;
  for (int i = 0; i < kRodPoints; ++i)
    variables += rod_variable(fmt::format("x{}", i), i, "initial=\"exact\"", "start=\"0\"");
  for (int i = 0; i < kRodPoints; ++i) {
    variables += rod_variable(fmt::format("der(x{})", i), 1000 + i, "", fmt::format("derivative=\"{}\"", i + 1));
    std::string neighbours = i == 0 ? std::to_string(2 * kRodPoints + 1) : std::to_string(i);
    neighbours += fmt::format(" {}", i + 1);
    if (i + 1 < kRodPoints) neighbours += fmt::format(" {}", i + 2);
    derivatives += fmt::format("<Unknown index=\"{}\" dependencies=\"{}\"/>", kRodPoints + i + 1, neighbours);
  }
  variables += rod_variable("u", 2000, "causality=\"input\"", "start=\"0\"");
  variables += rod_variable("middle", kRodPoints / 2 - 1, "causality=\"output\"", "");
  variables += rod_variable("products", 2001, "causality=\"output\"", "");
  variables += rod_variable("rates", 2002, "causality=\"output\"", "");
  return fmt::format(R"(<fmiModelDescription fmiVersion="2.0" modelName="rod" guid="rod" numberOfEventIndicators="0">
  <ModelExchange modelIdentifier="rod" completedIntegratorStepNotNeeded="true" providesDirectionalDerivative="true"/>
  <ModelVariables>{}</ModelVariables>
  <ModelStructure>
    <Outputs><Unknown index="{}" dependencies="{}"/><Unknown index="{}" dependencies=""/><Unknown index="{}" dependencies=""/></Outputs>
    <Derivatives>{}</Derivatives>
  </ModelStructure>
</fmiModelDescription>)",
                     variables, 2 * kRodPoints + 2, kRodPoints / 2, 2 * kRodPoints + 3, 2 * kRodPoints + 4,
                     derivatives);
}

inline void write_rod(const std::filesystem::path& file) {
  write_archive(file,
                {{"modelDescription.xml", rod_description()}, {"binaries/linux64/rod.so", text_of(rod_fmu_library())}});
}

}  // namespace entrain::test
