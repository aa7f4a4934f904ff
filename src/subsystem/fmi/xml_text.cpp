#include "subsystem/fmi/xml_text.hpp"

#include <algorithm>
#include <pugixml.hpp>
#include <string_view>

#include "base/printable.hpp"

namespace entrain {
namespace {

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

}  // namespace

void make_printable(pugi::xml_document& document) {
  Cleaner cleaner;
  document.traverse(cleaner);
}

}  // namespace entrain
