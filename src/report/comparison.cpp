#include "report/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "entrain/error.hpp"
#include "report/run_page.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::optional<double> number_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

ComparedRun read_run(const std::string& path) {
  ComparedRun run;
  if (!fs::is_directory(path)) {
    run.label = fs::path(path).filename().string();
    run.results = read_results(path);
    return run;
  }
  run.label = fs::weakly_canonical(path).filename().string();
  const auto json = read_run_json(path);
  run.results = read_results(find_results(path));
  add_units(run.results, json);
  run.method = json.value("method", "");
  run.step = number_of(json, "step");
  run.wall_seconds = number_of(json, "wall_seconds");
  run.max_coupling_residual = number_of(json, "max_coupling_residual");
  std::uint64_t steps = 0;
  for (const auto& subsystem : json.at("subsystems")) {
    steps += subsystem.value("steps", std::uint64_t{0}) + subsystem.value("trials", std::uint64_t{0});
  }
  run.subsystem_steps = steps;
  return run;
}

/// Folders of one name are told apart by the whole of what was named.
void make_labels_unique(std::vector<ComparedRun>& runs, const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto same =
        std::count_if(runs.begin(), runs.end(), [&](const auto& run) { return run.label == runs[i].label; });
    if (same > 1) runs[i].label = paths[i];
  }
}

/// NaN is worse than anything.
bool worse(const VariableDifference& a, const VariableDifference& b) {
  const auto badness = [](const VariableDifference& entry) {
    return std::isnan(entry.difference.relative) ? std::numeric_limits<double>::infinity() : entry.difference.relative;
  };
  return badness(a) > badness(b);
}

void compare_one(Comparison& comparison, std::size_t index) {
  auto& run = comparison.runs[index];
  const auto& reference = comparison.runs[comparison.reference].results;
  std::vector<std::string> missing;
  run.error = 0.0;
  for (const auto& expected : reference.columns) {
    const auto* column = run.results.find(expected.name);
    const auto found =
        column == nullptr ? std::nullopt : difference(course_of(run.results, *column), course_of(reference, expected));
    if (!found) {
      missing.push_back(expected.name);
      continue;
    }
    comparison.differences.push_back({expected.name, expected.unit, index, *found});
    if (!(found->relative <= *run.error)) run.error = found->relative;
  }
  if (!missing.empty()) {
    comparison.notes.push_back(fmt::format("{} has nothing to compare for {}", run.label, fmt::join(missing, ", ")));
  }
}

std::size_t reference_among(const std::vector<ComparedRun>& runs) {
  const auto found = std::find_if(runs.begin(), runs.end(), [](const auto& run) { return run.method == "monolithic"; });
  return found == runs.end() ? 0 : static_cast<std::size_t>(found - runs.begin());
}

Json json_of(const ComparedRun& run) {
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

Comparison compare_runs(const std::vector<std::string>& named, const std::optional<std::string>& reference) {
  auto paths = named;
  const auto place = reference ? std::find(paths.begin(), paths.end(), *reference) : paths.end();
  const auto reference_place = static_cast<std::size_t>(place - paths.begin());
  if (reference && place == paths.end()) paths.push_back(*reference);
  Comparison comparison;
  for (const auto& path : paths) comparison.runs.push_back(read_run(path));
  make_labels_unique(comparison.runs, paths);
  comparison.reference = reference ? reference_place : reference_among(comparison.runs);
  for (std::size_t i = 0; i < comparison.runs.size(); ++i) {
    if (i != comparison.reference) compare_one(comparison, i);
  }
  if (comparison.differences.empty()) {
    throw Error(ErrorCode::InvalidSystem, "the runs have no variable in common at any time",
                {.subsystem = {},
                 .variable = {},
                 .time = std::nullopt,
                 .remedy = "Compare runs of the same system, and record the same variables"});
  }
  std::stable_sort(comparison.differences.begin(), comparison.differences.end(), worse);
  return comparison;
}

Json comparison_data(const Comparison& comparison) {
  Json runs = Json::array();
  for (const auto& run : comparison.runs) runs.push_back(json_of(run));
  Json differences = Json::array();
  for (const auto& entry : comparison.differences) {
    differences.push_back({{"name", entry.name},
                           {"unit", entry.unit},
                           {"run", entry.run},
                           {"rms", entry.difference.rms},
                           {"max", entry.difference.max},
                           {"at", entry.difference.at},
                           {"relative", entry.difference.relative}});
  }
  return {{"reference", comparison.reference},
          {"runs", std::move(runs)},
          {"differences", std::move(differences)},
          {"notes", comparison.notes}};
}

}  // namespace entrain
