#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pugi {
class xml_document;
class xml_node;
}  // namespace pugi

namespace entrain::base {

/// Parses an XML text of unknown origin. Returns what is wrong with it ("line 3: ..."), empty when all is well.
/// Refused beside broken text: a document type (it can define entities that expand without bound) and elements nested
/// deeper than any format of ours. Attribute values are made printable: names end up in messages.
std::string parse_xml(std::string_view text, pugi::xml_document& document);

/// The name without its namespace prefix: tools choose prefixes as they like, also none.
std::string_view local_name(const pugi::xml_node& node);
/// The first child element of this local name; empty if none.
pugi::xml_node child_named(const pugi::xml_node& node, std::string_view name);

/// Where nodes were written.
class XmlLines {
 public:
  explicit XmlLines(std::string_view text);
  int line_of(const pugi::xml_node& node) const;  ///< 1-based
  int line_at(std::ptrdiff_t offset) const;       ///< of the byte at this offset

 private:
  std::vector<std::ptrdiff_t> ends_;  ///< offset of the end of each line
};

/// With entities where the text of an element, or the value of an attribute, needs them.
std::string xml_text(std::string_view text);
std::string xml_attribute(std::string_view value);

/// The whole text as a number, blanks around it allowed; xs:double also spells INF and NaN, which no value of ours can
/// be. For double, std::int64_t, std::uint64_t and std::uint32_t.
template <class Number>
std::optional<Number> xml_number(std::string_view text);

}  // namespace entrain::base
