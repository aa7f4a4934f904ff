#include "session/learned.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/grid.hpp"
#include "base/suggest.hpp"
#include "description/subsystem_keys.hpp"
#include "description/system_file.hpp"
#include "description/toml_text.hpp"
#include "entrain/fact_codes.hpp"
#include "methods/calendar.hpp"
#include "methods/explicit/jacobi.hpp"
#include "methods/registry.hpp"

namespace entrain {
namespace {

[[noreturn]] void refuse_correction(Fact fact) {
  throw Error(ErrorCode::InvalidSystem, std::move(fact),
              {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Learn again with 'entrain learn'"});
}

constexpr std::string_view kDegree = "degree";

InputId connected_input(const Graph& graph, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& connection : graph.connections()) {
    known.push_back(graph.name(connection.input));
    if (known.back() == name) return connection.input;
  }
  refuse_correction({FactCode::LearnedInput, {name}, {{"suggestion", suggestion(name, known)}}});
}

/// The first line of `one` that `other` has not.
std::string first_missing(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  const auto found = std::find_if(one.begin(), one.end(), [&](const std::string& line) {
    return std::find(other.begin(), other.end(), line) == other.end();
  });
  return found == one.end() ? "nothing of the kind" : *found;
}

void require_same_system(const Learned& learned, const SystemDescription& description) {
  const auto here = session::description_lines(description);
  if (learned.description.empty() || here == learned.description) return;
  refuse_correction(
      {FactCode::LearnedOtherSystem,
       {learned.system},
       {{"then", first_missing(learned.description, here)}, {"now", first_missing(here, learned.description)}}});
}

}  // namespace

}  // namespace entrain

namespace entrain::session {

const std::map<std::string, OptionValue>& options_of_learning() {
  static const std::map<std::string, OptionValue> options{
      {"adaptive", false},
      {"degree", std::int64_t{0}},
      {"energy_gain", 0.0},
      {"passivity_damping", 0.0},
      {"loops", std::string(to_word(method::LoopTreatment::Delay))},
      {"step_control", std::string(to_word(method::StepSizeBy::Fixed))}};
  return options;
}

}  // namespace entrain::session

namespace entrain {

const std::string& learnable_method() {
  return method::built_in_methods().learnable().name;
}

}  // namespace entrain

namespace entrain::session {

std::vector<std::string> description_lines(const SystemDescription& description) {
  SystemDescription system;
  system.subsystems = description.subsystems;
  system.connections = description.connections;
  system.schedule = description.schedule;
  system.scenario = description.scenario;
  for (auto& subsystem : system.subsystems) {
    // The same files elsewhere, and 1 in place of 1.0, are the same system.
    description::for_each_source_file(
        subsystem, [](std::string& path) { path = std::filesystem::path(path).filename().string(); });
    subsystem.timeout.reset();
    for (auto& [name, start] : subsystem.start) {
      start.where = {};
      if (const auto* whole = std::get_if<std::int64_t>(&start.value)) start.value = static_cast<double>(*whole);
    }
  }
  std::vector<std::string> lines;
  std::string table;
  std::istringstream text(system_text(system));
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with('[')) {
      table = line;
    } else if (!line.empty() && table != "[run]") {
      lines.push_back(table + " " + line);
    }
  }
  return lines;
}

running::CorrectionSchedule::Waveforms waveforms_of(const CoupledSystem& system, Duration step, std::size_t orders) {
  running::CorrectionSchedule::Waveforms waveforms{orders, {}, {}};
  for (std::size_t s = 0; s < system.size(); ++s) {
    const auto& can = system.capabilities(SubsystemId{s});
    const auto span = can.imposed_step ? method::whole_ratio(*can.imposed_step, step).value_or(1) : 1;
    waveforms.steps.push_back(step * static_cast<double>(span));
    waveforms.input_degree.push_back(can.internal_step ? 0 : can.input_degree);
  }
  return waveforms;
}

