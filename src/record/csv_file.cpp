
#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <optional>

#include "base/csv.hpp"
#include "base/values.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "record/results_file.hpp"
#include "record/row_file.hpp"
#include "record/shortest_decimal.hpp"

namespace entrain::recording {
namespace {

constexpr std::size_t kCellBytes = kNumberRoom + 1;  // with a comma or the line's end

/// Texts and bytes are always quoted: so a reader can distinguish them from numbers.
std::string cell_of(const Value& value) {
  const auto type = static_cast<ValueType>(value.index());
  const bool is_number = type != ValueType::String && type != ValueType::Binary;
  return is_number ? value_text(value) : base::csv_quoted(value_text(value));
}

/// What a file holds up to a time.
struct KeptRows {
  std::uint64_t bytes = 0;  ///< the header included
  std::optional<Time> last;
};

/// A line end inside quotes is text.
KeptRows rows_until(const std::filesystem::path& file, Time t, std::uint64_t most_at_t) {
  std::ifstream stream(file, std::ios::binary);
  KeptRows kept;
  std::uint64_t at = 0;
  bool quoted = false;
  bool in_first = true;
  std::string first;  // cell of the row
  for (char c = 0; stream.get(c);) {
    ++at;
    if (c == '"') quoted = !quoted;
    if (!quoted && c == ',') in_first = false;
    if (quoted || c != '\n') {
      if (in_first) first += c;
      continue;
    }
    double time = 0.0;
    const auto read = std::from_chars(first.data(), first.data() + first.size(), time);
    const bool header = kept.bytes == 0;
    if (!header && (read.ec != std::errc() || time > t || (time == t && most_at_t-- == 0))) break;
    if (!header) kept.last = time;
    kept.bytes = at;
    in_first = true;
    first.clear();
  }
  return kept;
}

std::string header_text(const RecordedLayout& layout) {
  std::string header = "time";
  for (const auto& column : layout.columns) header += ',' + base::csv_cell(column.name);
  return header + '\n';
}

/// `time`, then one column per recorded signal, numbers as the shortest text that reads back to the same value, texts
/// quoted, bytes as quoted hexadecimal digits; cells empty where a signal is not known.
class CsvFile : public ResultsFile {
 public:
  CsvFile(const std::filesystem::path& file, bool continued) : path_(file), continued_(continued) {
    if (!continued) file_.emplace(file);
  }

  void write_header(const RecordedLayout& layout) override {
    for (const auto& column : layout.columns) {
      groups_.push_back(column.group);
      discrete_.push_back(column.discrete);
      if (column.discrete) cells_.resize(std::max(cells_.size(), *column.discrete + 1));
    }
    const std::string header = header_text(layout);
    if (!continued_) return file_->write_header(header);
    std::string found(header.size(), '\0');
    std::ifstream(path_, std::ios::binary).read(found.data(), std::ssize(found));
    if (found != header) refuse(FactCode::ResultsOtherColumns);
  }
  void continue_after(std::optional<Time> last, std::uint64_t rows_there) override {
    if (!continued_) return;
    const KeptRows kept = rows_until(path_, last.value_or(-std::numeric_limits<Time>::infinity()), rows_there);
    if (kept.last != last) refuse(FactCode::ResultsRowMissing, {{"time", *last, "s"}});
    file_.emplace(path_, kept.bytes, kept.last);
  }

  void write(const RowBlock& block, RowRange rows) override {
    const std::size_t row_bytes = kCellBytes * (block.columns() + 1);
    decimals_.resize(block.columns());
    for (std::size_t row = rows.first; row < rows.end; ++row) {
      const double* values = block.values(row);
      for (std::size_t column = 0; column < decimals_.size(); ++column) {
        decimals_[column] = shortest_decimal(values[column]);
      }
      char* to = file_->begin_row(row_bytes + make_cells(block, row));
      to = write_number(to, shortest_decimal(block.time(row)));
      for (std::size_t column = 0; column < groups_.size(); ++column) {
        *to++ = ',';
        if (!block.known(row, groups_[column])) continue;
        if (discrete_[column]) {
          const std::string& cell = cells_[*discrete_[column]];
          to = std::copy(cell.begin(), cell.end(), to);
        } else {
          to = write_number(to, decimals_[column]);
        }
      }
      *to++ = '\n';
      file_->end_row(to, block.time(row));
    }
  }

  void flush() override {
    if (file_) file_->flush();
  }
  void sync() override {
    if (file_) file_->sync();
  }
  std::optional<Time> last_time() const override { return file_ ? file_->last_time() : std::nullopt; }

 private:
  [[noreturn]] void refuse(FactCode code, std::vector<FactValue> values = {}) const {
    throw Error(ErrorCode::FileFailed, {code, {path_.string()}, std::move(values)},
                {.subsystem = {}, .variable = {}, .time = {}, .remedy = "Leave --append away"});
  }
  /// Those of the row that are no real numbers; returns how many characters they have.
  std::size_t make_cells(const RowBlock& block, std::size_t row) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      cells_[i] = cell_of(block.discrete(row, i));
      bytes += cells_[i].size();
    }
    return bytes;
  }

  std::filesystem::path path_;
  bool continued_;
  std::optional<RowFile> file_;
  std::vector<std::size_t> groups_;                   // of each column
  std::vector<std::optional<std::size_t>> discrete_;  // of each column that is no real number
  std::vector<std::string> cells_;                    // of the row being written: those that are no real numbers
  std::vector<ShortestDecimal> decimals_;             // of the row being written
};

}  // namespace

std::unique_ptr<ResultsFile> csv_file(const std::filesystem::path& file) {
  return std::make_unique<CsvFile>(file, false);
}

std::unique_ptr<ResultsFile> continued_csv_file(const std::filesystem::path& file) {
  return std::make_unique<CsvFile>(file, true);
}

}  // namespace entrain::recording
