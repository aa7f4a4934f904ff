#pragma once

#include <optional>
#include <span>
#include <vector>

#include "results/recorded_results.hpp"

namespace entrain {

/// A recorded signal; borrows.
struct Course {
  std::span<const Time> times;  ///< ascending; at a time that comes twice the later value counts
  std::span<const double> values;
};

inline Course course_of(const RecordedResults& results, const RecordedResults::Column& column) {
  return {results.axes[column.axis], column.values};
}

/// How far two courses of a signal are from each other.
struct Difference {
  double rms = 0.0;       ///< root of the mean over time of the squared difference
  double max = 0.0;       ///< largest |difference|; NaN as soon as one value is not a number
  Time at = 0.0;          ///< where that was
  double relative = 0.0;  ///< rms as part of the range of the reference; of its magnitude when it never changes
};

struct DifferenceCourse {
  std::vector<Time> times;
  std::vector<double> values;  ///< run - reference
};

/// On the times of the coarser one, where both are known; the finer one is interpolated by straight lines, so that it
/// is the steps of the runs that are seen and not those of the interpolation. Empty when they have no time in common.
DifferenceCourse difference_course(const Course& run, const Course& reference);

/// Of that course; nothing when it is empty.
std::optional<Difference> difference(const Course& run, const Course& reference);

}  // namespace entrain
