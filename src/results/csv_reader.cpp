#include "results/csv_reader.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/csv.hpp"
#include "entrain/error.hpp"

namespace entrain {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Error malformed(const std::filesystem::path& file, std::size_t line, const std::string& what) {
  return Error(ErrorCode::FileFailed, fmt::format("{}:{}: {}", file.string(), line, what));
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
  if (const auto value = csv_number(cell)) return *value;
  if (cell == "true" || cell == "false") return cell == "true" ? 1.0 : 0.0;
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

/// A row with quoted cells, which may hold texts: those are no numbers.
void read_row_with_texts(const std::vector<std::string>& cells, std::size_t line, const std::filesystem::path& file,
                         CsvResults& results) {
  const std::size_t expected = results.columns.size() + 1;
  if (cells.size() != expected) {
    throw malformed(file, line, fmt::format("{} cells where the header has {}", cells.size(), expected));
  }
  results.times.push_back(number(trimmed(cells[0]), file, line));
  for (std::size_t i = 1; i < expected; ++i) {
    const auto value = csv_number(trimmed(cells[i]));
    const bool yes = cells[i] == "true";
    results.columns[i - 1].push_back(value ? *value : yes ? 1.0 : cells[i] == "false" ? 0.0 : kUnknown);
    results.known[i - 1].push_back(!cells[i].empty());
  }
}

}  // namespace

CsvResults read_csv(const std::filesystem::path& file) {
  return parse_csv(read_csv_text(file), file);
}

CsvResults parse_csv(std::string_view text, const std::filesystem::path& file) {
  CsvResults results;
  const auto header = take_csv_record(text);
  if (!header || !is_time(header->front())) throw malformed(file, 1, "no header that starts with 'time'");
  results.names.assign(header->begin() + 1, header->end());
  results.columns.resize(results.names.size());
  results.known.resize(results.names.size());
  for (std::size_t line = 2; !text.empty(); ++line) {
    const auto end = text.find('\n');
    results.cut = end == std::string_view::npos;
    if (results.cut) break;
    if (text.substr(0, end).find('"') != std::string_view::npos) {
      const auto cells = take_csv_record(text);
      results.cut = !cells;
      if (results.cut) break;
      read_row_with_texts(*cells, line, file, results);
      continue;
    }
    read_row(text.substr(0, end), line, file, results);
    text.remove_prefix(end + 1);
  }
  return results;
}

}  // namespace entrain
