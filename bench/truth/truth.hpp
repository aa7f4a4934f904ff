#pragma once

#include <map>
#include <span>
#include <vector>

#include "truth/integrate.hpp"
#include "truth/system.hpp"

namespace entrain::truth {

/// All equations of a coupled system as one: the coupling holds at every instant.
class WholeSystem {
 public:
  explicit WholeSystem(const System& system);

  std::size_t states() const { return start_.size(); }
  std::size_t outputs() const { return outputs_; }
  const std::vector<double>& start() const { return start_; }
  void derivatives(double t, const double* x, double* dx);
  void outputs(double t, const double* x, double* y);
  Flow flow();

 private:
  struct Place {
    std::size_t state, input, output;
  };
  void solve(double t, const double* x);
  /// One evaluation of every part with the inputs u_; then next_ is what the links make of the outputs.
  void sweep(double t, const double* x);
  void solve_loops(double t, const double* x);

  const System& system_;
  std::vector<Place> places_;
  std::vector<double> start_;
  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  std::vector<double> u_, next_, y_, dx_, unused_;
};

/// The outputs of all parts at given times, part by part. Where they jump at such a time, before and behind the jump.
struct Course {
  std::vector<double> times;
  std::size_t outputs = 0;
  std::vector<double> before, behind;  ///< time by time
  std::vector<double> event_times;     ///< of state events
};

/// The truth at `times` (ascending, the first is 0): a matrix exponential of the whole system where it is linear,
/// otherwise all its equations integrated to 1e-12. Throws where that fails.
Course true_course(const System& system, std::span<const double> times);
/// The same by integration, whatever the system is: for a look at the integrator itself.
Course integrated_course(const System& system, std::span<const double> times);

/// What is left of an error where the coupling is perfect: the root mean square per output, relative to its range, of
/// the whole system integrated as its parts do inside.
std::vector<double> integration_floor(const System& system);

/// Largest minus smallest value of an output.
double range_of(const Course& course, std::size_t output);

}  // namespace entrain::truth
