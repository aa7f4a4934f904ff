#include "record/shortest_decimal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace entrain::recording {
namespace {

constexpr double kExactIntegers =
    9007199254740992.0;  // 2^53: larger ones are written with more than the shortest digits
constexpr int kMostDigits = 17;
constexpr std::uint64_t kEightDigits = 100'000'000;

static_assert(std::endian::native == std::endian::little, "digits are made from the lowest byte of a word upwards");

/// Eight digits at once, with leading zeros: halves, quarters, single digits side by side in one word.
std::uint64_t eight_digits(std::uint32_t number) {
  std::uint64_t lanes = number / 10000 | std::uint64_t{number % 10000} << 32U;
  std::uint64_t upper = (lanes * 10486 >> 20U) & 0x0000007f0000007fU;  // / 100, exact below 10000
  lanes = upper | (lanes - 100 * upper) << 16U;
  upper = (lanes * 103 >> 10U) & 0x000f000f000f000fU;  // / 10, exact below 100
  lanes = upper | (lanes - 10 * upper) << 8U;
  return lanes + 0x3030303030303030U;
}

constexpr std::array<std::uint64_t, kMostDigits + 1> kPowers = [] {
  std::array<std::uint64_t, kMostDigits + 1> powers{};
  std::uint64_t power = 1;
  for (auto& entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}();

int count_of_digits(std::uint64_t number) {
  const int floor = static_cast<int>(std::bit_width(number)) * 1233 >> 12U;  // log10(2) = 1233 / 4096, rounded down
  return floor + (number >= kPowers[static_cast<std::size_t>(floor)] ? 1 : 0);
}

/// Digits with zeros behind them. They stay in registers until they are where they belong: what was just written in
/// pieces is slow to read.
struct Digits {
  char first;
  std::uint64_t next, last;  // eight each, the first in the lowest byte

  Digits(std::uint64_t number, int count) {
    number *= kPowers[static_cast<std::size_t>(kMostDigits - count)];
    const std::uint64_t upper = number / kEightDigits;
    first = static_cast<char>('0' + upper / kEightDigits);
    next = eight_digits(static_cast<std::uint32_t>(upper % kEightDigits));
    last = eight_digits(static_cast<std::uint32_t>(number % kEightDigits));
  }

  void write(char* to) const {
    *to = first;
    std::memcpy(to + 1, &next, sizeof next);
    std::memcpy(to + 1 + sizeof next, &last, sizeof last);
  }

  /// With the decimal point behind `before` of them, 1 to kMostDigits - 1.
  void write_with_point(char* to, int before) const {
    if (before > 8) {
      std::array<char, 2 * kMostDigits> all{};
      write(all.data());
      std::memcpy(to, all.data(), kMostDigits);
      to[before] = '.';
      std::memcpy(to + before + 1, all.data() + before, kMostDigits);
      return;
    }
    const std::uint64_t kept = (std::uint64_t{1} << 8U * static_cast<unsigned>(before - 1)) - 1;
    const std::uint64_t point = std::uint64_t{'.'} * (kept + 1);
    const std::uint64_t with_point = (next & kept) | point | ((next & ~kept) << 8U);
    write(to + 1);  // its last digits stay
    *to = first;
    std::memcpy(to + 1, &with_point, sizeof with_point);
  }
};

/// "e-07", "e+300"
char* write_exponent(char* to, int exponent) {
  *to++ = 'e';
  *to++ = exponent < 0 ? '-' : '+';
  const auto size = static_cast<std::uint32_t>(std::abs(exponent));
  if (size >= 100) *to++ = static_cast<char>('0' + size / 100);
  *to++ = static_cast<char>('0' + size / 10 % 10);
  *to++ = static_cast<char>('0' + size % 10);
  return to;
}

/// number x 10^exponent, in whichever notation is shorter (fixed when both are as long), as std::to_chars writes it.
char* write_decimal(char* to, std::uint64_t number, int exponent) {
  const int count = count_of_digits(number);
  const Digits digits(number, count);
  const int before_point = count + exponent;
  const int one = count == 1 ? 1 : 0;  // then "1e+05" has no point
  if (exponent < one - count - 3 || exponent > 5 - one) {
    if (one == 0) {
      digits.write_with_point(to, 1);
    } else {
      *to = digits.first;
    }
    return write_exponent(to + count + 1 - one, before_point - 1);
  }
  if (exponent >= 0) {
    digits.write(to);
    return to + before_point;
  }
  if (before_point <= 0) {
    std::memcpy(to, "0.0000", 6);
    digits.write(to + 2 - before_point);
    return to + 2 - exponent;
  }
  digits.write_with_point(to, before_point);
  return to + count + 1;
}

}  // namespace

ShortestDecimal shortest_decimal(double value) {
  const double size = std::abs(value);
  if (!(size > 0.0 && size < kExactIntegers)) return {value, 0, 0};
  // Dragonbox, which fmt has compiled in. Its own function that writes a double costs three times what finding it
  // costs.
  const auto decimal = fmt::detail::dragonbox::to_decimal(size);
  return {value, decimal.significand, decimal.exponent};
}

char* write_number(char* to, const ShortestDecimal& decimal) {
  if (decimal.digits == 0) {
    if (std::isnan(decimal.value)) return std::copy_n("NaN", 3, to);
    return std::to_chars(to, to + kNumberRoom, decimal.value).ptr;
  }
  if (std::signbit(decimal.value)) *to++ = '-';
  return write_decimal(to, decimal.digits, decimal.exponent);
}

}  // namespace entrain::recording
