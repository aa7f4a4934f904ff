#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::coupling {

/// A time of a clock: `base` + ticks / resolution seconds, exactly. Whether two clocks tick together is decided by
/// these numbers and by no tolerance.
struct TickTime {
  Time base = 0.0;
  std::uint64_t ticks = 0;
  std::uint64_t resolution = 1;

  Time time() const { return base + static_cast<double>(ticks) / static_cast<double>(resolution); }
  TickTime operator+(const ClockInterval& interval) const;
  std::partial_ordering operator<=>(const TickTime& other) const;
  bool operator==(const TickTime& other) const { return (*this <=> other) == 0; }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(base, ticks, resolution);
  }
};

/// When the clocks of a system tick next: a value, part of every checkpoint.
class ClockSchedule {
 public:
  /// Returns the number of the clock.
  std::size_t add(bool periodic);
  void forget();
  bool empty() const { return entries_.empty(); }

  /// The next tick; a periodic clock goes on from there by its interval.
  void set_next(std::size_t clock, const TickTime& at) { entries_[clock].next = {at}; }
  void set_interval(std::size_t clock, const ClockInterval& interval);
  /// It has ticked: a periodic clock is scheduled again.
  void pass(std::size_t clock);

  bool is_due(std::size_t clock, const TickTime& now) const;
  /// The next tick; its base is kNever when there is none.
  TickTime next(std::size_t clock) const;
  /// The earliest tick of all behind `t`; kNever when there is none.
  Time earliest_after(Time t) const;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(entries_);
  }

 private:
  struct Entry {
    bool periodic = false;
    std::vector<TickTime> next;  // one, or none
    std::uint64_t counter = 0;
    std::uint64_t resolution = 1;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(periodic, next, counter, resolution);
    }
  };
  std::vector<Entry> entries_;
};

}  // namespace entrain::coupling
