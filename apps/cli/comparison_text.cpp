#include "cli/comparison_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/table.hpp"
#include "entrain/text.hpp"

namespace entrain::cli {
namespace {

constexpr std::size_t kMostDifferences = 40;

std::string with_unit(double value, const std::string& unit) {
  return fmt::format("{:.3g}{}{}", value, unit.empty() ? "" : " ", unit);
}

std::string text_or_dash(const std::optional<double>& value) {
  return value ? fmt::format("{:.3g}", *value) : "-";
}

std::string runs_text(const Comparison& comparison) {
  Table table({"run", "method", "step s", "subsystem steps", "wall s", "error"});
  for (std::size_t column = 2; column < 6; ++column) table.align_right(column);
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const auto& run = comparison.runs[i];
    table.add_row({run.label, run.method, text_or_dash(run.step),
                   run.subsystem_steps ? fmt::format("{}", *run.subsystem_steps) : "-", text_or_dash(run.wall_seconds),
                   i == comparison.reference ? "reference" : text_or_dash(run.error)});
  }
  return table.text();
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  Table table({"variable", "run", "rms / range", "rms", "max", "at s"});
  for (std::size_t column = 2; column < 6; ++column) table.align_right(column);
  const std::size_t shown = std::min(comparison.differences.size(), kMostDifferences);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, unit, run, difference] = comparison.differences[i];
    table.add_row({name, comparison.runs[run].label, text_or_dash(difference.relative), with_unit(difference.rms, unit),
                   with_unit(difference.max, unit), short_number(difference.at)});
  }
  auto text = runs_text(comparison) + '\n' + table.text();
  if (const auto more = comparison.differences.size() - shown; more > 0) {
    text += fmt::format("{} more that agree better: --json or --report show all\n", more);
  }
  for (const auto& note : comparison.notes) text += fmt::format("note: {}\n", render(note));
  return text;
}

}  // namespace entrain::cli
