#pragma once

#include <cstddef>
#include <string_view>

namespace entrain::base {

struct [[nodiscard]] WriteResult {
  std::size_t written = 0;
  int error_number = 0;  ///< 0 = everything was written
};

/// Writes all of `data`, however many calls it takes.
WriteResult write_all(int descriptor, std::string_view data);

}  // namespace entrain::base
