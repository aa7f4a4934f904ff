#include "entrain/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/grid.hpp"
#include "base/signal_range.hpp"
#include "base/units.hpp"
#include "compare/comparison_data.hpp"
#include "compare/difference.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/method_traits.hpp"
#include "read/results_readers.hpp"
#include "report/json_parts.hpp"
#include "report/run_page.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::optional<double> number_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// Empty when the run got to its stop time, or has no summary.
std::string how_unfinished(const Json& json) {
  const auto termination = json.value("termination", "completed");
  if (termination == "completed") return {};
  if (termination == "running") return "was killed, or is not done yet";
  const auto message = json.value("message", "");
  return termination + (message.empty() ? "" : ": " + message);
}

/// What run.json has of it.
void add_summary(const Json& json, ComparedRun& run) {
  reporting::add_units(run.results, json);
  run.method = json.value("method", "");
  run.is_reference = json.value("method_family", "") == to_string(MethodFamily::Reference);
  run.step = number_of(json, "step");
  run.wall_seconds = number_of(json, "wall_seconds");
  run.max_coupling_residual = number_of(json, "max_coupling_residual");
  run.unfinished = how_unfinished(json);
  std::uint64_t steps = 0;
  for (const auto& subsystem : json.at("subsystems")) {
    steps += subsystem.value("steps", std::uint64_t{0}) + subsystem.value("trials", std::uint64_t{0});
  }
  run.subsystem_steps = steps;
}

ComparedRun read_run(const fs::path& path) {
  ComparedRun run;
  if (!fs::is_directory(path)) {
    run.label = path.filename().string();
    run.results = reading::read_results_file(path);
    return run;
  }
  run.label = fs::weakly_canonical(path).filename().string();
  const auto json = reporting::read_run_json(path);
  run.results = reading::read_results_file(reading::find_results(path));
  try {
    add_summary(json, run);
  } catch (const Json::exception& error) {
    throw reporting::damaged_run_json(path, error);
  }
  return run;
}

/// Folders of the same name are distinguished by their whole path as given.
void make_labels_unique(std::vector<ComparedRun>& runs, const std::vector<fs::path>& paths) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto same =
        std::count_if(runs.begin(), runs.end(), [&](const auto& run) { return run.label == runs[i].label; });
    if (same > 1) runs[i].label = paths[i].string();
  }
}

/// NaN is worse than anything; what has no measure comes last.
bool worse(const VariableDifference& a, const VariableDifference& b) {
  const auto badness = [](const VariableDifference& entry) {
    const double relative = entry.difference.relative.value_or(-1.0);
    return std::isnan(relative) ? std::numeric_limits<double>::infinity() : relative;
  };
  return badness(a) > badness(b);
}

/// Into the unit of the reference; false when that cannot be. A missing unit counts as the same.
bool convert(Results::Column& column, const std::string& unit) {
  if (column.unit.empty() || unit.empty() || column.unit == unit) return true;
  const auto from = base::unit_meaning(column.unit);
  const auto to = base::unit_meaning(unit);
  const auto conversion = from && to ? base::unit_conversion(*from, *to) : std::nullopt;
  if (!conversion) return false;
  for (double& value : column.values) value = conversion->factor * value + conversion->offset;
  column.unit = unit;
  return true;
}

std::size_t place_of(const Results::Column& column, const Results& results) {
  return static_cast<std::size_t>(&column - results.columns.data());
}

/// Notes of one run against the reference: the names of the variables behind each of its shortcomings.
struct Shortcomings {
  std::vector<std::string> missing;
  std::vector<std::string> other_units;
  std::vector<std::string> no_measure;

  void add_notes(const std::string& label, std::vector<Fact>& notes) const {
    const auto add = [&](FactCode code, const std::vector<std::string>& names) {
      if (names.empty()) return;
      Fact& note = notes.emplace_back(Fact{code, {label}});
      note.subjects.insert(note.subjects.end(), names.begin(), names.end());
    };
    add(FactCode::NothingToCompareFor, missing);
    add(FactCode::UnitsDiffer, other_units);
    add(FactCode::NoRelativeDifference, no_measure);
  }
};

void compare_one(Comparison& comparison, std::size_t index) {
  auto& run = comparison.runs[index];
  const auto& reference = comparison.runs[comparison.reference].results;
  base::UnitSizes sizes;
  for (const auto& column : reference.columns) sizes.take(column.unit, comparing::size_of(column.values));
  Shortcomings shortcomings;
  run.error = 0.0;
  for (const auto& expected : reference.columns) {
    const auto* column = run.results.find(expected.name);
    if (column != nullptr && !convert(run.results.columns[place_of(*column, run.results)], expected.unit)) {
      shortcomings.other_units.push_back(fmt::format("{} ({} | {})", expected.name, column->unit, expected.unit));
      continue;
    }
    const auto found = column == nullptr ? std::nullopt
                                         : comparing::difference(comparing::course_of(run.results, *column),
                                                                 comparing::course_of(reference, expected),
                                                                 sizes.least(expected.unit));
    if (!found) {
      shortcomings.missing.push_back(expected.name);
      continue;
    }
    comparison.differences.push_back({expected.name, expected.unit, index, *found});
    if (!found->relative) {
      shortcomings.no_measure.push_back(expected.name);
    } else if (!(*found->relative <= *run.error)) {
      run.error = *found->relative;
    }
  }
  shortcomings.add_notes(run.label, comparison.notes);
}

