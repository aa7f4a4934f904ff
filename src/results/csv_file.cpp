#include <algorithm>

#include "base/csv.hpp"
#include "results/results_file.hpp"
#include "results/row_file.hpp"
#include "results/shortest_decimal.hpp"

namespace entrain {
namespace {

constexpr std::size_t kCellBytes = kNumberRoom + 1;  // with a comma or the line's end

/// `time`, then one column per recorded signal, numbers as the shortest text that reads back to the same value, texts
/// quoted, bytes as quoted hexadecimal digits; cells empty where a signal is not known.
class CsvFile : public ResultsFile {
 public:
  explicit CsvFile(const std::filesystem::path& file) : file_(file) {}

  void write_header(const RecordedLayout& layout) override {
    std::string header = "time";
    for (const auto& column : layout.columns) {
      header += ',' + csv_cell(column.name);
      groups_.push_back(column.group);
      texts_.push_back(column.text);
      if (column.text) text_columns_ = std::max(text_columns_, *column.text + 1);
    }
    file_.write_header(header + '\n');
  }

  void write(const RowBlock& block) override {
    const std::size_t row_bytes = kCellBytes * (block.columns() + 1);
    decimals_.resize(block.columns());
    for (std::size_t row = 0; row < block.rows(); ++row) {
      const double* values = block.values(row);
      for (std::size_t column = 0; column < decimals_.size(); ++column) {
        decimals_[column] = shortest_decimal(values[column]);
      }
      char* to = file_.begin_row(row_bytes + text_bytes(block, row));
      to = write_number(to, shortest_decimal(block.time(row)));
      for (std::size_t column = 0; column < groups_.size(); ++column) {
        *to++ = ',';
        if (!block.known(row, groups_[column])) continue;
        if (texts_[column]) {
          const std::string& text = block.text(row, *texts_[column]);
          to = std::copy(text.begin(), text.end(), to);
        } else {
          to = write_number(to, decimals_[column]);
        }
      }
      *to++ = '\n';
      file_.end_row(to);
    }
  }

  void flush() override { file_.flush(); }

 private:
  std::size_t text_bytes(const RowBlock& block, std::size_t row) const {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < text_columns_; ++i) bytes += block.text(row, i).size();
    return bytes;
  }

  RowFile file_;
  std::vector<std::size_t> groups_;                // of each column
  std::vector<std::optional<std::size_t>> texts_;  // of each column that is no real number
  std::size_t text_columns_ = 0;
  std::vector<ShortestDecimal> decimals_;  // of the row being written
};

}  // namespace

std::unique_ptr<ResultsFile> csv_file(const std::filesystem::path& file) {
  return std::make_unique<CsvFile>(file);
}

}  // namespace entrain
