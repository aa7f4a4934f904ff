#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "read/results_readers.hpp"
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

/// MAT version 4 with the matrices of Dymola and OpenModelica, in either orientation.
class MatReader {
 public:
  explicit MatReader(const std::filesystem::path& file) : path_(file) {
    std::ifstream stream(file, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(stream), {});
    if (!stream) throw unreadable("it is missing");
    // The trajectories come last; behind them may lie rows that a killed run had not counted yet.
    while (position_ < bytes_.size() && !cut_ && matrices_.count("data_2") == 0) read_matrix();
  }

  Results read() {
    const bool transposed = texts("Aclass", false).size() > 3 && texts("Aclass", false)[3].starts_with("binTrans");
    const auto names = texts("name", transposed);
    const auto descriptions = texts("description", transposed);
    const StoredMatrix info = oriented(matrix("dataInfo"), transposed);
    const StoredMatrix data = oriented(matrix("data_2"), transposed);
    if (info.columns < names.size() || info.rows < 2 || data.rows == 0) throw unreadable("it holds no trajectories");
    Results results;
    results.cut = cut_;
    const auto times = row_of(data, 0);
    std::vector<std::vector<bool>> known_on_axis;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (info.at(0, i) != kSecondTable) continue;  // the time itself, and what never changes
      const double place = info.at(1, i);
      const bool inside = std::abs(place) >= 1.0 && std::abs(place) <= static_cast<double>(data.rows);
      if (!inside) throw unreadable(fmt::format("'{}' lies outside data_2", names[i]));
      const auto row = static_cast<std::size_t>(std::abs(place)) - 1;
      Results::Column column;
      column.name = names[i];
      column.values = row_of(data, row);
      if (i < descriptions.size()) split_unit(descriptions[i], column);
      std::vector<bool> known(times.size());
      for (std::size_t k = 0; k < known.size(); ++k) known[k] = !recording::mat::is_unknown(column.values[k]);
      if (place < 0.0) {
        for (double& value : column.values) value = -value;
      }
      add_where_known(results, known_on_axis, times, std::move(known), std::move(column));
    }
    return results;
  }

 private:
  Error unreadable(const std::string& why) const {
    return Error(ErrorCode::FileFailed, {FactCode::FileFailed, {path_.string()}, {{"what", "read"}, {"why", why}}});
  }

  void read_matrix() {
    recording::mat::Header header{};
    if (bytes_.size() - position_ < sizeof header) throw unreadable("it ends in the middle of a matrix");
    std::memcpy(&header, bytes_.data() + position_, sizeof header);
    const std::size_t width = width_of(header.type);
    const auto room = bytes_.size() - position_ - sizeof header;
    if (width == 0 || header.rows < 0 || header.columns < 0 || header.name_bytes < 1 ||
        static_cast<std::size_t>(header.name_bytes) > room) {
      throw unreadable("it is no MAT file of version 4");
    }
    position_ += sizeof header;
    const std::string name(bytes_.data() + position_, static_cast<std::size_t>(header.name_bytes) - 1);
    position_ += static_cast<std::size_t>(header.name_bytes);
    StoredMatrix result{static_cast<std::size_t>(header.rows), static_cast<std::size_t>(header.columns), {}};
    const std::size_t left = (bytes_.size() - position_) / width;
    if (result.rows > 0 && left / result.rows < result.columns) {
      result.columns = left / result.rows;  // killed before the data that the header promises were written
      cut_ = true;
    }
    for (std::size_t i = 0; i < result.rows * result.columns; ++i) result.numbers.push_back(number(header.type));
    matrices_[name] = std::move(result);
  }

  static std::size_t width_of(std::int32_t type) {
    switch (static_cast<recording::mat::Type>(type)) {
      case recording::mat::Type::Double: return 8;
      case recording::mat::Type::Float:
      case recording::mat::Type::Integer: return 4;
      case recording::mat::Type::Text: return 1;
    }
    return 0;
  }

  template <class T>
  double take() {
    T value{};
    std::memcpy(&value, bytes_.data() + position_, sizeof value);
    position_ += sizeof value;
    return static_cast<double>(value);
  }
  double number(std::int32_t type) {
    switch (static_cast<recording::mat::Type>(type)) {
      case recording::mat::Type::Double: return take<double>();
      case recording::mat::Type::Float: return take<float>();
      case recording::mat::Type::Integer: return take<std::int32_t>();
      case recording::mat::Type::Text: break;
    }
    return take<unsigned char>();
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

  static std::vector<double> row_of(const StoredMatrix& data, std::size_t row) {
    std::vector<double> values(data.columns);
    for (std::size_t i = 0; i < data.columns; ++i) values[i] = data.at(row, i);
    return values;
  }

  /// "position of the mass [m]"
  static void split_unit(const std::string& text, Results::Column& column) {
    const auto open = text.rfind('[');
    const bool has_unit = open != std::string::npos && text.ends_with(']');
    column.unit = has_unit ? text.substr(open + 1, text.size() - open - 2) : "";
    column.description = has_unit ? text.substr(0, open) : text;
    column.description.erase(column.description.find_last_not_of(' ') + 1);
  }

  std::filesystem::path path_;
  std::string bytes_;
  std::size_t position_ = 0;
  bool cut_ = false;
  std::map<std::string, StoredMatrix> matrices_;
};

}  // namespace

Results read_mat(const std::filesystem::path& file) {
  return MatReader(file).read();
}

}  // namespace entrain::reading
