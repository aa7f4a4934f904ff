#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.hpp"
#include "coupling/trial_kind.hpp"
#include "entrain/fact.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::trials {

/// How well the steps of a subsystem were predicted, in numbers alone: known beyond the process that predicts them.
struct PredictionQuality {
  double error = 0.0;      ///< of the worst output, relative to its range
  double continued = 0.0;  ///< the same of what its past alone let expect
  double order = 0.0, used = 0.0, steps = 0.0, unstable = 0.0;

  static constexpr std::size_t kNumbers = 6;
  std::array<double, kNumbers> numbers() const { return {error, continued, order, used, steps, unstable}; }
  static PredictionQuality of(std::span<const double> n) { return {n[0], n[1], n[2], n[3], n[4], n[5]}; }
};

/// For the summary, of the estimator that was chosen; none where nothing was identified.
std::optional<Fact> note_of(const PredictionQuality& quality, const coupling::EstimatorChoice& choice,
                            const std::string& subsystem);

/// Estimates the steps of a subsystem in the place of COSTARICA, or of the continuation of its past: identified from
/// its own steps (IdentifiedStep), or by what a user provides (SurrogateStep).
///
/// Estimates are affine in the coefficients of the input polynomials, or are taken for it:
/// y = free + sum_p value_gain(p) xi_p, and so are slopes. Per macro step: `observe`, any number of `set_step` and
/// `estimate`, `correct`.
class StandIn {
 public:
  /// The subsystem at the start of a step.
  struct Here {
    Time t = 0.0;
    std::span<const double> held;       ///< inputs as it had them where its last step ended
    std::span<const double> raw;        ///< outputs as it returned them for these
    std::span<const double> outputs;    ///< the same, brought to the inputs that were meant
    std::span<const double> continued;  ///< what its past alone let expect; empty where there is none
  };
  /// A step that is looked at.
  struct Ahead {
    Duration size = 0.0;
    std::span<const double> continued;         ///< outputs at its end, from their past alone
    std::span<const double> continued_slopes;  ///< and their slopes
  };
  /// A step that was made.
  struct Made {
    Duration size = 0.0;
    InputBlock meant;
    InputBlock handed;            ///< of the last part, in its own time
    Duration last_part = 0.0;     ///< its size
    std::span<const double> gap;  ///< of the inputs at the end: what was meant - what was handed over; empty = none
  };

  virtual ~StandIn() = default;
  /// Where it was observed last, if nothing jumped since.
  virtual std::optional<Time> at() const = 0;
  virtual void observe(const Here& here) = 0;
  virtual void set_step(const Ahead& ahead) = 0;
  virtual void estimate(const InputBlock& inputs, std::span<double> y, std::span<double> dy) const = 0;
  virtual double value_gain(std::size_t output, int p, std::size_t input) const = 0;
  virtual double slope_gain(std::size_t output, int p, std::size_t input) const = 0;
  /// Equal numbers, equal gains.
  virtual std::uint64_t gains_revision() const = 0;
  /// Slopes of the outputs where it is; those that it does not know stay.
  virtual void slopes_here(std::span<double> dy) const = 0;
  /// How an output follows an input at once.
  virtual double direct_gain(std::size_t output, std::size_t input) const = 0;
  /// Outputs of a step that was made with other inputs than meant, brought to those that were.
  virtual void correct(const Made& made, std::span<double> outputs) const = 0;
  /// The signals jump here.
  virtual void forget_past() = 0;
  /// How good it was, up to where it was observed last.
  virtual PredictionQuality quality() const = 0;

  virtual base::Bytes memory() const = 0;
  virtual void restore(std::span<const std::byte> bytes) = 0;
};

}  // namespace entrain::trials
