// Member functions of the plain structs in the public headers; every room may call them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "entrain/advice.hpp"
#include "entrain/learning.hpp"
#include "entrain/run_summary.hpp"
#include "entrain/verification.hpp"

namespace entrain {

std::string_view to_string(Termination termination) {
  switch (termination) {
    case Termination::NotStarted: return "not started";
    case Termination::Running: return "running";
    case Termination::Completed: return "completed";
    case Termination::Failed: return "failed";
    case Termination::Interrupted: break;
  }
  return "interrupted";
}

std::string_view to_string(MethodFamily family) {
  switch (family) {
    case MethodFamily::Explicit: return "explicit";
    case MethodFamily::Implicit: return "implicit";
    case MethodFamily::Asynchronous: return "asynchronous";
    case MethodFamily::Reference: break;
  }
  return "reference";
}

std::string_view to_string(LearnEnd end) {
  switch (end) {
    case LearnEnd::Converged: return "converged";
    case LearnEnd::Iterations: return "out of iterations";
    case LearnEnd::Stalled: return "stalled";
    case LearnEnd::Diverged: return "diverged";
    case LearnEnd::Interrupted: break;
  }
  return "interrupted";
}

std::string MethodConfig::title() const {
  auto text = degree ? fmt::format("{} of degree {}", method, *degree) : method;
  if (!sequence.empty()) text += fmt::format(", first {}", fmt::join(sequence, ", then "));
  std::vector<std::string> parts;
  for (const auto& [input, gain] : gains) parts.push_back(fmt::format("{} {:.3g}", input, gain));
  if (!parts.empty()) text += fmt::format(", gains {}", fmt::join(parts, ", "));
  return text;
}

std::optional<double> Candidate::known_error() const {
  return tried ? std::optional(tried->error) : error;
}

std::string Advice::reason() const {
  return render(reasons, "; ");
}

std::string Advice::sequence_judged() const {
  constexpr std::size_t kNamed = 8;
  if (sequence.size() < 2) return {};
  const std::vector<std::string> named(sequence.begin(),
                                       sequence.size() > kNamed ? sequence.begin() + kNamed : sequence.end());
  return fmt::format("sequential methods are judged with the sequence {}{}", fmt::join(named, ", then "),
                     sequence.size() > kNamed ? fmt::format(", ... ({} in all)", sequence.size()) : "");
}

std::string_view Candidate::growth() const {
  if (!radius) return {};
  if (stable) return *radius > 1.0 ? "as the motion" : "stable";
  return harmless ? "grows slowly" : "grows";
}

double OutputVerification::relative_error() const {
  const double bar = error_bar.value_or(std::numeric_limits<double>::quiet_NaN());
  return range > 0.0 ? bar / range : bar;
}

double OutputVerification::relative_bound() const {
  const double bound = safety * (range > 0.0 ? rms_error / range : rms_error);
  const double bar = relative_error();
  return bound <= bar ? bar : bound;
}

}  // namespace entrain
