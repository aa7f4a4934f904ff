#include "report/run_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "base/replace_file.hpp"
#include "description/subsystem_keys.hpp"
#include "description/system_file.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/report.hpp"
#include "read/drawn_results.hpp"
#include "read/results_readers.hpp"
#include "report/calls_json.hpp"
#include "report/frames_json.hpp"
#include "report/json_parts.hpp"
#include "report/packed_signals.hpp"
#include "report/page.hpp"
#include "report/verdict_json.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string file_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Error unreadable(const fs::path& file, const std::string& why) {
  return Error(ErrorCode::FileFailed, {FactCode::FileFailed, {file.string()}, {{"what", "read"}, {"why", why}}},
               {.subsystem = {},
                .variable = {},
                .time = std::nullopt,
                .remedy = "Name the folder that 'entrain run' printed, such as runs/NAME-1"});
}

/// What a run of an older version, or a killed one, does not have is null.
Json optional_json(const fs::path& file) {
  auto json = Json::parse(file_text(file), nullptr, false);
  return json.is_object() ? json : Json();
}

std::vector<std::string> taken_away(const std::string& system, const fs::path& file) {
  std::vector<Problem> ignored;  // it was run: what is wrong with it has been reported
  std::vector<std::string> result;
  for (const auto& subsystem : description::parse_system(system, file, ignored).subsystems) {
    description::for_each_subsystem_key([&]<class T, class Ability>(const description::SubsystemKey<T, Ability>& key) {
      if constexpr (std::is_same_v<T, bool> && !std::is_null_pointer_v<Ability>) {
        const auto& written = subsystem.*key.field;
        if (!written || written->value) return;
        std::string name(key.name);
        std::replace(name.begin(), name.end(), '_', ' ');
        result.push_back(fmt::format("{} of '{}'", name, subsystem.name));
      }
    });
    if (subsystem.input_degree) {
      result.push_back(fmt::format("inputs of '{}' above degree {}", subsystem.name, subsystem.input_degree->value));
    }
  }
  return result;
}

/// A killed run knows of its end only what it recorded.
void correct_reached(Json& run, std::optional<Time> last) {
  if (run.value("termination", "") != "running" || !last) return;
  run["reached"] = std::max(run.value("reached", *last), *last);
}

/// What a run left.
struct RunFolder {
  Json run;
  Json steps;
  Json timeline;
  reading::DrawnResults drawn;
  std::string system;  ///< the text of system.resolved.toml
};

/// The page relies on what steps_json writes; the file may be of another program, or changed by hand.
void require_steps(const Json& steps, const fs::path& file) {
  if (steps.is_null()) return;
  const auto is_channel = [](const Json& channel) {
    const bool has_times = !channel.is_object() || !channel.contains("time") || channel["time"].is_array();
    return channel.is_object() && has_times && channel.contains("name") && channel.contains("low") &&
           channel["low"].is_array();  // without times of its own it has those of all steps
  };
  const auto channels = steps.is_object() ? steps.find("channels") : steps.end();
  const bool sound =
      channels != steps.end() && channels->is_array() && std::all_of(channels->begin(), channels->end(), is_channel);
  if (!sound) throw unreadable(file, "it is not what 'entrain run' writes");
}

/// The same for timeline_json.
void require_timeline(const Json& calls, const fs::path& file) {
  if (calls.is_null()) return;
  constexpr std::size_t kNumbers = 7;
  const auto names = calls.find("subsystems");
  const auto rows = calls.find("calls");
  const auto is_call = [&](const Json& row) {
    return row.is_array() && row.size() == kNumbers &&
           std::all_of(row.begin(), row.end(), [](const Json& value) { return value.is_number(); }) &&
           row[0].is_number_unsigned() && row[0].get<std::size_t>() < names->size();
  };
  const bool sound = names != calls.end() && names->is_array() &&
                     std::all_of(names->begin(), names->end(), [](const Json& name) { return name.is_string(); }) &&
                     rows != calls.end() && rows->is_array() && std::all_of(rows->begin(), rows->end(), is_call);
  if (!sound) throw unreadable(file, "it is not what 'entrain run' writes");
}

RunFolder read_run_folder(const fs::path& folder) {
  RunFolder files;
  files.run = reporting::read_run_json(folder);
  files.drawn = reading::read_drawn(reading::find_results(folder));
  try {
    reporting::add_units(files.drawn.results, files.run);
    correct_reached(files.run, files.drawn.last);
  } catch (const Json::exception& error) {
    throw reporting::damaged_run_json(folder, error);
  }
  files.system = file_text(folder / "system.resolved.toml");
  files.steps = optional_json(folder / "steps.json");
  require_steps(files.steps, folder / "steps.json");
  files.timeline = optional_json(folder / "timeline.json");
  require_timeline(files.timeline, folder / "timeline.json");
  return files;
}

