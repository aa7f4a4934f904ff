#pragma once

#include <array>

#include "base/signal_range.hpp"
#include "entrain/error_estimate.hpp"
#include "entrain/method.hpp"

namespace entrain::estimate {

/// The error of one output as it comes, sample by sample.
class ErrorCourse {
 public:
  static constexpr std::size_t kParts = 16;  ///< of the course

  struct Point {
    Time t = 0.0;
    double value = 0.0;  ///< of the run
    double error = 0.0;
    double doubt = 0.0;  ///< how far the error itself may be wrong
  };
  void begin(const RunSettings& settings, const Point& point);
  void take(const Point& point);

  /// What is known of `OutputError` by this. `linear`: the equations hardly differ from their linearization.
  OutputError result(bool linear) const;

 private:
  RunSettings settings_;
  Time latest_ = 0.0;
  double last_ = 0.0;
  base::SignalRange run_ = base::SignalRange::nothing(), better_ = base::SignalRange::nothing();
  double squares_ = 0.0, doubts_ = 0.0, largest_ = 0.0, length_ = 0.0;
  std::array<double, kParts> squares_of_part_{}, length_of_part_{};
};

}  // namespace entrain::estimate
