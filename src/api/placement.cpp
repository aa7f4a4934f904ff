#include "api/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>

#include "advise/choose_method.hpp"
#include "api/fmus_apart.hpp"
#include "assembly/subsystem_factory.hpp"
#include "description/subsystem_keys.hpp"
#include "entrain/coupled_system.hpp"
#include "entrain/fact_codes.hpp"
#include "ranks/placement.hpp"
#include "report/measured_seconds.hpp"
#include "session/session.hpp"

namespace entrain::api {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kLongestPilot = 1.0;  // s of wall clock time
constexpr Duration kLongestCall = 60.0;
constexpr int kPilotSteps = 66;  // one step in 64 is timed
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

using Seconds = std::vector<double>;  // of each subsystem in one macro step

/// The number behind "NAME-" in runs; 0 of another folder.
int number_of(const fs::path& folder, const std::string& name) {
  const std::string text = folder.filename().string();
  if (!text.starts_with(name + "-")) return 0;
  const std::string digits = text.substr(name.size() + 1);
  const bool number =
      !digits.empty() && digits.size() < 9 && digits.find_first_not_of("0123456789") == std::string::npos;
  return number ? std::stoi(digits) : 0;
}

std::optional<fs::path> latest_run(const std::string& name) {
  std::error_code none;
  std::optional<fs::path> latest;
  for (const auto& entry : fs::directory_iterator("runs", none)) {
    const int number = number_of(entry.path(), name);
    if (number > 0 && fs::exists(entry.path() / "run.json", none) && (!latest || number > number_of(*latest, name)))
      latest = entry.path();
  }
  return latest;
}

/// Of the latest run, if it measured all of them.
std::optional<Seconds> measured_before(const SystemDescription& description, const fs::path& folder) {
  const auto known = reporting::measured_seconds(folder);
  Seconds seconds;
  for (const auto& subsystem : description.subsystems) {
    const auto found = known.find(subsystem.name);
    if (found == known.end()) return std::nullopt;
    seconds.push_back(found->second);
  }
  return seconds;
}

/// For a pilot, in which no call of a worker may last for ever. In the process of a rank it would end that.
SystemDescription with_limits(SystemDescription description) {
  const SystemDescription written = description;
  for (auto& subsystem : description.subsystems) {
    if (assembly::group_on_ranks(subsystem, written) && !subsystem.timeout) subsystem.timeout = {kLongestCall, {}};
  }
  return description;
}

/// A few steps by this process, with FMUs where the run has them; nothing where they cannot be made twice, or fail: the
/// run itself will report it.
std::optional<Seconds> measured_by_pilot(const SystemDescription& description, const Extensions& extensions,
                                         const std::atomic<bool>* interrupt) {
  for (const auto& subsystem : description.subsystems) {
    if (description::is_outside(subsystem) || description::acts_outside(subsystem)) return std::nullopt;
  }
  try {
    session::Session pilot(with_limits(with_fmus_as_on_ranks(description)),
                           {.interrupt = interrupt, .tries_everything = false}, extensions);
    const auto began = Clock::now();
    pilot.advance();
    for (int step = 0; step < kPilotSteps && pilot.summary().termination == Termination::Running; ++step) {
      pilot.advance();
      if (std::chrono::duration<double>(Clock::now() - began).count() > kLongestPilot) break;
    }
    const auto steps = static_cast<double>(pilot.summary().macro_steps);
    if (pilot.summary().termination == Termination::Failed || !(steps > 0.0)) return std::nullopt;
    Seconds seconds;
    for (std::size_t s = 0; s < pilot.system().size(); ++s) {
      CoupledSystem::Counters counters = pilot.system().counters(SubsystemId{s});
      if (counters.sampled_steps > 0)  // the first one is often longer than all others
        counters.first_seconds = counters.sampled_seconds / static_cast<double>(counters.sampled_steps);
      seconds.push_back(counters.seconds() / steps);
    }
    return seconds;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<std::optional<int>> given_ranks(const SystemDescription& description, std::size_t ranks) {
  std::vector<std::optional<int>> given(description.subsystems.size());
  std::vector<Problem> problems;
  for (const auto& [name, rank] : description.placement) {
    const auto& all = description.subsystems;
    const auto found =
        std::find_if(all.begin(), all.end(), [&, &wanted = name](const auto& each) { return each.name == wanted; });
    if (found == all.end()) continue;  // reported where the file is checked
    if (rank.value >= static_cast<std::int64_t>(ranks)) {
      problems.push_back(problem_of(
          Fact{FactCode::PlacementBeyond, {name}, {{"rank", rank.value}, {"ranks", ranks}, {"last", ranks - 1}}},
          "use more ranks, or leave the line out", rank.where));
    } else {
      given[static_cast<std::size_t>(found - all.begin())] = static_cast<int>(rank.value);
    }
  }
  if (!problems.empty()) throw Error(std::move(problems));
  return given;
}

std::vector<std::pair<std::size_t, std::size_t>> connected_pairs(const SystemDescription& description) {
  std::map<std::string, std::size_t> numbers;
  for (std::size_t s = 0; s < description.subsystems.size(); ++s) numbers[description.subsystems[s].name] = s;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (const auto& connection : description.connections) {
    const auto from = numbers.find(connection.output.substr(0, connection.output.find('.')));
    const auto to = numbers.find(connection.input.substr(0, connection.input.find('.')));
    if (from != numbers.end() && to != numbers.end() && from != to) pairs.emplace_back(from->second, to->second);
  }
  return pairs;
}

}  // namespace

PlacementInspection plan_placement(const SystemDescription& description, std::size_t ranks,
                                   const Extensions& extensions, const std::atomic<bool>* interrupt) {
  ranks::PlacementTask task;
  task.ranks = static_cast<int>(ranks);
  task.given = given_ranks(description, ranks);
  task.connections = connected_pairs(description);
  PlacementInspection plan;
  plan.ranks = ranks;
  const bool all_given =
      std::all_of(task.given.begin(), task.given.end(), [](const auto& of) { return of.has_value(); });
  std::optional<Seconds> seconds;
  const auto before = latest_run(description.name);
  if (before && !all_given) seconds = measured_before(description, *before);
  plan.by = all_given ? "by hand" : seconds ? fmt::format("measured in {}", before->string()) : "measured by a pilot";
  if (!seconds && !all_given) seconds = measured_by_pilot(description, extensions, interrupt);
  if (!seconds && !all_given) plan.by = "not measured: all count the same";
  if (!all_given && !description.placement.empty()) plan.by += ", where it is not by hand";
  task.seconds = seconds.value_or(Seconds(description.subsystems.size(), kUnknown));
  const auto placed = ranks::placed(task);
  for (std::size_t s = 0; s < placed.size(); ++s) {
    plan.places.push_back({description.subsystems[s].name, static_cast<std::size_t>(placed[s]), task.seconds[s]});
  }
  return plan;
}

}  // namespace entrain::api

namespace entrain {

PlacementInspection inspect_placement(const SystemDescription& description, std::size_t ranks,
                                      const Extensions& extensions) {
  const auto choice = advising::choose_method(api::with_fmus_as_on_ranks(description), extensions);
  return api::plan_placement(choice.description, ranks, extensions);
}

}  // namespace entrain
