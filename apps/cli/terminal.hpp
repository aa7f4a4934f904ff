#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>

namespace entrain::cli {

inline constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();

bool stderr_is_terminal();

/// Of the terminal that stderr is; 80 when it does not report one. A window may change its size: ask again.
std::size_t terminal_columns();

/// Columns that the text takes: one per character, however many bytes those have in UTF-8.
std::size_t columns_of(std::string_view text);

/// The text, or as much of it as fits. A line that wraps would take two rows, and what is written over it later one.
std::string cut_to(std::size_t columns, std::string text);

}  // namespace entrain::cli
