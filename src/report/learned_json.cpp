#include "report/learned_json.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "base/quoting.hpp"
#include "base/replace_file.hpp"
#include "base/text_file.hpp"
#include "entrain/fact_codes.hpp"
#include "report/json_parts.hpp"
#include "report/verdict_json.hpp"

namespace entrain {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "entrain learned correction 3";

OptionValue option_of(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_array() && (json.empty() || json[0].is_string())) return json.get<std::vector<std::string>>();
  if (json.is_array()) return json.get<std::vector<double>>();
  return json.get<std::map<std::string, double>>();
}

Json iterations_of(const LearnResult& result) {
  Json list = Json::array();
  for (const auto& iteration : result.iterations) {
    Json entry{{"iteration", iteration.number}, {"horizon", iteration.horizon}, {"residual", iteration.error}};
    for (const auto& connection : iteration.connections) {
      entry["connections"][connection.name] = {{"norm", connection.norm}, {"max_error", connection.max_error}};
    }
    if (iteration.missed_deadlines > 0) entry["missed_deadlines"] = iteration.missed_deadlines;
    if (iteration.held_steps > 0) entry["held_steps"] = iteration.held_steps;
    if (iteration.lost_datagrams > 0) entry["lost_datagrams"] = iteration.lost_datagrams;
    if (iteration.limited > 0) entry["limited"] = iteration.limited;
    if (iteration.faded) entry["faded"] = *iteration.faded;
    if (!iteration.not_used.empty()) entry["not_used"] = iteration.not_used;
    if (iteration.gamma) entry["gamma"] = *iteration.gamma;
    if (iteration.runs_left) entry["runs_left"] = *iteration.runs_left;
    if (!iteration.failure.empty()) entry["failure"] = iteration.failure;
    list.push_back(std::move(entry));
  }
  return list;
}

Learned::Guard guard_of(const Json& json) {
  Learned::Guard guard;
  guard.repeatability = json.at("repeatability").get<double>();
  guard.allowed = json.at("allowed").get<double>();
  const auto& outputs = json.at("outputs");
  for (const auto& [name, of] : outputs.items()) {
    guard.outputs.push_back(name);
    guard.ranges.push_back(of.at("range").get<double>());
  }
  const std::size_t rows = outputs.empty() ? 0 : outputs.begin().value().at("expected").size();
  guard.expected.resize(rows * guard.outputs.size());
  for (std::size_t i = 0; i < guard.outputs.size(); ++i) {
    const auto values = outputs.at(guard.outputs[i]).at("expected").get<std::vector<double>>();
    if (values.size() != rows) {
      throw Error(ErrorCode::InvalidSystem,
                  {FactCode::LearnedCount, {guard.outputs[i]}, {{"count", values.size()}, {"steps", rows}}});
    }
    for (std::size_t k = 0; k < rows; ++k) guard.expected[k * guard.outputs.size() + i] = values[k];
  }
  return guard;
}

Json guard_json(const Learned::Guard& guard) {
  Json outputs = Json::object();
  const std::size_t count = guard.outputs.size();
  for (std::size_t i = 0; i < count; ++i) {
    Json expected = Json::array();
    for (std::size_t k = i; k < guard.expected.size(); k += count) expected.push_back(guard.expected[k]);
    outputs[guard.outputs[i]] = {{"range", guard.ranges[i]}, {"expected", std::move(expected)}};
  }
  return {{"repeatability", guard.repeatability}, {"allowed", guard.allowed}, {"outputs", std::move(outputs)}};
}

Learned learned_of(const Json& json) {
  Learned learned;
  learned.system = json.at("system").get<std::string>();
  learned.start = json.at("start").get<double>();
  learned.step = json.at("step").get<double>();
  const auto& steps = json.at("steps");
  if (!steps.is_number_unsigned()) {
    throw Error(ErrorCode::InvalidSystem, {FactCode::LearnedStepCount, {}, {{"steps", steps.dump()}}});
  }
  learned.steps = steps.get<std::uint64_t>();
  const auto kind = from_word<LearnInputs>(json.value("inputs", std::string(to_word(LearnInputs::Held))));
  if (!kind) throw Error(ErrorCode::InvalidSystem, {FactCode::LearnedFormat});
  learned.kind = *kind;
  learned.orders = *kind == LearnInputs::Hermite ? 4 : *kind == LearnInputs::Linear ? 2 : 1;
  // JSON knows no infinity: null is the error of runs that all diverged.
  const auto& error = json.at("error");
  learned.error = error.is_null() ? std::numeric_limits<double>::infinity() : error.get<double>();
  for (const auto& [name, value] : json.at("options").items()) learned.options[name] = option_of(value);
  learned.description = json.at("description").get<std::vector<std::string>>();
  const auto& corrections = json.at("corrections");
  for (const auto& [name, values] : corrections.items()) {  // before memory is allocated for the stated number
    if (values.size() / learned.orders == learned.steps && values.size() % learned.orders == 0) continue;
    throw Error(ErrorCode::InvalidSystem,
                {FactCode::LearnedCount, {name}, {{"count", values.size()}, {"steps", learned.steps}}});
  }
  learned.corrections.resize(learned.steps * learned.orders * corrections.size());
  std::size_t i = 0;
  for (const auto& [name, values] : corrections.items()) {
    learned.inputs.push_back(name);
    for (std::size_t k = 0; k < values.size(); ++k) {
      const std::size_t place = k / learned.orders * corrections.size() + i;
      learned.corrections[place * learned.orders + k % learned.orders] = values[k].get<double>();
    }
    ++i;
  }
  if (json.contains("guard")) learned.guard = guard_of(json.at("guard"));
  return learned;
}

}  // namespace

}  // namespace entrain

