#include "description/renamed_keys.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "description/toml_text.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::description {
namespace {

struct Renaming {
  std::string_view lacked;  ///< it had this meaning only where there is no such key; empty = everywhere
  std::string_view old_name;
  std::array<std::string_view, 2> names;  ///< of today; the second may be empty
};

/// The first line that fits is taken.
constexpr std::array<Renaming, 9> kRenamings{{
    // Where no macro step follows an error, it was that of an integrator, and both.
    {"adaptive", "tolerance", {"relative_tolerance", "absolute_tolerance"}},
    {"", "tolerance", {"relative_tolerance", ""}},
    {"", "tol_rel", {"relative_tolerance", ""}},
    {"", "tol_abs", {"absolute_tolerance", ""}},
    {"", "epsilon", {"iteration_tolerance", ""}},
    {"", "urgency", {"linearization_tolerance", ""}},
    {"", "energy_tolerance", {"energy_relative_tolerance", ""}},
    {"", "energy_min_step", {"min_step", ""}},
    {"", "energy_max_step", {"max_step", ""}},
}};

bool is_known(std::string_view name, const std::vector<std::string>& known) {
  return name.empty() || std::find(known.begin(), known.end(), name) != known.end();
}

}  // namespace

std::optional<Problem> renamed_key(std::string_view owner, std::string_view name, const OptionValue& value,
                                   const std::vector<std::string>& known) {
  const auto fits = [&](const Renaming& renaming) {
    return renaming.old_name == name && (renaming.lacked.empty() || !is_known(renaming.lacked, known)) &&
           is_known(renaming.names[0], known) && is_known(renaming.names[1], known);
  };
  const auto found = std::find_if(kRenamings.begin(), kRenamings.end(), fits);
  if (found == kRenamings.end()) return std::nullopt;
  std::vector<std::string_view> names;
  std::vector<std::string> lines;
  for (const auto now : found->names) {
    if (now.empty()) continue;
    names.push_back(now);
    lines.push_back(fmt::format("{} = {}", now, toml_text(value)));
  }
  return problem_of({FactCode::KeyRenamed,
                     {fmt::format("{}.{}", owner, name)},
                     {{"names", fmt::format("{}", fmt::join(names, " and "))}}},
                    fmt::format("write {}", fmt::join(lines, " and ")));
}

}  // namespace entrain::description
