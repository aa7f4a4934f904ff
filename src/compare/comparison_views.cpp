#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/replace_file.hpp"
#include "compare/comparison_data.hpp"
#include "compare/difference.hpp"
#include "entrain/comparison.hpp"
#include "report/json_parts.hpp"
#include "report/packed_signals.hpp"
#include "report/page.hpp"

namespace entrain::comparing {
namespace {

using Json = nlohmann::ordered_json;

/// The differences of all runs to the reference, as results of their own.
Results difference_results(const Comparison& comparison) {
  Results all;
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
std::vector<reporting::DrawnSignal> drawn_signals(const Comparison& comparison, const Results& differences) {
  std::vector<reporting::DrawnSignal> drawn;
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

}  // namespace entrain::comparing

namespace entrain {

std::string comparison_json(const Comparison& comparison) {
  return reporting::json_text(comparing::comparison_data(comparison));
}

}  // namespace entrain

namespace entrain::comparing {

nlohmann::ordered_json page_data(const Comparison& comparison) {
  Json data = comparison_data(comparison);
  const auto [from, to] = common_span(comparison);
  data["kind"] = "comparison";
  data["title"] = "Comparison";
  data["span"] = {from, to};
  const auto differences = difference_results(comparison);
  data["results"] = reporting::packed_signals(drawn_signals(comparison, differences), reporting::room_in_page(data));
  return data;
}

std::string comparison_page(const Comparison& comparison) {
  return reporting::page_with(page_data(comparison));
}

}  // namespace entrain::comparing

namespace entrain {

std::string comparison_page_json(const Comparison& comparison) {
  return comparing::page_data(comparison).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void write_comparison_page(const Comparison& comparison, const std::filesystem::path& file) {
  base::replace_file(file, comparing::comparison_page(comparison));
}

}  // namespace entrain
