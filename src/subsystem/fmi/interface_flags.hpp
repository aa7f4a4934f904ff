#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>

#include "base/xml.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {

/// Attributes of a modelDescription.xml; what is wrong is reported with the name of the FMU and the element.
class DescriptionXml {
 public:
  explicit DescriptionXml(const std::string& fmu) : fmu_(fmu) {}

  /// The FMU becomes the first subject.
  [[noreturn]] void fail(Fact fact, const std::string& remedy = "The FMU is broken: report it to its vendor") const;

  std::string required(pugi::xml_node node, const char* attribute, const std::string& element) const;

  template <class Number>
  Number required_number(pugi::xml_node node, const char* attribute, const std::string& element) const {
    const std::string text = required(node, attribute, element);
    if (const auto value = base::xml_number<Number>(text)) return *value;
    fail({FactCode::DescriptionNumber, {}, {{"element", element}, {"value", text}, {"attribute", attribute}}});
  }

  template <class Number>
  std::optional<Number> optional_number(pugi::xml_node node, const char* attribute, const std::string& element) const {
    if (!node.attribute(attribute)) return std::nullopt;
    return required_number<Number>(node, attribute, element);
  }

  /// A step; tools write 0 for "not known".
  std::optional<Duration> optional_step(pugi::xml_node node, const char* attribute) const;

  static bool flag(pugi::xml_node node, const char* attribute) { return node.attribute(attribute).as_bool(false); }

 private:
  const std::string& fmu_;
};

/// Of this element: the name of the library.
std::string model_identifier(const DescriptionXml& xml, pugi::xml_node node);
CoSimulationFlags read_co_simulation(const DescriptionXml& xml, pugi::xml_node node, FmiVersion version);
ScheduledFlags read_scheduled_execution(const DescriptionXml& xml, pugi::xml_node node);
ModelExchangeFlags read_model_exchange(const DescriptionXml& xml, pugi::xml_node node, FmiVersion version);

}  // namespace entrain::subsystem
