#include "subsystem/native/csv_source.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/csv.hpp"
#include "base/grid.hpp"
#include "base/printable.hpp"
#include "base/values.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::subsystem {
namespace {

/// Rows over time, each `width` numbers and a value for each column of another type.
struct TimeRows {
  VariableTable variables;
  std::vector<Time> times;
  std::vector<double> values;
  std::vector<Value> discrete;
  std::size_t width = 0;

  std::span<const double> numbers(std::size_t row) const { return std::span(values).subspan(row * width, width); }
  std::span<const Value> others(std::size_t row) const {
    const std::size_t count = variables.discrete_outputs.size();
    return std::span(discrete).subspan(row * count, count);
  }
};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::optional<Value> whole_number(double number, ValueType type) {
  if (number != std::floor(number)) return std::nullopt;
  if (type == ValueType::Boolean && (number == 0.0 || number == 1.0)) return number == 1.0;
  if (type == ValueType::Integer && std::abs(number) < 0x1p63) return static_cast<std::int64_t>(number);
  if (type == ValueType::Unsigned && number >= 0.0 && number < 0x1p64) return static_cast<std::uint64_t>(number);
  return std::nullopt;
}

/// Digits to the last one, which a number of 53 bits would round.
template <class Number>
std::optional<Value> exact_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// nullopt for what the input cannot take.
std::optional<Value> typed_cell(std::string_view cell, const Variable& input) {
  if (input.type == ValueType::String) return std::string(cell);
  const auto text = trimmed(cell);
  std::optional<Value> exact;
  if (input.type == ValueType::Integer) exact = exact_number<std::int64_t>(text);
  if (input.type == ValueType::Unsigned) exact = exact_number<std::uint64_t>(text);
  if (exact) return exact;
  if (const auto number = base::csv_number(text); number && input.type != ValueType::Binary)
    return whole_number(*number, input.type);
  if (input.type != ValueType::Boolean) return base::converted(std::string(text), input);
  std::string word(text);
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  if (word != "true" && word != "false") return std::nullopt;
  return word == "true";
}

class RowReader {
 public:
  RowReader(const std::filesystem::path& file, const FedInputs& fed) : file_(file), fed_(fed) {}

  TimeRows read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
    std::string ended;
    if (!text.empty() && text.back() != '\n') text = ended = std::string(text) + '\n';
    separator_ = base::csv_separator(text);
    read_header(text);
    for (line_ = 2; !text.empty(); ++line_) {
      const auto cells = base::take_csv_record(text, separator_);
      if (!cells) fail({FactCode::CsvOpenQuote});
      const bool blank = cells->size() == 1 && cells->front().empty();
      if (!blank) read_row(*cells);
    }
    if (rows_.times.empty()) fail({FactCode::CsvNoRows});
    return std::move(rows_);
  }

 private:
  [[noreturn]] void fail(Fact fact) const {
    fact.where = {file_.string(), line_, 0};
    throw Error(ErrorCode::InvalidSystem, std::move(fact));
  }

  void read_header(std::string_view& text) {
    const auto cells = base::take_csv_record(text, separator_);
    if (!cells || !is_time(cells->front())) {
      fail({FactCode::CsvNoHeader});
    }
    std::set<std::string> names;
    for (std::size_t i = 1; i < cells->size(); ++i) {
      auto [name, unit] = name_and_unit((*cells)[i]);
      if (name.empty()) fail({FactCode::CsvUnnamedColumn, {}, {{"column", i + 1}}});
      if (!names.insert(name).second) fail({FactCode::CsvColumnTwice, {base::printable(name)}});
      const auto fed = fed_.find(name);
      columns_.push_back(fed == fed_.end() ? nullptr : &fed->second);
      if (fed == fed_.end()) {
        rows_.variables.outputs.push_back(real(std::move(name), std::move(unit), ""));
      } else {
        rows_.variables.discrete_outputs.push_back(column_for(fed->second, std::move(name)));
      }
    }
    rows_.width = rows_.variables.outputs.size();
    if (columns_.empty()) fail({FactCode::CsvNoColumns});
  }

  static Variable column_for(const Variable& input, std::string name) {
    Variable column = input;
    column.name = std::move(name);
    column.description.clear();
    column.other_names.clear();
    column.start.reset();
    return column;
  }

  bool is_time(const std::string& cell) const {
    const auto [name, unit] = name_and_unit(cell);
    return (name == "time" || name == "Time" || name == "t") && (unit.empty() || unit == "s");
  }

  /// "torque [N.m]" is the name and the unit.
  std::pair<std::string, std::string> name_and_unit(std::string_view cell) const {
    // A '[' without a blank before it belongs to the name: x[1].
    const auto bracket = cell.rfind(" [");
    const auto end = cell.find_last_not_of(' ');
    if (!base::is_utf8(cell)) fail({FactCode::NotUtf8});
    if (bracket == std::string_view::npos || cell[end] != ']') return {std::string(trimmed(cell)), ""};
    return {std::string(trimmed(cell.substr(0, bracket))),
            std::string(trimmed(cell.substr(bracket + 2, end - bracket - 2)))};
  }

