#include "sweep/sweep_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/file_error.hpp"
#include "base/replace_file.hpp"
#include "entrain/error.hpp"
#include "entrain/run_summary.hpp"
#include "record/hdf5_plugin.hpp"
#include "report/json_parts.hpp"
#include "report/page.hpp"
#include "sweep/bands.hpp"
#include "sweep/sobol.hpp"

namespace entrain::sweeping {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json inputs_json(const std::vector<SweepInput>& inputs) {
  Json list = Json::array();
  for (const auto& input : inputs) {
    Json& entry = list.emplace_back(Json{{"name", input.name}});
    if (!input.law.empty()) entry["values"] = input.law;
    if (!input.words.empty()) entry["words"] = input.words;
  }
  return list;
}

Json uncertainty_json(const SweepResult& result) {
  Json json = Json::object();
  for (std::size_t q = 0; q < result.uncertainty.size(); ++q) {
    const auto& of = result.uncertainty[q];
    json[result.quantities[q]] = {{"value", number_or_null(of.value)},
                                  {"numerical", number_or_null(of.numerical)},
                                  {"input", number_or_null(of.input)},
                                  {"data", number_or_null(of.data)},
                                  {"measured", number_or_null(of.measured)},
                                  {"together", number_or_null(of.together)},
                                  {"cases", of.cases},
                                  {"unchecked", of.unchecked}};
  }
  return json;
}

Json sobol_json(const SweepResult& result) {
  const auto interval = [](double value, double low, double high) {
    return Json{number_or_null(value), number_or_null(low), number_or_null(high)};
  };
  Json json = Json::object();
  for (std::size_t q = 0; q < result.sobol.size(); ++q) {
    for (std::size_t d = 0; d < result.inputs.size(); ++d) {
      const auto& of = result.sobol[q][d];
      json[result.quantities[q]][result.inputs[d].name] = {{"first", interval(of.first, of.first_low, of.first_high)},
                                                           {"total", interval(of.total, of.total_low, of.total_high)}};
    }
  }
  return json;
}

Json result_json(const SweepResult& result) {
  Json json{{"system", result.system},
            {"sampling", to_string(result.sampling)},
            {"inputs", inputs_json(result.inputs)},
            {"quantities", result.quantities},
            {"cases", result.all},
            {"part", result.part},
            {"done", result.cases.size()},
            {"failed", static_cast<std::size_t>(std::count_if(result.cases.begin(), result.cases.end(),
                                                              [](const auto& row) { return !is_completed(row); }))},
            {"estimated", result.estimated},
            {"hashes", Json::object()}};
  for (const auto& [name, hash] : result.hashes) json["hashes"][name] = hash;
  if (!result.uncertainty.empty()) json["uncertainty"] = uncertainty_json(result);
  for (const auto& rank : result.ranks) {
    Json& entry = json["ranks"].emplace_back(
        Json{{"host", rank.host}, {"cases", rank.cases}, {"seconds", number_or_null(rank.seconds)}});
    if (!rank.lost.empty()) entry["lost"] = rank.lost;
  }
  if (!result.sobol.empty()) json["sobol"] = sobol_json(result);
  return json;
}

Json course_json(const SweepNote& note) {
  Json signals = Json::object();
  for (const auto& [name, unit] : note.signals) signals[name] = unit;
  return {{"signals", std::move(signals)}, {"times", note.times}};
}

void write_hdf5(const SweepResult& result, const SweepNote& note, const Courses& courses) {
  std::vector<recording::TableColumn> columns{{"case", {}, 0}};
  for (const auto& row : result.cases) columns.back().numbers.push_back(static_cast<double>(row.number));
  const auto add = [&](const std::string& name, const std::vector<double> SweepCase::*list, std::size_t k) {
    auto& column = columns.emplace_back(recording::TableColumn{name, {}, 0});
    for (const auto& row : result.cases) column.numbers.push_back((row.*list)[k]);
  };
  for (std::size_t d = 0; d < result.inputs.size(); ++d) add(result.inputs[d].name, &SweepCase::inputs, d);
  for (std::size_t q = 0; q < result.quantities.size(); ++q) add(result.quantities[q], &SweepCase::quantities, q);
  for (std::size_t q = 0; q < result.quantities.size(); ++q)
    add("error of " + result.quantities[q], &SweepCase::errors, q);
  auto& seconds = columns.emplace_back(recording::TableColumn{"seconds", {}, 0});
  for (const auto& row : result.cases) seconds.numbers.push_back(row.seconds);
  auto& completed = columns.emplace_back(recording::TableColumn{"completed", {}, 0});
  for (const auto& row : result.cases) completed.numbers.push_back(is_completed(row) ? 1.0 : 0.0);
  if (!note.times.empty()) columns.push_back({"times", note.times, 0});
  for (std::size_t s = 0; s < note.signals.size() && !note.times.empty(); ++s) {
    const std::size_t points = note.times.size();
    auto& column = columns.emplace_back(recording::TableColumn{"course of " + note.signals[s].first, {}, points});
    for (const auto& row : result.cases) {
      const auto course = courses.find(row.number);
      for (std::size_t t = 0; t < points; ++t) {
        column.numbers.push_back(course == courses.end() ? std::numeric_limits<double>::quiet_NaN()
                                                         : course->second[s * points + t]);
      }
    }
  }
  const auto file = result.folder / "cases.h5";
  recording::hdf5_plugin(file).write_table(file, columns);
}

}  // namespace

