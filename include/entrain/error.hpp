#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/fact.hpp"

namespace entrain {

/// One thing that is wrong (or doubtful) in what the user wrote.
struct Problem {
  enum class Severity { Error, Warning };
  std::string message;  ///< what is wrong, naming the culprit
  std::string remedy;   ///< what to do; may be empty
  SourcePosition where;
  Severity severity = Severity::Error;
  Fact fact = {};  ///< the message as data; the code is `custom` where a user's own code wrote the message
};

/// With the sentence of the fact as its message, and the severity of its kind.
ENTRAIN_API Problem problem_of(Fact fact, std::string remedy = {}, SourcePosition where = {});
/// The problem as a fact, with its remedy and position.
ENTRAIN_API Fact fact_of(const Problem& problem);

/// "system.toml:12: unknown variable 'prey.uu'; did you mean 'prey.u'?"
ENTRAIN_API std::string to_string(const Problem& problem);
/// More are noise: the first often cause the others.
inline constexpr std::size_t kMostShownProblems = 50;
/// One line for each, up to kMostShownProblems, then the number of the others.
ENTRAIN_API std::string to_string(const std::vector<Problem>& problems);

enum class ErrorCode {
  InvalidSystem,      ///< the system file or the options are wrong
  FileFailed,         ///< a file cannot be read or written
  MissingCapability,  ///< a method needs what a subsystem cannot do
  SubsystemFailed,    ///< a subsystem threw, or returned a value that is not finite
  LoopNotSolved,      ///< an algebraic loop has no solution, or none was found
  SolverFailed,       ///< an inner integrator gave up
};

/// The culprit, the time and the remedy of an error, as far as they are known.
struct ErrorContext {
  std::string subsystem;
  std::string variable;
  std::optional<double> time;  ///< simulated time in s
  std::string remedy;
};

/// A broken run or a wrong request. Expected outcomes (a rejected step, a stop request) are values, not errors.
class ENTRAIN_API Error : public std::runtime_error {
 public:
  /// what() reads "subsystem 'prey', output 'p', at t = 1.5 s: <message>. <remedy>"
  Error(ErrorCode code, Fact fact, ErrorContext context = {});
  /// In words of a user's own code; the fact is `custom-error`.
  Error(ErrorCode code, const std::string& message, ErrorContext context = {});
  /// All problems of a system at once; what() has one line for each, up to kMostShownProblems.
  explicit Error(std::vector<Problem> problems);

  ErrorCode code() const noexcept { return code_; }
  /// The message as data, with the remedy of the context; of several problems the first.
  const Fact& fact() const noexcept { return fact_; }
  const std::string& message() const noexcept { return message_; }  ///< the sentence of the fact, without the context
  const ErrorContext& context() const noexcept { return context_; }
  const std::vector<Problem>& problems() const noexcept { return problems_; }

 private:
  Error(ErrorCode code, std::string message, Fact fact, ErrorContext context);

  ErrorCode code_;
  Fact fact_;
  std::string message_;
  ErrorContext context_;
  std::vector<Problem> problems_;
};

}  // namespace entrain
