#pragma once

#include <string_view>
#include <vector>

namespace entrain::fuzz {

/// Feeds bytes from elsewhere to one of our readers. What is wrong with them must end in entrain::Error or in problems;
/// anything else (another exception, a crash, a value that does not read back) is a fault of ours.
struct Target {
  std::string_view name;  ///< of its folder in the corpus, too
  void (*run)(std::string_view bytes);
};

const std::vector<Target>& targets();

}  // namespace entrain::fuzz
