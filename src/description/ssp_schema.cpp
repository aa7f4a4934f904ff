#include "description/ssp_schema.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "description/ssp_xml.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

using Node = pugi::xml_node;
using Words = std::initializer_list<std::string_view>;

/// Attributes of an element, from the text of the standards SSP 1.0 and 2.0, without those that every element has.
struct SspElementRule {
  std::string_view element;
  Words attributes;
};
const std::array<SspElementRule, 16> kRules{{
    {"SystemStructureDescription",
     {"version", "name", "author", "fileversion", "copyright", "license", "generationTool", "generationDateAndTime"}},
    {"ParameterSet",
     {"version", "name", "author", "fileversion", "copyright", "license", "generationTool", "generationDateAndTime"}},
    {"System", {"name"}},
    {"Component", {"name", "type", "source", "implementation"}},
    {"SignalDictionaryReference", {"name", "dictionary"}},
    {"SignalDictionary", {"name", "type", "source", "sourceBase"}},
    {"Connector", {"name", "kind"}},
    {"Connection",
     {"startElement", "startConnector", "endElement", "endConnector", "suppressUnitConversion", "startIndices",
      "endIndices"}},
    {"LinearTransformation", {"factor", "offset"}},
    {"ParameterBinding", {"prefix", "type", "source", "sourceBase"}},
    {"MappingEntry", {"source", "target", "suppressUnitConversion"}},
    {"Parameter", {"name"}},
    {"MapEntry", {"source", "target"}},
    {"DefaultExperiment", {"startTime", "stopTime"}},
    {"Unit", {"name"}},
    {"BaseUnit", {"kg", "m", "s", "A", "K", "mol", "cd", "rad", "factor", "offset"}},
}};

/// Attributes whose values are words.
struct SspWordRule {
  std::string_view element;
  std::string_view attribute;
  Words words;
};
const std::array<SspWordRule, 6> kWords{{
    {"Connector",
     "kind",
     {"input", "output", "parameter", "calculatedParameter", "structuralParameter", "constant", "local", "inout",
      "unspecified"}},
    {"Component", "implementation", {"any", "ModelExchange", "CoSimulation", "ScheduledExecution"}},
    {"ParameterBinding", "sourceBase", {"SSD", "component"}},
    {"ParameterMapping", "sourceBase", {"SSD", "component"}},
    {"Connection", "suppressUnitConversion", {"true", "false", "0", "1"}},
    {"MappingEntry", "suppressUnitConversion", {"true", "false", "0", "1"}},
}};

bool is_among(std::string_view word, Words words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Attributes of other namespaces, and those that every element may have.
bool is_general(std::string_view attribute) {
  return attribute.find(':') != std::string_view::npos || is_among(attribute, {"xmlns", "id", "description"});
}

void check_element(SspXml& xml, const Node& node) {
  const std::string_view name = base::local_name(node);
  const auto rule = std::find_if(kRules.begin(), kRules.end(), [&](const auto& each) { return each.element == name; });
  if (rule != kRules.end()) {
    for (const auto& attribute : node.attributes()) {
      if (is_general(attribute.name()) || is_among(attribute.name(), rule->attributes)) continue;
      xml.add(node, Fact{FactCode::AttributeUnknown, {std::string(name), attribute.name()}});
    }
  }
  for (const auto& [element, attribute, words] : kWords) {
    const auto found = node.attribute(std::string(attribute).c_str());
    if (element != name || !found || is_among(found.value(), words)) continue;
    xml.add(node, Fact{FactCode::AttributeWord,
                       {std::string(name), std::string(attribute)},
                       {{"words", fmt::format("{}", fmt::join(words, ", "))}, {"value", found.value()}}});
  }
}

}  // namespace

/// Annotations belong to others.
void check_ssp_schema(SspXml& xml, const Node& root) {
  check_element(xml, root);
  for (const Node child : root) {
    if (child.type() == pugi::node_element && base::local_name(child) != "Annotations") check_ssp_schema(xml, child);
  }
}

}  // namespace entrain::description
