#include "record/selection.hpp"

#include <algorithm>
#include <set>

#include "base/suggest.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::recording {
namespace {

std::vector<std::string> names_of(std::span<const Signal> signals) {
  std::vector<std::string> names;
  names.reserve(signals.size());
  for (const auto& signal : signals) names.push_back(signal.name);
  return names;
}

/// Locals and parameters, of which there may be thousands.
bool is_inner(const Signal& signal) {
  return signal.causality == Causality::Local || signal.causality == Causality::Parameter;
}

/// "*", "motor.*": a star for the whole name of a variable means the ports and the states; two mean everything.
bool is_bare_star(const std::string& pattern) {
  const auto dot = pattern.find('.');
  return pattern.substr(dot == std::string::npos ? 0 : dot + 1) == "*";
}

bool is_meant(const Signal& signal, const Written<std::string>& pattern) {
  if (is_inner(signal) && is_bare_star(pattern.value)) return false;
  const auto fits = [&](const std::string& name) { return matches(pattern.value, name); };
  return fits(signal.name) || std::any_of(signal.other_names.begin(), signal.other_names.end(), fits);
}

void require_matches(std::span<const Signal> signals, const std::vector<Written<std::string>>& patterns) {
  std::vector<Problem> problems;
  for (const auto& pattern : patterns) {
    const bool found =
        std::any_of(signals.begin(), signals.end(), [&](const Signal& signal) { return is_meant(signal, pattern); });
    if (found) continue;
    problems.push_back(problem_of(Fact{FactCode::NothingMatches, {pattern.value}},
                                  suggestion(pattern.value, names_of(signals)), pattern.where));
  }
  if (!problems.empty()) throw Error(std::move(problems));
}

/// Of a subsystem without outputs what is inside is all that there is to see.
std::set<std::size_t> closed_subsystems(std::span<const Signal> signals) {
  std::set<std::size_t> closed;
  for (const auto& signal : signals) {
    if (signal.causality == Causality::Local) closed.insert(signal.subsystem);
  }
  for (const auto& signal : signals) {
    if (signal.causality == Causality::Output) closed.erase(signal.subsystem);
  }
  return closed;
}

bool selected_by_default(const Signal& signal, const std::set<std::size_t>& closed) {
  const bool is_seen = signal.causality == Causality::Local || signal.causality == Causality::State;
  return signal.causality == Causality::Output || (is_seen && closed.contains(signal.subsystem));
}

bool selected(const Signal& signal, const SignalPatterns& patterns) {
  return std::any_of(patterns->begin(), patterns->end(),
                     [&](const Written<std::string>& pattern) { return is_meant(signal, pattern); });
}

}  // namespace

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      // Only the latest star needs to be tried again: an earlier one could not do better.
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

std::vector<std::size_t> select_signals(std::span<const Signal> signals, const SignalPatterns& patterns) {
  if (patterns) require_matches(signals, *patterns);
  const auto closed = patterns ? std::set<std::size_t>() : closed_subsystems(signals);
  std::vector<std::size_t> chosen;
  std::set<std::string_view> seen;
  for (const bool outputs : {true, false}) {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      const Signal& signal = signals[i];
      const bool wanted = patterns ? selected(signal, patterns) : selected_by_default(signal, closed);
      if ((signal.causality == Causality::Output) != outputs || !wanted) continue;
      if (seen.insert(signals[i].name).second) chosen.push_back(i);
    }
  }
  return chosen;
}

}  // namespace entrain::recording
