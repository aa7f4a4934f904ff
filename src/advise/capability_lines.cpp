#include "advise/capability_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace entrain::advising {
namespace {

std::string capability_text(const std::string& source, const Capabilities& can) {
  std::vector<std::string> parts;
  if (can.rollback) parts.emplace_back("rollback");
  if (can.states) parts.emplace_back("states");
  if (can.linearization) parts.emplace_back("linearization");
  if (can.output_derivative_order > 0) parts.emplace_back("output derivatives");
  parts.push_back(can.input_degree == 0 ? "constant inputs" : fmt::format("inputs of degree {}", can.input_degree));
  if (can.imposed_step) parts.push_back(fmt::format("imposes a step of {} s", *can.imposed_step));
  return fmt::format("({}): {}", source, fmt::join(parts, ", "));
}

}  // namespace

std::vector<std::string> capability_lines(const CoupledSystem& system, const std::vector<SubsystemSummary>& summaries) {
  constexpr std::size_t kNamed = 4;
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  std::map<std::string, std::size_t> known;
  for (std::size_t s = 0; s < system.size(); ++s) {
    const SubsystemId id{s};
    auto text = capability_text(summaries[s].source, system.capabilities(id));
    const auto [group, is_new] = known.emplace(text, groups.size());
    if (is_new) groups.emplace_back(std::move(text), std::vector<std::string>());
    groups[group->second].second.push_back(system.graph().name(id));
  }
  std::vector<std::string> lines;
  for (const auto& [text, names] : groups) {
    const auto subjects = names.size() <= kNamed
                              ? fmt::format("{}", fmt::join(names, ", "))
                              : fmt::format("{} .. {}, {} subsystems", names.front(), names.back(), names.size());
    lines.push_back(fmt::format("{} {}", subjects, text));
  }
  return lines;
}

}  // namespace entrain::advising
