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

/// Of the terminal that the output is; kAnyWidth when it is none: a pipe or a file gets whole lines.
std::size_t output_columns();

/// Before a command to be copied: it is wrapped as a shell takes it.
inline constexpr std::string_view kCommandMark = "next: ";
/// Lines that are longer than so many columns are broken at spaces; what follows is indented by two more.
std::string wrapped(std::string_view text, std::size_t columns);
/// The same for a list of words with their meaning: what follows stays in the column of the meanings.
std::string wrapped_help(std::string_view text, std::size_t columns);

/// Columns that the text takes: one per character, however many bytes those have in UTF-8.
std::size_t columns_of(std::string_view text);

/// The text, or as much of it as fits. A line that wraps would take two rows, and what is written over it later one.
std::string cut_to(std::size_t columns, std::string text);

}  // namespace entrain::cli
