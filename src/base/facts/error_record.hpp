#pragma once

#include "base/facts/fact_bytes.hpp"
#include "entrain/error.hpp"

namespace entrain::base {

template <class Visitor>
void visit_fields(Visitor& visit, Problem& problem) {
  visit(problem.message, problem.remedy, problem.where, problem.severity, problem.fact);
}

/// An Error as plain data (base/bytes.hpp), for what another process reports.
struct ErrorRecord {
  ErrorCode code{};
  Fact fact;
  ErrorContext context;
  std::vector<Problem> problems;

  ErrorRecord() = default;
  explicit ErrorRecord(const Error& error)
      : code(error.code()), fact(error.fact()), context(error.context()), problems(error.problems()) {}

  Error error() const { return problems.empty() ? Error(code, fact, context) : Error(problems); }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(code, fact, context.subsystem, context.variable, context.time, context.remedy, problems);
  }
};

}  // namespace entrain::base
