#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "entrain/error.hpp"
#include "entrain/options.hpp"
#include "entrain/variable.hpp"

namespace entrain {

/// What an error is measured against (F3ORNITS (33)-(35)).
enum class Normalisation { Magnitude, Amplitude, DampedAmplitude };
template <>
struct ChoiceNames<Normalisation> {
  static constexpr std::array<ChoiceName<Normalisation>, 3> all{{{Normalisation::Magnitude, "magnitude"},
                                                                 {Normalisation::Amplitude, "amplitude"},
                                                                 {Normalisation::DampedAmplitude, "damped-amplitude"}}};
};

struct StepControlSettings {
  Normalisation normalisation = Normalisation::DampedAmplitude;
  double damping = 0.05;  ///< share of the amplitude forgotten per s
  double relative_tolerance = 1e-4;
  double absolute_tolerance = 1e-4;
  double least_dilatation = 0.1;  ///< of a step against the one before
  double most_dilatation = 1.05;
};

/// The range in which an output has moved; narrows with time when it is damped (36).
class OutputRange {
 public:
  void begin(double value) { low_ = high_ = value; }
  void take(double value, Duration since_last, const StepControlSettings& settings);
  double low() const { return low_; }
  double high() const { return high_; }

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(low_, high_);
  }

 private:
  double low_ = 0.0;
  double high_ = 0.0;
};

/// The error in units of what the tolerances allow: up to 1 is good.
double normalised_error(double error, double value, const OutputRange& range, const StepControlSettings& settings);

/// How much longer the next step may be, by an error of this size with an estimate of this order (32).
double dilatation(double normalised, int order);

/// The size of the next step of a subsystem after one of `size`. `dilatation`: the smallest of its outputs.
/// `cut_proposal`: what had been proposed when the scheduler shortened the step just made; 0 if it did not.
Duration proposed_step(Duration size, double dilatation, Duration cut_proposal, const StepControlSettings& settings);

/// A step of about `size` where `rest` is left to a time that must be met: not a crumb behind it, but all that is left
/// in one step or in two halves, which are no shorter than `least` if that can be.
Duration step_without_crumb(Duration size, Duration rest, Duration least);

/// An option that only adaptive steps heed, as it is and as it would be unwritten.
struct AdaptiveOption {
  std::string name;
  double value, default_value;
};
/// A warning for each that was written although the macro step is fixed.
void warn_of_idle(std::span<const AdaptiveOption> options, std::string_view method, const WrittenOptions& written,
                  std::vector<Problem>& problems);

}  // namespace entrain
