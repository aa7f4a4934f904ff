// Parameter values (SSV) and parameter mappings (SSM), in files of their own or inside an SSD.

#include <algorithm>
#include <array>
#include <set>

#include "description/ssp_units.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

constexpr std::array<std::string_view, 3> kReals{"Real", "Float64", "Float32"};
constexpr std::array<std::string_view, 9> kIntegers{"Integer", "Int8",   "UInt8", "Int16", "UInt16",
                                                    "Int32",   "UInt32", "Int64", "UInt64"};
constexpr std::array<std::string_view, 3> kTexts{"String", "Enumeration", "Binary"};

template <std::size_t N>
bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::optional<bool> boolean(std::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return std::nullopt;
}

/// The value in an element such as <ssv:Real value="1.5"/>; nullopt, and a problem, when it has none.
std::optional<Value> value_of(SspXml& xml, const pugi::xml_node& typed, const std::string& name) {
  const std::string_view type = base::local_name(typed);
  // SSP 2.0 may spell texts as elements of their own.
  const auto element = base::child_named(typed, "Value");
  const std::string text = element ? element.child_value() : typed.attribute("value").value();
  auto value = ssp_value(type, text);
  if (!value) xml.add(typed, Fact{FactCode::NoValueOfType, {name}, {{"value", text}, {"type", type}}});
  return value;
}

std::optional<SspParameter> read_parameter(SspXml& xml, const pugi::xml_node& node) {
  SspParameter parameter;
  parameter.name = xml.required(node, "name");
  parameter.where = xml.where(node);
  if (base::child_named(node, "Dimension")) {
    xml.add(node, Fact{FactCode::ArrayParameter, {parameter.name}}, "give its elements as parameters of their own");
    return std::nullopt;
  }
  for (const pugi::xml_node typed : node) {
    const std::string_view type = base::local_name(typed);
    if (type != "Boolean" && !is_one_of(type, kReals) && !is_one_of(type, kIntegers) && !is_one_of(type, kTexts))
      continue;
    auto value = value_of(xml, typed, parameter.name);
    if (!value) return std::nullopt;
    parameter.value = std::move(*value);
    parameter.unit = plain_unit(typed.attribute("unit").value());
    return parameter;
  }
  xml.add(node, Fact{FactCode::ParameterWithoutValue, {parameter.name}});
  return std::nullopt;
}

}  // namespace

std::optional<Value> ssp_value(std::string_view type, const std::string& text) {
  if (is_one_of(type, kTexts)) return text;
  if (type == "Boolean") return boolean(text);
  if (is_one_of(type, kReals)) return base::xml_number<double>(text);
  if (const auto integer = base::xml_number<std::int64_t>(text)) return integer;
  return base::xml_number<std::uint64_t>(text);
}

std::vector<SspParameter> read_parameter_set(SspXml& xml, const pugi::xml_node& set, const SspUnits& around) {
  const SspUnits units = read_units(xml, set, around);
  std::vector<SspParameter> parameters;
  std::set<std::string> names;
  std::size_t again = 0;
  SspParameter first_again;
  for (const pugi::xml_node node : base::child_named(set, "Parameters")) {
    if (base::local_name(node) != "Parameter") continue;
    auto parameter = read_parameter(xml, node);
    if (!parameter) continue;
    if (!names.insert(parameter->name).second && ++again == 1) first_again = *parameter;
    express_in_si(*parameter, units);
    parameters.push_back(std::move(*parameter));
  }
  if (again > 0) xml.add_at(first_again.where, Fact{FactCode::ParameterTwice, {first_again.name}, {{"count", again}}});
  return parameters;
}

std::vector<SspMapping> read_parameter_mapping(SspXml& xml, const pugi::xml_node& mapping) {
  std::vector<SspMapping> entries;
  std::set<std::string> targets;
  std::size_t skipped = 0;
  SspMapping first_skipped;
  for (const pugi::xml_node node : mapping) {
    if (base::local_name(node) != "MappingEntry") continue;
    SspMapping entry;
    entry.target = xml.required(node, "target");
    if (const auto source = node.attribute("source"); source && *source.value() == '\0') {
      entry.where = xml.where(node);
      if (++skipped == 1) first_skipped = entry;
      continue;
    }
    entry.source = xml.required(node, "source");
    entry.transformation = xml.transformation(node);
    entry.convert_units = !xml.flag(node, "suppressUnitConversion");
    entry.where = xml.where(node);
    if (!targets.insert(entry.target).second) xml.add(node, Fact{FactCode::MappedTwice, {entry.target}});
    entries.push_back(std::move(entry));
  }
  if (skipped > 0)
    xml.add_at(first_skipped.where, Fact{FactCode::MappingSourceEmpty, {first_skipped.target}, {{"count", skipped}}});
  return entries;
}

std::vector<SspParameter> parse_ssv(std::string_view text, const std::string& file, std::vector<Problem>& problems) {
  SspXml xml(text, file, problems);
  return read_parameter_set(xml, xml.root("ParameterSet"), {});
}

std::vector<SspMapping> parse_ssm(std::string_view text, const std::string& file, std::vector<Problem>& problems) {
  SspXml xml(text, file, problems);
  return read_parameter_mapping(xml, xml.root("ParameterMapping"));
}

}  // namespace entrain::description
