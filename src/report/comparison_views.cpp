#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "report/comparison.hpp"
#include "report/json_parts.hpp"
#include "report/packed_signals.hpp"
#include "report/page.hpp"
#include "report/table.hpp"
#include "report/text_report.hpp"

namespace entrain {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostRows = 40;

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

/// The differences of all runs to the reference, as results of their own.
RecordedResults difference_results(const Comparison& comparison) {
  RecordedResults all;
  const auto& reference = comparison.runs[comparison.reference].results;
  for (const auto& entry : comparison.differences) {
    const auto& results = comparison.runs[entry.run].results;
    auto course = difference_course(course_of(results, *results.find(entry.name)),
                                    course_of(reference, *reference.find(entry.name)));
    all.columns.push_back({entry.name, entry.unit, "", all.axes.size(), std::move(course.values)});
    all.axes.push_back(std::move(course.times));
  }
  return all;
}

/// The curves of the worst variables first, each with its differences: what is left out is what agrees best.
std::vector<DrawnSignal> drawn_signals(const Comparison& comparison, const RecordedResults& differences) {
  std::vector<DrawnSignal> drawn;
  std::set<std::string> seen;
  for (const auto& entry : comparison.differences) {
    if (!seen.insert(entry.name).second) continue;
    for (std::size_t r = 0; r < comparison.runs.size(); ++r) {
      const auto& results = comparison.runs[r].results;
      const auto* column = results.find(entry.name);
      if (column == nullptr) continue;
      drawn.push_back({&results, static_cast<std::size_t>(column - results.columns.data()), r});
    }
    for (std::size_t i = 0; i < comparison.differences.size(); ++i) {
      if (comparison.differences[i].name == entry.name) {
        drawn.push_back({&differences, i, comparison.differences[i].run, true});
      }
    }
  }
  return drawn;
}

std::pair<Time, Time> common_span(const Comparison& comparison) {
  std::pair span{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const auto& run : comparison.runs) {
    for (const auto& axis : run.results.axes) {
      if (axis.empty()) continue;
      span.first = std::min(span.first, axis.front());
      span.second = std::max(span.second, axis.back());
    }
  }
  return span;
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  Table table({"variable", "run", "rms / range", "rms", "max", "at s"});
  for (std::size_t column = 2; column < 6; ++column) table.align_right(column);
  const std::size_t shown = std::min(comparison.differences.size(), kMostRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& [name, unit, run, difference] = comparison.differences[i];
    table.add_row({name, comparison.runs[run].label, text_or_dash(difference.relative), with_unit(difference.rms, unit),
                   with_unit(difference.max, unit), short_number(difference.at)});
  }
  auto text = runs_text(comparison) + '\n' + table.text();
  if (const auto more = comparison.differences.size() - shown; more > 0) {
    text += fmt::format("{} more that agree better: --json or --report show all\n", more);
  }
  for (const auto& note : comparison.notes) text += fmt::format("note: {}\n", note);
  return text;
}

std::string comparison_json(const Comparison& comparison) {
  return json_text(comparison_data(comparison));
}

std::string comparison_page(const Comparison& comparison) {
  Json data = comparison_data(comparison);
  const auto [from, to] = common_span(comparison);
  data["kind"] = "comparison";
  data["title"] = "Comparison";
  data["span"] = {from, to};
  const auto differences = difference_results(comparison);
  data["results"] = packed_signals(drawn_signals(comparison, differences), room_in_page(data));
  return page_with(data);
}

}  // namespace entrain
