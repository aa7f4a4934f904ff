#include "description/ssp_xml.hpp"

#include <array>
#include <utility>

#include "description/ssp_schema.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

/// Transformations by a table of values, and the type of its values.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kTables{
    {{"BooleanMappingTransformation", "Boolean"},
     {"IntegerMappingTransformation", "Integer"},
     {"EnumerationMappingTransformation", "Enumeration"}}};

/// Tables are copied along the connections that they are on.
constexpr std::size_t kMostEntries = 1000;

/// Descriptions of FMUs and of OSP are read by the same means.
bool is_of_ssp(std::string_view root) {
  return root == "SystemStructureDescription" || root == "ParameterSet" || root == "ParameterMapping";
}

}  // namespace

SspXml::SspXml(std::string_view text, const std::string& file, std::vector<Problem>& problems)
    : file_(file), problems_(problems), lines_(text) {
  const std::string fault = base::parse_xml(text, document_);
  parsed_ = fault.empty();
  if (!parsed_) problems_.push_back(problem_of({FactCode::NotXml, {}, {{"why", fault}}}, "", {file_, 0, 0}));
}

pugi::xml_node SspXml::root(std::string_view name) {
  if (!parsed_) return {};
  const auto root = document_.document_element();
  if (base::local_name(root) != name) {
    add(root, Fact{FactCode::WrongRootElement, {std::string(base::local_name(root)), std::string(name)}},
        "name a file of SSP");
    return {};
  }
  if (is_of_ssp(name)) {
    const std::string version = root.attribute("version").value();
    if (!version.empty() && !version.starts_with("1.") && !version.starts_with("2."))
      add(root, Fact{FactCode::OtherSspVersion, {}, {{"version", version}}});
    check_ssp_schema(*this, root);
  }
  return root;
}

void SspXml::add(const pugi::xml_node& node, Fact fact, std::string remedy) {
  problems_.push_back(problem_of(std::move(fact), std::move(remedy), where(node)));
}

void SspXml::add_at(const SourcePosition& where, Fact fact) {
  problems_.push_back(problem_of(std::move(fact), {}, where));
}

std::string SspXml::required(const pugi::xml_node& node, const char* attribute) {
  const auto found = node.attribute(attribute);
  if (!found || *found.value() == '\0')
    add(node, Fact{FactCode::AttributeMissing, {std::string(base::local_name(node)), attribute}});
  return found.value();
}

std::optional<double> SspXml::number(const pugi::xml_node& node, const char* attribute) {
  const auto found = node.attribute(attribute);
  if (!found) return std::nullopt;
  const auto value = base::xml_number<double>(found.value());
  if (!value)
    add(node,
        Fact{
            FactCode::AttributeNoNumber, {attribute, std::string(base::local_name(node))}, {{"value", found.value()}}});
  return value;
}

bool SspXml::flag(const pugi::xml_node& node, const char* attribute) {
  return node.attribute(attribute).as_bool(false);
}

SspTransformation SspXml::transformation(const pugi::xml_node& node) {
  SspTransformation result;
  if (const auto linear = base::child_named(node, "LinearTransformation"))
    result = {number(linear, "factor").value_or(1.0), number(linear, "offset").value_or(0.0)};
  for (const auto& [element, type] : kTables) {
    const auto found = base::child_named(node, element);
    if (!found) continue;
    result.table = value_table(found, type);
    if (result.table.empty()) add(found, Fact{FactCode::TableEmpty, {std::string(element)}});
  }
  return result;
}

ValueTable SspXml::value_table(const pugi::xml_node& node, std::string_view type) {
  ValueTable table;
  for (const pugi::xml_node entry : node) {
    if (base::local_name(entry) != "MapEntry") continue;
    const auto source = ssp_value(type, required(entry, "source"));
    const auto target = ssp_value(type, required(entry, "target"));
    if (source && target) {
      table.push_back({*source, *target});
    } else {
      add(entry, Fact{FactCode::TableEntryType,
                      {std::string(base::local_name(node))},
                      {{"from", entry.attribute("source").value()},
                       {"to", entry.attribute("target").value()},
                       {"type", type}}});
    }
    if (table.size() <= kMostEntries) continue;
    add(node, Fact{FactCode::TableTooLong, {std::string(base::local_name(node))}, {{"most", kMostEntries}}});
    break;
  }
  return table;
}

}  // namespace entrain::description
