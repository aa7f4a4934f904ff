#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace entrain::estimate {

/// A jump between values[row] and values[row + 1].
struct Jump {
  std::size_t row = 0;
  double size = 0.0;
};

/// Where a course changes far more than before and behind, by at least this size.
std::vector<Jump> jumps_of(std::span<const double> values, double least_size);

/// The jumps of two courses at the same times, in order.
struct MatchedJumps {
  struct Pair {
    std::size_t first = 0;  ///< the rows from here ...
    std::size_t last = 0;  ///< ... up to here, without it, are behind the jump in one course and before it in the other
  };
  std::vector<Pair> pairs;
  std::size_t unmatched = 0;  ///< large jumps of one course alone
};

/// Of sizes in units of the range.
MatchedJumps match_jumps(std::span<const double> one, std::span<const double> other, double range);

}  // namespace entrain::estimate
