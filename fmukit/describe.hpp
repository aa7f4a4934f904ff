#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "fmukit/fmu_definition.hpp"
#include "fmukit/instance.hpp"

namespace entrain::fmukit {

/// FNV-1a, 64 bit: the same on every machine.
std::uint64_t hash_of(std::string_view text);

struct Description {
  std::string token;  ///< FMI 1, 2: guid, FMI 3: instantiationToken; a hash of everything else in the text
  std::string xml;    ///< modelDescription.xml
};

/// A model that reads u' has no ODE form, and an importer must know the states.
bool offers_model_exchange(const FmuDefinition& definition);
/// Throws Error when the FMU is not made for this kind.
void require_offered(const FmuDefinition& definition, Kind kind);

/// The description for FMI version 1, 2 or 3. Throws Error{InvalidSystem} when two variables have one name.
Description describe(const FmuDefinition& definition, int version);

}  // namespace entrain::fmukit
