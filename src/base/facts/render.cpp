// Sentences of facts. A template of the catalogue is text with these parts in braces:
//   {name}          a value; a number is followed by its unit
//   {name:.3g}      the number in a format of fmt
//   {name~one~many} by the number: the first text for 1, the second otherwise
//   {0}, {1}, ...   a subject; {*} all of them; {1*} from the second on; {*:12} the first twelve
//   {?name|text}    the text if there is such a value; {!name|text} if there is none
//   {{ and }}       braces
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

const FactValue* find_value(const Fact& fact, std::string_view name) {
  const auto found =
      std::find_if(fact.values.begin(), fact.values.end(), [&](const FactValue& of) { return of.name == name; });
  return found == fact.values.end() ? nullptr : &*found;
}

/// The place behind the brace that closes the one at `open`.
std::size_t behind_closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '{') ++depth;
    if (text[i] == '}' && --depth == 0) return i + 1;
  }
  return text.size();
}

std::string expanded(std::string_view sentence, const Fact& fact);

std::size_t whole_number(std::string_view text, std::size_t otherwise) {
  std::size_t number = otherwise;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// "*", "1*", "*:12"
std::string subject_list(std::string_view part, const Fact& fact) {
  const auto star = part.find('*');
  const std::size_t first = whole_number(part.substr(0, star), 0);
  const auto behind = part.substr(star + 1);
  const std::size_t most = behind.starts_with(':') ? whole_number(behind.substr(1), 0) : fact.subjects.size();
  if (first >= fact.subjects.size()) return {};
  const auto names = std::span(fact.subjects).subspan(first);
  const auto shown = names.first(std::min(most, names.size()));
  return fmt::format("{}{}", fmt::join(shown, ", "), shown.size() < names.size() ? ", ..." : "");
}

std::string value_text(const FactValue& value, std::string_view format) {
  if (const auto* text = std::get_if<std::string>(&value.value)) return *text;
  const auto number = fmt::format(fmt::runtime(fmt::format("{{{}}}", format)), std::get<double>(value.value));
  return value.unit.empty() ? number : number + " " + value.unit;
}

/// What stands for the part of a template between two braces.
std::string part_text(std::string_view part, const Fact& fact) {
  if (part.starts_with('?') || part.starts_with('!')) {
    const auto bar = part.find('|');
    const bool there = find_value(fact, part.substr(1, bar - 1)) != nullptr;
    return there == part.starts_with('?') ? expanded(part.substr(bar + 1), fact) : std::string();
  }
  if (part.find('*') != std::string_view::npos) return subject_list(part, fact);
  if (!part.empty() && part.front() >= '0' && part.front() <= '9') {
    const std::size_t index = whole_number(part, 0);
    return index < fact.subjects.size() ? fact.subjects[index] : std::string();
  }
  const auto end = part.find_first_of(":~");
  const FactValue* value = find_value(fact, part.substr(0, end));
  if (value == nullptr) return {};
  if (end == std::string_view::npos || part[end] == ':') {
    return value_text(*value, end == std::string_view::npos ? std::string_view() : part.substr(end));
  }
  const auto forms = part.substr(end + 1);
  const auto second = forms.find('~');
  const auto* number = std::get_if<double>(&value->value);
  return std::string(number != nullptr && *number == 1.0 ? forms.substr(0, second) : forms.substr(second + 1));
}

std::string expanded(std::string_view sentence, const Fact& fact) {
  std::string text;
  for (std::size_t i = 0; i < sentence.size();) {
    const bool doubled = i + 1 < sentence.size() && sentence[i] == sentence[i + 1];
    if ((sentence[i] == '{' || sentence[i] == '}') && doubled) {
      text += sentence[i];
      i += 2;
    } else if (sentence[i] == '{') {
      const auto end = behind_closing(sentence, i);
      text += part_text(sentence.substr(i + 1, end - i - 2), fact);
      i = end;
    } else {
      text += sentence[i++];
    }
  }
  return text;
}

std::string sentence_of(const Fact& fact) {
  return expanded(fact_catalogue()[static_cast<std::size_t>(fact.code)].sentence, fact);
}

}  // namespace

std::string_view to_string(FactKind kind) {
  switch (kind) {
    case FactKind::Note: return "note";
    case FactKind::Warning: return "warning";
    case FactKind::Error: break;
  }
  return "error";
}

std::optional<double> Fact::number(std::string_view name) const {
  const FactValue* found = find_value(*this, name);
  const auto* value = found == nullptr ? nullptr : std::get_if<double>(&found->value);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

std::string_view Fact::text(std::string_view name) const {
  const FactValue* found = find_value(*this, name);
  const auto* value = found == nullptr ? nullptr : std::get_if<std::string>(&found->value);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

std::string render(const Fact& fact) {
  std::string text;
  if (!fact.where.file.empty()) {
    text = fact.where.file;
    if (fact.where.line > 0) text += fmt::format(":{}", fact.where.line);
    text += ": ";
  }
  text += sentence_of(fact);
  if (!fact.remedy.empty()) text += "; " + fact.remedy;
  return text;
}

std::string render(std::span<const Fact> facts, std::string_view separator) {
  std::string text;
  for (const Fact& fact : facts) {
    if (!text.empty()) text += separator;
    text += render(fact);
  }
  return text;
}

Fact custom_note(std::string text) {
  return {FactCode::Custom, {}, {{"text", std::move(text)}}};
}

Fact custom_warning(std::string text) {
  return {FactCode::CustomWarning, {}, {{"text", std::move(text)}}};
}

Problem problem_of(Fact fact, std::string remedy, SourcePosition where) {
  auto message = sentence_of(fact);
  const auto severity = kind_of(fact.code) == FactKind::Error ? Problem::Severity::Error : Problem::Severity::Warning;
  return {std::move(message), std::move(remedy), std::move(where), severity, std::move(fact)};
}

Fact fact_of(const Problem& problem) {
  Fact fact = problem.fact;
  if (fact.code == FactCode::Custom) {
    const bool error = problem.severity == Problem::Severity::Error;
    fact = {error ? FactCode::CustomError : FactCode::CustomWarning, {}, {{"text", problem.message}}};
  }
  fact.remedy = problem.remedy;
  fact.where = problem.where;
  return fact;
}

}  // namespace entrain
