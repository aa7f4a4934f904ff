#include "description/outside_ports.hpp"

#include <algorithm>

namespace entrain::description {
namespace {

std::string_view trimmed_port(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

}  // namespace

std::optional<Variable> port_of(std::string_view text, std::string& why) {
  Variable port;
  const std::string_view whole = trimmed_port(text);
  const auto bracket = whole.find('[');
  port.name = trimmed_port(whole.substr(0, bracket));
  if (bracket != std::string_view::npos) {
    if (whole.back() != ']' || whole.find(']') != whole.size() - 1) {
      why = "the unit does not end with ']'";
      return std::nullopt;
    }
    port.unit = trimmed_port(whole.substr(bracket + 1, whole.size() - bracket - 2));
  }
  const bool is_name = !port.name.empty() && std::none_of(port.name.begin(), port.name.end(), [](unsigned char c) {
    return c <= ' ' || c == 0x7f || c == '"' || c == '*';
  });
  if (!is_name) {
    why = port.name.empty() ? "the name is empty" : "the name has a character that is not allowed";
    return std::nullopt;
  }
  port.start = 0.0;
  return port;
}

std::string shared_name_fault(std::string_view name) {
  constexpr std::size_t kLongest = 100;
  if (name.empty()) return "the name is empty";
  if (name.size() > kLongest) return "the name is too long";
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return plain ? "" : "only letters, digits, '_' and '-' are allowed";
}

}  // namespace entrain::description