namespace entrain::reporting {

std::string learned_json(const Learned& learned) {
  Json options = Json::object();
  for (const auto& [name, value] : learned.options) options[name] = json_of(value);
  Json corrections = Json::object();
  for (std::size_t i = 0; i < learned.inputs.size(); ++i) {
    Json values = Json::array();
    for (std::size_t k = 0; k < learned.steps; ++k) {
      for (std::size_t p = 0; p < learned.orders; ++p)
        values.push_back(learned.corrections[(k * learned.inputs.size() + i) * learned.orders + p]);
    }
    corrections[learned.inputs[i]] = std::move(values);
  }
  // One line: a number per line would be most of the file.
  Json all{{"format", kFormat},
           {"system", learned.system},
           {"start", learned.start},
           {"step", learned.step},
           {"steps", learned.steps},
           {"error", learned.error},
           {"inputs", std::string(to_word(learned.kind))},
           {"options", std::move(options)},
           {"description", learned.description},
           {"corrections", std::move(corrections)}};
  if (learned.guard) all["guard"] = guard_json(*learned.guard);
  return all.dump() + "\n";
}

}  // namespace entrain::reporting

namespace entrain {

Learned read_learned(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30U;
  const auto file = std::filesystem::is_directory(path) ? path / "learned.json" : path;
  const auto text = base::read_text_file(
      file, {"a learned correction", "Name learned.json, or the folder that 'entrain learn' wrote it to", kMostBytes});
  const auto refuse = [&](const Error& error) {
    throw Error(ErrorCode::InvalidSystem,
                base::quoting({FactCode::LearnedUnusable, {file.string()}}, error, error.message()),
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "'entrain learn' writes one: learned.json"});
  };
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("format", "") != kFormat)
      refuse(Error(ErrorCode::InvalidSystem, {FactCode::LearnedFormat}));
    Learned learned = learned_of(json);
    learned.file = file.string();
    return learned;
  } catch (const Json::exception& error) {
    refuse(Error(ErrorCode::InvalidSystem, error.what()));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::InvalidSystem && error.context().remedy.empty()) refuse(error);
    throw;
  }
  return {};
}

}  // namespace entrain

namespace entrain {

RecordedRun read_recorded_run(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30U;
  RecordedRun run{path.string(), read_results(path), {}};
  const auto summary = path / "run.json";
  if (!std::filesystem::is_directory(path) || !std::filesystem::exists(summary)) return run;
  const auto text = base::read_text_file(summary, {"the summary of a run", "Name the folder of a run", kMostBytes});
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("learned_correction")) return run;
  const auto& correction = json["learned_correction"];
  if (!correction.is_object() || !correction.contains("file") || !correction["file"].is_string()) return run;
  const auto file = correction["file"].get<std::string>();
  if (!file.empty()) run.applied = read_learned(file);
  return run;
}

}  // namespace entrain

namespace entrain::reporting {

Json learn_result_data(const LearnResult& result) {
  const auto or_null = [](const std::optional<double>& value) { return value ? Json(*value) : Json(); };
  return {{"system", result.learned.system},
          {"inputs", std::string(to_word(result.plan.inputs))},
          {"end", std::string(to_string(result.end))},
          {"verdict", result.judged ? json_of(&result.judged->verdict) : Json()},
          {"outputs", json_of(result.judged ? result.judged->estimate : ErrorEstimate{})},
          {"uncorrected", result.uncorrected ? json_of(&result.uncorrected->verdict) : Json()},
          {"held_learned", result.held_learned ? json_of(&result.held_learned->verdict) : Json()},
          {"residual", result.learned.error},
          {"repeatability", or_null(result.repeatability)},
          {"cutoff", result.cutoff},
          {"forgetting", result.forgetting},
          {"best_iteration", result.best},
          {"learned_to", result.learned_to},
          {"stop", result.stop},
          {"full_runs", result.full_runs},
          {"gamma", or_null(result.plan.gamma)},
          {"radius", or_null(result.plan.radius)},
          {"learned", result.learned.inputs},
          {"connections", result.plan.connections},
          {"delayed", result.plan.delayed},
          {"held", result.plan.held},
          {"learned_nothing", result.learned_nothing()},
          {"iterations", iterations_of(result)},
          {"notes", json_of(result.notes)}};
}

}  // namespace entrain::reporting

namespace entrain {

std::string learning_json(const LearnResult& result) {
  return reporting::json_text(reporting::learn_result_data(result));
}

void save_learned(const Learned& learned, const std::filesystem::path& file) {
  base::replace_file(file, reporting::learned_json(learned));
}

void save_learning(const LearnResult& result, const std::filesystem::path& file) {
  base::replace_file(file, learning_json(result));
}

}  // namespace entrain
