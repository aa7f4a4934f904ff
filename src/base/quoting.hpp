#pragma once

#include <string>
#include <utility>

#include "entrain/error.hpp"

namespace entrain::base {

/// A fact that quotes an error: `why` is its text, `of` its code; its subjects and values follow those of the fact.
inline Fact quoting(Fact fact, const Error& error, std::string why) {
  const Fact& quoted = error.fact();
  fact.values.emplace_back("why", std::move(why));
  fact.values.emplace_back("of", name_of(quoted.code));
  fact.subjects.insert(fact.subjects.end(), quoted.subjects.begin(), quoted.subjects.end());
  for (const FactValue& value : quoted.values) {
    if (value.name != "text" && fact.text(value.name).empty() && !fact.number(value.name)) fact.values.push_back(value);
  }
  return fact;
}

}  // namespace entrain::base
