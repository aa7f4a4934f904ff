#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace entrain::test {

/// Compares JSON with a JSON schema, as far as docs/run.schema.json goes: type, const, enum, required, properties,
/// additionalProperties, items and references into the schema.
class JsonSchema {
 public:
  explicit JsonSchema(nlohmann::json schema) : schema_(std::move(schema)) {}

  /// What does not fit, with the place; empty when all does.
  std::vector<std::string> faults(const nlohmann::json& json) const {
    std::vector<std::string> found;
    check(json, schema_, "", found);
    return found;
  }

 private:
  using Json = nlohmann::json;

  static bool is_of_type(const Json& json, const std::string& type) {
    if (type == "number") return json.is_number();
    if (type == "integer") return json.is_number_integer();
    return type == (json.is_object()    ? "object"
                    : json.is_array()   ? "array"
                    : json.is_string()  ? "string"
                    : json.is_boolean() ? "boolean"
                    : json.is_null()    ? "null"
                                        : "");
  }

  const Json& resolved(const Json& schema) const {
    const auto reference = schema.find("$ref");
    if (reference == schema.end()) return schema;
    return schema_.at(Json::json_pointer(reference->get<std::string>().substr(1)));
  }

  void check(const Json& json, const Json& written, const std::string& place, std::vector<std::string>& found) const {
    const Json& schema = resolved(written);
    const auto fault = [&](const std::string& what) { found.push_back(fmt::format("{}: {}", place, what)); };
    if (const auto value = schema.find("const"); value != schema.end() && *value != json) fault("is another value");
    if (const auto values = schema.find("enum");
        values != schema.end() && std::find(values->begin(), values->end(), json) == values->end()) {
      fault("is none of the values: " + json.dump());
    }
    if (const auto type = schema.find("type"); type != schema.end()) {
      const Json types = type->is_array() ? *type : Json::array({*type});
      const bool fits = std::any_of(types.begin(), types.end(),
                                    [&](const Json& of) { return is_of_type(json, of.get<std::string>()); });
      if (!fits) return fault("has another type: " + json.dump());
    }
    if (json.is_object()) check_object(json, schema, place, found);
    if (const auto items = schema.find("items"); json.is_array() && items != schema.end()) {
      for (std::size_t i = 0; i < json.size(); ++i) check(json[i], *items, fmt::format("{}/{}", place, i), found);
    }
  }

  void check_object(const Json& json, const Json& schema, const std::string& place,
                    std::vector<std::string>& found) const {
    for (const auto& name : schema.value("required", Json::array())) {
      if (!json.contains(name)) found.push_back(fmt::format("{}: lacks {}", place, name.dump()));
    }
    const Json properties = schema.value("properties", Json::object());
    const Json others = schema.value("additionalProperties", Json(true));
    for (const auto& [name, value] : json.items()) {
      const std::string inside = place + "/" + name;
      if (properties.contains(name)) {
        check(value, properties[name], inside, found);
      } else if (others.is_object()) {
        check(value, others, inside, found);
      } else if (!others.get<bool>()) {
        found.push_back(inside + ": is not in the schema");
      }
    }
  }

  Json schema_;
};

}  // namespace entrain::test
