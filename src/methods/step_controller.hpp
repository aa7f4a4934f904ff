#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/signal_range.hpp"
#include "entrain/error.hpp"
#include "entrain/options.hpp"
#include "entrain/subsystem.hpp"
#include "entrain/variable.hpp"

namespace entrain::method {

/// The smallest and the largest step.
struct StepLimits {
  Duration min = 0.0;
  Duration max = kNever;

  Duration within(Duration size) const;
  /// For all subsystems together: no step that one of them cannot make.
  void narrow(const Capabilities& can);
};

/// What min_step = 0 and max_step = 0 stand for, in units of the step of the run. Where a tolerance asks for a shorter
/// first step (StepSettings::first_step), that is the smallest one.
struct DefaultLimits {
  double min;
  double max;
};
inline constexpr DefaultLimits kExplicitLimits{1e-3, 100.0};
inline constexpr DefaultLimits kHermiteLimits{1e-3, 10.0};
/// A hundredth of the first step: the control must be able to go well below a first guess.
inline constexpr DefaultLimits kAsynchronousLimits{0.01, kNever};

/// The vocabulary of all methods with steps of a variable size.
struct StepSettings {
  double relative_tolerance = 1e-4;
  double absolute_tolerance = 1e-4;
  Duration initial_step = 0.0;  ///< s; 0 = the step of the run
  Duration min_step = 0.0;      ///< s; 0 = by DefaultLimits
  Duration max_step = 0.0;      ///< the same
  int order = 1;                ///< the error falls with this power of the step
  double safety = 1.0;          ///< of the growth that would just meet the tolerance
  double least_growth = 0.1;    ///< of a step against the one before
  double most_growth = 1.05;

  StepLimits limits(const DefaultLimits& defaults, Duration step_of_run) const;
  /// The first step of a run, and the first behind a jump: without a past the inputs are held, which misses as the
  /// square of the step over it. Much less than the relative tolerance allows over a step of the run.
  Duration first_step(Duration step_of_run) const;
};

/// The size of the next step from the error of the last one. An error is in units of what the tolerances allow: up to 1
/// is good. The law that makes a growth of an error is one of those below.
class StepController {
 public:
  StepController() = default;
  StepController(const StepSettings& settings, const StepLimits& limits) : settings_(settings), limits_(limits) {}

  const StepSettings& settings() const { return settings_; }
  const StepLimits& limits() const { return limits_; }
  /// What the tolerances allow of a signal of this size.
  double allowed(double size) const { return settings_.absolute_tolerance + settings_.relative_tolerance * size; }
  /// After a step of `size`, which may grow by this factor; not yet within the limits. `cut_proposal`: what had been
  /// proposed when that step was shortened for something else than its error; 0 if it was not.
  Duration next(Duration size, double growth, Duration cut_proposal = 0.0) const;
  /// The same on the way from a first step to `usual`, the step of the run: it may grow faster.
  Duration next_at_start(Duration size, double growth, Duration usual, Duration cut_proposal = 0.0) const;
  /// The way from a first step ends where the error decides.
  bool leaves_start(double growth) const { return !(growth > settings_.most_growth); }
  Duration within_limits(Duration size) const { return limits_.within(size); }

 private:
  StepSettings settings_;
  StepLimits limits_;
};

/// The asymptotic law, (1 / error)^(1 / order): how much longer a step with this error may be. Infinite without an
/// error, 0 where it is no number.
double asymptotic_growth(double error, int order);
/// The same with a reserve, safety * error^(-1 / order), and at most the largest growth.
double safe_growth(double error, int order, const StepSettings& settings);
/// A proportional-integral controller of the logarithm of the step.
struct PiLaw {
  double integral;
  double proportional;
};
double pi_growth(double error, double previous_error, const PiLaw& law, const StepSettings& settings);

/// A step of about `size` where `rest` is left to a time that must be met: no remainder shorter than a step, but all
/// that is left in one step or in two halves, which are no shorter than `least` if that can be.
Duration step_without_remainder(Duration size, Duration rest, Duration least);

/// What an error is measured against (F3ORNITS (33)-(35)).
enum class Normalisation { Magnitude, Amplitude, DampedAmplitude };

}  // namespace entrain::method

namespace entrain {
template <>
struct ChoiceNames<method::Normalisation> {
  static constexpr std::array<ChoiceName<method::Normalisation>, 3> all{
      {{method::Normalisation::Magnitude, "magnitude"},
       {method::Normalisation::Amplitude, "amplitude"},
       {method::Normalisation::DampedAmplitude, "damped-amplitude"}}};
};

}  // namespace entrain

namespace entrain::method {
struct ErrorNorm {
  Normalisation kind = Normalisation::DampedAmplitude;
  double damping = 0.05;  ///< share of the amplitude forgotten per s

  /// The next value of a signal; its range narrows with time where it is damped (36).
  void take(base::SignalRange& range, double value, Duration since_last) const;
  /// The error in units of what the tolerances allow.
  double of(double error, double value, const base::SignalRange& range, const StepController& controller) const;
};

/// An option that only adaptive steps heed, as it is and as it would be unwritten.
struct AdaptiveOption {
  std::string name;
  double value, default_value;
};
/// A warning for each that was written although the macro step is fixed.
void warn_of_idle(std::span<const AdaptiveOption> options, std::string_view method, const WrittenOptions& written,
                  std::vector<Problem>& problems);

}  // namespace entrain::method
