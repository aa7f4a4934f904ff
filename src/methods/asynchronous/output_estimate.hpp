#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "entrain/subsystem.hpp"

namespace entrain::method {

/// The past of one output and the polynomial that carries it on, of the order that would have served best on the
/// latest step (F3ORNITS, section 3.1; docs/theory/f3ornits.md).
class OutputEstimate {
 public:
  static constexpr std::size_t kSamples = kMaxInputDegree + 2;  ///< kept: least squares of the highest degree
  struct Settings {
    int max_order = 2;
    bool least_squares = false;  ///< fit one sample more than the order needs instead of passing through the others
  };
  /// How well the latest sample had been predicted.
  struct PredictionError {
    double error = 0.0;  ///< |sample - estimate in force|
    int order = 0;       ///< of that estimate
    int highest = 0;     ///< order that the past allowed to try on this sample
    double left = 1.0;   ///< what the best order leaves of the error of order 0, as a share: 1 where none helps
  };

  /// A past of one sample: at the start, and where the output has jumped.
  void begin(Time t, double value);
  /// The latest sample may lie behind a jump: it is held from here, but what came before is tried once more on the
  /// next.
  void doubt();
  /// It did: the past begins with the sample before the latest.
  void confirm_doubt();
  /// The next sample, later than those before: judges the estimate, chooses the order of the next one and makes it.
  PredictionError take(Time t, double value, const Settings& settings);

  int order() const { return order_; }
  Time time() const { return times_[0]; }      ///< of the latest sample
  double value() const { return values_[0]; }  ///< the latest sample
  /// Between the latest two samples; as long as can be when there is but one.
  Duration latest_step() const { return count_ > 1 ? times_[0] - times_[1] : kNever; }
  /// How often the past was cut, or doubted: where this has changed, nothing may span the samples in between.
  std::uint64_t cuts() const { return cuts_; }
  /// By powers of (t - time()), order() + 1 of them.
  std::span<const double> polynomial() const { return {polynomial_.data(), static_cast<std::size_t>(order_) + 1}; }
  /// Samples of the past that belong together, newest first.
  std::span<const Time> times() const { return {times_.data(), count_}; }
  std::span<const double> values() const { return {values_.data(), count_}; }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(times_, values_, polynomial_, count_, order_, cuts_);
  }

 private:
  struct Choice {
    int order = 0;
    double left = 1.0;  // as in PredictionError
  };
  Choice best_order(Time t, double value, int highest) const;
  void carry_on(const Settings& settings);

  std::array<Time, kSamples> times_{};
  std::array<double, kSamples> values_{};
  std::array<double, kMaxInputDegree + 1> polynomial_{};
  std::size_t count_ = 0;
  int order_ = 0;
  std::uint64_t cuts_ = 0;
};

}  // namespace entrain::method
