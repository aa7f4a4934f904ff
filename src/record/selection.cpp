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

bool is_meant(const Signal& signal, const Written<std::string>& pattern) {
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

bool selected(const Signal& signal, const SignalPatterns& patterns) {
  if (!patterns) return signal.causality == Causality::Output;
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
  std::vector<std::size_t> chosen;
  std::set<std::string_view> seen;
  for (const bool outputs : {true, false}) {
    for (std::size_t i = 0; i < signals.size(); ++i) {
      if ((signals[i].causality == Causality::Output) != outputs || !selected(signals[i], patterns)) continue;
      if (seen.insert(signals[i].name).second) chosen.push_back(i);
    }
  }
  return chosen;
}

}  // namespace entrain::recording
