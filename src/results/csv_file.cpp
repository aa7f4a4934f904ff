#include <charconv>
#include <cmath>

#include "results/results_file.hpp"
#include "results/row_file.hpp"

namespace entrain {
namespace {

// "-2.2250738585072014e-308" is the longest double in shortest form; then a comma or the line's end.
constexpr std::size_t kLongestNumber = 24;
constexpr std::size_t kCellBytes = kLongestNumber + 1;

char* write_number(char* to, double value) {
  if (std::isnan(value)) {
    *to++ = 'N';
    *to++ = 'a';
    *to++ = 'N';
    return to;
  }
  return std::to_chars(to, to + kLongestNumber, value).ptr;
}

/// Quoted where RFC 4180 asks for it.
std::string csv_name(const std::string& name) {
  if (name.find_first_of(",\"\r\n") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += '"';
    text += c;
  }
  return text + '"';
}

/// `time`, then one column per recorded signal, numbers as the shortest text that reads back to the same double; cells
/// empty where a signal is not known.
class CsvFile : public ResultsFile {
 public:
  explicit CsvFile(const std::filesystem::path& file) : file_(file) {}

  void write_header(const RecordedLayout& layout) override {
    std::string header = "time";
    for (const auto& column : layout.columns) {
      header += ',' + csv_name(column.name);
      groups_.push_back(column.group);
    }
    file_.write_header(header + '\n');
  }

  void write(const RowBlock& block) override {
    const std::size_t row_bytes = kCellBytes * (block.columns() + 1);
    for (std::size_t row = 0; row < block.rows(); ++row) {
      char* to = write_number(file_.begin_row(row_bytes), block.time(row));
      for (std::size_t column = 0; column < groups_.size(); ++column) {
        *to++ = ',';
        if (block.known(row, groups_[column])) to = write_number(to, block.value(row, column));
      }
      *to++ = '\n';
      file_.end_row(to);
    }
    file_.flush();
  }

 private:
  RowFile file_;
  std::vector<std::size_t> groups_;  // of each column
};

}  // namespace

std::unique_ptr<ResultsFile> csv_file(const std::filesystem::path& file) {
  return std::make_unique<CsvFile>(file);
}

}  // namespace entrain
