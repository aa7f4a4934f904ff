#include "read/csv_reader.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/csv.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::reading {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

Error malformed(const std::filesystem::path& file, std::size_t line, Fact fact) {
  fact.where = {file.string(), static_cast<int>(line), 0};
  return Error(ErrorCode::FileFailed, std::move(fact));
}

Fact wrong_count(std::size_t cells, std::size_t expected) {
  return {FactCode::CsvCellCount, {}, {{"cells", cells}, {"expected", expected}}};
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
  if (const auto value = base::csv_number(cell)) return *value;
  if (cell == "true" || cell == "false") return cell == "true" ? 1.0 : 0.0;
  throw malformed(file, line, {FactCode::CsvNoNumber, {}, {{"cell", cell}}});
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
  if (cells != expected) throw malformed(file, line, wrong_count(cells, expected));
}

/// A row with quoted cells, which may hold texts: those are no numbers.
void read_row_with_texts(const std::vector<std::string>& cells, std::size_t line, const std::filesystem::path& file,
                         CsvResults& results) {
  const std::size_t expected = results.columns.size() + 1;
  if (cells.size() != expected) {
    throw malformed(file, line, wrong_count(cells.size(), expected));
  }
  results.times.push_back(number(trimmed(cells[0]), file, line));
  for (std::size_t i = 1; i < expected; ++i) {
    const auto value = base::csv_number(trimmed(cells[i]));
    const bool yes = cells[i] == "true";
    const bool no = cells[i] == "false";
    results.columns[i - 1].push_back(value ? *value : yes ? 1.0 : no ? 0.0 : kUnknown);
    results.known[i - 1].push_back(!cells[i].empty());
    if (!value && !yes && !no && !cells[i].empty()) results.text[i - 1] = true;
  }
}

/// What a file is whose first line does not begin with the time.
Fact no_header(std::string_view text) {
  const auto first_line = text.substr(0, text.find('\n'));
  if (text.empty()) return {FactCode::CsvEmpty};
  if (is_time(trimmed(first_line.substr(0, first_line.find(','))))) return {FactCode::CsvHeaderCut};
  for (const auto& [separator, name] : {std::pair{';', "semicolons"}, std::pair{'\t', "tabs"}}) {
    if (is_time(trimmed(first_line.substr(0, first_line.find(separator))))) {
      return {FactCode::CsvSeparator, {}, {{"separator", name}}};
    }
  }
  return {FactCode::CsvNoHeader, {}, {{"first", trimmed(first_line.substr(0, 40))}}};
}

void check_time(const CsvResults& results, std::size_t line, const std::filesystem::path& file) {
  const auto& times = results.times;
  if (std::isnan(times.back())) throw malformed(file, line, {FactCode::CsvNoTime});
  if (times.size() > 1 && times.back() < times[times.size() - 2]) {
    throw malformed(file, line,
                    {FactCode::CsvTimeFalls, {}, {{"from", times[times.size() - 2], "s"}, {"to", times.back(), "s"}}});
  }
}

/// Takes the row at the front of `text`; false when it is incomplete.
bool take_row(std::string_view& text, std::size_t line, const std::filesystem::path& file, CsvResults& results) {
  const auto end = text.find('\n');
  const auto row = text.substr(0, end);
  if (row.find('"') != std::string_view::npos) {
    const auto cells = base::take_csv_record(text);
    if (!cells) return false;
    read_row_with_texts(*cells, line, file, results);
  } else {
    text.remove_prefix(end + 1);
    if (trimmed(row).empty()) return true;
    read_row(row, line, file, results);
  }
  check_time(results, line, file);
  return true;
}

/// A row without a line end, as if it had one, when it has all its cells.
bool take_open_row(std::string_view text, std::size_t line, const std::filesystem::path& file, CsvResults& results) {
  const std::string closed = std::string(text) + '\n';
  std::string_view row = closed;
  std::string_view counted = closed;
  const auto cells = base::take_csv_record(counted);
  if (trimmed(text).empty()) return true;
  return cells && cells->size() == results.columns.size() + 1 && take_row(row, line, file, results);
}

}  // namespace

CsvResults read_csv(const std::filesystem::path& file, OpenEnd end) {
  return parse_csv(base::read_csv_text(file), file, end);
}

CsvResults parse_csv(std::string_view text, const std::filesystem::path& file, OpenEnd end) {
  CsvResults results;
  const auto whole = text;
  const auto header = base::take_csv_record(text);
  if (!header || !is_time(trimmed(header->front()))) throw malformed(file, 1, no_header(whole));
  results.names.assign(header->begin() + 1, header->end());
  results.columns.resize(results.names.size());
  results.known.resize(results.names.size());
  results.text.resize(results.names.size());
  for (std::size_t line = 2; !text.empty() && !results.cut; ++line) {
    if (text.find('\n') == std::string_view::npos) {
      results.cut = end == OpenEnd::Cut || !take_open_row(text, line, file, results);
      break;
    }
    results.cut = !take_row(text, line, file, results);
  }
  return results;
}

}  // namespace entrain::reading