  void read_row(const std::vector<std::string>& cells) {
    if (cells.size() != columns_.size() + 1) {
      fail({FactCode::CsvCellCount, {}, {{"cells", cells.size()}, {"expected", columns_.size() + 1}}});
    }
    const Time t = number_in(cells, 0);
    if (!rows_.times.empty() && t < rows_.times.back()) {
      fail({FactCode::CsvTimeFalls, {}, {{"from", rows_.times.back(), "s"}, {"to", t, "s"}}});
    }
    rows_.times.push_back(t);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      const Variable* input = columns_[i - 1];
      if (input == nullptr) {
        rows_.values.push_back(number_in(cells, i));
      } else if (auto value = typed_cell(cells[i], *input)) {
        rows_.discrete.push_back(std::move(*value));
      } else {
        fail(
            {FactCode::CsvCellType,
             {},
             {{"cell", base::printable(cells[i])}, {"column", i + 1}, {"type", std::string(base::type_name(*input))}}});
      }
    }
  }

  double number_in(const std::vector<std::string>& cells, std::size_t i) const {
    const auto number = base::csv_number(trimmed(cells[i]));
    if (number && std::isfinite(*number)) return *number;
    fail({FactCode::CsvNoNumber, {}, {{"cell", base::printable(cells[i])}, {"column", i + 1}}});
  }

  const std::filesystem::path& file_;
  const FedInputs& fed_;
  char separator_ = ',';
  int line_ = 1;
  std::vector<const Variable*> columns_;  ///< what each feeds; null = a column of real numbers
  TimeRows rows_;
};

class TableSource final : public CsvSource {
 public:
  TableSource(TimeRows rows, TableInterpolation interpolation) : rows_(std::move(rows)), interpolation_(interpolation) {
    for (std::size_t row = 1; row < rows_.times.size(); ++row) {
      const bool here = interpolation_ == TableInterpolation::Hold || rows_.times[row] == rows_.times[row - 1];
      const auto differ = [&](const auto& now, const auto& before) {
        return !std::equal(now.begin(), now.end(), before.begin());
      };
      if ((here && differ(rows_.numbers(row), rows_.numbers(row - 1))) ||
          differ(rows_.others(row), rows_.others(row - 1)))
        jumps_.push_back(rows_.times[row]);
    }
  }

  Time first_time() const override { return rows_.times.front(); }
  Time last_time() const override { return rows_.times.back(); }

  const VariableTable& variables() const noexcept override { return rows_.variables; }
  void configure(std::span<const Value>) override {}
  Feedthrough feedthrough() const override { return {rows_.width, 0}; }
  void derivatives(const Point&, std::span<double>) const override {}
  void outputs(const Point& at, std::span<double> y) const override {
    const std::size_t row = row_at(at.t);
    std::copy_n(rows_.numbers(row).begin(), rows_.width, y.begin());
    if (!rises_from(row, at.t)) return;
    const double share = std::max(0.0, at.t - rows_.times[row]) / (rows_.times[row + 1] - rows_.times[row]);
    for (std::size_t i = 0; i < rows_.width; ++i) y[i] += share * (rows_.numbers(row + 1)[i] - rows_.numbers(row)[i]);
  }
  void discrete_outputs(const Point& at, std::span<Value> values) const override {
    const auto row = rows_.others(row_at(at.t));
    std::copy(row.begin(), row.end(), values.begin());
  }
  void output_rates(const Point& at, std::span<double> dy) const override {
    const std::size_t row = row_at(at.t);
    std::fill(dy.begin(), dy.end(), 0.0);
    if (!rises_from(row, at.t)) return;
    const Duration length = rows_.times[row + 1] - rows_.times[row];
    for (std::size_t i = 0; i < rows_.width; ++i) dy[i] = (rows_.numbers(row + 1)[i] - rows_.numbers(row)[i]) / length;
  }
  void linearize(const Point&, Linearization& result) const override {
    result.A.resize(0, 0);
    result.B.resize(0, 0);
    result.C.resize(rows_.width, 0);
    result.D.resize(rows_.width, 0);
  }
  void integrate(Time, Duration, const InputBlock&, std::span<double>) override {}
  Time next_discontinuity(Time t) const override {
    const auto next =
        std::partition_point(jumps_.begin(), jumps_.end(), [t](Time jump) { return base::reached(t, jump); });
    return next == jumps_.end() ? kNever : *next;
  }

 private:
  /// The last row at or before t, up to rounding of the time; the first one before all. Of rows with one time the last.
  std::size_t row_at(Time t) const {
    const auto& times = rows_.times;
    const auto is_here = [&](std::size_t row) {
      return base::reached(t, times[row]) && (row + 1 == times.size() || !base::reached(t, times[row + 1]));
    };
    // Steps go on from row to row; other times need a search.
    for (std::size_t row = latest_; row < std::min(latest_ + 2, times.size()); ++row) {
      if (is_here(row)) return latest_ = row;
    }
    const auto next =
        std::partition_point(times.begin(), times.end(), [t](Time time) { return base::reached(t, time); });
    latest_ = next == times.begin() ? 0 : static_cast<std::size_t>(next - times.begin()) - 1;
    return latest_;
  }
  bool rises_from(std::size_t row, Time t) const {
    return interpolation_ == TableInterpolation::Linear && row + 1 < rows_.times.size() &&
           base::reached(t, rows_.times[row]);
  }

  TimeRows rows_;
  TableInterpolation interpolation_;
  std::vector<Time> jumps_;
  mutable std::size_t latest_ = 0;  ///< the row asked for last: a cache
};

}  // namespace

std::unique_ptr<CsvSource> parse_csv_source(std::string_view text, const std::filesystem::path& file,
                                            TableInterpolation interpolation, const FedInputs& fed) {
  return std::make_unique<TableSource>(RowReader(file, fed).read(text), interpolation);
}

std::unique_ptr<CsvSource> read_csv_source(const std::filesystem::path& file, TableInterpolation interpolation,
                                           const FedInputs& fed) {
  return parse_csv_source(base::read_csv_text(file), file, interpolation, fed);
}

}  // namespace entrain::subsystem
