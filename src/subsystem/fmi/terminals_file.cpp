#include <cmath>
#include <pugixml.hpp>

#include "base/text_file.hpp"
#include "base/xml.hpp"
#include "entrain/error.hpp"
#include "subsystem/fmi/model_description.hpp"

namespace entrain::subsystem {
namespace {

void add_terminals(pugi::xml_node parent, const std::string& prefix, std::vector<Terminal>& terminals) {
  for (const pugi::xml_node node : parent.children("Terminal")) {
    Terminal terminal;
    terminal.name = prefix + node.attribute("name").value();
    terminal.kind = node.attribute("terminalKind").value();
    terminal.rule = node.attribute("matchingRule").value();
    for (const pugi::xml_node member : node.children("TerminalMemberVariable")) {
      const std::string variable = member.attribute("variableName").value();
      const std::string role = member.attribute("memberName").value();
      terminal.members.emplace_back(role.empty() ? variable : role, variable);
    }
    const std::string nested = terminal.name + ".";
    terminals.push_back(std::move(terminal));
    add_terminals(node, nested, terminals);
  }
}

}  // namespace

void read_terminals(const std::filesystem::path& file, FmuDescription& description) {
  std::error_code missing;
  if (!std::filesystem::exists(file, missing)) return;
  constexpr std::uintmax_t kMostBytes = 64U << 20U;
  try {
    pugi::xml_document document;
    description.terminals_fault =
        base::parse_xml(base::read_text_file(file, {"a terminalsAndIcons.xml", "", kMostBytes}), document);
    if (!description.terminals_fault.empty()) return;
    const auto root = document.child("fmiTerminalsAndIcons");
    if (!root) description.terminals_fault = "it has no element fmiTerminalsAndIcons";
    add_terminals(root.child("Terminals"), "", description.terminals);
  } catch (const Error& error) {
    description.terminals_fault = error.what();
  }
}

ClockInterval as_interval(double seconds) {
  if (!(seconds >= 0.0) || !std::isfinite(seconds)) return {0, 0};
  std::uint64_t resolution = 1;
  for (int digits = 0; digits <= 15; ++digits, resolution *= 10) {
    const double ticks = std::round(seconds * static_cast<double>(resolution));
    if (!(ticks < 9e15)) break;
    if (ticks / static_cast<double>(resolution) == seconds) return {static_cast<std::uint64_t>(ticks), resolution};
  }
  int exponent = 0;
  const double mantissa = std::frexp(seconds, &exponent);  // in [0.5, 1)
  const int shift = std::min(62, 53 - exponent);
  if (shift < 0) return {0, 0};
  return {static_cast<std::uint64_t>(std::round(std::ldexp(mantissa, exponent + shift))), std::uint64_t{1} << shift};
}

}  // namespace entrain::subsystem
