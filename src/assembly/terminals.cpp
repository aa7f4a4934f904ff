#include "assembly/terminals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "entrain/fact_codes.hpp"

namespace entrain::assembly {
namespace {

constexpr std::string_view kTransceiver = "org.fmi-ls-bus.transceiver";  // FMI-LS-BUS 1.0: Tx with Rx
constexpr std::array<std::string_view, 5> kRules{"plug", "bus", "sequence", "none", kTransceiver};

using Member = std::pair<std::string, std::string>;  // role and variable

/// The role of the member that this one is connected with.
std::string partner_of(const std::string& role, const std::string& rule) {
  if (rule != kTransceiver) return role;
  if (role.starts_with("Tx_")) return "Rx_" + role.substr(3);
  if (role.starts_with("Rx_")) return "Tx_" + role.substr(3);
  return role;
}

const Member* member_with(const Terminal& terminal, const std::string& role) {
  const auto found = std::find_if(terminal.members.begin(), terminal.members.end(),
                                  [&](const Member& member) { return member.first == role; });
  return found == terminal.members.end() ? nullptr : &*found;
}

/// Of a member that is an array of one element, that element.
std::string variable_name(const VariableTable& variables, const std::string& name) {
  if (variables.find(name) || variables.find(name + "[2]") || !variables.find(name + "[1]")) return name;
  return name + "[1]";
}

bool gives(const VariableTable& variables, const std::string& name) {
  if (const auto place = variables.find(name)) {
    return place->causality == Causality::Output || place->causality == Causality::DiscreteOutput;
  }
  return std::any_of(variables.clocks.begin(), variables.clocks.end(), [&](const ClockPort& clock) {
    return clock.name == name && (clock.is_output || clock.has_times());
  });
}

std::string owner_in(const std::string& name) {
  return name.substr(0, name.find('.'));
}

/// A subsystem of a connection.
struct TerminalSide {
  std::string subsystem;
  const VariableTable& variables;
};

struct TerminalEnd {
  const TerminalSide& side;
  const Terminal& terminal;
};

/// Output and input of each connection of their members.
std::vector<std::pair<std::string, std::string>> pairs_of(const TerminalEnd& one, const TerminalEnd& other) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const auto& members = one.terminal.members;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& [role, variable] = members[i];
    const Member* partner = one.terminal.rule == "sequence"
                                ? &other.terminal.members[i]
                                : member_with(other.terminal, partner_of(role, one.terminal.rule));
    if (partner == nullptr) continue;
    const std::string here = variable_name(one.side.variables, variable);
    const std::string there = variable_name(other.side.variables, partner->second);
    const std::string mine = one.side.subsystem + "." + here;
    const std::string theirs = other.side.subsystem + "." + there;
    if (gives(one.side.variables, here)) {
      pairs.emplace_back(mine, theirs);
    } else if (gives(other.side.variables, there)) {
      pairs.emplace_back(theirs, mine);
    }  // else two inputs
  }
  return pairs;
}

/// A member that both sides give, and one that both take: an effort for a flow, of two inertias.
struct RigidMembers {
  std::string given, given_there;
  std::string taken, taken_there;
};

std::optional<RigidMembers> rigid_members(const TerminalEnd& one, const TerminalEnd& other) {
  if (one.terminal.rule != "plug" && one.terminal.rule != "sequence") return std::nullopt;
  RigidMembers found;
  for (std::size_t i = 0; i < one.terminal.members.size(); ++i) {
    const auto& [role, variable] = one.terminal.members[i];
    const Member* partner =
        one.terminal.rule == "sequence" ? &other.terminal.members[i] : member_with(other.terminal, role);
    if (partner == nullptr) continue;
    const std::string here = variable_name(one.side.variables, variable);
    const std::string there = variable_name(other.side.variables, partner->second);
    const bool mine = gives(one.side.variables, here);
    if (mine != gives(other.side.variables, there)) continue;
    (mine ? found.given : found.taken) = one.side.subsystem + "." + here;
    (mine ? found.given_there : found.taken_there) = other.side.subsystem + "." + there;
  }
  return found.given.empty() || found.taken.empty() ? std::nullopt : std::optional(std::move(found));
}

