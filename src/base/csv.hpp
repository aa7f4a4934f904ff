#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace entrain::base {

/// The whole file, without the byte order mark that some tools put first. Throws Error{FileFailed}; also for what is no
/// regular file, and for more than a gigabyte.
std::string read_csv_text(const std::filesystem::path& file);

/// What separates the cells of a table: the first comma, tab or semicolon outside quotes; a comma if there is none.
char csv_separator(std::string_view text);

/// One record (RFC 4180) from the front of `text`, which loses it; nothing when its line end is missing. `quoted`
/// becomes, per cell, whether it was written in quotes.
std::optional<std::vector<std::string>> take_csv_record(std::string_view& text, char separator = ',',
                                                        std::vector<bool>* quoted = nullptr);

/// The whole cell as a number; nothing if it is something else or empty.
std::optional<double> csv_number(std::string_view cell);

/// In quotes, those inside doubled.
std::string csv_quoted(std::string_view text);
/// Quoted where RFC 4180 asks for it.
std::string csv_cell(std::string_view text);

}  // namespace entrain::base
