#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

namespace entrain::truth {

/// dx/dt = f(t, x) with jumps at known times and where indicators change their sign.
struct Flow {
  std::size_t states = 0;
  std::function<void(double t, const double* x, double* dx)> derivatives;
  std::vector<double> times = {};  ///< sorted: where f jumps
  std::size_t indicators = 0;
  std::function<void(double t, const double* x, double* z)> indicate = {};
  std::function<bool(double t, double* x)> handle = {};  ///< at an event; false when nothing has happened
  double largest = std::numeric_limits<double>::infinity();
};

/// Extrapolation of the modified midpoint rule (W. Gragg, R. Bulirsch, J. Stoer), of order up to 16, to 1e-12 or
/// better. Shares no line with the integrators of the engine.
class Extrapolation {
 public:
  explicit Extrapolation(const Flow& flow) : flow_(flow) {}
  /// Moves x. Starts afresh in every call. The times of events are added to `event_times` where it is given.
  void advance(double from, double to, double* x, std::vector<double>* event_times = nullptr);

 private:
  static constexpr int kColumns = 8;
  static constexpr double kTolerance = 2e-13;
  static constexpr int kMostAttempts = 20000;  ///< per piece

  bool attempt(double t, double size, const double* x);
  void smooth_piece(double from, double to, double* x, std::vector<double>* event_times);
  void midpoint(double t, double size, const double* x, int parts, std::vector<double>& result);
  double deviation(const std::vector<double>& better, const std::vector<double>& worse, const double* x) const;
  void rates(double t, const double* x, double* dx) const { flow_.derivatives(t < last_ ? t : last_, x, dx); }
  bool crossed(double t, const double* x, const std::vector<double>& before) const;
  void settle(double t, double* x) const;

  const Flow& flow_;
  double last_ = std::numeric_limits<double>::infinity();  ///< f is not evaluated behind it
  std::vector<double> table_[kColumns];
  std::vector<double> first_, before_, now_, slope_, saved_, trial_;
  mutable std::vector<double> z_;
  int used_ = 0;
};

}  // namespace entrain::truth
