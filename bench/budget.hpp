#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

namespace entrain::bench {

/// Best of several alternating measurements: what the machine does besides only makes a run slower.
inline constexpr int kRepetitions = 5;

/// Of the processor, not of the wall: what other programs take from it is not ours.
inline double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

template <class Work>
double seconds_of(Work&& work) {
  const double before = processor_seconds();
  work();
  return processor_seconds() - before;
}

/// Prints each measurement beside its budget and remembers whether one was exceeded.
class Budgets {
 public:
  void check(const std::string& what, double measured, double budget, const std::string& unit) {
    const bool ok = measured <= budget;
    exceeded_ = exceeded_ || !ok;
    fmt::print("{:<44} {:>9.3g} {:<3} budget {:>6.3g}  {}\n", what, measured, unit, budget, ok ? "ok" : "EXCEEDED");
  }
  int exit_code() const { return exceeded_ ? 1 : 0; }

 private:
  bool exceeded_ = false;
};

}  // namespace entrain::bench
