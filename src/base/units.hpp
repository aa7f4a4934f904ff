#pragma once

#include <optional>
#include <string_view>

#include "entrain/variable.hpp"

namespace entrain::base {

/// What an SI unit text means: products of units with prefixes and exponents, "N.m", "m/s2", "kg.m^2/s", "W/(m2.K)",
/// "1/min"; what stands behind a '/' up to the next '.' or '*' divides. In products degC and degF are differences: the
/// degC of "degC/s" has no offset. nullopt for what is not known.
std::optional<UnitMeaning> unit_meaning(std::string_view text);

/// The meaning of the unit of a variable: as its subsystem defines it, else by its text.
std::optional<UnitMeaning> unit_meaning(const Variable& variable);

/// The same unit for a difference of two values (relativeQuantity): 10 degC are then 10 K. Its offset becomes NaN, so
/// that adding it by mistake is detected.
UnitMeaning as_difference(UnitMeaning meaning);
bool is_difference(const UnitMeaning& meaning);

/// target = factor * source + offset.
struct UnitConversion {
  double factor = 1.0;
  double offset = 0.0;
};

/// nullopt when the units measure different things. Angles are dimensions of their own: rad/s is not 1/s. Offsets do
/// not count when one of both is a difference.
std::optional<UnitConversion> unit_conversion(const UnitMeaning& from, const UnitMeaning& to);

/// How the units of an output and an input go together.
struct UnitMatch {
  enum class Kind {
    Fits,        ///< by `conversion`; also when one of them is missing
    NotKnown,    ///< the texts differ, and what one of them means is not known
    Different,   ///< they measure different things
    Difference,  ///< one is a temperature, the other a difference of temperatures
  };
  Kind kind = Kind::Fits;
  UnitConversion conversion;
};
/// Equal texts fit whatever they mean, unless both subsystems define them.
UnitMatch match_units(const Variable& output, const Variable& input);

}  // namespace entrain::base
