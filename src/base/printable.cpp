#include "base/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace entrain::base {
namespace {

/// The bytes of one UTF-8 sequence starting with `first`; 0 when none starts so.
std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

/// The length of the valid sequence at the start of `text`; 0 when there is none.
std::size_t valid_sequence(std::string_view text) {
  const std::size_t length = sequence_length(static_cast<unsigned char>(text[0]));
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((static_cast<unsigned char>(text[k]) & 0xC0U) != 0x80) return 0;
  }
  return length;
}

/// The control characters of ASCII, and those of Latin-1 (U+0080 .. U+009F): some terminals obey both.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = valid_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = valid_sequence(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    if (length > 0 && !is_control(sequence)) {
      shown += sequence;
    } else {
      for (const char c : sequence) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
    text.remove_prefix(sequence.size());
  }
  return shown;
}

std::string printable_start(const char* text) {
  const std::size_t length = ::strnlen(text, kLongestQuote + 1);
  auto shown = printable({text, std::min(length, kLongestQuote)});
  return length > kLongestQuote ? shown + "..." : shown;
}

}  // namespace entrain::base
