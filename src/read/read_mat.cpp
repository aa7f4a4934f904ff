#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <optional>

#include "base/text_file.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "read/results_readers.hpp"
#include "record/column_source.hpp"
#include "record/mat_layout.hpp"

namespace entrain::reading {
namespace {

constexpr double kSecondTable = 2.0;  // data_2, in dataInfo

struct StoredMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> numbers;  // column by column
  double at(std::size_t row, std::size_t column) const { return numbers[column * rows + row]; }
};

/// A matrix that stays in the file.
struct MatrixPlace {
  std::uintmax_t at = 0;  // of its numbers
  std::int32_t type = 0;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

std::size_t width_of(std::int32_t type) {
  switch (static_cast<recording::mat::Type>(type)) {
    case recording::mat::Type::Double: return 8;
    case recording::mat::Type::Float:
    case recording::mat::Type::Integer: return 4;
    case recording::mat::Type::Text: return 1;
  }
  return 0;
}

template <class T>
double as_number(const char* bytes) {
  T value{};
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

double number_at(const char* bytes, std::int32_t type) {
  switch (static_cast<recording::mat::Type>(type)) {
    case recording::mat::Type::Double: return as_number<double>(bytes);
    case recording::mat::Type::Float: return as_number<float>(bytes);
    case recording::mat::Type::Integer: return as_number<std::int32_t>(bytes);
    case recording::mat::Type::Text: break;
  }
  return as_number<unsigned char>(bytes);
}

constexpr const char* kTrajectories = "data_2";

/// MAT version 4 with the matrices of Dymola and OpenModelica, in either orientation. The trajectories stay in the
/// file.
class MatSource final : public recording::ColumnSource {
 public:
  explicit MatSource(const std::filesystem::path& file) : path_(file), file_(file, "Name a MAT file") {
    // The trajectories come last; behind them may lie rows that a killed run had not counted yet.
    while (position_ < file_.size() && !cut_ && !data_) take_matrix();
    transposed_ = texts("Aclass", false).size() > 3 && texts("Aclass", false)[3].starts_with("binTrans");
    find_variables();
  }

  Results read(const std::vector<bool>& chosen) override {
    Results results;
    results.cut = cut_;
    std::vector<std::size_t> wanted{0};  // rows of data_2 as "binTrans" has it: the time, then the others
    SharedRows shared;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (!is_chosen(chosen, i)) continue;
      wanted.push_back(variables_[i].row);
      shared.columns.push_back({variables_[i].column, {}});
    }
    auto rows = rows_of_data(wanted);
    shared.times = std::move(rows[0]);
    std::size_t next = 1;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (!is_chosen(chosen, i)) continue;
      auto& [column, known] = shared.columns[next - 1];
      column.values = std::move(rows[next++]);
      known.resize(column.values.size());
      for (std::size_t k = 0; k < known.size(); ++k) known[k] = !recording::mat::is_unknown(column.values[k]);
      if (!variables_[i].negative) continue;
      for (double& value : column.values) value = -value;
    }
    place_where_known(std::move(shared), results);
    return results;
  }

 private:
  struct Variable {
    Results::Column column;  // without values
    std::size_t row = 0;
    bool negative = false;
  };

  Error unreadable(const std::string& why) const {
    return Error(ErrorCode::FileFailed, {FactCode::FileFailed, {path_.string()}, {{"what", "read"}, {"why", why}}});
  }

  void read_bytes(char* to, std::size_t count) {
    if (file_.read(to, count) < count) throw unreadable("it ends in the middle of a matrix");
  }

  void find_variables() {
    const auto names = texts("name", transposed_);
    const auto descriptions = texts("description", transposed_);
    const StoredMatrix info = oriented(matrix("dataInfo"), transposed_);
    if (!data_) throw unreadable(fmt::format("it has no matrix '{}'", kTrajectories));
    const std::size_t data_rows = transposed_ ? data_->rows : data_->columns;
    if (info.columns < names.size() || info.rows < 2 || data_rows == 0) throw unreadable("it holds no trajectories");
    rows_ = transposed_ ? data_->columns : data_->rows;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (info.at(0, i) != kSecondTable) continue;  // the time itself, and what never changes
      const double place = info.at(1, i);
      const bool inside = std::abs(place) >= 1.0 && std::abs(place) <= static_cast<double>(data_rows);
      if (!inside) throw unreadable(fmt::format("'{}' lies outside data_2", names[i]));
      Variable variable{{}, static_cast<std::size_t>(std::abs(place)) - 1, place < 0.0};
      variable.column.name = names[i];
      if (i < descriptions.size()) split_unit(descriptions[i], variable.column);
      names_.push_back(names[i]);
      variables_.push_back(std::move(variable));
    }
  }

