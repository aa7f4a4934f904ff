#include "subsystem/native/csv_source.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/csv.hpp"
#include "base/grid.hpp"
#include "base/printable.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "subsystem/native/model_support.hpp"

namespace entrain::subsystem {
namespace {

/// Rows over time, each `width` numbers.
struct TimeRows {
  VariableTable variables;
  std::vector<Time> times;
  std::vector<double> values;
  std::size_t width = 0;
};

class RowReader {
 public:
  explicit RowReader(const std::filesystem::path& file) : file_(file) {}

  TimeRows read(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
    std::string ended;
    if (!text.empty() && text.back() != '\n') text = ended = std::string(text) + '\n';
    read_header(text);
    for (line_ = 2; !text.empty(); ++line_) {
      const auto cells = base::take_csv_record(text);
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
    const auto cells = base::take_csv_record(text);
    if (!cells || !is_time(cells->front())) {
      fail({FactCode::CsvNoHeader});
    }
    std::set<std::string> names;
    for (std::size_t i = 1; i < cells->size(); ++i) {
      auto [name, unit] = name_and_unit((*cells)[i]);
      if (name.empty()) fail({FactCode::CsvUnnamedColumn, {}, {{"column", i + 1}}});
      if (!names.insert(name).second) fail({FactCode::CsvColumnTwice, {base::printable(name)}});
      rows_.variables.outputs.push_back(real(std::move(name), std::move(unit), ""));
    }
    rows_.width = names.size();
    if (rows_.width == 0) fail({FactCode::CsvNoColumns});
  }

  bool is_time(const std::string& cell) const {
    const auto [name, unit] = name_and_unit(cell);
    return (name == "time" || name == "Time" || name == "t") && (unit.empty() || unit == "s");
  }

  /// "torque [N.m]" is the name and the unit.
  std::pair<std::string, std::string> name_and_unit(std::string_view cell) const {
    const auto trimmed = [](std::string_view text) {
      const auto first = text.find_first_not_of(' ');
      if (first == std::string_view::npos) return std::string();
      return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
    };
    // A '[' without a blank before it belongs to the name: x[1].
    const auto bracket = cell.rfind(" [");
    const auto end = cell.find_last_not_of(' ');
    if (!base::is_utf8(cell)) fail({FactCode::NotUtf8});
    if (bracket == std::string_view::npos || cell[end] != ']') return {trimmed(cell), ""};
    return {trimmed(cell.substr(0, bracket)), trimmed(cell.substr(bracket + 2, end - bracket - 2))};
  }

  void read_row(const std::vector<std::string>& cells) {
    if (cells.size() != rows_.width + 1) {
      fail({FactCode::CsvCellCount, {}, {{"cells", cells.size()}, {"expected", rows_.width + 1}}});
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string_view cell = cells[i];
      while (cell.starts_with(' ')) cell.remove_prefix(1);
      while (cell.ends_with(' ')) cell.remove_suffix(1);
      const auto number = base::csv_number(cell);
      if (!number || !std::isfinite(*number)) {
        fail({FactCode::CsvNoNumber, {}, {{"cell", base::printable(cells[i])}, {"column", i + 1}}});
      }
      if (i > 0) {
        rows_.values.push_back(*number);
      } else if (!rows_.times.empty() && *number < rows_.times.back()) {
        fail({FactCode::CsvTimeFalls, {}, {{"from", rows_.times.back(), "s"}, {"to", *number, "s"}}});
      } else {
        rows_.times.push_back(*number);
      }
    }
  }

  const std::filesystem::path& file_;
  int line_ = 1;
  TimeRows rows_;
};

class TableSource final : public CsvSource {
 public:
  TableSource(TimeRows rows, TableInterpolation interpolation) : rows_(std::move(rows)), interpolation_(interpolation) {
    for (std::size_t row = 1; row < rows_.times.size(); ++row) {
      const bool here = interpolation_ == TableInterpolation::Hold || rows_.times[row] == rows_.times[row - 1];
      const double* values = row_values(row);
      if (here && !std::equal(values, values + rows_.width, values - rows_.width)) jumps_.push_back(rows_.times[row]);
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
    std::copy_n(row_values(row), rows_.width, y.begin());
    if (!rises_from(row, at.t)) return;
    const double share = std::max(0.0, at.t - rows_.times[row]) / (rows_.times[row + 1] - rows_.times[row]);
    for (std::size_t i = 0; i < rows_.width; ++i) y[i] += share * (row_values(row + 1)[i] - row_values(row)[i]);
  }
  void output_rates(const Point& at, std::span<double> dy) const override {
    const std::size_t row = row_at(at.t);
    std::fill(dy.begin(), dy.end(), 0.0);
    if (!rises_from(row, at.t)) return;
    const Duration length = rows_.times[row + 1] - rows_.times[row];
    for (std::size_t i = 0; i < rows_.width; ++i) dy[i] = (row_values(row + 1)[i] - row_values(row)[i]) / length;
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
  const double* row_values(std::size_t row) const { return rows_.values.data() + row * rows_.width; }

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
                                            TableInterpolation interpolation) {
  return std::make_unique<TableSource>(RowReader(file).read(text), interpolation);
}

std::unique_ptr<CsvSource> read_csv_source(const std::filesystem::path& file, TableInterpolation interpolation) {
  return parse_csv_source(base::read_csv_text(file), file, interpolation);
}

}  // namespace entrain::subsystem
