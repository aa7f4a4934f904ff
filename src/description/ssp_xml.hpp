#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/xml.hpp"
#include "description/ssp_document.hpp"

namespace entrain::description {

/// An XML file of SSP while it is read: its problems get file and line. Elements are distinguished by their local name.
class SspXml {
 public:
  SspXml(std::string_view text, const std::string& file, std::vector<Problem>& problems);

  /// The root element when it has this name; empty, and a problem, otherwise.
  pugi::xml_node root(std::string_view name);

  SourcePosition where(const pugi::xml_node& node) const { return {file_, lines_.line_of(node), 0}; }
  void add(const pugi::xml_node& node, Fact fact, std::string remedy = {});
  void add_at(const SourcePosition& where, Fact fact);

  std::string required(const pugi::xml_node& node, const char* attribute);
  std::optional<double> number(const pugi::xml_node& node, const char* attribute);
  bool flag(const pugi::xml_node& node, const char* attribute);

  /// Of a connection or a mapping of parameters.
  SspTransformation transformation(const pugi::xml_node& node);

 private:
  ValueTable value_table(const pugi::xml_node& node, std::string_view type);

  std::string file_;
  std::vector<Problem>& problems_;
  base::XmlLines lines_;
  pugi::xml_document document_;
  bool parsed_ = false;
};

/// A value of this type as XML spells it; nullopt when it is none.
std::optional<Value> ssp_value(std::string_view type, const std::string& text);

/// The entries of a ParameterMapping, inline or of a file.
std::vector<SspMapping> read_parameter_mapping(SspXml& xml, const pugi::xml_node& mapping);

}  // namespace entrain::description
