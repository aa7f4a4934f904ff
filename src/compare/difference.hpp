#pragma once

#include <optional>
#include <span>
#include <vector>

#include "entrain/comparison.hpp"
#include "entrain/results.hpp"

namespace entrain::comparing {

/// A recorded signal; borrows.
struct Course {
  std::span<const Time> times;  ///< ascending; at a time that comes twice the later value counts
  std::span<const double> values;
};

inline Course course_of(const Results& results, const Results::Column& column) {
  return {results.axes[column.axis], column.values};
}

struct DifferenceCourse {
  std::vector<Time> times;
  std::vector<double> values;  ///< run - reference
};

/// What is between the samples of the finer one. Cubics follow smooth runs; of a recorded signal nothing is known.
enum class Between { Lines, Cubics };

/// On the times of the coarser one, where both are known; the finer one is interpolated, so that it is the steps of the
/// runs that are seen and not those of the interpolation. Empty when they have no time in common.
DifferenceCourse difference_course(const Course& run, const Course& reference, Between between = Between::Lines);

/// The range of a signal; of one that never changes, its magnitude. What errors are measured by.
double size_of(std::span<const double> values);

/// Of that course; nothing when it is empty. `least_size`: of the reference, where its own is less.
std::optional<Difference> difference(const Course& run, const Course& reference, double least_size = 0.0,
                                     Between between = Between::Lines);

}  // namespace entrain::comparing
