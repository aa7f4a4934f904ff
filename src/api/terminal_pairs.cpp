#include <algorithm>
#include <optional>
#include <set>

#include "api/proposals.hpp"
#include "assembly/terminals.hpp"

namespace entrain::api {
namespace {

struct TerminalPlace {
  std::size_t part;
  const Terminal* terminal;
};

std::string name_of(const TerminalPlace& place, const std::vector<Part>& parts) {
  return parts[place.part].name + "." + place.terminal->name;
}

/// The partner of `one` among those that are free: the only one, or the first of the part that has several.
std::optional<TerminalPlace> partner(const TerminalPlace& one, const std::vector<TerminalPlace>& free) {
  std::vector<TerminalPlace> fitting;
  for (const auto& other : free) {
    if (other.part != one.part && assembly::terminal_mismatch(*one.terminal, *other.terminal).empty())
      fitting.push_back(other);
  }
  if (fitting.size() == 1) return fitting.front();
  const auto many = [&](const TerminalPlace& place) {
    return std::count_if(fitting.begin(), fitting.end(),
                         [&](const TerminalPlace& each) { return each.part == place.part; }) > 1;
  };
  const auto bus = std::find_if(fitting.begin(), fitting.end(), many);
  if (bus == fitting.end()) return std::nullopt;
  const bool one_bus = std::all_of(fitting.begin(), fitting.end(),
                                   [&](const TerminalPlace& each) { return each.part == bus->part || !many(each); });
  return one_bus ? std::optional(*bus) : std::nullopt;
}

}  // namespace

std::vector<TerminalPair> pair_terminals(const std::vector<Part>& parts) {
  std::vector<TerminalPlace> free;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (const auto& terminal : parts[p].variables.terminals) {
      if (!terminal.members.empty() && terminal.rule != "none" && terminal.rule != "bus")
        free.push_back({p, &terminal});
    }
  }
  // A bus waits for the nodes.
  std::stable_sort(free.begin(), free.end(), [&](const TerminalPlace& a, const TerminalPlace& b) {
    return parts[a.part].variables.terminals.size() < parts[b.part].variables.terminals.size();
  });
  std::vector<TerminalPair> pairs;
  for (std::size_t i = 0; i < free.size();) {
    const TerminalPlace one = free[i];
    const auto other = partner(one, free);
    if (!other) {
      ++i;
      continue;
    }
    pairs.push_back({name_of(one, parts), name_of(*other, parts)});
    std::erase_if(free, [&](const TerminalPlace& each) {
      return each.terminal == one.terminal || each.terminal == other->terminal;
    });
    i = 0;
  }
  return pairs;
}

std::vector<Part> without_terminals(std::vector<Part> parts, const std::vector<TerminalPair>& pairs) {
  for (auto& part : parts) {
    std::set<std::string> members;
    for (const auto& terminal : part.variables.terminals) {
      const std::string name = part.name + "." + terminal.name;
      const bool paired = std::any_of(pairs.begin(), pairs.end(),
                                      [&](const TerminalPair& pair) { return pair.one == name || pair.other == name; });
      for (const auto& [role, variable] : terminal.members) {
        if (paired) members.insert(variable);
      }
    }
    for (auto* list : {&part.variables.inputs, &part.variables.outputs, &part.variables.discrete_inputs,
                       &part.variables.discrete_outputs}) {
      std::erase_if(*list, [&](const Variable& each) { return members.contains(each.name); });
    }
  }
  return parts;
}

}  // namespace entrain::api
