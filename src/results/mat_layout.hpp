#pragma once

#include <cstdint>

namespace entrain::mat {

/// Type of a matrix of MAT version 4: little-endian, full.
enum class Type : std::int32_t { Double = 0, Float = 10, Integer = 20, Text = 51 };

/// Before the name and the data of a matrix, which are stored column by column.
struct Header {
  std::int32_t type;
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t imaginary;
  std::int32_t name_bytes;  ///< with the zero at its end
};

/// Where a variable is: row `row` (negative: times -1) of data_`matrix`; 0 = the abscissa of all.
struct DataInfo {
  std::int32_t matrix;
  std::int32_t row;
  std::int32_t interpolation;  ///< 0 = straight lines
  std::int32_t extrapolation;  ///< -1 = not defined outside
};

}  // namespace entrain::mat
