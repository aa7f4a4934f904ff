#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "entrain/variable.hpp"

namespace entrain {

/// Recorded signals, each at the times at which it is known. Signals known at the same times share an axis.
struct RecordedResults {
  struct Column {
    std::string name;         ///< "subsystem.variable"
    std::string unit;         ///< empty where the file does not tell
    std::string description;  ///< empty where the file does not tell
    std::size_t axis = 0;
    std::vector<double> values;  ///< NaN = a value that is not a number, not an unknown one
    bool text = false;           ///< texts or bytes, whose values are NaN
  };
  std::vector<std::vector<Time>> axes;
  std::vector<Column> columns;
  bool cut = false;  ///< the program was killed while it wrote; what is complete was read

  const Column* find(const std::string& name) const;
  std::size_t samples() const;  ///< of the longest axis
};

/// Reads what a run recorded. Throws Error{FileFailed}.
RecordedResults read_results(const std::filesystem::path& file);

/// The results among the files of a run; throws Error{FileFailed} when there is none.
std::filesystem::path find_results(const std::filesystem::path& folder);

}  // namespace entrain
