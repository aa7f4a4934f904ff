#include "base/csv.hpp"

#include <charconv>
#include <cstdint>
#include <system_error>

#include "base/text_file.hpp"

namespace entrain::base {

std::string read_csv_text(const std::filesystem::path& file) {
  constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30U;  // takes several times as much in memory
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  auto text = read_text_file(file, {"a CSV file", "Name a CSV file", kMostBytes});
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

char csv_separator(std::string_view text) {
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ',' || c == '\t' || c == ';')) return c;
    if (!quoted && c == '\n') break;
  }
  return ',';
}

std::optional<std::vector<std::string>> take_csv_record(std::string_view& text, char separator,
                                                        std::vector<bool>* quoted_cells) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  if (quoted_cells) quoted_cells->assign(1, false);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"') {
        cells.back() += c;
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cells.back() += text[++i];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
      if (quoted_cells) quoted_cells->back() = true;
    } else if (c == separator) {
      cells.emplace_back();
      if (quoted_cells) quoted_cells->push_back(false);
    } else if (c == '\n') {
      text.remove_prefix(i + 1);
      return cells;
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return std::nullopt;
}

std::optional<double> csv_number(std::string_view cell) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc{} || end != cell.data() + cell.size()) return std::nullopt;
  return value;
}

std::string csv_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_cell(std::string_view text) {
  return text.find_first_of(",\"\r\n") == std::string_view::npos ? std::string(text) : csv_quoted(text);
}

}  // namespace entrain::base
