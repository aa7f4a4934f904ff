#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "entrain/subsystem.hpp"
#include "estimation/estimator_options.hpp"

namespace entrain {

/// What is known of a subsystem at a communication time.
struct EstimatorPoint {
  Time t = 0.0;
  std::vector<double> x, dx, u, y;  ///< dx is unused when the subsystem does not tell it
};

/// COSTARICA (docs/theory/costarica.md): the outputs and their slopes at the end of a step, from states and
/// linearization at its start, for any polynomial inputs. Knows no subsystem.
///
/// Three levels, each done only when something changed: a new point (`point`, `moved`, perhaps `linearized`), a new
/// step size (`set_step`; two are kept), new inputs (`estimate`: one product, nothing allocated).
class Estimator {
 public:
  struct Sizes {
    std::size_t states = 0, inputs = 0, outputs = 0;
  };
  /// Without state derivatives it works in the degraded form: f_C = 0.
  Estimator(Sizes sizes, bool state_derivatives, const EstimatorOptions& options);

  /// Where the new point goes; `moved` must follow. The three points before are kept.
  EstimatorPoint& point();
  void moved();
  /// True when the linearization must be renewed at this point, looking at a step of this size.
  bool needs_linearization(Duration next_step);
  /// Where the new linearization goes; `linearized` must follow.
  Linearization& linearization() { return given_; }
  void linearized();
  bool has_linearization() const { return has_linearization_; }
  const Linearization& in_force() const { return in_force_; }
  /// The points so far lie on the other side of a jump: nothing is continued across it.
  void forget_past() { known_ = 0; }

  void set_step(Duration h);
  /// y(h) and dy/dt(h).
  void estimate(const InputBlock& inputs, std::span<double> y, std::span<double> dy) const;

  // The estimate as y = sum_p value_gain(p) xi_p + free_values, dy = sum_p slope_gain(p) xi_p + free_slopes.
  double value_gain(std::size_t output, int p, std::size_t input) const {
    return gains().value[place(output, p, input)];
  }
  double slope_gain(std::size_t output, int p, std::size_t input) const {
    return gains().slope[place(output, p, input)];
  }
  std::span<const double> free_values() const { return free_values_; }
  std::span<const double> free_slopes() const { return free_slopes_; }
  const Matrix& propagator(std::size_t j) const { return gains().q[j]; }  ///< Q_j of the step size set last
  /// Equal numbers, equal gains: what was made of them still holds.
  std::uint64_t gains_revision() const { return gains().revision; }

  /// Slopes of the outputs at the point itself: C f + D u' + what the control part does.
  void slopes_at_point(std::span<const double> input_slopes, std::span<double> dy) const;
  bool degraded() const { return !state_derivatives_; }

  /// Everything that later estimates depend on, as numbers.
  void save(std::vector<double>& numbers) const;
  const double* restore(const double* numbers);

 private:
  static constexpr std::size_t kKept = 4;  // points, the newest first
  static constexpr std::size_t kOrders = kMaxInputDegree + 1;
  using Parabola = std::array<double, 3>;

  struct Gains {
    Duration step = 0.0;         // 0: of an older linearization
    std::uint64_t revision = 0;  // counts how often gains were computed
    std::vector<Matrix> q;
    std::vector<double> value, slope;  // rows of outputs: [order 0 | .. | order 3], each over the inputs
  };

  const Gains& gains() const { return gains_[in_use_]; }
  std::size_t place(std::size_t output, int p, std::size_t input) const {
    return (output * kOrders + static_cast<std::size_t>(p)) * sizes_.inputs + input;
  }
  const EstimatorPoint& kept(std::size_t age) const { return points_[(newest_ + kKept - age) % kKept]; }
  double rest_of_output(std::size_t output, const EstimatorPoint& at) const;
  double rest_of_rate(std::size_t state, const EstimatorPoint& at) const;
  Parabola continuation_of_output(std::size_t output) const;
  Parabola continuation_of_rate(std::size_t state) const;
  Parabola through_newest(std::span<const double> values) const;
  void compute(Gains& gains, Duration h) const;
  void drop_gains();
  void update_free_terms();

  Sizes sizes_;
  bool state_derivatives_;
  EstimatorOptions options_;
  std::array<EstimatorPoint, kKept> points_;
  std::size_t newest_ = 0;
  std::size_t known_ = 0;   // points that may be used, at most kKept
  Linearization given_;     // as the subsystem wrote it
  Linearization in_force_;  // what the gains belong to
  EstimatorPoint base_;     // where in_force_ was taken
  bool has_linearization_ = false;
  std::array<Gains, 2> gains_;  // of the two step sizes set last
  std::size_t in_use_ = 0;
  std::uint64_t revisions_ = 0;
  Duration h_ = 0.0;  // 0: the free terms belong to an older point
  std::vector<double> free_values_, free_slopes_;
  std::vector<Parabola> rate_;  // of the rest of each state's derivative
  std::vector<double> missed_;  // of the change of f, by the linearization in force
};

}  // namespace entrain
