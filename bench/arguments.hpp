#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

namespace entrain::bench {

/// An option of a bench: a switch, or a name with a text.
struct Option {
  std::string name;
  bool* flag = nullptr;
  std::string* text = nullptr;
  std::string what = {};  ///< the text, as the usage names it
};

/// Takes the options of the command line. False, with the usage printed, where one is not among them.
inline bool take_arguments(int count, char** values, const std::string& program, const std::vector<Option>& options) {
  const auto take = [&](int& i) {
    for (const auto& option : options) {
      if (option.name != values[i]) continue;
      if (option.flag != nullptr) return *option.flag = true;
      if (i + 1 < count) return *option.text = values[++i], true;
    }
    return false;
  };
  for (int i = 1; i < count; ++i) {
    if (take(i)) continue;
    std::string usage = program;
    for (const auto& option : options) {
      usage += option.flag != nullptr ? fmt::format(" [{}]", option.name)
                                      : fmt::format(" [{} {}]", option.name, option.what);
    }
    fmt::print(stderr, "{}\n", usage);
    return false;
  }
  return true;
}

}  // namespace entrain::bench
