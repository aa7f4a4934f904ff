#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "entrain/export.hpp"
#include "entrain/variable.hpp"

namespace entrain {

/// Recorded signals, each at the times at which it is known. Signals known at the same times share an axis.
struct ENTRAIN_API Results {
  struct Column {
    std::string name;         ///< "subsystem.variable"
    std::string unit;         ///< empty where the file does not contain it
    std::string description;  ///< empty where the file does not contain it
    std::size_t axis = 0;
    std::vector<double> values;  ///< NaN = a value that is not a number, not an unknown one
    bool text = false;           ///< texts or bytes, whose values are NaN
  };
  std::vector<std::vector<Time>> axes;
  std::vector<Column> columns;
  bool cut = false;  ///< the program was killed while it wrote; what is complete was read

  /// nullptr when it was not recorded.
  const Column* find(const std::string& name) const;
  /// The times of a column's values.
  const std::vector<Time>& times(const Column& column) const { return axes[column.axis]; }
  std::size_t samples() const;  ///< of the longest axis
};

/// Reads what a run recorded: CSV, HDF5 or MAT, or the folder of a run, whose run.json contains the units that a table
/// of numbers cannot hold. Throws Error{FileFailed}.
ENTRAIN_API Results read_results(const std::filesystem::path& path);
/// Of these signals alone, such as "motor.*" ('*' stands for any characters): the others take no memory, however large
/// the file is. What matches nothing is left out.
ENTRAIN_API Results read_results(const std::filesystem::path& path, const std::vector<std::string>& patterns);

/// Writes results as a run records them, in the format that the name of the file determines: .csv, .h5 or .mat. A file
/// that is there is replaced. Throws Error{FileFailed}.
ENTRAIN_API void write_results(const Results& results, const std::filesystem::path& file);

}  // namespace entrain
