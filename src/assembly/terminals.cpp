#include "assembly/terminals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "entrain/fact_codes.hpp"

namespace entrain::assembly {
namespace {

constexpr std::string_view kTransceiver = "org.fmi-ls-bus.transceiver";  // FMI-LS-BUS 1.0: Tx with Rx

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

}  // namespace

const Terminal* find_terminal(const VariableTable& variables, const std::string& name) {
  const auto found = std::find_if(variables.terminals.begin(), variables.terminals.end(),
                                  [&](const Terminal& terminal) { return terminal.name == name; });
  return found == variables.terminals.end() ? nullptr : &*found;
}

std::string terminal_mismatch(const Terminal& one, const Terminal& other) {
  if (one.rule != other.rule) return fmt::format("their rules are '{}' and '{}'", one.rule, other.rule);
  if (one.rule == "none") return "their rule is 'none'";
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
  const std::string one_subsystem = owner_in(written.output);
  const std::string other_subsystem = owner_in(written.input);
  const Terminal* one =
      find_terminal(*from, written.output.substr(std::min(one_subsystem.size() + 1, written.output.size())));
  const Terminal* other =
      find_terminal(*to, written.input.substr(std::min(other_subsystem.size() + 1, written.input.size())));
  if (one == nullptr && other == nullptr) return std::nullopt;
  std::vector<ConnectionDescription> result;
  const std::string why = one == nullptr || other == nullptr
                              ? fmt::format("'{}' is none", one == nullptr ? written.output : written.input)
                              : terminal_mismatch(*one, *other);
  if (!why.empty()) {
    problems.push_back(problem_of(Fact{FactCode::TerminalsDiffer, {written.output, written.input}, {{"why", why}}}, "",
                                  written.where));
    return result;
  }
  for (std::size_t i = 0; i < one->members.size(); ++i) {
    const auto& [role, variable] = one->members[i];
    const Member* partner =
        one->rule == "sequence" ? &other->members[i] : member_with(*other, partner_of(role, one->rule));
    if (partner == nullptr) continue;
    const std::string here = variable_name(*from, variable);
    const std::string there = variable_name(*to, partner->second);
    const bool forward = gives(*from, here);
    if (!forward && !gives(*to, there)) continue;  // two inputs
    ConnectionDescription single = written;
    single.output = forward ? one_subsystem + "." + here : other_subsystem + "." + there;
    single.input = forward ? other_subsystem + "." + there : one_subsystem + "." + here;
    result.push_back(std::move(single));
  }
  return result;
}

}  // namespace entrain::assembly
