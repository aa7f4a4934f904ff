#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "entrain/subsystem.hpp"
#include "trials/estimator_options.hpp"

namespace entrain::trials {

/// What is known of a subsystem at a communication time; a view of numbers that the estimator keeps.
struct EstimatorPoint {
  Time& t;
  std::span<double> x, dx, u, y;  ///< dx is unused when the subsystem does not provide it
};

/// COSTARICA (docs/theory/costarica.md): the outputs and their slopes at the end of a step, from states and
/// linearization at its start, for any polynomial inputs. Knows no subsystem.
///
/// Three levels, each done only when something changed: a new point (`point`, `moved`, perhaps `linearized`), a new
/// step size (`set_step`; two are kept), new inputs (`estimate`: one product, nothing allocated).
///
/// With thousands of subsystems a step is as fast as memory is: all numbers that it reads lie in one piece.
class Estimator {
 public:
  struct Sizes {
    std::size_t states = 0, inputs = 0, outputs = 0;
  };
  /// Without state derivatives it works in the degraded form: f_C = 0.
  Estimator(Sizes sizes, bool state_derivatives, const EstimatorOptions& options);

  /// Where the new point goes; `moved` must follow. The three points before are kept.
  EstimatorPoint point() { return view((newest_ + 1) % kKept); }
  void moved();
  /// True when the linearization must be renewed at this point, looking at a step of this size.
  bool needs_linearization(Duration next_step);
  /// The same for D alone, at the end of a step of this size, where `point` is filled (but for the derivatives) and not
  /// yet `moved` to.
  bool needs_feedthrough(Duration step) const;
  /// Where the new linearization goes; `linearized` must follow.
  Linearization& linearization() { return given_; }
  void linearized();
  /// `linearization` holds that of the point that comes next; there `linearized` must follow.
  void linearized_ahead() { ahead_ = true; }
  bool is_linearized_ahead() const { return ahead_; }
  bool has_linearization() const { return has_linearization_; }
  const Linearization& in_force() const { return given_; }
  /// The points so far lie on the other side of a jump: nothing is continued across it.
  void forget_past() {
    known_ = 0;
    ahead_ = false;
  }

  void set_step(Duration h);
  /// y(h) and dy/dt(h).
  void estimate(const InputBlock& inputs, std::span<double> y, std::span<double> dy) const;

  // The estimate as y = sum_p value_gain(p) xi_p + free_values, dy = sum_p slope_gain(p) xi_p + free_slopes.
  double value_gain(std::size_t output, int p, std::size_t input) const {
    return value_gains()[place(output, p, input)];
  }
  double slope_gain(std::size_t output, int p, std::size_t input) const {
    return slope_gains()[place(output, p, input)];
  }
  /// Q_j of the step size set last, row by row: outputs over states.
  std::span<const double> propagator(std::size_t j) const {
    return numbers().subspan(at_.gains[in_use_] + j * propagator_size(), propagator_size());
  }
  /// Equal numbers, equal gains: what was made of them still holds.
  std::uint64_t gains_revision() const { return gains().revision; }

  /// Slopes of the outputs at the point itself: C f + D u' + what the control part does.
  void slopes_at_point(std::span<const double> input_slopes, std::span<double> dy) const;
  /// How an output and its slope at the point follow an input there: D and C B.
  struct InputGain {
    double value, slope;
  };
  InputGain gain_at_point(std::size_t output, std::size_t input) const;
  /// Of what an output is made of at the point, by the linearization: |C| |x| + |D| |u|. It may be next to nothing
  /// itself.
  double size_of_terms(std::size_t output) const;
  bool degraded() const { return !state_derivatives_; }

  /// Everything that later estimates depend on. Gains follow from it.
  struct Memory {
    std::vector<double> numbers;  ///< points, linearization and ranges, as the estimator lays them out
    Linearization given;
    std::uint8_t newest = 0, known = 0;
    bool has_linearization = false, ahead = false;

    template <class Visitor>
    void fields(Visitor& visit) {
      for (Matrix* matrix : {&given.A, &given.B, &given.C, &given.D}) visit(matrix->rows, matrix->cols, matrix->values);
      visit(numbers, newest, known, has_linearization, ahead);
    }
  };
  Memory memory() const;
  void restore(const Memory& memory);

