#include "description/scenario_keys.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace entrain::description {
namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

}  // namespace

bool has_key(ScenarioAction action, ScenarioKeyUse use) {
  switch (use) {
    case ScenarioKeyUse::Any: return true;
    case ScenarioKeyUse::Ramp: return action == ScenarioAction::Ramp;
    case ScenarioKeyUse::Noise: return action == ScenarioAction::Noise;
    case ScenarioKeyUse::Value: break;
  }
  return action != ScenarioAction::Freeze && action != ScenarioAction::Drop && action != ScenarioAction::Release;
}

std::optional<ScenarioCondition> parse_condition(std::string_view text) {
  const auto at = text.find_first_of("<>");
  if (at == std::string_view::npos) return std::nullopt;
  const bool with_equality = at + 1 < text.size() && text[at + 1] == '=';
  const std::size_t length = with_equality ? 2 : 1;
  ScenarioCondition condition{trimmed(text.substr(0, at)), std::string(text.substr(at, length)), 0.0};
  const std::string number = trimmed(text.substr(at + length));
  const char* const end = number.data() + number.size();
  const auto [rest, error] = std::from_chars(number.data(), end, condition.limit);
  const bool is_number = error == std::errc() && rest == end && std::isfinite(condition.limit);
  if (!is_number || condition.signal.empty()) return std::nullopt;
  return condition;
}

std::optional<std::pair<std::string, std::string>> parse_connection(std::string_view text) {
  constexpr std::string_view kArrow = "->";
  const auto at = text.find(kArrow);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair(trimmed(text.substr(0, at)), trimmed(text.substr(at + kArrow.size())));
}

}  // namespace entrain::description
