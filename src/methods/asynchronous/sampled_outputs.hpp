#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "entrain/capabilities.hpp"
#include "entrain/variable.hpp"

namespace entrain::method {

/// The outputs of one subsystem over time, as piecewise polynomials through samples: those of steps that were made,
/// then those of steps still to be made (docs/theory/waveform.md).
class SampledOutputs {
 public:
  using Polynomial = std::array<double, kMaxInputDegree + 1>;

  void start(Time t, std::span<const double> values);

  std::size_t samples() const { return times_.size(); }
  std::size_t known() const { return known_; }
  Time time(std::size_t sample) const { return times_[sample]; }
  Time last() const { return times_.back(); }
  Time last_known() const { return times_[known_ - 1]; }
  double value(std::size_t sample, std::size_t output) const { return values_[sample * outputs_ + output]; }
  void set(std::size_t sample, std::size_t output, double value) { values_[sample * outputs_ + output] = value; }

  /// Another step is planned to end here; what its outputs will be is continued from those before.
  void plan(Time end);
  /// The first planned step was made.
  void make_first(Time end, std::span<const double> values);
  void drop_planned();
  /// Samples that no step from `needed_from` on needs are forgotten.
  void forget_before(Time needed_from);
  /// Nothing is smooth across the latest known sample.
  void break_here() { break_ = last_known(); }

  /// By a polynomial of at most this degree through the samples around `t`.
  double at(std::size_t output, Time t, int degree) const;
  /// The nearest polynomial of this degree, in the mean square, to the output over [from, from + size]; in powers of
  /// the time since `from`.
  Polynomial over(std::size_t output, Time from, Duration size, int degree) const;
  /// About how far polynomials of `degree` through the samples are from the output, in the planned steps.
  double interpolation_error(std::size_t output, int degree) const;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(times_, values_, outputs_, known_, break_);
  }

 private:
  struct Stencil {
    std::size_t first = 0, count = 1;
  };
  /// Of the piece that ends with this sample; one beyond the last: what follows it up to `until`.
  Stencil stencil(std::size_t end_sample, Time until, int degree) const;
  double value_of(const Stencil& stencil, std::size_t output, Time t) const;

  std::vector<Time> times_;
  std::vector<double> values_;  // sample by sample
  std::size_t outputs_ = 0;
  std::size_t known_ = 0;
  Time break_ = -std::numeric_limits<Time>::infinity();
};

}  // namespace entrain::method