 private:
  static constexpr std::size_t kKept = 4;  // points, the newest first
  static constexpr std::size_t kBase = kKept;
  static constexpr std::size_t kOrders = kMaxInputDegree + 1;
  static constexpr std::size_t kPropagators = kMaxInputDegree + 2;  // Q_0 .. Q_4
  using Parabola = std::array<double, 3>;
  struct View;  // of its numbers, under the names of the paper

  using Index = std::uint32_t;  // half as long: the members below are read for everyone in every step
  struct Gains {
    Duration step = 0.0;         // 0: of an older linearization
    std::uint64_t revision = 0;  // counts how often gains were computed
  };
  /// Where the numbers of a kind begin.
  struct Layout {
    Index a = 0, b = 0, c = 0, d = 0;
    Index free_values = 0, free_slopes = 0;
    Index missed = 0;              // of the change of f, by the linearization in force
    Index low = 0, high = 0;       // of the outputs so far
    std::array<Index, 2> gains{};  // Q_0 .. Q_4, then the gains of values and of slopes
  };
  struct Counts {
    Index states, inputs, outputs;
  };

  std::span<const double> numbers() const { return numbers_; }
  const Gains& gains() const { return gains_[in_use_]; }
  std::size_t propagator_size() const { return std::size_t{sizes_.outputs} * sizes_.states; }
  std::size_t gains_size() const { return kOrders * sizes_.outputs * sizes_.inputs; }
  const double* value_gains() const { return numbers_.data() + at_.gains[in_use_] + kPropagators * propagator_size(); }
  const double* slope_gains() const { return value_gains() + gains_size(); }
  std::size_t place(std::size_t output, int p, std::size_t input) const {
    return (output * kOrders + static_cast<std::size_t>(p)) * sizes_.inputs + input;
  }
  std::size_t point_size() const { return 1 + 2 * sizes_.states + sizes_.inputs + sizes_.outputs; }

  // Numbers of a kept point, by its age; and of the point where the linearization in force was taken.
  const double* kept(std::size_t age) const { return kept_at((newest_ + kKept - age) % kKept); }
  const double* base() const { return kept_at(kBase); }
  const double* kept_at(std::size_t place) const { return numbers_.data() + place * point_size(); }
  EstimatorPoint view(std::size_t place);
  double age_of(std::size_t age) const { return *kept(age) - *kept(0); }

  double missed_of_output(std::size_t output, const double* point) const;
  bool is_urgent(std::size_t output, double missed, Duration step, const double* point) const;
  Parabola continuation_of_output(std::size_t output) const;
  Parabola continuation_of_rate(std::size_t state) const;
  Parabola through_newest(std::span<const double> values) const;
  void lay_out();
  std::array<const Matrix*, 4> given_matrices() const { return {&given_.A, &given_.B, &given_.C, &given_.D}; }
  void compute_gains(Duration h);
  void take_quotients(Duration h);
  void drop_gains();
  void update_free_terms();
  void update_free_slopes_by_quotients();

  std::vector<double> numbers_;  // kept points, base; then as in `at_`
  Layout at_;
  Counts sizes_;
  std::array<Gains, 2> gains_;  // of the two step sizes set last
  Duration h_ = 0.0;            // 0: the free terms belong to an older point
  std::uint8_t in_use_ = 0;     // of the gains
  std::uint8_t newest_ = 0;
  std::uint8_t known_ = 0;  // points that may be used, at most kKept
  bool state_derivatives_;
  bool has_linearization_ = false;
  bool ahead_ = false;
  bool reconstructs_;
  OutputControl control_;
  LinearizationRenewal renewal_;
  double linearization_tolerance_;
  // What only a new linearization or step size asks for.
  bool exact_;
  bool by_quotients_;
  int stehfest_terms_;
  std::uint64_t revisions_ = 0;
  Linearization given_;                           // as the subsystem wrote it; `numbers_` holds a copy to compute with
  std::array<std::vector<Matrix>, 2> quotients_;  // dQ_j / dh of both gains, where slopes are difference quotients
};

}  // namespace entrain::trials
