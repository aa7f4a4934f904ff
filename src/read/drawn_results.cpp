#include "read/drawn_results.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "read/results_readers.hpp"
#include "read/thinning.hpp"
#include "record/column_source.hpp"

namespace entrain::reading {
namespace {

constexpr std::size_t kDrawnInAll = std::size_t{1} << 21U;  // samples of all columns
constexpr std::size_t kFewestDrawn = 500;                   // of one, more than a page draws of so many
constexpr std::size_t kMostDrawn = 200'000;

void note_numbers(const Results& read, DrawnResults& drawn) {
  for (const auto& column : read.columns) {
    drawn.samples.push_back(column.values.size());
    if (column.text) continue;
    drawn.not_finite += static_cast<std::size_t>(
        std::count_if(column.values.begin(), column.values.end(), [](double value) { return !std::isfinite(value); }));
  }
  for (const auto& axis : read.axes) {
    if (!axis.empty()) drawn.last = std::max(drawn.last.value_or(axis.back()), axis.back());
  }
}

std::vector<double> taken(const std::vector<double>& numbers, const std::vector<std::size_t>& places) {
  std::vector<double> result;
  result.reserve(places.size());
  for (const std::size_t place : places) result.push_back(numbers[place]);
  return result;
}

/// Each column gets an axis of its own.
void add_drawn(Results& read, std::size_t most, Results& drawn) {
  for (auto& column : read.columns) {
    const auto& times = read.times(column);
    const auto places = drawn_samples(times, column.values, most);
    Results::Column thinned{column.name, column.unit, column.description, drawn.axes.size(), {}, column.text};
    thinned.values = taken(column.values, places);
    drawn.axes.push_back(taken(times, places));
    drawn.columns.push_back(std::move(thinned));
    column.values = {};
  }
}

}  // namespace

std::size_t DrawnResults::most_samples() const {
  return samples.empty() ? results.samples() : *std::max_element(samples.begin(), samples.end());
}

DrawnResults read_drawn(const std::filesystem::path& file, std::size_t most_numbers) {
  DrawnResults drawn;
  const auto source = open_results(file);
  const std::size_t columns = source->names().size();
  const std::size_t rows = std::max<std::size_t>(1, source->rows());
  if (columns == 0 || rows <= most_numbers / (columns + 1)) {
    drawn.results = source->read({});
    note_numbers(drawn.results, drawn);
    return drawn;
  }
  const std::size_t at_once = std::max<std::size_t>(2, most_numbers / rows) - 1;  // beside the times
  const std::size_t most = std::clamp(kDrawnInAll / columns, kFewestDrawn, kMostDrawn);
  for (std::size_t first = 0; first < columns; first += at_once) {
    std::vector<bool> chosen(columns, false);
    std::fill_n(chosen.begin() + static_cast<std::ptrdiff_t>(first), std::min(at_once, columns - first), true);
    auto read = source->read(chosen);
    drawn.results.cut = drawn.results.cut || read.cut;
    note_numbers(read, drawn);
    add_drawn(read, most, drawn.results);
  }
  return drawn;
}

}  // namespace entrain::reading
