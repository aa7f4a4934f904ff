#include "read/csv_reader.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/csv.hpp"
#include "base/text_file.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::reading {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct RowPlace {
  const std::filesystem::path& file;
  std::size_t line;
};

Error malformed(const RowPlace& place, Fact fact) {
  fact.where = {place.file.string(), static_cast<int>(place.line), 0};
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

double number(std::string_view cell, const RowPlace& place) {
  if (const auto value = base::csv_number(cell)) return *value;
  if (cell == "true" || cell == "false") return cell == "true" ? 1.0 : 0.0;
  throw malformed(place, {FactCode::CsvNoNumber, {}, {{"cell", cell}}});
}

/// The columns that are kept of a file; empty = all. Those behind its end are not.
using KeptColumns = std::vector<bool>;

bool is_chosen(const KeptColumns& chosen, std::size_t column) {
  return chosen.empty() || (column < chosen.size() && chosen[column]);
}

/// The cells of one row, without its line end. Throws when they are not as many as the columns and the time.
void read_row(std::string_view row, const RowPlace& place, const KeptColumns& chosen, CsvResults& results) {
  const std::size_t expected = results.columns.size() + 1;
  std::size_t cells = 0;
  for (bool more = true; more; ++cells) {
    const auto comma = row.find(',');
    const auto whole = row.substr(0, comma);
    more = comma != std::string_view::npos;
    row.remove_prefix(more ? comma + 1 : row.size());
    if (cells >= expected || (cells > 0 && !is_chosen(chosen, cells - 1))) continue;  // only counted
    const auto cell = trimmed(whole);
    const double value = cell.empty() ? kUnknown : number(cell, place);
    (cells == 0 ? results.times : results.columns[cells - 1]).push_back(value);
    if (cells > 0) results.known[cells - 1].push_back(!cell.empty());
  }
  if (cells != expected) throw malformed(place, wrong_count(cells, expected));
}

/// The numbers of a row with quoted cells.
void read_row_with_texts(const std::vector<std::string>& cells, const std::vector<bool>& is_text, const RowPlace& place,
                         const KeptColumns& chosen, CsvResults& results) {
  const std::size_t expected = results.columns.size() + 1;
  if (cells.size() != expected) throw malformed(place, wrong_count(cells.size(), expected));
  results.times.push_back(number(trimmed(cells[0]), place));
  for (std::size_t i = 1; i < expected; ++i) {
    if (!is_chosen(chosen, i - 1)) continue;
    const auto value = is_text[i] ? std::nullopt : base::csv_number(trimmed(cells[i]));
    const bool yes = !is_text[i] && cells[i] == "true";
    const bool no = !is_text[i] && cells[i] == "false";
    results.columns[i - 1].push_back(value ? *value : yes ? 1.0 : no ? 0.0 : kUnknown);
    results.known[i - 1].push_back(is_text[i] || !cells[i].empty());  // a text can be empty
    if (!value && !yes && !no && results.known[i - 1].back()) results.text[i - 1] = true;
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

void check_time(const CsvResults& results, const RowPlace& place) {
  const auto& times = results.times;
  if (std::isnan(times.back())) throw malformed(place, {FactCode::CsvNoTime});
  if (times.size() > 1 && times.back() < times[times.size() - 2]) {
    throw malformed(place,
                    {FactCode::CsvTimeFalls, {}, {{"from", times[times.size() - 2], "s"}, {"to", times.back(), "s"}}});
  }
}

/// Takes a file piece by piece.
class CsvParser {
 public:
  CsvParser(const std::filesystem::path& file, OpenEnd end, const KeptColumns& chosen)
      : file_(file), end_(end), chosen_(chosen) {}

  /// What is complete at the front of `text`, which loses it; with `whole` nothing follows.
  void take(std::string_view& text, bool whole) {
    if (line_ == 0 && !take_header(text, whole)) return;
    while (!text.empty() && !results_.cut) {
      if (text.find('\n') == std::string_view::npos) {
        if (whole) results_.cut = end_ == OpenEnd::Cut || !take_open_row(text);
        if (whole) text = {};
        return;
      }
      if (!take_row(text)) {
        if (!whole) return;
        results_.cut = true;
      }
    }
  }

  /// So many rows will come, about.
  void reserve(std::size_t rows) {
    results_.times.reserve(rows);
    for (std::size_t i = 0; i < results_.columns.size(); ++i) {
      if (!is_chosen(chosen_, i)) continue;
      results_.columns[i].reserve(rows);
      results_.known[i].reserve(rows);
    }
  }
  CsvResults& results() { return results_; }

 private:
  bool take_header(std::string_view& text, bool whole) {
    const auto from = text;
    const auto header = base::take_csv_record(text);
    if (!header && !whole) return false;
    if (!header || !is_time(trimmed(header->front()))) throw malformed({file_, 1}, no_header(from));
    line_ = 1;
    results_.names.assign(header->begin() + 1, header->end());
    results_.columns.resize(results_.names.size());
    results_.known.resize(results_.names.size());
    results_.text.resize(results_.names.size());
    return true;
  }

  /// The row at the front of `text`; false when it is incomplete.
  bool take_row(std::string_view& text) {
    const RowPlace place{file_, line_ + 1};
    const auto end = text.find('\n');
    const auto row = text.substr(0, end);
    if (row.find('"') != std::string_view::npos) {
      std::vector<bool> quoted;
      const auto cells = base::take_csv_record(text, ',', &quoted);
      if (!cells) return false;
      quotes_numbers_ = quotes_numbers_ || quoted.front();
      if (quotes_numbers_) quoted.assign(quoted.size(), false);
      read_row_with_texts(*cells, quoted, place, chosen_, results_);
      ++line_;
    } else {
      text.remove_prefix(end + 1);
      ++line_;
      if (trimmed(row).empty()) return true;
      read_row(row, place, chosen_, results_);
    }
    check_time(results_, place);
    return true;
  }

  /// A row without a line end, as if it had one, when it has all its cells.
  bool take_open_row(std::string_view text) {
    const std::string closed = std::string(text) + '\n';
    std::string_view row = closed;
    std::string_view counted = closed;
    const auto cells = base::take_csv_record(counted);
    if (trimmed(text).empty()) return true;
    return cells && cells->size() == results_.columns.size() + 1 && take_row(row);
  }

  const std::filesystem::path& file_;
  OpenEnd end_;
  const KeptColumns& chosen_;
  std::size_t line_ = 0;         // taken
  bool quotes_numbers_ = false;  // so do some tools, around the time as well; else quotes say "text"
  CsvResults results_;
};

constexpr std::size_t kPiece = std::size_t{1} << 20U;  // bytes
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Calls `after` with the rows that the file has, about, after every piece, until it returns false.
template <class After>
void take_file(const std::filesystem::path& file, CsvParser& parser, After&& after) {
  base::RegularFile source(file, "Name a CSV file");
  std::string buffer;
  std::size_t taken = 0;
  for (std::size_t piece = kPiece;;) {
    const std::size_t kept = buffer.size();
    buffer.resize(kept + piece);
    const std::size_t got = source.read(buffer.data() + kept, piece);
    buffer.resize(kept + got);
    std::string_view rest = buffer;
    if (taken == 0 && rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
    parser.take(rest, got < piece);
    const std::size_t count = buffer.size() - rest.size();
    if (got < piece || parser.results().cut) return;
    if (count == 0) piece *= 2;  // a long row
    taken += count;
    buffer.erase(0, count);
    const double rows = static_cast<double>(parser.results().times.size());
    const double of_taken = static_cast<double>(source.size()) / static_cast<double>(std::max<std::size_t>(1, taken));
    if (!after(static_cast<std::size_t>(1.01 * rows * of_taken))) return;
  }
}

}  // namespace

CsvResults read_csv(const std::filesystem::path& file, OpenEnd end, const std::vector<bool>& chosen) {
  CsvParser parser(file, end, chosen);
  bool is_first = true;
  take_file(file, parser, [&](std::size_t rows) {
    if (is_first && rows > 0) parser.reserve(rows);
    is_first = is_first && rows == 0;
    return true;
  });
  return std::move(parser.results());
}

CsvOutline outline_csv(const std::filesystem::path& file) {
  const KeptColumns none{false};
  CsvParser parser(file, OpenEnd::Complete, none);
  std::size_t rows = 0;
  take_file(file, parser, [&](std::size_t of_file) { return (rows = of_file) == 0; });
  return {std::move(parser.results().names), std::max(rows, parser.results().times.size())};
}

CsvResults parse_csv(std::string_view text, const std::filesystem::path& file, OpenEnd end) {
  const KeptColumns all;
  CsvParser parser(file, end, all);
  parser.take(text, true);
  return std::move(parser.results());
}

}  // namespace entrain::reading