std::optional<running::CorrectionSchedule::Guard> guard_of(const Learned& learned, CoupledSystem& system, bool paced) {
  bool bench = paced;
  for (std::size_t s = 0; s < system.size(); ++s) {
    bench = bench || system.facets(SubsystemId{s}).remote != nullptr;
  }
  if (!bench || !learned.guard) return std::nullopt;
  const Learned::Guard& known = *learned.guard;
  running::CorrectionSchedule::Guard guard{{}, known.ranges, known.expected, known.allowed};
  for (const auto& name : known.outputs) {
    for (std::size_t y = 0; y < system.graph().outputs(); ++y) {
      if (system.graph().name(OutputId{y}) == name) guard.outputs.push_back(OutputId{y});
    }
  }
  const bool complete = guard.outputs.size() == known.outputs.size() && known.ranges.size() == known.outputs.size() &&
                        known.expected.size() == known.outputs.size() * learned.steps;
  if (!complete || guard.outputs.empty()) {
    refuse_correction({FactCode::LearnedNumbers,
                       {},
                       {{"count", known.expected.size()}, {"steps", learned.steps}, {"inputs", known.outputs.size()}}});
  }
  return guard;
}

running::CorrectionSchedule scheduled(const Learned& learned, const SystemDescription& description,
                                      const CoupledSystem& system, const RunSettings& settings) {
  const Graph& graph = system.graph();
  if (!base::same_time(learned.step, settings.step) || !(learned.start == settings.start)) {
    refuse_correction({FactCode::LearnedOtherGrid,
                       {},
                       {{"start", learned.start, "s"},
                        {"step", learned.step, "s"},
                        {"run_start", settings.start, "s"},
                        {"run_step", settings.step, "s"}}});
  }
  if (learned.corrections.size() != learned.steps * learned.inputs.size() * learned.orders) {
    refuse_correction(
        {FactCode::LearnedNumbers,
         {},
         {{"count", learned.corrections.size()}, {"steps", learned.steps}, {"inputs", learned.inputs.size()}}});
  }
  std::vector<InputId> inputs;
  for (const auto& name : learned.inputs) inputs.push_back(connected_input(graph, name));
  require_same_system(learned, description);
  const auto steps = base::Grid(settings.start, settings.stop, settings.step).steps();
  if (steps > learned.steps) {
    refuse_correction({FactCode::LearnedTooShort, {}, {{"steps", learned.steps}, {"run_steps", steps}}});
  }
  if (learned.kind == LearnInputs::Held) return {graph, std::move(inputs), learned.corrections};
  return {graph, std::move(inputs), learned.corrections, waveforms_of(system, settings.step, learned.orders)};
}

}  // namespace entrain::session

namespace entrain {

SystemDescription with_learned(SystemDescription description, const Learned& learned) {
  for (const auto& [name, value] : session::options_of_learning()) {
    const auto found = learned.options.find(name);
    if (learned.kind != LearnInputs::Held && name == kDegree) continue;  // waveforms are added to any degree
    if (found != learned.options.end() && found->second != value) {
      refuse_correction({FactCode::LearnedWithOtherOption,
                         {name},
                         {{"value", description::toml_text(found->second)}, {"asked", description::toml_text(value)}}});
    }
  }
  description.method.value = learnable_method();
  auto& options = description.method_options[description.method.value];
  for (const auto& [name, value] : learned.options) options[name] = {value, {}};
  description.step = {learned.step, {}};
  return description;
}

std::vector<Problem> contradictions(const Learned& learned, const AskedBesides& asked) {
  std::vector<Problem> problems;
  const auto add = [&](Fact fact, const std::string& option) {
    problems.push_back(problem_of(std::move(fact), "leave it out, or learn again with it", {option, 0, 0}));
  };
  const auto& learnable = learnable_method();
  if (asked.method && *asked.method != learnable) {
    add(Fact{FactCode::LearnedWithOtherMethod, {learnable, *asked.method}}, "--method");
  }
  if (asked.step && !base::same_time(*asked.step, learned.step)) {
    add(Fact{FactCode::LearnedWithOtherStep, {}, {{"step", learned.step, "s"}, {"asked", *asked.step, "s"}}}, "--step");
  }
  const auto method = method::built_in_methods().make(learnable);
  read_options(*method, asked.options, learnable, problems);
  const auto in_force = options_in_force(*method);
  for (const auto& [name, written] : asked.options) {
    const auto here = in_force.find(name);
    const auto there = learned.options.find(name);
    if (here == in_force.end() || there == learned.options.end() || here->second == there->second) continue;
    add(Fact{FactCode::LearnedWithOtherOption,
             {name},
             {{"value", description::toml_text(there->second)}, {"asked", description::toml_text(here->second)}}},
        "--option");
  }
  return problems;
}

}  // namespace entrain