std::pair<Time, Time> span_of(const Results& results) {
  std::pair span{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const auto& axis : results.axes) {
    if (axis.empty()) continue;
    span.first = std::min(span.first, axis.front());
    span.second = std::max(span.second, axis.back());
  }
  return span;
}

/// A run is compared only where the reference is known too, and a run that ended early may look better than it is.
void note_spans_and_ends(Comparison& comparison) {
  const auto [from, to] = span_of(comparison.runs[comparison.reference].results);
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    const auto& run = comparison.runs[i];
    if (!run.unfinished.empty())
      comparison.notes.push_back({FactCode::RunEndedEarly, {run.label}, {{"how", run.unfinished}}});
    if (run.results.cut) {
      comparison.notes.push_back({FactCode::RowLeftOut, {run.label}});
    }
    if (run.results.samples() == 0) comparison.notes.push_back({FactCode::NoRows, {run.label}});
    if (run.results.samples() == 0 || from > to) continue;
    const auto [run_from, run_to] = span_of(run.results);
    if (i == comparison.reference || (base::same_time(run_from, from) && base::same_time(run_to, to))) continue;
    comparison.notes.push_back({FactCode::ComparedInPart,
                                {run.label},
                                {{"from", std::max(from, run_from)},
                                 {"to", std::min(to, run_to), "s"},
                                 {"run_from", run_from},
                                 {"run_to", run_to, "s"},
                                 {"reference_from", from},
                                 {"reference_to", to, "s"}}});
  }
}

std::size_t reference_among(const std::vector<ComparedRun>& runs) {
  const auto found = std::find_if(runs.begin(), runs.end(), [](const auto& run) { return run.is_reference; });
  return found == runs.end() ? 0 : static_cast<std::size_t>(found - runs.begin());
}

Error nothing_to_compare(Fact fact, const std::string& remedy) {
  return Error(ErrorCode::InvalidSystem, std::move(fact),
               {.subsystem = {}, .variable = {}, .time = std::nullopt, .remedy = remedy});
}

Json compared_json(const ComparedRun& run) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  return {{"label", run.label},
          {"method", run.method},
          {"step", or_null(run.step)},
          {"wall_seconds", or_null(run.wall_seconds)},
          {"subsystem_steps", or_null(run.subsystem_steps)},
          {"max_coupling_residual", or_null(run.max_coupling_residual)},
          {"error", or_null(run.error)}};
}

}  // namespace

Comparison compare(const std::vector<fs::path>& named, const std::optional<fs::path>& reference) {
  const auto same_place = [](const fs::path& a, const fs::path& b) {
    std::error_code ignored;  // a missing file is reported when it is read
    return a == b || fs::equivalent(a, b, ignored);
  };
  auto paths = named;
  const auto place = reference ? std::find_if(paths.begin(), paths.end(),
                                              [&](const fs::path& path) { return same_place(path, *reference); })
                               : paths.end();
  const auto reference_place = static_cast<std::size_t>(place - paths.begin());
  if (reference && place == paths.end()) paths.push_back(*reference);
  if (paths.size() < 2) {
    throw nothing_to_compare(
        paths.empty() ? Fact{FactCode::NoRunNamed} : Fact{FactCode::NothingToCompareWith, {paths.front().string()}},
        "Name another run beside it");
  }
  Comparison comparison;
  for (const auto& path : paths) comparison.runs.push_back(read_run(path));
  make_labels_unique(comparison.runs, paths);
  comparison.reference = reference ? reference_place : reference_among(comparison.runs);
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    if (i != comparison.reference) compare_one(comparison, i);
  }
  note_spans_and_ends(comparison);
  if (comparison.differences.empty()) {
    throw nothing_to_compare({FactCode::NothingInCommon, {}, {{"why", render(comparison.notes, "; ")}}},
                             "Compare runs of the same system, and record the same variables");
  }
  std::stable_sort(comparison.differences.begin(), comparison.differences.end(), worse);
  return comparison;
}

}  // namespace entrain

namespace entrain::comparing {

Json comparison_data(const Comparison& comparison) {
  Json runs = Json::array();
  for (const auto& run : comparison.runs) runs.push_back(compared_json(run));
  Json differences = Json::array();
  for (const auto& entry : comparison.differences) {
    const auto& relative = entry.difference.relative;
    differences.push_back({{"name", entry.name},
                           {"unit", entry.unit},
                           {"run", entry.run},
                           {"rms", entry.difference.rms},
                           {"max", entry.difference.max},
                           {"at", entry.difference.at},
                           {"relative", relative ? Json(*relative) : Json()}});
  }
  return {{"reference", comparison.reference},
          {"runs", std::move(runs)},
          {"differences", std::move(differences)},
          {"notes", reporting::json_of(comparison.notes)}};
}

}  // namespace entrain::comparing
