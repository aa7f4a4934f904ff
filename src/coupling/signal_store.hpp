#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "coupling/transfer.hpp"
#include "entrain/graph.hpp"
#include "entrain/ids.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::coupling {

/// All numbers that the subsystems exchange, in flat arrays: outputs and constants, inputs, input polynomials; and the
/// connections between them. Each subsystem has its own slots, so that a batch needs no lock.
class SignalStore {
 public:
  static constexpr std::size_t kOrders = kMaxInputDegree + 1;

  /// `start_inputs`: one value per input; those of connected inputs are first guesses. The graph must outlive the
  /// store.
  SignalStore(const Graph& graph, std::vector<double> start_inputs);
  SignalStore(const SignalStore&) = delete;
  SignalStore& operator=(const SignalStore&) = delete;

  const TransferPlan& transfer() const { return transfer_; }
  std::span<const double> outputs() const { return {signals_.data(), graph_.outputs()}; }
  std::span<const double> signals() const { return signals_; }  ///< outputs, then constants
  std::span<double> signals() { return signals_; }
  std::span<const double> inputs() const { return inputs_; }  ///< as they ended their last step
  std::span<double> inputs() { return inputs_; }
  /// What is transferred besides the outputs.
  std::span<double> constants() { return std::span(signals_).subspan(graph_.outputs()); }

  /// The numbers of one subsystem.
  struct Slots {
    std::span<double> outputs;
    std::span<double> inputs;
    double* coefficients;  ///< input polynomials of degree 1 and more: kOrders orders of all its inputs

    std::array<std::span<double>, 3> all() const {
      return {outputs, inputs, std::span(coefficients, kOrders * inputs.size())};
    }
  };
  Slots slots(SubsystemId s);
  /// Where coefficient p of the input polynomials goes. Held inputs (degree 0) are their own polynomials.
  std::span<double> coefficients(SubsystemId s, int degree, int p);

  double incoming(InputId input) const { return transfer_.incoming(input, signals_); }
  void hold_all_inputs() { transfer_.deliver(signals_, inputs_); }
  void set_corrections(std::span<const double> by_input) { transfer_.set_corrections(by_input); }
  void set_run_corrections(std::span<const double> by_input) { transfer_.set_run_corrections(by_input); }
  /// Polynomials that are added to those of the method from now on. `degrees`: by subsystem; `coefficients`: kOrders
  /// of each input in its unit over s^p, which are read when the step of its subsystem begins.
  void set_waveforms(std::span<const int> degrees, std::span<const double> coefficients);
  bool has_waveforms() const { return !waveform_degrees_.empty(); }
  /// Adds them to the polynomials of this degree; returns the degree of the sum.
  int add_waveforms(SubsystemId s, int degree);
  void replace_output(OutputId output, double value) {
    signals_[output] = value;
    replaced_ = true;
  }
  /// Some outputs are not what their subsystems returned.
  bool has_replaced_outputs() const { return replaced_; }
  /// The value of an input that no output feeds, from now on.
  void set_constant(InputId input, double value);
  /// The same before the start; kept by `reset`.
  void set_start(InputId input, double value);
  /// What an input has while nothing feeds it.
  double start_input(InputId input) const { return start_inputs_[input]; }
  // Of a scenario: see TransferPlan.
  void expect_disturbances() { transfer_.expect_disturbances(); }
  void disturb(InputId input, const TransferPlan::Disturbance& disturbance) { transfer_.disturb(input, disturbance); }
  void move_to(Time t) { transfer_.move_to(t); }
  /// As before the start of a run; no correction.
  void reset();

 private:
  const Graph& graph_;
  TransferPlan transfer_;
  std::vector<double> start_inputs_;
  std::vector<double> signals_;
  std::vector<double> inputs_;
  bool replaced_ = false;
  std::vector<int> waveform_degrees_;  // empty: nothing is added
  std::vector<double> waveforms_;
  std::vector<double> coefficients_;  // per subsystem: kOrders orders of all its inputs
};

}  // namespace entrain::coupling
