#pragma once

#include <array>
#include <vector>

#include "coupling/trial_kind.hpp"
#include "entrain/capabilities.hpp"
#include "numerics/step_model.hpp"
#include "trials/stand_in.hpp"

namespace entrain::trials {

/// The steps of a subsystem that provides nothing but outputs, identified from its own past
/// (docs/theory/identified.md).
///
/// Models of several orders and the continuation of the past compete, output by output, by their errors in predicting
/// the latest steps. An output that no model predicts better than its continuation is continued, as without this.
class IdentifiedStep final : public StandIn {
 public:
  struct Ports {
    std::size_t outputs = 0, inputs = 0;
    Feedthrough feedthrough;
    int input_degree = 0;
    int parts = 1;  ///< in which a step is made whose inputs are of a higher degree
    /// How outputs follow inputs at once where the run starts: outputs over inputs; empty = nothing is known.
    std::vector<double> direct = {};
  };
  static constexpr std::size_t kMostCoefficients = coupling::kMostIdentified;
  static bool is_possible(const Ports& ports);

  explicit IdentifiedStep(Ports ports);

  std::optional<Time> at() const override;
  void observe(const Here& here) override;
  void set_step(const Ahead& ahead) override;
  void estimate(const InputBlock& inputs, std::span<double> y, std::span<double> dy) const override;
  double value_gain(std::size_t output, int p, std::size_t input) const override {
    return value_gains_[place(output, p, input)];
  }
  double slope_gain(std::size_t output, int p, std::size_t input) const override {
    return memory_.choice[output] == 0 ? 0.0 : slope_factor_ * value_gain(output, p, input);
  }
  std::uint64_t gains_revision() const override { return revision_; }
  void slopes_here(std::span<double> dy) const override;
  double direct_gain(std::size_t output, std::size_t input) const override {
    return direct_[output * ports_.inputs + input];
  }
  void correct(const Made& made, std::span<double> outputs) const override;
  void forget_past() override;
  PredictionQuality quality() const override;

  /// Where it is, without what it learned: several steps in a row can be looked at, and taken back.
  struct Position {
    numerics::BoxHistory past;
    std::vector<double> met;
  };
  Position position() const { return {memory_.past, memory_.met}; }
  void go_to(const Position& position);
  /// A step was made, it is assumed, with these inputs at its end and these outputs; nothing is learned from it.
  void pass(Duration size, std::span<const double> held, std::span<const double> raw, std::span<const double> outputs);

  base::Bytes memory() const override { return base::to_bytes(memory_, models_); }
  void restore(std::span<const std::byte> bytes) override;

  struct Memory {
    numerics::BoxHistory past;         ///< as the subsystem returned it
    std::vector<double> met;           ///< the same outputs, brought to the inputs that were meant
    std::vector<double> errors;        ///< mean squares of late, per output: of the continuation, then of the models
    std::vector<std::uint8_t> choice;  ///< per output: 0 = continued, else the number of a model
    std::vector<double> low, high;     ///< of the outputs so far
    std::vector<double> missed;        ///< per output: sum of squares of what was predicted, and of the continuation
    std::uint64_t steps = 0, used = 0, unstable = 0;
    std::uint64_t poor = 0;  ///< steps in a row in which no model was of any use

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(past, met, errors, choice, low, high, missed, steps, used, unstable, poor);
    }
  };

 private:
  static constexpr std::size_t kOrders = kMaxInputDegree + 1;

  std::size_t place(std::size_t output, int p, std::size_t input) const {
    return (output * kOrders + static_cast<std::size_t>(p)) * ports_.inputs + input;
  }
  std::size_t ways() const { return models_.size() + 1; }
  double& error(std::size_t output, std::size_t way) { return memory_.errors[output * ways() + way]; }
  void push(Time t, std::span<const double> held, std::span<const double> raw, std::span<const double> outputs);
  void judge(const Here& here, Duration size);
  void choose(Duration size);
  void give_up_if_useless();
  void find_ends(Duration size);
  bool seems_linear(std::size_t output) const;
  void find_direct(Duration size);
  struct SlopeWeights {
    double end = 0.0, here = 0.0, before = 0.0;
  };
  SlopeWeights slope_weights(double first, double second) const;

  Ports ports_;
  std::vector<numerics::StepModel> models_;  // by order; then those that forget fast, and those that learn nothing
  std::size_t first_fast_ = 0, first_fixed_ = 0;
  std::vector<numerics::StepModel::Prediction> predictions_;  // of the models, over the step set last
  std::array<double, kOrders> ends_{};                        // of what is handed over for s^p
  std::vector<double> free_, free_slopes_;
  std::vector<double> value_gains_, last_gains_;
  std::vector<double> direct_;  // outputs over inputs
  std::vector<double> model_direct_;
  double slope_factor_ = 0.0;  // of the value at the end of a step, in the slope there
  std::uint64_t revision_ = 1;
  Memory memory_;
};

}  // namespace entrain::trials
