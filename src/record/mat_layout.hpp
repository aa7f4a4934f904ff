#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace entrain::recording::mat {

/// Where a subsystem did not communicate. The format has one time axis for all, so the cell must hold something: a NaN
/// for every other tool, and one that no calculation makes, so that it is not taken for a value that is not a number.
inline constexpr std::uint64_t kUnknownBits = 0x7FF8'656E'7472'6169;
inline double unknown() {
  return std::bit_cast<double>(kUnknownBits);
}
inline bool is_unknown(double value) {
  return std::bit_cast<std::uint64_t>(value) == kUnknownBits;
}

/// Behind the description of a signal whose values are texts or bytes, which the format cannot hold: all are NaN.
inline constexpr std::string_view kTextMark = " (text, not in this file)";

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

}  // namespace entrain::recording::mat
