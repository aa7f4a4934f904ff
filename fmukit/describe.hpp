#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fmukit/fmu_definition.hpp"

namespace entrain::fmukit {

/// FNV-1a, 64 bit: the same on every machine.
std::uint64_t hash_of(std::string_view text);

struct Description {
  std::string token;  ///< FMI 2: guid, FMI 3: instantiationToken; a hash of everything else in the text
  std::string xml;    ///< modelDescription.xml
};

/// The description for FMI version 2 or 3. Throws Error{InvalidSystem} when two variables have one name.
Description describe(const FmuDefinition& definition, int version);

}  // namespace entrain::fmukit
