#pragma once

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>

#include "entrain/capabilities.hpp"
#include "entrain/error.hpp"
#include "entrain/system_description.hpp"

namespace entrain::reporting {

/// Parts that the JSON outputs share. Numbers that are not finite become null.
nlohmann::ordered_json json_of(const Capabilities& capabilities);
nlohmann::ordered_json json_of(const VariableTable& variables);
nlohmann::ordered_json json_of(const OptionValue& value);
nlohmann::ordered_json json_of(const Value& value);  ///< bytes as hexadecimal digits

/// Of run.json. 1: notes and warnings were sentences.
inline constexpr int kRunFormat = 2;

/// {"code", "kind", "subjects", "values", "units", "text"}: see docs/run.schema.json.
nlohmann::ordered_json json_of(const Fact& fact);
nlohmann::ordered_json json_of(std::span<const Fact> facts);
/// Its fact, with "subsystem", "variable" and "time" (s) as far as they are known.
nlohmann::ordered_json json_of(const Error& error);
/// The other way. What a newer version wrote, with a code that this one does not know, keeps its text.
Fact fact_from(const nlohmann::ordered_json& json);

/// A new last entry. Objects that keep their order are searched from the front: operator[] for each of many keys would
/// take time with their square. The key must be new.
void append(nlohmann::ordered_json& object, const std::string& key, nlohmann::ordered_json value);

/// Indented text with a line end. Text that is not UTF-8 is corrected, never an error.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace entrain::reporting
