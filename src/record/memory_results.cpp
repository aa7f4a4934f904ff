#include <algorithm>
#include <utility>

#include "entrain/results.hpp"
#include "entrain/system_description.hpp"
#include "record/results_file.hpp"

namespace entrain::recording {
namespace {

/// An axis for each group while rows come; groups with equal ones share it at the end.
class MemoryResults : public ResultsFile {
 public:
  explicit MemoryResults(std::shared_ptr<Results> results) : results_(std::move(results)) {}

  void write_header(const RecordedLayout& layout) override {
    *results_ = {};  // of an earlier run
    results_->axes.resize(layout.groups.size());
    for (const auto& column : layout.columns) {
      results_->columns.push_back(
          {column.name, column.unit, column.description, column.group, {}, is_text(column.type)});
    }
  }
  void write(const RowBlock& block, RowRange rows) override {
    for (std::size_t row = rows.first; row < rows.end; ++row) {
      for (std::size_t group = 0; group < results_->axes.size(); ++group) {
        if (block.known(row, group)) results_->axes[group].push_back(block.time(row));
      }
    }
    for (std::size_t c = 0; c < results_->columns.size(); ++c) {
      auto& column = results_->columns[c];
      for (std::size_t row = rows.first; row < rows.end; ++row) {
        if (block.known(row, column.axis)) column.values.push_back(block.value(row, c));
      }
    }
  }
  void flush() override {}
  void complete() override {
    std::vector<std::vector<Time>> different;
    std::vector<std::size_t> place;
    for (auto& axis : results_->axes) {
      const auto same = std::find(different.begin(), different.end(), axis);
      place.push_back(static_cast<std::size_t>(same - different.begin()));
      if (same == different.end()) different.push_back(std::move(axis));
    }
    results_->axes = std::move(different);
    for (auto& column : results_->columns) column.axis = place[column.axis];
  }
  std::optional<Time> last_time() const override {
    std::optional<Time> last;
    for (const auto& axis : results_->axes) {
      if (!axis.empty()) last = std::max(last.value_or(axis.back()), axis.back());
    }
    return last;
  }

 private:
  std::shared_ptr<Results> results_;
};

/// Of a file that is named as no other format is.
std::string_view format_named(const std::filesystem::path& file) {
  const auto extension = file.extension();
  if (extension == ".h5" || extension == ".hdf5") return kHdf5Format;
  return extension == ".mat" ? kMatFormat : kCsvFormat;
}

/// The numbers of results, with the axes that they need: of texts and bytes there are no values.
struct SavedNumbers {
  std::vector<const Results::Column*> columns;
  std::vector<const std::vector<Time>*> axes;
  std::vector<std::size_t> axis;  // of each column
};

SavedNumbers numbers_of(const Results& results) {
  SavedNumbers numbers;
  for (const auto& column : results.columns) {
    if (column.text) continue;
    const auto* times = &results.axes[column.axis];
    const auto place = std::find(numbers.axes.begin(), numbers.axes.end(), times);
    numbers.columns.push_back(&column);
    numbers.axis.push_back(static_cast<std::size_t>(place - numbers.axes.begin()));
    if (place == numbers.axes.end()) numbers.axes.push_back(times);
  }
  return numbers;
}

RecordedLayout layout_of(const SavedNumbers& numbers) {
  RecordedLayout layout;
  layout.groups.resize(numbers.axes.size());
  for (std::size_t c = 0; c < numbers.columns.size(); ++c) {
    const auto& column = *numbers.columns[c];
    layout.columns.push_back({column.name, column.unit, column.description, numbers.axis[c]});
    auto& group = layout.groups[numbers.axis[c]];
    if (group.empty()) group = column.name.substr(0, column.name.find('.'));
  }
  bool known = false;
  for (const auto* axis : numbers.axes) {
    if (axis->empty()) continue;
    layout.start = known ? std::min(layout.start, axis->front()) : axis->front();
    layout.stop = known ? std::max(layout.stop, axis->back()) : axis->back();
    known = true;
  }
  return layout;
}

/// Row by row: at each time the samples of the axes that have one there.
void write_rows(const SavedNumbers& numbers, ResultsFile& file) {
  constexpr std::size_t kRows = 1024;
  const auto& axes = numbers.axes;
  RowBlock block(numbers.columns.size(), axes.size(), kRows);
  std::vector<std::size_t> next(axes.size(), 0);  // of each axis: the sample that is written next
  while (true) {
    std::optional<Time> t;
    for (std::size_t a = 0; a < next.size(); ++a) {
      if (next[a] < axes[a]->size()) t = std::min(t.value_or((*axes[a])[next[a]]), (*axes[a])[next[a]]);
    }
    if (block.full() || (!t && block.rows() > 0)) {
      file.write(block, block.all());
      block.clear();
    }
    if (!t) return;
    const auto row = block.add(*t);
    for (std::size_t a = 0; a < next.size(); ++a) {
      row.known[a] = next[a] < axes[a]->size() && (*axes[a])[next[a]] == *t ? 1 : 0;
    }
    for (std::size_t c = 0; c < numbers.columns.size(); ++c) {
      const auto axis = numbers.axis[c];
      row.values[c] = row.known[axis] != 0 ? numbers.columns[c]->values[next[axis]] : 0.0;
    }
    for (std::size_t a = 0; a < next.size(); ++a) next[a] += row.known[a];
  }
}

}  // namespace

std::unique_ptr<ResultsFile> memory_results(std::shared_ptr<Results> results) {
  return std::make_unique<MemoryResults>(std::move(results));
}

}  // namespace entrain::recording

namespace entrain {

void write_results(const Results& results, const std::filesystem::path& path) {
  const auto numbers = recording::numbers_of(results);
  recording::replace_results_file(recording::format_named(path), path, [&](recording::ResultsFile& file) {
    file.write_header(recording::layout_of(numbers));
    recording::write_rows(numbers, file);
  });
}

}  // namespace entrain
