#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "entrain/simulation.hpp"
#include "numerics/cubic_hermite.hpp"

namespace entrain::recording {

/// Resamples signals to the times start + k interval, k = 0, 1, ... (a counter, never a sum).
///
/// Between two communication times of its own subsystem a signal is the cubic through both values and slopes, or a
/// straight line where a slope is unknown. A subsystem that communicates rarely holds the rows back; meanwhile only
/// those pieces of the others are kept that have a row in them, so the memory is bounded by the rows held back and by
/// the communications between them, and constant once it has been reached.
class UniformRows {
 public:
  /// `signals` and `subsystems`: index into Sample::values and Sample::communicated per column.
  /// Throws Error{InvalidSystem} when the interval is too small for rows at distinct times.
  UniformRows(Time start, Time stop, const Written<double>& interval, const std::vector<std::size_t>& signals,
              const std::vector<std::size_t>& subsystems);

  void add(const Sample& sample);

  bool row_is_complete() const;  ///< every column has reached the next row
  bool row_is_started() const;   ///< at least one column has; those that have not will stay unknown

  /// Valid until the next call.
  struct Row {
    Time t;
    std::span<const double> values;
    std::span<const unsigned char> known;
  };
  Row take_row();
  /// Of the row that was taken last; nullopt before the first.
  std::optional<Time> last_row_time() const {
    return next_row_ == 0 ? std::nullopt : std::optional(row_time(next_row_ - 1));
  }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(next_row_, rows_reached_, groups_);
  }

 private:
  /// Two neighbouring communication times of a subsystem. Per column: value and slope at both, in `numbers`.
  struct Piece {
    Time from;
    Time to;
    std::uint64_t rows_end;  ///< one past the last row that lies in it

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(from, to, rows_end);
    }
  };
  using Knot = numerics::EndPoint;
  /// The columns of one subsystem, with the pieces not yet used up, as a ring.
  struct Group {
    std::size_t subsystem = 0;
    std::vector<std::size_t> columns;
    std::vector<std::size_t> signals;
    bool started = false;
    Time last_time = 0.0;
    std::vector<Knot> last;
    std::uint64_t rows_end = 0;  ///< one past the last row it has reached
    std::vector<Piece> pieces;
    std::vector<Knot> knots;  ///< 2 per column and piece
    std::size_t first = 0;
    std::size_t count = 0;

    /// What the run changes.
    template <class Visitor>
    void fields(Visitor& visit) {
      visit(started, last_time, last, rows_end, pieces, knots, first, count);
    }
  };

  Time row_time(std::uint64_t row) const { return start_ + static_cast<double>(row) * interval_; }
  bool has_row(Time t, std::uint64_t row) const;  ///< does row lie at or before t?
  std::uint64_t rows_until(Time t) const;
  void add_knot(Group& group, const Sample& sample);
  static void append_piece(Group& group, const Piece& piece, const Sample& sample);
  static void grow(Group& group);
  void evaluate(Group& group, Time t);

  Time start_;
  Duration interval_;
  std::uint64_t next_row_ = 0;
  std::uint64_t rows_reached_ = 0;  ///< by the run; decides alone when there are no columns
  std::vector<Group> groups_;
  std::vector<double> values_;
  std::vector<unsigned char> known_;
};

}  // namespace entrain::recording
