#include "cli/note_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace entrain::cli {
namespace {

constexpr std::size_t kWrittenOneByOne = 3;
constexpr std::size_t kNamed = 5;

std::string joined_notes(const std::vector<const Fact*>& notes) {
  const bool equal =
      std::all_of(notes.begin(), notes.end(), [&](const Fact* note) { return note->values == notes.front()->values; });
  std::string text = fmt::format("{}; likewise{}", render(*notes.front()), equal ? "" : ", with other numbers,");
  const std::size_t named = std::min(kNamed, notes.size() - 1);
  for (std::size_t k = 1; k <= named; ++k) {
    text += fmt::format("{} '{}'", k == 1 ? "" : ",", notes[k]->subjects.front());
  }
  if (named + 1 < notes.size()) text += fmt::format(" and {} more", notes.size() - 1 - named);
  return text + " (all in run.json)";
}

/// One code about one subject each, with the same values by name: the sentences have one form.
bool alike(const Fact& a, const Fact& b) {
  return a.code == b.code && a.subjects.size() == 1 && b.subjects.size() == 1 &&
         std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                    [](const FactValue& of, const FactValue& other) { return of.name == other.name; });
}

}  // namespace

std::vector<std::string> grouped_notes(const std::vector<Fact>& notes) {
  std::vector<std::vector<const Fact*>> groups;
  for (const Fact& note : notes) {
    const auto known =
        std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return alike(*group.front(), note); });
    auto& group = known != groups.end() ? *known : groups.emplace_back();
    group.push_back(&note);
  }
  std::vector<std::string> result;
  for (const auto& group : groups) {
    if (group.size() > kWrittenOneByOne) {
      result.push_back(joined_notes(group));
    } else {
      for (const Fact* note : group) result.push_back(render(*note));
    }
  }
  return result;
}

}  // namespace entrain::cli
