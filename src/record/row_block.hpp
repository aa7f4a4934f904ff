#pragma once

#include <cstddef>
#include <span>

#include "base/guarded_memory.hpp"
#include "entrain/variable.hpp"

namespace entrain::recording {

/// Rows of a block: from `first` to before `end`.
struct RowRange {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t count() const { return end - first; }
};

/// Rows of numbers to be written to a file. Has its full size from the start: adding a row allocates nothing, and rows
/// that are complete can be read by another thread while further ones are added. Rows are the only trace of a run whose
/// process dies of a damaged heap, so they do not lie in it; long texts and bytes still do.
class RowBlock {
 public:
  /// `discrete`: how many of the columns are no real numbers, and kept exactly as well.
  RowBlock(std::size_t columns, std::size_t groups, std::size_t most_rows, std::size_t discrete = 0)
      : columns_(columns),
        groups_(groups),
        discrete_columns_(discrete),
        times_(most_rows),
        values_(most_rows * columns),
        known_(most_rows * groups),
        discrete_(most_rows * discrete) {}

  std::size_t rows() const { return rows_; }
  RowRange all() const { return {0, rows_}; }
  std::size_t columns() const { return columns_; }
  bool full() const { return rows_ == times_.size(); }
  void clear() { rows_ = 0; }

  /// A row to be filled: `values` and `known` are its numbers and, per group, whether they are known.
  struct Row {
    double* values;
    unsigned char* known;
    Value* discrete;
  };
  Row add(Time t) {
    times_[rows_] = t;
    const Row row{values_.data() + rows_ * columns_, known_.data() + rows_ * groups_,
                  discrete_.data() + rows_ * discrete_columns_};
    ++rows_;
    return row;
  }

  Time time(std::size_t row) const { return times_[row]; }
  const double* values(std::size_t row) const { return values_.data() + row * columns_; }
  double value(std::size_t row, std::size_t column) const { return values(row)[column]; }
  bool known(std::size_t row, std::size_t group) const { return known_[row * groups_ + group] != 0; }
  const Value& discrete(std::size_t row, std::size_t index) const { return discrete_[row * discrete_columns_ + index]; }

  // All of several rows, one row after the other.
  std::span<const Time> times(RowRange rows) const { return part(times_, rows, 1); }
  std::span<const double> values(RowRange rows) const { return part(values_, rows, columns_); }
  std::span<const unsigned char> known(RowRange rows) const { return part(known_, rows, groups_); }
  std::span<const Value> discrete(RowRange rows) const { return part(discrete_, rows, discrete_columns_); }

 private:
  template <class T>
  static std::span<const T> part(const base::GuardedVector<T>& of, RowRange rows, std::size_t width) {
    return std::span<const T>(of).subspan(rows.first * width, rows.count() * width);
  }

  std::size_t columns_;
  std::size_t groups_;
  std::size_t discrete_columns_;
  std::size_t rows_ = 0;
  base::GuardedVector<Time> times_;
  base::GuardedVector<double> values_;
  base::GuardedVector<unsigned char> known_;
  base::GuardedVector<Value> discrete_;
};

}  // namespace entrain::recording
