#include "coupling/clock_schedule.hpp"

#include <algorithm>
#include <numeric>

#include "base/grid.hpp"

namespace entrain::coupling {
namespace {

/// Of two fractions, by the quotients of Euclid's algorithm: products could overflow.
std::strong_ordering compare(ClockInterval a, ClockInterval b) {
  for (;;) {
    const auto quotients = a.counter / a.resolution <=> b.counter / b.resolution;
    if (quotients != 0) return quotients;
    a.counter %= a.resolution;
    b.counter %= b.resolution;
    if (a.counter == 0 || b.counter == 0)
      return a.counter != 0   ? std::strong_ordering::greater
             : b.counter != 0 ? std::strong_ordering::less
                              : std::strong_ordering::equal;
    const ClockInterval inverse{a.resolution, a.counter};
    a = {b.resolution, b.counter};
    b = inverse;
  }
}

}  // namespace

/// Where the common denominator is too large for an integer, the sum begins with a rounded time.
TickTime TickTime::operator+(const ClockInterval& interval) const {
  const std::uint64_t divisor = std::gcd(resolution, interval.resolution);
  std::uint64_t common = 0;
  std::uint64_t left = 0;
  std::uint64_t right = 0;
  std::uint64_t sum = 0;
  const bool overflow = __builtin_mul_overflow(resolution / divisor, interval.resolution, &common) ||
                        __builtin_mul_overflow(ticks, interval.resolution / divisor, &left) ||
                        __builtin_mul_overflow(interval.counter, resolution / divisor, &right) ||
                        __builtin_add_overflow(left, right, &sum);
  if (overflow) return {time(), interval.counter, interval.resolution};
  const std::uint64_t reduced = std::gcd(sum, common);
  return {base, sum / reduced, common / reduced};
}

std::partial_ordering TickTime::operator<=>(const TickTime& other) const {
  if (base == other.base) return compare({ticks, resolution}, {other.ticks, other.resolution});
  return time() <=> other.time();
}

std::size_t ClockSchedule::add(bool periodic) {
  entries_.emplace_back().periodic = periodic;
  return entries_.size() - 1;
}

void ClockSchedule::forget() {
  for (auto& entry : entries_) entry.next.clear();
}

void ClockSchedule::set_interval(std::size_t clock, const ClockInterval& interval) {
  entries_[clock].counter = interval.counter;
  entries_[clock].resolution = interval.resolution;
}

void ClockSchedule::pass(std::size_t clock) {
  Entry& entry = entries_[clock];
  if (entry.periodic) {
    entry.next.front() = entry.next.front() + ClockInterval{entry.counter, entry.resolution};
  } else {
    entry.next.clear();
  }
}

bool ClockSchedule::is_due(std::size_t clock, const TickTime& now) const {
  const auto& next = entries_[clock].next;
  return !next.empty() && next.front() <= now;
}

TickTime ClockSchedule::next(std::size_t clock) const {
  const auto& next = entries_[clock].next;
  return next.empty() ? TickTime{kNever} : next.front();
}

Time ClockSchedule::earliest_after(Time t) const {
  Time earliest = kNever;
  for (const auto& entry : entries_) {
    const Time next = entry.next.empty() ? kNever : entry.next.front().time();
    if (!base::reached(t, next)) earliest = std::min(earliest, next);
  }
  return earliest;
}

}  // namespace entrain::coupling
