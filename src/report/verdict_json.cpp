#include "report/verdict_json.hpp"

#include <nlohmann/json.hpp>

#include "entrain/fact_codes.hpp"
#include "report/json_parts.hpp"

namespace entrain::reporting {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kPending = "pending";

/// A fact, with its first subject and its first number where a program that wants no more finds them.
Json reason_json(const Fact& fact) {
  Json json{{"code", name_of(fact.code)}, {"subject", nullptr}, {"value", nullptr}};
  if (!fact.subjects.empty()) json["subject"] = fact.subjects.front();
  for (const auto& value : fact.values) {
    const auto* number = std::get_if<double>(&value.value);
    if (number == nullptr) continue;
    json["value"] = *number;
    break;
  }
  Json whole = json_of(fact);
  for (auto& [key, part] : whole.items()) {
    if (key != "code") append(json, key, std::move(part));
  }
  return json;
}

/// null in JSON is a number that was not finite.
double number_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? found->get<double>() : OutputError::kUnknown;
}

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Of a run that has none: it is old, or its program ended too early.
Verdict missing_verdict(const Json& run, bool pending) {
  Verdict verdict;
  verdict.valid_until = number_at(run, "reached");
  const bool running = text_at(run, "termination") == to_string(Termination::Running);
  if (running) verdict.grade = Grade::Unreliable;
  verdict.reasons.push_back({running   ? FactCode::RunKilled
                             : pending ? FactCode::EstimateUnfinished
                                       : FactCode::VerdictMissing});
  return verdict;
}

}  // namespace

Json json_of(const Verdict* verdict) {
  const Verdict none;
  const Verdict& of = verdict == nullptr ? none : *verdict;
  Json reasons = Json::array();
  for (const auto& reason : of.reasons) reasons.push_back(reason_json(reason));
  return {{"grade", verdict == nullptr ? kPending : std::string(to_string(of.grade))},
          {"error", of.error},
          {"bound", of.bound},
          {"max_error", of.max_error},
          {"tolerance", of.tolerance},
          {"valid_until", of.valid_until},
          {"output", of.output},
          {"headline", verdict == nullptr ? std::string() : of.headline()},
          {"reasons", std::move(reasons)},
          {"command", of.command}};
}

Json json_of(const ErrorEstimate& estimate) {
  Json outputs = Json::object();
  for (const auto& output : estimate.outputs) {
    append(outputs, output.name,
           {{"error", output.error},
            {"bound", output.bound},
            {"max_error", output.max_error},
            {"range", output.range},
            {"last", output.last},
            {"estimate", to_string(output.estimate)},
            {"order", output.order ? Json(*output.order) : Json()},
            {"valid_until", output.valid_until},
            {"course", output.course}});
  }
  return outputs;
}

Verdict verdict_from(const Json& run) {
  const auto found = run.find("verdict");
  const bool is_there = found != run.end() && found->is_object();
  const auto grade = is_there ? grade_named(text_at(*found, "grade")) : std::nullopt;
  if (!grade) return missing_verdict(run, is_there);
  Verdict verdict;
  verdict.grade = *grade;
  verdict.output = text_at(*found, "output");
  verdict.error = number_at(*found, "error");
  verdict.bound = number_at(*found, "bound");
  verdict.max_error = number_at(*found, "max_error");
  verdict.tolerance = number_at(*found, "tolerance");
  verdict.valid_until = number_at(*found, "valid_until");
  verdict.ends_early = verdict.valid_until < number_at(run, "reached");
  for (const auto& reason : found->value("reasons", Json::array())) verdict.reasons.push_back(fact_from(reason));
  verdict.command = text_at(*found, "command");
  return verdict;
}

}  // namespace entrain::reporting
