#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "entrain/estimator.hpp"
#include "trials/stand_in.hpp"

namespace entrain::trials {

/// How well an estimator of a user predicts, output by output.
struct SurrogateMisses {
  std::vector<double> low, high;  ///< of the outputs so far
  std::vector<double> expected;   ///< of the step that was made last, under what was handed over; empty = none
  std::vector<double> missed;     ///< sums of squares
  std::uint64_t steps = 0;

  explicit SurrogateMisses(std::size_t outputs = 0)
      : low(outputs, HUGE_VAL), high(outputs, -HUGE_VAL), missed(outputs, 0.0) {}
  /// The step came to this.
  void compare(std::span<const double> outputs);
  /// Of the worst output.
  PredictionQuality quality() const;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(low, high, expected, missed, steps);
  }
};

/// An estimator of a user in the place of ours. What it makes of inputs is asked for anew for each trial; how it
/// follows them is found by differences, once per step and size.
class SurrogateStep final : public StandIn {
 public:
  SurrogateStep(std::unique_ptr<StepEstimator> estimator, std::size_t outputs, std::size_t inputs);

  std::optional<Time> at() const override { return memory_.observed ? std::optional(memory_.t) : std::nullopt; }
  void observe(const Here& here) override;
  void set_step(const Ahead& ahead) override;
  void estimate(const InputBlock& inputs, std::span<double> y, std::span<double> dy) const override;
  double value_gain(std::size_t output, int p, std::size_t input) const override {
    return value_gains_[place(output, p, input)];
  }
  double slope_gain(std::size_t output, int p, std::size_t input) const override {
    return slope_gains_[place(output, p, input)];
  }
  std::uint64_t gains_revision() const override { return revision_; }
  void slopes_here(std::span<double>) const override {}
  double direct_gain(std::size_t, std::size_t) const override { return 0.0; }
  void correct(const Made& made, std::span<double> outputs) const override;
  void forget_past() override;
  PredictionQuality quality() const override { return memory_.misses.quality(); }

  base::Bytes memory() const override { return base::to_bytes(memory_, estimator_->save()); }
  void restore(std::span<const std::byte> bytes) override;

  struct Memory {
    Time t = 0.0;
    bool observed = false;
    std::vector<double> held;  ///< inputs at `t`
    SurrogateMisses misses;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(t, observed, held, misses);
    }
  };

 private:
  static constexpr std::size_t kOrders = kMaxInputDegree + 1;

  std::size_t place(std::size_t output, int p, std::size_t input) const {
    return (output * kOrders + static_cast<std::size_t>(p)) * inputs_ + input;
  }

  std::unique_ptr<StepEstimator> estimator_;
  std::size_t outputs_, inputs_;
  Duration size_ = 0.0;  // of the gains; 0 = of another point
  std::vector<double> value_gains_, slope_gains_, changed_;
  std::uint64_t revision_ = 1;
  mutable Memory memory_;
};

}  // namespace entrain::trials
