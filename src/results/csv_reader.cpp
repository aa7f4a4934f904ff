#include "results/csv_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>

#include "entrain/error.hpp"

namespace entrain {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Error malformed(const std::filesystem::path& file, std::size_t line, const std::string& what) {
  return Error(ErrorCode::FileFailed, fmt::format("{}:{}: {}", file.string(), line, what));
}

/// The names from the front of `text`, which loses them; nothing when the line end is missing.
std::optional<std::vector<std::string>> take_header(std::string_view& text) {
  std::vector<std::string> cells(1);
  bool quoted = false;
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
    } else if (c == ',') {
      cells.emplace_back();
    } else if (c == '\n') {
      text.remove_prefix(i + 1);
      return cells;
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return std::nullopt;
}

bool is_time(std::string_view name) {
  return name == "time" || name == "Time";
}

/// Spaces around, and the quotes that some tools put around every cell.
std::string_view trimmed(std::string_view cell) {
  constexpr std::string_view kAround = " \t\r\"";
  const auto first = cell.find_first_not_of(kAround);
  if (first == std::string_view::npos) return {};
  return cell.substr(first, cell.find_last_not_of(kAround) - first + 1);
}

double number(std::string_view cell, const std::filesystem::path& file, std::size_t line) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc{} && end == cell.data() + cell.size()) return value;
  throw malformed(file, line, fmt::format("'{}' is not a number", cell));
}

/// The cells of one row, without its line end. Throws when they are not as many as the columns and the time.
void read_row(std::string_view row, std::size_t line, const std::filesystem::path& file, CsvResults& results) {
  const std::size_t expected = results.columns.size() + 1;
  std::size_t cells = 0;
  for (bool more = true; more; ++cells) {
    const auto comma = row.find(',');
    const auto cell = trimmed(row.substr(0, comma));
    more = comma != std::string_view::npos;
    row.remove_prefix(more ? comma + 1 : row.size());
    if (cells >= expected) continue;  // only counted
    const double value = cell.empty() ? kUnknown : number(cell, file, line);
    (cells == 0 ? results.times : results.columns[cells - 1]).push_back(value);
    if (cells > 0) results.known[cells - 1].push_back(!cell.empty());
  }
  if (cells != expected) throw malformed(file, line, fmt::format("{} cells where the header has {}", cells, expected));
}

}  // namespace

CsvResults read_csv(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream) throw Error(ErrorCode::FileFailed, fmt::format("cannot read '{}'", file.string()));
  return parse_csv(text, file);
}

CsvResults parse_csv(std::string_view text, const std::filesystem::path& file) {
  CsvResults results;
  const auto header = take_header(text);
  if (!header || !is_time(header->front())) throw malformed(file, 1, "no header that starts with 'time'");
  results.names.assign(header->begin() + 1, header->end());
  results.columns.resize(results.names.size());
  results.known.resize(results.names.size());
  for (std::size_t line = 2; !text.empty(); ++line) {
    const auto end = text.find('\n');
    results.cut = end == std::string_view::npos;
    if (results.cut) break;
    read_row(text.substr(0, end), line, file, results);
    text.remove_prefix(end + 1);
  }
  return results;
}

}  // namespace entrain
