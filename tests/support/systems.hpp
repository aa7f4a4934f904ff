#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "description/system_file.hpp"
#include "entrain/entrain.hpp"
#include "support/places.hpp"
#include "support/temporary_folder.hpp"

namespace entrain::test {

/// A system written in the test itself; held inputs where it names no method. Throws with every problem.
inline SystemDescription system_from(std::string_view toml) {
  std::vector<Problem> problems;
  auto description = description::parse_system(toml, "test.toml", problems);
  if (!problems.empty()) throw Error(std::move(problems));
  if (description.method.where.file.empty()) description.method.value = "jacobi";
  return description;
}

/// The same, with its files in a folder of the test.
inline SystemDescription system_in(const TemporaryFolder& folder, std::string_view toml) {
  auto description = system_from(toml);
  description.file = folder / "system.toml";
  return description;
}

/// With held inputs where its method is to be chosen: tests name the method that they are about.
inline SystemDescription example(const std::string& name) {
  auto description = load(test::examples_folder() + "/" + name);
  if (description.method.value == default_method()) description.method.value = "jacobi";
  return description;
}

struct Change {
  std::string method = "jacobi";
  double step = 0.0;
  double stop = 0.0;
  std::vector<std::string> options = {};
};

/// For the names of parameterised tests.
inline void PrintTo(const Change& change, std::ostream* out) {
  *out << change.method;
  for (const auto& option : change.options) *out << ' ' << option;
}

inline SystemDescription changed(SystemDescription description, const Change& change) {
  description.method.value = change.method;
  if (change.step > 0.0) description.step = {change.step, {}};
  if (change.stop > 0.0) description.stop = {change.stop, {}};
  for (const auto& option : change.options) apply_option(description, option);
  return description;
}

}  // namespace entrain::test
