#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/entrain.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain {

/// What a failing assertion shows.
inline std::ostream& operator<<(std::ostream& out, const Fact& fact) {
  return out << name_of(fact.code) << ": " << render(fact);
}

namespace test {

/// The first fact of this code, about this subject if one is named; nullptr if there is none.
inline const Fact* find_fact(std::span<const Fact> facts, FactCode code, std::string_view subject = {}) {
  const auto found = std::find_if(facts.begin(), facts.end(), [&](const Fact& of) {
    const bool fits =
        subject.empty() || std::find(of.subjects.begin(), of.subjects.end(), subject) != of.subjects.end();
    return of.code == code && fits;
  });
  return found == facts.end() ? nullptr : &*found;
}

inline bool has_fact(std::span<const Fact> facts, FactCode code, std::string_view subject = {}) {
  return find_fact(facts, code, subject) != nullptr;
}

/// A number of that fact; NaN where there is none.
inline double number_of(std::span<const Fact> facts, FactCode code, std::string_view name,
                        std::string_view subject = {}) {
  const Fact* fact = find_fact(facts, code, subject);
  return fact == nullptr ? std::nan("") : fact->number(name).value_or(std::nan(""));
}

/// A text of that fact; empty where there is none.
inline std::string word_of(std::span<const Fact> facts, FactCode code, std::string_view name,
                           std::string_view subject = {}) {
  const Fact* fact = find_fact(facts, code, subject);
  return fact == nullptr ? std::string() : std::string(fact->text(name));
}

/// The same of facts in JSON. null if there is none.
inline nlohmann::json json_fact(const nlohmann::json& facts, FactCode code, std::string_view subject = {}) {
  for (const auto& of : facts) {
    const auto& subjects = of.at("subjects");
    const bool fits = subject.empty() || std::find(subjects.begin(), subjects.end(), subject) != subjects.end();
    if (of.at("code") == name_of(code) && fits) return of;
  }
  return nullptr;
}

inline bool has_fact(const nlohmann::json& facts, FactCode code, std::string_view subject = {}) {
  return !json_fact(facts, code, subject).is_null();
}

inline std::vector<Fact> facts_of(const std::vector<Problem>& problems) {
  std::vector<Fact> facts;
  for (const auto& problem : problems) facts.push_back(fact_of(problem));
  return facts;
}

/// Of a fact that quotes another one, the code of that one stands for its sentence.
inline bool is_quoted(const Fact& fact, std::string_view name) {
  const auto of = fact_code(fact.text("of"));
  return name == "why" && of && *of != FactCode::CustomError;
}

/// A fact without its sentence: "wrong-type run.start (expected = a number, found = a list)".
inline std::string outline(const Fact& fact) {
  std::string text(name_of(fact.code));
  if (!fact.subjects.empty()) text += fmt::format(" {}", fmt::join(fact.subjects, ", "));
  std::map<std::string, std::string> values;
  for (const auto& [name, value, unit] : fact.values) {
    if (is_quoted(fact, name)) continue;
    const auto* number = std::get_if<double>(&value);
    values[name] = number == nullptr ? std::get<std::string>(value)
                                     : fmt::format("{}{}{}", *number, unit.empty() ? "" : " ", unit);
  }
  std::string list;
  for (const auto& [name, value] : values) list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", name, value);
  return list.empty() ? text : fmt::format("{} ({})", text, list);
}

/// The same with position and remedy: "system.toml:3: unknown-key stpe (owner = run); did you mean 'step'?".
inline std::string outline(const Problem& problem) {
  std::string text = problem.where.file;
  if (problem.where.line > 0) text += fmt::format(":{}", problem.where.line);
  if (!text.empty()) text += ": ";
  text += outline(problem.fact);
  return problem.remedy.empty() ? text : text + "; " + problem.remedy;
}

/// The same of an error, or of its first problem.
inline std::string outline(const Error& error) {
  const Fact& fact = error.fact();
  return (fact.where.line > 0 ? fmt::format("{}:{}: ", fact.where.file, fact.where.line) : "") + outline(fact);
}

/// What a request throws; nullopt when it passes.
template <class Request>
std::optional<Error> error_of(Request&& request) {
  try {
    request();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

/// The outline of what a request throws, or "accepted".
template <class Request>
std::string refusal_outline(Request&& request) {
  const auto error = error_of(request);
  return error ? outline(*error) : "accepted";
}

/// What a request throws that is no list of problems; empty when it passes.
template <class Request>
std::vector<Fact> thrown_by(Request&& request) {
  const auto error = error_of(request);
  return error ? std::vector<Fact>{error->fact()} : std::vector<Fact>{};
}

/// What ended a run that failed; a fact without text for one that did not.
inline Fact failure_of(const RunSummary& summary) {
  return summary.failure ? summary.failure->fact() : Fact{};
}

/// Where a run failed.
inline ErrorContext place_of_failure(const RunSummary& summary) {
  return summary.failure ? summary.failure->context() : ErrorContext{};
}

/// Of a fact in JSON: its code, or that of the fact that it quotes, and the subjects: "no-such-file a.fmu".
inline std::string outline_of_json(const nlohmann::json& fact) {
  const auto subjects = fact.at("subjects").get<std::vector<std::string>>();
  const std::string code = fact.at("values").value("of", fact.at("code").get<std::string>());
  return fmt::format("{}{}{}", code, subjects.empty() ? "" : " ", fmt::join(subjects, ", "));
}

/// The failure in JSON: run.json, or what the program printed with --json. null if there is none.
inline nlohmann::json failure_in(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() && json.contains("failure") ? json["failure"] : nlohmann::json();
}

inline std::string outline_of_failure(const std::string& text) {
  const auto failure = failure_in(text);
  return failure.is_null() ? "no failure: " + text : outline_of_json(failure);
}

/// Of all problems that the program printed with --json, in lines.
inline std::string outlines_of_problems(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("problems")) return outline_of_failure(text);
  std::string all;
  for (const auto& problem : json["problems"]) all += outline_of_json(problem) + '\n';
  return all;
}

/// What is wrong with a request that must throw: the facts of all problems; none when it passes, or fails otherwise.
template <class Request>
std::vector<Fact> refusal_of(Request&& request) {
  try {
    request();
  } catch (const Error& error) {
    return facts_of(error.problems());
  }
  return {};
}

/// Everything that is wrong with a system.
inline std::vector<Fact> problem_facts(const SystemDescription& description, const ModelFactory& models = {}) {
  return refusal_of([&] { const Simulation simulation(description, {}, models); });
}

}  // namespace test
}  // namespace entrain