/// These two, and those inside them that have the same names.
std::vector<std::pair<const Terminal*, const Terminal*>> with_nested(const TerminalSide& here, const Terminal& one,
                                                                     const TerminalSide& there, const Terminal& other) {
  std::vector<std::pair<const Terminal*, const Terminal*>> pairs{{&one, &other}};
  for (const auto& nested : here.variables.terminals) {
    if (!nested.name.starts_with(one.name + ".") || nested.rule == "none") continue;
    const Terminal* partner = find_terminal(there.variables, other.name + nested.name.substr(one.name.size()));
    if (partner != nullptr) pairs.emplace_back(&nested, partner);
  }
  return pairs;
}

}  // namespace

const Terminal* find_terminal(const VariableTable& variables, const std::string& name) {
  const auto found = std::find_if(variables.terminals.begin(), variables.terminals.end(),
                                  [&](const Terminal& terminal) { return terminal.name == name; });
  return found == variables.terminals.end() ? nullptr : &*found;
}

std::string terminal_mismatch(const Terminal& one, const Terminal& other) {
  if (one.rule != other.rule) return fmt::format("their rules are '{}' and '{}'", one.rule, other.rule);
  if (one.rule == "none") return "their rule is 'none'";
  if (std::find(kRules.begin(), kRules.end(), one.rule) == kRules.end())
    return fmt::format("their rule '{}' is not known", one.rule);
  if (!one.kind.empty() && !other.kind.empty() && one.kind != other.kind)
    return fmt::format("they are of the kinds '{}' and '{}'", one.kind, other.kind);
  if (one.rule == "sequence")
    return one.members.size() == other.members.size() ? "" : "they have different numbers of members";
  if (one.rule == "bus") return "";  // those that both have
  for (const auto& [terminal, partner] : {std::pair(&one, &other), std::pair(&other, &one)}) {
    for (const auto& [role, variable] : terminal->members) {
      const std::string wanted = partner_of(role, one.rule);
      if (member_with(*partner, wanted) == nullptr)
        return fmt::format("'{}' has no member '{}'", partner->name, wanted);
    }
  }
  return "";
}

std::optional<std::vector<ConnectionDescription>> terminal_connections(const ConnectionDescription& written,
                                                                       const VariableTable* from,
                                                                       const VariableTable* to,
                                                                       std::vector<Problem>& problems) {
  if (from == nullptr || to == nullptr) return std::nullopt;
  const TerminalSide here{owner_in(written.output), *from};
  const TerminalSide there{owner_in(written.input), *to};
  const Terminal* one =
      find_terminal(*from, written.output.substr(std::min(here.subsystem.size() + 1, written.output.size())));
  const Terminal* other =
      find_terminal(*to, written.input.substr(std::min(there.subsystem.size() + 1, written.input.size())));
  if (one == nullptr && other == nullptr) return std::nullopt;
  std::vector<ConnectionDescription> result;
  const auto refuse = [&](const std::string& why) {
    problems.push_back(problem_of(Fact{FactCode::TerminalsDiffer, {written.output, written.input}, {{"why", why}}}, "",
                                  written.where));
  };
  if (one == nullptr || other == nullptr) {
    refuse(fmt::format("'{}' is none", one == nullptr ? written.output : written.input));
    return result;
  }
  bool fits = true;
  for (const auto& [mine, partner] : with_nested(here, *one, there, *other)) {
    const std::string why = terminal_mismatch(*mine, *partner);
    if (!why.empty()) refuse(mine == one ? why : fmt::format("'{}': {}", mine->name, why));
    fits = fits && why.empty();
    if (!fits) continue;
    if (const auto rigid = rigid_members({here, *mine}, {there, *partner})) {
      problems.push_back(problem_of(Fact{FactCode::RigidConnection,
                                         {rigid->given, rigid->given_there},
                                         {{"efforts", fmt::format("'{}' and '{}'", rigid->taken, rigid->taken_there)}}},
                                    std::string(kRigidRemedy), written.where));
      return std::vector<ConnectionDescription>();
    }
    for (const auto& [output, input] : pairs_of({here, *mine}, {there, *partner})) {
      ConnectionDescription single = written;
      single.output = output;
      single.input = input;
      result.push_back(std::move(single));
    }
  }
  if (!fits) result.clear();
  if (fits && result.empty()) refuse("they have no members that can be connected");
  return result;
}

}  // namespace entrain::assembly
