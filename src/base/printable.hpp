#pragma once

#include <string>
#include <string_view>

namespace entrain::base {

bool is_utf8(std::string_view text);

/// Foreign text (names in files, messages of an FMU) for messages: what could garble a terminal becomes \xNN.
std::string printable(std::string_view text);

/// The longest text of an FMU that a message quotes, in bytes (docs/fmu_failures.md).
inline constexpr std::size_t kLongestQuote = 1000;
/// The same of a text that may be of any length, and is cut there.
std::string printable_start(const char* text);

}  // namespace entrain::base
