// MAT version 4 in the layout of Dymola and OpenModelica ("binTrans"): matrices Aclass, name, description, dataInfo,
// data_1 (what never changes) and data_2 (one column per time). The format has no way to append, but data_2 comes last:
// rows are added behind it, and a flush writes their number into the header.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/file_error.hpp"
#include "base/posix_write.hpp"
#include "base/values.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "record/mat_layout.hpp"
#include "record/results_file.hpp"

namespace entrain::recording {
namespace {

static_assert(std::endian::native == std::endian::little, "the type number of a matrix means little-endian");

// Doubles hold all integers up to here.
constexpr std::int64_t kLargestExact = std::int64_t{1} << 53;

void append_bytes(std::string& to, const void* data, std::size_t size) {
  to.append(static_cast<const char*>(data), size);
}

void append_header(std::string& to, mat::Type type, std::size_t rows, std::size_t columns, std::string_view name) {
  const mat::Header header{static_cast<std::int32_t>(type), static_cast<std::int32_t>(rows),
                           static_cast<std::int32_t>(columns), 0, static_cast<std::int32_t>(name.size() + 1)};
  append_bytes(to, &header, sizeof header);
  to.append(name).push_back('\0');
}

/// Texts as columns of a matrix of characters, filled up with zeros.
void append_texts(std::string& to, std::string_view name, const std::vector<std::string>& texts) {
  std::size_t longest = 1;
  for (const auto& text : texts) longest = std::max(longest, text.size());
  append_header(to, mat::Type::Text, longest, texts.size(), name);
  for (const auto& text : texts) {
    to += text;
    to.append(longest - text.size(), '\0');
  }
}

/// "position of the mass [m]"
std::string description_of(const RecordedLayout::Column& column) {
  if (is_text(column.type)) return column.description + std::string(mat::kTextMark);
  if (column.unit.empty()) return column.description;
  return fmt::format("{}{}[{}]", column.description, column.description.empty() ? "" : " ", column.unit);
}

class MatFile : public ResultsFile {
 public:
  explicit MatFile(std::filesystem::path file) : path_(std::move(file)) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) throw base::file_error("create", path_, errno);
  }
  ~MatFile() override { ::close(descriptor_); }
  MatFile(const MatFile&) = delete;
  MatFile& operator=(const MatFile&) = delete;

  void write_header(const RecordedLayout& layout) override {
    for (const auto& column : layout.columns) groups_.push_back(column.group);
    std::string text = tables(layout);
    columns_at_ = static_cast<off_t>(text.size() + offsetof(mat::Header, columns));
    append_header(text, mat::Type::Double, layout.columns.size() + 1, 0, "data_2");
    append(text);
  }

  void write(const RowBlock& block, RowRange rows) override {
    const std::size_t height = groups_.size() + 1;
    buffer_.resize(height * rows.count());
    double* to = buffer_.data();
    for (std::size_t row = rows.first; row < rows.end; ++row) {
      *to++ = block.time(row);
      for (std::size_t column = 0; column < groups_.size(); ++column) {
        const bool known = block.known(row, groups_[column]);
        *to++ = known ? block.value(row, column) : mat::unknown();
      }
    }
    if (rows_ + rows.count() > std::size_t{std::numeric_limits<std::int32_t>::max()})
      throw base::file_error("write", path_, EFBIG);
    append({reinterpret_cast<const char*>(buffer_.data()), buffer_.size() * sizeof(double)});
    rows_ += rows.count();
  }

  void flush() override {
    const auto columns = static_cast<std::int32_t>(rows_);
    if (::pwrite(descriptor_, &columns, sizeof columns, columns_at_) != sizeof columns) {
      throw base::file_error("write", path_, errno);
    }
  }

 private:
  static std::string tables(const RecordedLayout& layout) {
    std::vector<std::string> names{"time"};
    std::vector<std::string> descriptions{"Time in [s]"};
    std::vector<mat::DataInfo> places{mat::DataInfo{0, 1, 0, -1}};
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      names.push_back(layout.columns[i].name);
      descriptions.push_back(description_of(layout.columns[i]));
      places.push_back({2, static_cast<std::int32_t>(i + 2), 0, -1});
    }
    std::string text;
    append_class(text);
    append_texts(text, "name", names);
    append_texts(text, "description", descriptions);
    append_header(text, mat::Type::Integer, sizeof(mat::DataInfo) / sizeof(std::int32_t), places.size(), "dataInfo");
    append_bytes(text, places.data(), places.size() * sizeof(mat::DataInfo));
    append_header(text, mat::Type::Double, 1, 2, "data_1");
    append_bytes(text, &layout.start, sizeof layout.start);
    append_bytes(text, &layout.stop, sizeof layout.stop);
    return text;
  }

  /// The one matrix of texts that has them as rows.
  static void append_class(std::string& to) {
    constexpr std::array<std::string_view, 4> kRows{"Atrajectory", "1.1", "", "binTrans"};
    const std::size_t width = kRows[0].size();
    append_header(to, mat::Type::Text, kRows.size(), width, "Aclass");
    for (std::size_t column = 0; column < width; ++column) {
      for (const auto row : kRows) to.push_back(column < row.size() ? row[column] : ' ');
    }
  }

  void append(std::string_view data) {
    const auto result = base::write_all(descriptor_, data);
    if (result.error_number == 0) {
      complete_bytes_ += static_cast<off_t>(data.size());
      return;
    }
    [[maybe_unused]] const int ignored = ::ftruncate(descriptor_, complete_bytes_);
    throw base::file_error("write", path_, result.error_number);
  }

  std::filesystem::path path_;
  int descriptor_ = -1;
  off_t columns_at_ = 0;  // where the header of data_2 has its number of columns
  off_t complete_bytes_ = 0;
  std::size_t rows_ = 0;
  std::vector<std::size_t> groups_;  // of each column
  std::vector<double> buffer_;
};

bool is_exact_as_double(const Value& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* natural = std::get_if<std::uint64_t>(&value);
  return integer != nullptr ? -kLargestExact <= *integer && *integer <= kLargestExact
                            : natural == nullptr || *natural <= std::uint64_t{kLargestExact};
}

}  // namespace

void require_exact_in_mat(const std::filesystem::path& file, const RecordedLayout& layout, const RowBlock& block,
                          RowRange rows) {
  for (const auto& column : layout.columns) {
    if (!column.discrete) continue;
    for (std::size_t row = rows.first; row < rows.end; ++row) {
      const Value& value = block.discrete(row, *column.discrete);
      if (!block.known(row, column.group) || is_exact_as_double(value)) continue;
      throw Error(
          ErrorCode::FileFailed,
          {FactCode::IntegerTooLarge,
           {file.string(), column.name},
           {{"value", value_text(value)}, {"time", block.time(row), "s"}}},
          {.subsystem = {},
           .variable = {},
           .time = {},
           .remedy = "Use format = \"hdf5\" or \"csv\" in [record], or leave it out of the recorded variables"});
    }
  }
}

std::unique_ptr<ResultsFile> mat_file(const std::filesystem::path& file) {
  return std::make_unique<MatFile>(file);
}

}  // namespace entrain::recording
