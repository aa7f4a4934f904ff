#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace entrain::numerics {

/// Inputs and outputs of a black box at the ends of its latest steps, the newest first.
struct BoxHistory {
  static constexpr std::size_t kMost = 4;

  std::array<double, kMost> times{};
  std::vector<double> outputs, inputs;  ///< time by time
  std::size_t count = 0;

  BoxHistory() = default;
  BoxHistory(std::size_t output_count, std::size_t input_count)
      : outputs(kMost * output_count, 0.0), inputs(kMost * input_count, 0.0) {}
  void push(double time, std::span<const double> new_outputs, std::span<const double> new_inputs);

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(times, outputs, inputs, count);
  }
};

/// A local linear model of the steps of a black box, identified from its inputs and outputs
/// (docs/theory/identified.md):
///
///     y^[p] = c + sum_{i < p} a_i y^[i] + sum_{i <= p} b_i u^[i]
///
/// where [i] is the divided difference of order i, times i!, that ends with the step; p is the order. With steps of one
/// size it is the ARX model of order p, exact for a linear black box of p states per output; with others its
/// coefficients still hold to the first order, for they are those of a differential equation.
///
/// Recursive least squares with forgetting, by rotations of a triangle; what the data does not determine stays as it
/// was (at first: the polynomial continuation of degree p - 1).
class StepModel {
 public:
  static constexpr int kHighestOrder = 3;

  /// `forgetting`: the weight of all that was learned, from one step to the next.
  StepModel(std::size_t outputs, std::size_t inputs, int order, double forgetting = 0.98);
  /// Its coefficients per output.
  static std::size_t size(std::size_t outputs, std::size_t inputs, int order) {
    const auto p = static_cast<std::size_t>(order);
    return 1 + p * outputs + (p + 1) * inputs;
  }

  /// Before anything is learned, and after `forget`: outputs follow inputs at once by these gains (outputs over
  /// inputs), and go on as polynomials otherwise.
  void assume(std::span<const double> direct_gains);

  int order() const { return order_; }
  bool can_predict(const BoxHistory& history) const { return history.count >= static_cast<std::size_t>(order_); }
  /// The outputs after a step of this size under inputs that end at 0, and what inputs that end elsewhere add: outputs
  /// over inputs, row by row.
  struct Prediction {
    std::vector<double> free, gains;
  };
  void predict(const BoxHistory& history, double step, Prediction& result) const;
  /// How outputs follow inputs at once: what an input does to the outputs of its step, less what is left of it a step
  /// later.
  void direct_gains(double step, std::span<double> gains) const;
  /// By how much a step lets outputs grow without inputs, in the long run: 1 = they stay.
  double growth(double step) const;

  /// What came of a step; `history` as before it. `solve`: find the coefficients anew.
  void learn(const BoxHistory& history, double step, std::span<const double> inputs, std::span<const double> outputs,
             bool solve);
  std::uint64_t rows() const { return memory_.rows; }
  /// Equal numbers, equal coefficients.
  std::uint64_t revision() const { return memory_.revision; }
  void forget();

  struct Memory {
    std::vector<double> triangle;      ///< of the regressors, and beside it that of the left sides; row by row
    std::vector<double> coefficients;  ///< per regressor, of all outputs
    std::vector<double> sizes;         ///< of outputs, then of inputs: largest so far
    double step = 0.0;                 ///< of the data
    std::uint64_t rows = 0, revision = 0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(triangle, coefficients, sizes, step, rows, revision);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  std::size_t width() const { return regressors_ + outputs_; }
  /// i! / prod_{m < i} (t - t_m): what a value at the end of the step adds to its difference of order i.
  double leading(const BoxHistory& history, double step, int i) const;
  void write_row(const BoxHistory& history, double step, std::span<const double> inputs) const;
  void write_left_side(const BoxHistory& history, double step, std::span<const double> outputs) const;
  void rotate_in(std::vector<double>& triangle, std::size_t first) const;
  void find_norms();
  void solve();

  std::size_t outputs_, inputs_, regressors_;
  int order_;
  double forgetting_;
  std::vector<double> no_inputs_;
  std::vector<double> assumed_;      // coefficients
  mutable std::vector<double> row_;  // regressors, then left sides
  std::vector<double> damped_, change_, norms_;
  Memory memory_;
};

}  // namespace entrain::numerics
