#pragma once

#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace entrain::base {

struct [[nodiscard]] WriteResult {
  std::size_t written = 0;
  int error_number = 0;  ///< 0 = everything was written
};

/// Writes all of `data`, however many calls it takes.
WriteResult write_all(int descriptor, std::string_view data);

/// What is written there is lost from now on, and nothing can be read.
void silence(std::initializer_list<int> descriptors);

}  // namespace entrain::base
