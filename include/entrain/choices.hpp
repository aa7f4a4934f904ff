#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace entrain {

/// The word that a user writes for an enumerator.
template <class Enum>
struct ChoiceName {
  Enum value;
  std::string_view word;
};

/// Specialized beside each enumeration that a user writes as a word: `all` is an array with one ChoiceName per
/// enumerator. An enumeration without words is not a Choice, so it does not compile as an option.
template <class Enum>
struct ChoiceNames;

template <class Enum>
concept Choice = requires {
  ChoiceNames<Enum>::all.size();
};

template <Choice Enum>
constexpr std::string_view to_word(Enum value) {
  for (const auto& name : ChoiceNames<Enum>::all) {
    if (name.value == value) return name.word;
  }
  return {};
}

/// Nothing for a word that is none of them.
template <Choice Enum>
constexpr std::optional<Enum> from_word(std::string_view word) {
  for (const auto& name : ChoiceNames<Enum>::all) {
    if (name.word == word) return name.value;
  }
  return std::nullopt;
}

/// All of them, in the order of the table.
template <Choice Enum>
constexpr auto words_of() {
  std::array<std::string_view, ChoiceNames<Enum>::all.size()> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = ChoiceNames<Enum>::all[i].word;
  return words;
}

}  // namespace entrain
