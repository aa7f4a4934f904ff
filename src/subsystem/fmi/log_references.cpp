#include "subsystem/fmi/log_references.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace entrain::subsystem {
namespace {

bool has_type(const FmuVariable& variable, char letter) {
  switch (letter) {
    case 'r': return variable.type == FmuType::Float64;
    case 'i': return variable.type == FmuType::Int32 || variable.type == FmuType::Enumeration;
    case 'b': return variable.type == FmuType::Boolean;
    case 's': return variable.type == FmuType::String;
    default: return false;
  }
}

/// The name behind "r100"; nullptr when it is no reference.
const std::string* name_of(std::string_view reference, const FmuDescription& description) {
  ValueReference number = 0;
  if (reference.size() < 2) return nullptr;
  const auto [end, error] = std::from_chars(reference.data() + 1, reference.data() + reference.size(), number);
  if (error != std::errc() || end != reference.data() + reference.size()) return nullptr;
  const auto found = std::find_if(
      description.variables.begin(), description.variables.end(),
      [&](const FmuVariable& variable) { return variable.reference == number && has_type(variable, reference[0]); });
  return found == description.variables.end() ? nullptr : &found->name;
}

}  // namespace

std::string with_names(std::string_view message, const FmuDescription& description) {
  std::string text;
  for (std::size_t i = 0; i < message.size(); ++i) {
    const std::size_t end = message[i] == '#' ? message.find('#', i + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      text += message[i];
      continue;
    }
    const std::string* name = name_of(message.substr(i + 1, end - i - 1), description);
    if (name == nullptr && end != i + 1) {
      text += message[i];
      continue;
    }
    text += name != nullptr ? *name : "#";
    i = end;
  }
  return text;
}

}  // namespace entrain::subsystem