bool is_completed(const SweepCase& row) {
  return row.termination == to_string(Termination::Completed);
}

fs::path note_file(const fs::path& folder) {
  return folder / "sweep.json";
}
fs::path cases_file(const fs::path& folder) {
  return folder / "cases.csv";
}
fs::path courses_file(const fs::path& folder) {
  return folder / "courses.bin";
}

SweepResult SweepNote::result(const fs::path& folder) const {
  SweepResult result;
  result.system = system;
  result.folder = folder;
  result.sampling = sampling;
  result.inputs = shape.inputs;
  result.quantities = shape.quantities;
  result.all = cases;
  result.part = part;
  result.estimated = estimated;
  result.times = times;
  result.hashes = hashes;
  return result;
}

std::string note_text(const SweepResult& result, const SweepNote& note, bool finished) {
  Json json = result_json(result);
  json["identity"] = note.identity;
  json["shards"] = note.shards;
  json["finished"] = finished;
  json["base_cases"] = note.base_cases;
  json["courses"] = course_json(note);
  return reporting::json_text(json);
}

void write_note(const fs::path& folder, const SweepNote& note) {
  base::replace_file(note_file(folder), note_text(note.result(folder), note, false));
}

SweepNote read_note(const fs::path& folder) {
  std::ifstream stream(note_file(folder));
  if (!stream) throw base::file_error("read", note_file(folder), ENOENT);
  SweepNote note;
  try {
    const Json json = Json::parse(stream);
    note.identity = json.at("identity");
    note.system = json.at("system");
    note.cases = json.at("cases");
    note.base_cases = json.at("base_cases");
    note.estimated = json.at("estimated");
    for (const auto sampling : {SweepSampling::Grid, SweepSampling::List, SweepSampling::LatinHypercube,
                                SweepSampling::Random, SweepSampling::Sobol}) {
      if (to_string(sampling) == json.at("sampling").get<std::string>()) note.sampling = sampling;
    }
    for (const auto& input : json.at("inputs")) {
      note.shape.inputs.push_back(
          {input.at("name"), input.value("values", std::string()), input.value("words", std::vector<std::string>())});
    }
    note.shape.quantities = json.at("quantities").get<std::vector<std::string>>();
    for (const auto& [name, unit] : json.at("courses").at("signals").items()) note.signals.emplace_back(name, unit);
    note.times = json.at("courses").at("times").get<std::vector<double>>();
    for (const auto& [name, hash] : json.at("hashes").items()) note.hashes.emplace_back(name, hash);
  } catch (const nlohmann::json::exception&) {
    throw base::file_error("understand", note_file(folder), EINVAL);
  }
  return note;
}

void complete(SweepResult& result, const SweepNote& note, const Courses& courses, const MeasuredValues& reference,
              bool page, const std::atomic<bool>* interrupt) {
  std::sort(result.cases.begin(), result.cases.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  base::replace_file(cases_file(result.folder), table_text(note.shape, result.cases));
  write_hdf5(result, note, courses);
  result.bands = note.times.empty() ? std::vector<SweepBand>() : bands_of(courses, note.signals, note.times.size());
  const bool indices = result.sampling == SweepSampling::Sobol && result.cases.size() == result.all;
  if (indices) {
    std::vector<std::vector<double>> values(result.quantities.size());
    for (const auto& row : result.cases) {
      for (std::size_t q = 0; q < values.size(); ++q) values[q].push_back(row.quantities[q]);
    }
    result.sobol = sobol_indices(values, note.base_cases, result.inputs.size(), interrupt);
    result.interrupted = result.interrupted || (result.sobol.empty() && !values.empty());
  }
  result.uncertainty = uncertainties(result, note.base_cases, reference);
  // A folder may hold cases of other parts, too: those of a sweep with another number of shards.
  const auto own = std::count_if(result.cases.begin(), result.cases.end(),
                                 [&](const SweepCase& row) { return row.number % note.shards == note.shard; });
  const bool finished = !result.interrupted && static_cast<std::size_t>(own) == note.part;
  base::replace_file(note_file(result.folder), note_text(result, note, finished));
  if (page && !reporting::page_template().empty()) write_sweep_page(result, result.folder / "sweep.html");
}

}  // namespace entrain::sweeping

namespace entrain {

std::string sweep_json(const SweepResult& result) {
  return reporting::json_text(sweeping::result_json(result));
}

}  // namespace entrain
