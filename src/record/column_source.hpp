#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "entrain/results.hpp"

namespace entrain::recording {

/// A file of results of any size, of which only the columns that are asked for are in memory.
class ColumnSource {
 public:
  virtual ~ColumnSource() = default;
  const std::vector<std::string>& names() const { return names_; }
  /// Samples of a column at most, about.
  std::size_t rows() const { return rows_; }
  /// The columns that are chosen, in their order; `chosen` is as long as the names, or empty = all. Throws
  /// Error{FileFailed} naming what makes no sense.
  virtual Results read(const std::vector<bool>& chosen) = 0;

 protected:
  static bool is_chosen(const std::vector<bool>& chosen, std::size_t column) {
    return chosen.empty() || (column < chosen.size() && chosen[column]);
  }
  std::vector<std::string> names_;
  std::size_t rows_ = 0;
};

}  // namespace entrain::recording