  void take_matrix() {
    recording::mat::Header header{};
    file_.seek(position_);
    read_bytes(reinterpret_cast<char*>(&header), sizeof header);
    const std::size_t width = width_of(header.type);
    const auto room = file_.size() - position_ - sizeof header;
    if (width == 0 || header.rows < 0 || header.columns < 0 || header.name_bytes < 1 ||
        static_cast<std::size_t>(header.name_bytes) > room) {
      throw unreadable("it is no MAT file of version 4");
    }
    std::string name(static_cast<std::size_t>(header.name_bytes), '\0');
    read_bytes(name.data(), name.size());
    name.pop_back();
    position_ += sizeof header + static_cast<std::size_t>(header.name_bytes);
    MatrixPlace place{position_, header.type, static_cast<std::size_t>(header.rows),
                      static_cast<std::size_t>(header.columns)};
    const std::uintmax_t left = (file_.size() - position_) / width;
    if (place.rows > 0 && left / place.rows < place.columns) {
      place.columns = left / place.rows;  // killed before the data that the header promises were written
      cut_ = true;
    }
    position_ += place.rows * place.columns * width;
    if (name == kTrajectories) {
      data_ = place;
    } else {
      matrices_[name] = whole(place);
    }
  }

  StoredMatrix whole(const MatrixPlace& place) {
    StoredMatrix stored{place.rows, place.columns, {}};
    const std::size_t width = width_of(place.type);
    std::vector<char> bytes(place.rows * place.columns * width);
    read_bytes(bytes.data(), bytes.size());
    stored.numbers.reserve(place.rows * place.columns);
    for (std::size_t i = 0; i < bytes.size(); i += width) stored.numbers.push_back(number_at(&bytes[i], place.type));
    return stored;
  }

  /// Of the trajectories as "binTrans" has them, a variable per row.
  std::vector<std::vector<double>> rows_of_data(const std::vector<std::size_t>& wanted) {
    std::vector<std::vector<double>> rows(wanted.size(), std::vector<double>(rows_));
    const std::size_t width = width_of(data_->type);
    constexpr std::size_t kNumbers = std::size_t{1} << 20U;
    std::vector<char> bytes;
    if (!transposed_) {
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        for (std::size_t from = 0; from < rows_; from += kNumbers) {
          const std::size_t count = std::min(kNumbers, rows_ - from);
          file_.seek(data_->at + (wanted[i] * rows_ + from) * width);
          bytes.resize(count * width);
          read_bytes(bytes.data(), bytes.size());
          for (std::size_t k = 0; k < count; ++k) rows[i][from + k] = number_at(&bytes[k * width], data_->type);
        }
      }
      return rows;
    }
    const std::size_t record = data_->rows * width;  // bytes of all variables at one time
    const std::size_t most = std::max<std::size_t>(1, kNumbers / record);
    file_.seek(data_->at);
    for (std::size_t from = 0; from < rows_; from += most) {
      const std::size_t count = std::min(most, rows_ - from);
      bytes.resize(count * record);
      read_bytes(bytes.data(), bytes.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const char* at = bytes.data() + wanted[i] * width;
        for (std::size_t k = 0; k < count; ++k) rows[i][from + k] = number_at(at + k * record, data_->type);
      }
    }
    return rows;
  }

  const StoredMatrix& matrix(const std::string& name) const {
    const auto found = matrices_.find(name);
    if (found == matrices_.end()) throw unreadable(fmt::format("it has no matrix '{}'", name));
    return found->second;
  }

  /// "binTrans" has a variable per row and a time per column; "binNormal" the other way round.
  static StoredMatrix oriented(const StoredMatrix& stored, bool transposed) {
    if (transposed) return stored;
    StoredMatrix turned{stored.columns, stored.rows, {}};
    if (stored.numbers.empty()) return turned;  // its other side may be any number
    for (std::size_t row = 0; row < stored.rows; ++row) {
      for (std::size_t column = 0; column < stored.columns; ++column) turned.numbers.push_back(stored.at(row, column));
    }
    return turned;
  }

  std::vector<std::string> texts(const std::string& name, bool in_columns) const {
    const StoredMatrix letters = oriented(matrix(name), in_columns);
    std::vector<std::string> result;
    if (letters.numbers.empty()) return result;  // likewise
    for (std::size_t column = 0; column < letters.columns; ++column) {
      std::string text;
      for (std::size_t row = 0; row < letters.rows; ++row) text += letter_of(letters.at(row, column));
      text.erase(std::min(text.find('\0'), text.size()));
      text.erase(text.find_last_not_of(' ') + 1);
      result.push_back(std::move(text));
    }
    return result;
  }

  static char letter_of(double code) {
    const bool is_letter = code >= 0.0 && code <= std::numeric_limits<unsigned char>::max();
    return is_letter ? static_cast<char>(static_cast<unsigned char>(code)) : '?';
  }

  /// "position of the mass [m]"
  static void split_unit(std::string text, Results::Column& column) {
    column.text = text.ends_with(recording::mat::kTextMark);
    if (column.text) text.resize(text.size() - recording::mat::kTextMark.size());
    const auto open = text.rfind('[');
    const bool has_unit = open != std::string::npos && text.ends_with(']');
    column.unit = has_unit ? text.substr(open + 1, text.size() - open - 2) : "";
    column.description = has_unit ? text.substr(0, open) : text;
    column.description.erase(column.description.find_last_not_of(' ') + 1);
  }

  std::filesystem::path path_;
  base::RegularFile file_;
  std::uintmax_t position_ = 0;
  bool cut_ = false;
  bool transposed_ = false;
  std::optional<MatrixPlace> data_;
  std::vector<Variable> variables_;
  std::map<std::string, StoredMatrix> matrices_;
};

}  // namespace

std::unique_ptr<recording::ColumnSource> mat_source(const std::filesystem::path& file) {
  return std::make_unique<MatSource>(file);
}

}  // namespace entrain::reading
