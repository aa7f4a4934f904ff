#include "base/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <pugixml.hpp>
#include <type_traits>

#include "base/printable.hpp"

namespace entrain::base {
namespace {

/// Deeper than any file that is used here; recursive functions over a tree may rely on it.
constexpr int kMaxDepth = 200;

std::string printable_lines(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_of("\n\r\t"), text.size());
    shown += printable(text.substr(0, length));
    if (length < text.size()) shown += text[length];
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return shown;
}

class Cleaner : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node& node) override {
    if (depth() > kMaxDepth) return false;
    for (pugi::xml_attribute attribute : node.attributes()) {
      const std::string_view value = attribute.value();
      if (std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; })) continue;
      const bool is_name = std::string_view(attribute.name()) == "name";
      const std::string shown = is_name ? printable(value) : printable_lines(value);
      if (shown != value) attribute.set_value(shown.c_str());
    }
    return true;
  }
};

std::string escaped(std::string_view text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) == std::string_view::npos) {
      result += c;
    } else {
      result += fmt::format("&#{};", static_cast<int>(c));
    }
  }
  return result;
}

}  // namespace

std::string parse_xml(std::string_view text, pugi::xml_document& document) {
  const auto parsed = document.load_buffer(text.data(), text.size(), pugi::parse_default | pugi::parse_doctype);
  if (!parsed) return fmt::format("line {}: {}", XmlLines(text).line_at(parsed.offset), parsed.description());
  for (const pugi::xml_node node : document) {
    if (node.type() == pugi::node_doctype) return "it has a DOCTYPE, which is not allowed";
  }
  Cleaner cleaner;
  if (!document.traverse(cleaner)) return fmt::format("its elements are nested deeper than {}", kMaxDepth);
  return {};
}

std::string_view local_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  return name.substr(name.find(':') + 1);  // npos + 1 is 0
}

pugi::xml_node child_named(const pugi::xml_node& node, std::string_view name) {
  return node.find_child([&](const pugi::xml_node& child) { return local_name(child) == name; });
}

XmlLines::XmlLines(std::string_view text) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n', end + 1)) {
    ends_.push_back(static_cast<std::ptrdiff_t>(end));
  }
}

int XmlLines::line_at(std::ptrdiff_t offset) const {
  return 1 + static_cast<int>(std::lower_bound(ends_.begin(), ends_.end(), offset) - ends_.begin());
}

int XmlLines::line_of(const pugi::xml_node& node) const {
  return line_at(node.offset_debug());
}

std::string xml_text(std::string_view text) {
  return escaped(text, "&<>");
}

std::string xml_attribute(std::string_view value) {
  return escaped(value, "&<>\"\n\r\t");
}

template <class Number>
std::optional<Number> xml_number(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return std::nullopt;
  text = text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) return std::nullopt;
  }
  return value;
}

template std::optional<double> xml_number(std::string_view);
template std::optional<std::int64_t> xml_number(std::string_view);
template std::optional<std::uint64_t> xml_number(std::string_view);
template std::optional<std::uint32_t> xml_number(std::string_view);

}  // namespace entrain::base