/// The file may be of another program, or changed by hand.
Verdict read_verdict(const fs::path& folder, const Json& run) {
  try {
    return reporting::verdict_from(run);
  } catch (const Json::exception& error) {
    throw reporting::damaged_run_json(folder, error);
  }
}

/// What the files say of themselves, beside the verdict.
std::vector<Fact> remarks_on(const fs::path& folder, const RunFolder& files) {
  std::vector<Fact> remarks;
  if (files.drawn.not_finite > 0) {
    remarks.push_back({FactCode::NumbersNotFinite, {}, {{"count", files.drawn.not_finite}}});
  }
  if (files.drawn.most_samples() == 0) remarks.push_back({FactCode::NothingRecorded});
  if (files.drawn.results.cut) remarks.push_back({FactCode::LastRowIncomplete});
  const auto taken = taken_away(files.system, folder / "system.resolved.toml");
  if (!taken.empty()) {
    remarks.push_back({FactCode::CapabilitiesTakenAway, {}, {{"what", fmt::format("{}", fmt::join(taken, "; "))}}});
  }
  return remarks;
}

}  // namespace

}  // namespace entrain

namespace entrain::reporting {

Json read_run_json(const fs::path& folder) {
  const auto file = folder / "run.json";
  if (!fs::is_regular_file(file)) throw unreadable(file, "there is no such file");
  auto run = Json::parse(file_text(file), nullptr, false);
  if (!run.is_object() || !run.contains("subsystems")) throw unreadable(file, "this is no summary of a run");
  const auto format = run.find("format");
  if (format != run.end() && !format->is_number()) throw unreadable(file, "this is no summary of a run");
  if (format != run.end() && format->get<double>() > kRunFormat) {
    throw Error(ErrorCode::FileFailed, {FactCode::NewerFormat, {file.string()}},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Use that version, or run the system again"});
  }
  // Sentences in format 1.
  for (auto& note : run["notes"]) {
    if (note.is_string()) note = json_of(custom_note(note.get<std::string>()));
  }
  for (auto& warning : run["warnings"]) {
    if (warning.is_string()) warning = json_of(custom_warning(warning.get<std::string>()));
  }
  return run;
}

Error damaged_run_json(const fs::path& folder, const std::exception& why) {
  return unreadable(folder / "run.json", fmt::format("it is not what 'entrain run' writes ({})", why.what()));
}

void add_units(Results& results, const Json& run) {
  const auto signals = run.find("signals");
  if (signals == run.end()) return;
  for (auto& column : results.columns) {
    const auto found = signals->find(column.name);
    if (found == signals->end()) continue;
    if (column.unit.empty()) column.unit = found->value("unit", "");
    if (column.description.empty()) column.description = found->value("description", "");
  }
}

}  // namespace entrain::reporting

namespace entrain {

Results read_results(const fs::path& path) {
  return read_results(path, {"*"});
}

Results read_results(const fs::path& path, const std::vector<std::string>& patterns) {
  const bool is_folder = fs::is_directory(path);
  auto results = reading::read_matching(is_folder ? reading::find_results(path) : path, patterns);
  if (!is_folder || !fs::exists(path / "run.json")) return results;
  try {
    reporting::add_units(results, reporting::read_run_json(path));
  } catch (const Json::exception& error) {
    throw reporting::damaged_run_json(path, error);
  }
  return results;
}

Verdict verdict(const fs::path& run_directory) {
  return read_verdict(run_directory, reporting::read_run_json(run_directory));
}

}  // namespace entrain

namespace entrain::reporting {

Json run_page_data(const fs::path& folder) {
  auto files = read_run_folder(folder);
  const auto verdict = read_verdict(folder, files.run);
  std::vector<DrawnSignal> drawn;
  for (std::size_t i = 0; i < files.drawn.results.columns.size(); ++i) {
    drawn.push_back({&files.drawn.results, i, std::nullopt, false, files.drawn.samples[i]});
  }
  const auto name = fs::weakly_canonical(folder).filename().string();
  Json data{{"kind", "run"},
            {"title", files.run.value("system", name)},
            {"folder", name},
            {"verdict", json_of(&verdict)},
            {"remarks", json_of(remarks_on(folder, files))},
            {"run", std::move(files.run)},
            {"steps", std::move(files.steps)},
            {"timeline", std::move(files.timeline)},
            {"frames", frames_json(folder / "frames.csv")},
            {"calls", calls_json(folder / "calls.csv")},
            {"system", files.system}};
  data["results"] = packed_signals(drawn, room_in_page(data));
  return data;
}

std::string run_page(const fs::path& folder) {
  require_pages();
  return page_with(run_page_data(folder));
}

}  // namespace entrain::reporting

namespace entrain {

std::string report_json(const fs::path& run_directory) {
  return reporting::run_page_data(run_directory).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void report(const fs::path& run_directory, const fs::path& file) {
  base::replace_file(file, reporting::run_page(run_directory));
}

}  // namespace entrain
