#include "entrain/error.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "entrain/fact_codes.hpp"

namespace entrain {
namespace {

std::string compose(const std::string& message, const ErrorContext& context) {
  std::string text;
  if (!context.subsystem.empty()) text += fmt::format("subsystem '{}'", context.subsystem);
  if (!context.variable.empty()) text += fmt::format("{}'{}'", text.empty() ? "" : ", ", context.variable);
  if (context.time) text += fmt::format("{}at t = {} s", text.empty() ? "" : ", ", *context.time);
  if (!text.empty()) text += ": ";
  text += message;
  if (!context.remedy.empty()) text += fmt::format(". {}", context.remedy);
  return text;
}

/// A sentence as the rest of another one: "Get the file again" -> "get the file again", but "FMUs ..." as it is.
std::string continued(std::string text) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (text.size() > 1 && is_capital(text[0]) && !is_capital(text[1])) text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

/// With its position, without its remedy, which is in the context.
std::string message_of(const Fact& fact) {
  if (fact.remedy.empty()) return render(fact);
  Fact bare = fact;
  bare.remedy.clear();
  return render(bare);
}

}  // namespace

std::string to_string(const std::vector<Problem>& problems) {
  std::string text;
  const std::size_t shown = std::min(problems.size(), kMostShownProblems);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += '\n';
    text += to_string(problems[i]);
  }
  if (shown < problems.size()) text += fmt::format("\n... and {} more problems", problems.size() - shown);
  return text;
}

std::string to_string(const Problem& problem) {
  std::string text;
  if (!problem.where.file.empty()) {
    text = problem.where.file;
    if (problem.where.line > 0) text += fmt::format(":{}", problem.where.line);
    text += ": ";
  }
  if (problem.severity == Problem::Severity::Warning) text += "warning: ";
  text += problem.message;
  if (!problem.remedy.empty()) text += fmt::format("; {}", continued(problem.remedy));
  return text;
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): the order of evaluation forbids to move it
Error::Error(ErrorCode code, Fact fact, ErrorContext context)
    : Error(code, message_of(fact), fact, std::move(context)) {}

Error::Error(ErrorCode code, const std::string& message, ErrorContext context)
    : Error(code, message, {FactCode::CustomError, {}, {{"text", message}}}, std::move(context)) {}

Error::Error(ErrorCode code, std::string message, Fact fact, ErrorContext context)
    : std::runtime_error(compose(message, context)),
      code_(code),
      fact_(std::move(fact)),
      message_(std::move(message)),
      context_(std::move(context)) {
  fact_.remedy = context_.remedy;
}

Error::Error(std::vector<Problem> problems)
    : std::runtime_error(to_string(problems)),
      code_(ErrorCode::InvalidSystem),
      fact_(problems.empty() ? Fact{FactCode::CustomError} : fact_of(problems.front())),
      message_(to_string(problems)),
      problems_(std::move(problems)) {}

}  // namespace entrain
