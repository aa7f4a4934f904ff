#include "cli/note_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

namespace entrain::cli {
namespace {

constexpr std::size_t kToldOneByOne = 3;
constexpr std::size_t kNamed = 5;

/// What stands between the first two quotes, with them.
std::string_view quoted_name(std::string_view note) {
  const auto first = note.find('\'');
  const auto last = first == std::string_view::npos ? first : note.find('\'', first + 1);
  return last == std::string_view::npos ? std::string_view() : note.substr(first, last - first + 1);
}

std::string without_name(std::string_view note) {
  std::string text(note);
  const auto name = quoted_name(note);
  if (!name.empty()) text.erase(static_cast<std::size_t>(name.data() - note.data()), name.size());
  return text;
}

/// The note without its name and without the words that hold a digit: what notes of one kind have in common.
std::string note_kind(std::string_view note) {
  std::istringstream words(without_name(note));
  std::string kind;
  for (std::string word; words >> word;) {
    if (word.find_first_of("0123456789") == std::string::npos) kind += word + ' ';
  }
  return kind;
}

std::string joined_notes(const std::vector<std::string_view>& notes) {
  const auto sentence = without_name(notes.front());
  const bool equal =
      std::all_of(notes.begin(), notes.end(), [&](std::string_view note) { return without_name(note) == sentence; });
  std::string text = fmt::format("{}; likewise{}", notes.front(), equal ? "" : ", with other numbers,");
  const std::size_t named = std::min(kNamed, notes.size() - 1);
  for (std::size_t k = 1; k <= named; ++k) text += fmt::format("{} {}", k == 1 ? "" : ",", quoted_name(notes[k]));
  if (named + 1 < notes.size()) text += fmt::format(" and {} more", notes.size() - 1 - named);
  return text + " (all in run.json)";
}

}  // namespace

std::vector<std::string> grouped_notes(const std::vector<std::string>& notes) {
  struct Group {
    std::string kind;
    std::vector<std::string_view> notes;
  };
  std::vector<Group> groups;
  for (const std::string& note : notes) {
    auto kind = note_kind(note);
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.kind == kind; });
    auto& group = known != groups.end() ? *known : groups.emplace_back(Group{std::move(kind), {}});
    group.notes.push_back(note);
  }
  std::vector<std::string> result;
  for (const auto& group : groups) {
    const bool named = !quoted_name(group.notes.front()).empty();
    if (named && group.notes.size() > kToldOneByOne) {
      result.push_back(joined_notes(group.notes));
    } else {
      result.insert(result.end(), group.notes.begin(), group.notes.end());
    }
  }
  return result;
}

}  // namespace entrain::cli
