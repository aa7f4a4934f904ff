#pragma once

#include <cstddef>
#include <cstdint>

namespace entrain::recording {

/// The fewest decimal digits that read back to the same double: digits x 10^exponent. None (0) of a value that is
/// written differently: zero, what is not finite, and integers that doubles do not all hold.
struct ShortestDecimal {
  double value;
  std::uint64_t digits;
  int exponent;
};
ShortestDecimal shortest_decimal(double value);

/// What `write_number` may write to; the text itself, such as "-2.2250738585072014e-308", has 24 characters at most.
inline constexpr std::size_t kNumberRoom = 36;

/// Writes the text of std::to_chars, in a fraction of its time; NaN is "NaN". Returns one past its last character. Of
/// many numbers find all decimals first: a processor can work at several at once where each takes few instructions.
char* write_number(char* to, const ShortestDecimal& decimal);

}  // namespace entrain::recording
