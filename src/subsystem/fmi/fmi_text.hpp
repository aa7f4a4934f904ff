#pragma once

#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "entrain/error.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

/// What stands between blanks.
std::vector<std::string_view> words_in(std::string_view text);

/// The words of modelDescription.xml; nullopt for others.
std::optional<FmuType> type_named(std::string_view name);  ///< of FMI 3
std::optional<FmuCausality> causality_named(std::string_view name);
std::optional<FmuVariability> variability_named(std::string_view name);
std::optional<FmuInitial> initial_named(std::string_view name);

/// The type that the engine knows a variable by; nullopt for what it has no values for.
std::optional<ValueType> value_type(FmuType type);

/// Whether a number can be one of type Float32 without becoming infinite.
inline bool fits_float32(double number) {
  return std::isinf(number) || !(std::abs(number) > std::numeric_limits<float>::max());
}

/// Throws Error{InvalidSystem}: the number does not fit a variable of type Float32.
[[noreturn]] void refuse_float32(double number, ErrorContext context);

/// The start value of an element of an array in the file, where one value fills all; nullptr when there is none.
const Value* start_of(const FmuVariable& array, std::size_t element);

/// A start value as modelDescription.xml writes it; nullopt when it makes no sense.
std::optional<Value> value_in(std::string_view text, FmuType type);

}  // namespace entrain::subsystem
