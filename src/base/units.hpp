#pragma once

#include <optional>
#include <string_view>

#include "entrain/variable.hpp"

namespace entrain {

/// What an SI unit text means: products of units with exponents, "N.m", "m/s2", "kg.m^2/s", "1/min"; what stands
/// behind a '/' up to the next '.' or '*' divides. nullopt for what is not known, which is no fault.
std::optional<UnitMeaning> unit_meaning(std::string_view text);

/// What the unit of a variable means: as its subsystem says, else as its text says.
std::optional<UnitMeaning> unit_meaning(const Variable& variable);

/// target = factor * source + offset.
struct UnitConversion {
  double factor = 1.0;
  double offset = 0.0;
};

/// nullopt when the units measure different things. Angles are dimensions of their own: rad/s is not 1/s.
std::optional<UnitConversion> unit_conversion(const UnitMeaning& from, const UnitMeaning& to);

}  // namespace entrain
