#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "subsystem/fmi/model_description.hpp"

namespace entrain {

/// What stands between blanks.
std::vector<std::string_view> words_in(std::string_view text);

/// The words of modelDescription.xml; nullopt for others.
std::optional<FmuType> type_named(std::string_view name);  ///< of FMI 3
std::optional<FmuCausality> causality_named(std::string_view name);
std::optional<FmuVariability> variability_named(std::string_view name);
std::optional<FmuInitial> initial_named(std::string_view name);

/// The type that the engine knows a variable by; nullopt for what it has no values for.
std::optional<ValueType> value_type(FmuType type);

/// A start value as modelDescription.xml writes it; nullopt when it makes no sense.
std::optional<Value> value_in(std::string_view text, FmuType type);

}  // namespace entrain
